"""Arguments and options that several commands share, and the reading of those that hold more than a word."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from nodes.domain.shared.errors import UserError

Thread = Annotated[str, typer.Argument(metavar="THREAD", help="Name, id, unique beginning of one, or the word last.")]
OneThread = Annotated[
    str | None, typer.Argument(metavar="THREAD", help="Name, id, unique beginning of one, or the word last.")
]
All = Annotated[
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
class Verdicts:
    """What a file of decisions says; a value left out is None or empty."""

    decisions: Sequence[Mapping[str, Any]] | None = None
    reviewer: str = ""
    accept_all: bool = False
    reason: str = ""
    packet: str = ""
    """sha256 of the packet that it answers; "" when it does not say."""


def seconds(text: str | None, option: str = "--deadline") -> float | None:
    """A length of time such as 90s, 30m, 8h, 1h30m in seconds. Raises UserError."""
    if text is None:
        return None
    if not _DURATION.fullmatch(text.strip()):
        raise UserError(f"{option} is a time such as 90s, 30m or 8h, not {text!r}.")
    parts = re.findall(r"([\d.]+)([smhd])", text)
    return sum(float(value) * _UNITS[unit] for value, unit in parts)


def models(pairs: Sequence[str] | None) -> dict[str, str] | None:
    """STEP=NAME pairs as a mapping. Raises UserError."""
    if not pairs:
        return None
    found: dict[str, str] = {}
    for pair in pairs:
        step, _, name = (part.strip() for part in pair.partition("="))
        if step not in ("extract", "summarize") or not name:
            raise UserError(f"--model is extract=NAME or summarize=NAME, not {pair!r}.")
        found[step] = name
    return found


def passwords(file: Path | None) -> dict[str, str] | None:
    """Passwords by document; no message ever repeats a line of the file. Raises UserError."""
    if file is None:
        return None
    text = _text_of(file, "--passwords")
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        table = _password_lines(text, file)
    if not table or not all(isinstance(word, str) for word in table.values()):
        raise UserError(f'The file {file} of --passwords needs lines such as "folder/document.pdf" = "password".')
    return table


def _password_lines(text: str, file: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        document, mark, word = line.partition(" = ") if " = " in line else line.partition("=")
        if not mark or not document.strip() or not word.strip():
            raise UserError(f'Line {number} of {file} is not of the form "document = password".')
        found[_unquoted(document)] = _unquoted(word)
    return found


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def verdicts(file: Path | None) -> Verdicts:
    """Read a file of decisions: a list, an object with `decisions`, or one object a line. Raises UserError."""
    if file is None:
        return Verdicts()
    text = sys.stdin.read() if str(file) == "-" else _text_of(file, "--decisions")
    value = _json_of(text, file)
    if isinstance(value, Mapping) and "finding_id" in value:
        value = [value]
    if isinstance(value, list):
        return Verdicts(decisions=value)
    if not isinstance(value, Mapping) or not ({"decisions", "accept_all"} & set(value)):
        raise UserError(f"The file {file} holds no decisions: {_SHAPE}")
    unknown = sorted(set(map(str, value)) - _REPLY_KEYS)
    if unknown:
        raise UserError(f"The file {file} has the key {unknown[0]!r}, which means nothing here: {_SHAPE}")
    if not isinstance(value.get("decisions"), list | None) or value.get("accept_all") not in (None, True, False):
        raise UserError(f"The file {file} holds no list of decisions: {_SHAPE}")
    texts = {key: value[key] for key in ("reviewer", "reason", "packet") if value.get(key)}
    if not all(isinstance(one, str) for one in texts.values()):
        raise UserError(f"In the file {file} reviewer, reason and packet must be texts.")
    return Verdicts(value.get("decisions"), accept_all=bool(value.get("accept_all")), **texts)


_SHAPE = 'it needs [{"finding_id": "…", "verdict": "accept" or "reject", "reason": "…"}].'


def _json_of(text: str, file: Path) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise UserError(f"The file {file} of --decisions nests too deeply: {_SHAPE}") from None
    except ValueError as whole:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines] if len(lines) > 1 else _not_json(file, whole)
        except ValueError:
            return _not_json(file, whole)


def _not_json(file: Path, error: ValueError) -> Any:
    raise UserError(f"The file {file} of --decisions is not JSON ({error}): {_SHAPE}") from None


def _text_of(file: Path, option: str) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"The file {file} of {option} is not UTF-8 text: save it as such.") from None
    except OSError as error:
        raise UserError(f"The file {file} of {option} cannot be read ({error.strerror}): check the path.") from None
