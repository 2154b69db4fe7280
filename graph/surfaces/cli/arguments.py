"""Arguments and options that several commands share, and the parsing of those that hold more than a word."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nodes.domain.runs import options
from nodes.domain.shared.errors import UserError

Thread = Annotated[str, typer.Argument(metavar="THREAD", help="Name, id, unique beginning of one, or the word last.")]
OptionalThread = Annotated[
    str | None, typer.Argument(metavar="THREAD", help="Name, id, unique beginning of one, or the word last.")
]
AllRuns = Annotated[
    bool, typer.Option("--all", help="In place of THREAD: every run that nobody drives and that waits for no person.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of text.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print one JSON object a line instead of text.")]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1_000_000, help="The newest so many.")]
Detailed = Annotated[
    bool,
    typer.Option("--detailed-exit-code", help="Exit 3 when waiting for review, 6 when completed with failures."),
]
Model = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="STEP=NAME",
        help="Model of a step, as extract=NAME or extract=NAME,NEXT where the first fails. Repeatable.",
    ),
]
Budget = Annotated[
    str | None, typer.Option("--budget-usd", metavar="USD", help="Pause before the spend would pass this.")
]
Deadline = Annotated[
    str | None, typer.Option("--deadline", metavar="TIME", help="Pause after this much work: 90s, 30m, 8h.")
]
DocumentTime = Annotated[
    str | None, typer.Option("--document-time", metavar="TIME", help="Put a document off that takes longer (10m).")
]
BatchWait = Annotated[
    str | None, typer.Option("--batch-wait", metavar="TIME", help="Wait so long for the last of a batch (60s).")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what it would take; reads the documents, asks no model, costs nothing.")
]
AcceptVersion = Annotated[
    bool,
    typer.Option("--accept-version", help="Agree that what is left is done by another version than the run began by."),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Do the documents that failed once more, and what follows from them.")
]
Passwords = Annotated[
    Path | None,
    typer.Option("--passwords", metavar="FILE", help='Lines "document = password" or TOML; "*" stands for all.'),
]
Decisions = Annotated[
    Path | None,
    typer.Option("--decisions", metavar="FILE", help="Decisions as JSON or JSON lines; - for standard input."),
]
AcceptAll = Annotated[
    bool, typer.Option("--accept-all", help="Accept all that the playbook lets one person accept; the rest waits.")
]
Reviewer = Annotated[
    str, typer.Option("--reviewer", metavar="NAME", help="Who decides. Left out: the user of this machine.")
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for --accept-all.")]

Source = Annotated[list[str], typer.Argument(metavar="SOURCE", help="Folders or files with the documents.")]
ThreadName = Annotated[str | None, typer.Option("--thread", metavar="NAME", help="What to call the run.")]
Job = Annotated[str, typer.Option("--job", metavar="ID", help="Groups the runs of one data room.")]
Matter = Annotated[str, typer.Option("--matter", metavar="ID", help="Wall: answers are reused inside one matter only.")]
Playbook = Annotated[str, typer.Option("--playbook", metavar="NAME|FILE", help="What to look for and how it counts.")]
Engine = Annotated[str, typer.Option("--engine", help="local or openai; nothing leaves the machine with local.")]
BatchSize = Annotated[
    int | None, typer.Option("--batch-size", metavar="N", help="Documents between two checkpoints (10).")
]
Concurrency = Annotated[int | None, typer.Option("--concurrency", metavar="N", help="Documents in flight at once (8).")]
Review = Annotated[
    Literal["auto", "always", "never"] | None, typer.Option("--review", help="Whether to stop for a person.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Reuse no answer of earlier runs.")]
Language = Annotated[
    Literal["en", "fr"] | None,
    typer.Option("--lang", help="Language of the note, and of documents that do not show their own."),
]

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+", re.ASCII)
_REPLY_KEYS = {"reviewer", "decisions", "accept_all", "reason", "packet"}


@dataclass(frozen=True, slots=True)
class ReviewReply:
    """A reply to a review, from a file of decisions or from options; None or empty stands for what was not given."""

    decisions: Sequence[Mapping[str, Any]] | None = None
    reviewer: str = ""
    accept_all: bool = False
    reason: str = ""
    packet: str = ""
    """sha256 of the packet that it answers; "" when it does not say."""


def parse_seconds(text: str | None, option: str = "--deadline") -> float | None:
    """Parse a length of time such as 90s, 30m, 8h or 1h30m; returns seconds. Raises UserError."""
    if text is None:
        return None
    if not _DURATION.fullmatch(text.strip()):
        raise UserError(f"{option} is a time such as 90s, 30m or 8h, not {text!r}.")
    parts = re.findall(r"([\d.]+)([smhd])", text)
    return sum(float(amount) * _UNITS[unit] for amount, unit in parts)


def parse_budget(text: str | None) -> Decimal | None:
    """Parse a budget in US dollars. Raises OptionError."""
    return None if text is None else options.parse_budget(text)


def parse_models(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """Parse STEP=NAME pairs; returns models by step. Raises UserError."""
    if not pairs:
        return None
    models_by_step: dict[str, str] = {}
    for pair in pairs:
        step, _, name = (part.strip() for part in pair.partition("="))
        if step not in ("extract", "summarize") or not name:
            raise UserError(f"--model is extract=NAME or summarize=NAME, not {pair!r}.")
        models_by_step[step] = name
    return models_by_step


def read_passwords(file: Path | None) -> dict[str, str] | None:
    """Read passwords by document from a file; no message ever repeats a line of it. Raises UserError."""
    if file is None:
        return None
    text = _read_text(file, "--passwords")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        table = _password_lines(text, file)
    if not table or not all(isinstance(password, str) for password in table.values()):
        raise UserError(f'The file {file} of --passwords needs lines such as "folder/document.pdf" = "password".')
    return table


def _password_lines(text: str, file: Path) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        document, mark, password = line.partition(" = ") if " = " in line else line.partition("=")
        if not mark or not document.strip() or not password.strip():
            raise UserError(f'Line {number} of {file} is not of the form "document = password".')
        table[_strip_quotes(document)] = _strip_quotes(password)
    return table


def _strip_quotes(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def read_reply(file: Path | None) -> ReviewReply:
    """Read a file of decisions: a list, an object with `decisions`, or one object a line. Raises UserError."""
    if file is None:
        return ReviewReply()
    text = sys.stdin.read() if str(file) == "-" else _read_text(file, "--decisions")
    reply = _parse_json(text, file)
    if isinstance(reply, Mapping) and "finding_id" in reply:
        reply = [reply]
    if isinstance(reply, list):
        return ReviewReply(decisions=reply)
    if not isinstance(reply, Mapping) or not ({"decisions", "accept_all"} & set(reply)):
        raise UserError(f"The file {file} holds no decisions: {_REPLY_SHAPE}")
    unknown = sorted(set(map(str, reply)) - _REPLY_KEYS)
    if unknown:
        raise UserError(f"The file {file} has the key {unknown[0]!r}, which means nothing here: {_REPLY_SHAPE}")
    if not isinstance(reply.get("decisions"), list | None) or reply.get("accept_all") not in (None, True, False):
        raise UserError(f"The file {file} holds no list of decisions: {_REPLY_SHAPE}")
    texts = {key: reply[key] for key in ("reviewer", "reason", "packet") if reply.get(key)}
    if not all(isinstance(field, str) for field in texts.values()):
        raise UserError(f"In the file {file} reviewer, reason and packet must be texts.")
    return ReviewReply(reply.get("decisions"), accept_all=bool(reply.get("accept_all")), **texts)


_REPLY_SHAPE = 'it needs [{"finding_id": "…", "verdict": "accept" or "reject", "reason": "…"}].'


def _parse_json(text: str, file: Path) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise UserError(f"The file {file} of --decisions nests too deeply: {_REPLY_SHAPE}") from None
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines] if len(lines) > 1 else _refuse_json(file, error)
        except ValueError:
            return _refuse_json(file, error)


def _refuse_json(file: Path, error: ValueError) -> Any:
    raise UserError(f"The file {file} of --decisions is not JSON ({error}): {_REPLY_SHAPE}") from None


def _read_text(file: Path, option: str) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"The file {file} of {option} is not UTF-8 text: save it as such.") from None
    except OSError as error:
        raise UserError(f"The file {file} of {option} cannot be read ({error.strerror}): check the path.") from None
