"""Handles SIGINT and SIGTERM: the first lets a run stop at its next safe step, the second stops it at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from graph.app import Reprise

NAMES = {signal.SIGINT: "sigint", signal.SIGTERM: "sigterm"}

CLEANUP_SECONDS = 2.0
"""Seconds for cleaning up after the second signal; the resume settles what is then unfinished, as after a kill."""


class Terminated(BaseException):
    """SIGTERM came while no run was driven."""


def terminate_cleanly() -> None:
    """Let SIGTERM end this process through its `finally` blocks from here on."""
    with contextlib.suppress(ValueError):  # not the main thread: the signals are somebody else's
        signal.signal(signal.SIGTERM, _terminated)


def _terminated(number: int, frame: object) -> None:
    raise Terminated


class Signals:
    """Turns signals into a drain while a run is driven. `number` is the signal that came, None while none has."""

    def __init__(self, reprise: Reprise, report: Callable[[str], None]) -> None:
        self.number: int | None = None
        self._report = report
        self._reprise = reprise
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()

    def __enter__(self) -> Self:
        for number in NAMES:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                self._loop.add_signal_handler(number, self._on_signal, number)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number in NAMES:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                self._loop.remove_signal_handler(number)
        terminate_cleanly()

    def _on_signal(self, number: signal.Signals) -> None:
        repeated = self.number is not None
        self.number = int(number)
        if not repeated and self._reprise.drain(NAMES[number]):
            self._report(
                f"{number.name}: what is in flight is finished, then the run stops; once more stops it at once."
            )
            return
        if repeated:
            self._loop.call_later(CLEANUP_SECONDS, os._exit, 128 + int(number))
        if self._task is not None:
            self._task.cancel()


def take_back_cancellation() -> None:
    """Let the cancelled task go on: closing the stores awaits, and would be cut off as well."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
