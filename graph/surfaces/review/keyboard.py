"""Single keys and typed lines from a terminal."""

from __future__ import annotations

import os
import signal
import sys
from types import TracebackType
from typing import Any, Self

from rich.text import Text

from graph.surfaces.terminal.output import console
from nodes.domain.shared.formats import clean

try:
    import termios
except ImportError:  # a terminal without termios still has keys, by way of typer
    termios = None  # type: ignore[assignment]

LEAVE_KEYS = ("\x03", "\x04", "\x1b", "")
"""Ctrl-C, Ctrl-D, Escape, and the end of input."""


class Keyboard:
    """A terminal that gives single keys while the block lasts: nothing is echoed, and Ctrl-C is a key like others.

    Waits in the thread that calls it, on purpose: a thread that waits for keys could not be ended by a signal.
    """

    def __init__(self) -> None:
        self._saved_modes: list[Any] | None = None

    def __enter__(self) -> Self:
        self._enter_raw_mode()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._restore_mode()

    def forget(self) -> None:
        """Drop what was typed so far: a key pressed before a screen was seen decides nothing on it."""
        if self._saved_modes is not None:
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

    def key(self) -> str:
        """Wait for the next key; returns it in lower case, and q for every key that means to leave."""
        if self._saved_modes is None:
            import typer

            try:
                key = typer.getchar()
            except (KeyboardInterrupt, EOFError):
                return "q"
        else:
            # What one key press sends (an arrow sends three bytes) is one key, or its rest would be taken for others.
            key = os.read(sys.stdin.fileno(), 32).decode("utf-8", "replace")
        return "q" if key in LEAVE_KEYS else key.casefold()

    def line(self, question: str) -> str:
        """Ask for a line; "" for Enter, Ctrl-D or Ctrl-C alone."""
        self._restore_mode()
        try:
            return ask_line(question)
        finally:
            self._enter_raw_mode()

    def _enter_raw_mode(self) -> None:
        if termios is None or self._saved_modes is not None:
            return
        self._saved_modes = termios.tcgetattr(sys.stdin.fileno())
        changed = termios.tcgetattr(sys.stdin.fileno())
        changed[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG)
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, changed)

    def _restore_mode(self) -> None:
        if self._saved_modes is not None:
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._saved_modes)
            self._saved_modes = None


def ask_line(question: str) -> str:
    """Ask for a line outside of a Keyboard; "" for Enter, Ctrl-D or Ctrl-C alone."""
    console().print(Text(question, style="bold"))
    # asyncio's own handler would swallow the first Ctrl-C and leave the prompt standing.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return clean(input("> ")).strip()
    except (EOFError, KeyboardInterrupt):
        return ""
    finally:
        signal.signal(signal.SIGINT, before)
