"""Exit codes of the commands, and the sentence that each error becomes."""

from __future__ import annotations

import errno
import os
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path

from graph.surfaces.terminal.output import say
from nodes.domain.shared.errors import LeaseLost, LimitReached, RepriseError, StoreUnwritable, ThreadBusy, UserError
from nodes.domain.shared.formats import clean

OK = 0
FAILED = 1
USAGE = 2
WAITING = 3
PAUSED = 4
BUSY = 5
WITH_FAILURES = 6
BY_SIGNAL = 128
"""Added to the number of the signal that stopped a run."""


NEXT = "Next: "
"""Prefix of a note on an error that says how to go on."""


def exit_code(status: str, detailed: bool = False, signal: int | None = None) -> int:
    """The exit code for the status that a run ended with."""
    if signal is not None and status in ("interrupted", "running"):
        return BY_SIGNAL + signal
    if detailed and status in ("needs_review", "completed_with_failures"):
        return WAITING if status == "needs_review" else WITH_FAILURES
    return {"failed": FAILED, "paused": PAUSED}.get(status, OK)


def report_error(error: BaseException) -> int:
    """Print in one sentence what went wrong; returns the exit code. A fault of ours leaves its traceback in a file."""
    hints = [note for note in getattr(error, "__notes__", []) if note.startswith(NEXT)]
    error = _recognised(error)
    code = _report(error) if isinstance(error, RepriseError) else _report_fault(error)
    # Their own sentences say what to do; to resume as it is would only say them again.
    for hint in hints if not isinstance(error, LeaseLost | UserError) else []:
        say(hint)
    return code


def error_sentence(error: BaseException) -> str:
    """The sentence for an error, for a caller that goes on after it."""
    error = _recognised(error)
    return _sentence(error) if isinstance(error, RepriseError) else _fault_sentence(error)


def _recognised(error: BaseException) -> BaseException:
    if isinstance(error, BaseExceptionGroup):
        own_errors = [leaf for leaf in _leaves(error) if isinstance(leaf, RepriseError)]
        error = own_errors[0] if own_errors else _leaves(error)[0]
    return _as_disk_full(_as_database_error(error))


def _as_disk_full(error: BaseException) -> BaseException:
    """Turn a full disk into StoreUnwritable, since it is no fault of the program; any other error stays as it is."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        target = f" to {error.filename}" if error.filename else ", to the output or below REPRISE_HOME"
        return StoreUnwritable(
            f"Nothing more can be written{target} ({error.strerror}): make room; what was done till then is kept."
        )
    return error


def _report(error: RepriseError) -> int:
    if os.environ.get("REPRISE_DEBUG"):
        say("".join(traceback.format_exception(error)).rstrip())
    say(f"error: {_sentence(error)}")
    if isinstance(error, UserError):
        return USAGE
    if isinstance(error, ThreadBusy):
        return BUSY
    return PAUSED if isinstance(error, LimitReached) else FAILED


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    leaves: list[BaseException] = []
    for error in group.exceptions:
        leaves += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return leaves


def _as_database_error(error: BaseException) -> BaseException:
    """Turn an error of the database driver into one of Reprise: LangGraph's saver raises it as it is."""
    if not type(error).__module__.startswith("psycopg"):
        return error
    from graph.usecases.maintenance import database_problem

    return database_problem(error)


def _sentence(error: BaseException) -> str:
    return " ".join(clean(str(error)).split()) or type(error).__name__


def _report_fault(error: BaseException) -> int:
    say(f"error: {_fault_sentence(error)}")
    return FAILED


def _fault_sentence(error: BaseException) -> str:
    # Read here and not in the settings: it must work when these are what cannot be read.
    text = "".join(traceback.format_exception(error))
    if os.environ.get("REPRISE_DEBUG"):
        say(text.rstrip())
    sentence = _sentence(error)
    fault = type(error).__name__ if sentence == type(error).__name__ else f"{type(error).__name__}: {sentence}"
    return f"This is a fault in Reprise: {fault[:600]} ({_save_traceback(text)})."


def _save_traceback(text: str) -> str:
    """Write the traceback to a file; returns words for where it is."""
    name = f"fault-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}.txt"
    for folder in _log_folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / name
            file.touch(mode=0o600)
            file.write_text(text, "utf-8", errors="backslashreplace")
        except OSError:
            continue
        return f"the traceback is in {file}"
    return "REPRISE_DEBUG=1 shows where"


def _log_folders() -> list[Path]:
    folders = [Path(tempfile.gettempdir())]
    try:
        from graph.app import operator_settings

        folders.insert(0, operator_settings().home / "logs")
    except (RepriseError, ImportError):
        pass
    return folders
