"""Output streams: results go to stdout, progress and hints to stderr, JSON as one object a line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

from nodes.domain.shared.formats import clean

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 120
"""Columns of the output where no terminal states its width."""


@cache
def console() -> Console:
    """The console for results, on stdout. Colour only on a terminal, and not with NO_COLOR."""
    return _console(stderr=False)


@cache
def messages() -> Console:
    """The console for progress, hints and errors, on stderr."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    from rich import console as library

    class Console(library.Console):
        def on_broken_pipe(self) -> None:
            """Leave the exit code to the caller: the library would end the program as one that failed."""
            raise BrokenPipeError

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def tolerate_any_output() -> None:
    """Let no output end the program: characters that the encoding lacks are escaped, closed streams swallow what is
    written to them."""
    _reopen_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _reopen_closed_streams() -> None:
    """Open closed standard streams on the null device: else the next file or connection would take their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            if os.open(os.devnull, os.O_RDWR) != number:
                continue
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - for good


def say(text: str) -> None:
    """Print one line for people on stderr, without any terminal control that a document smuggled in."""
    # A run is not ended by the loss of who reads its progress (start … 2>&1 | head), nor by a full disk under its log.
    with contextlib.suppress(OSError):
        sys.stderr.write(clean(text) + "\n")
        sys.stderr.flush()


def emit(data: Mapping[str, Any]) -> None:
    """Print one JSON object on one line of stdout."""
    line = json.dumps(data, ensure_ascii=False, default=_to_plain)
    if clean(line) != line or not _encodable(line):
        line = json.dumps(data, ensure_ascii=True, default=_to_plain)
    sys.stdout.write(line + "\n")


def _to_plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _encodable(line: str) -> bool:
    try:
        line.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
