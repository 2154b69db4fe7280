"""Fault points: named places around everything that reaches outside, where a drill kills and a test listens.

A fault point is passed twice: before the thing is done and after it was done. A process that was told to die at one
dies by SIGKILL there, exactly as it would in a power cut: no handler runs, nothing is flushed.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

current_fault_point: ContextVar[str] = ContextVar("inside", default="")
"""Name of the fault point that the current task is within; "" outside of all."""

Listener = Callable[[str], None]

_listeners: list[Listener] = []


@contextmanager
def fault_point(name: str) -> Iterator[None]:
    """Pass a fault point: `name:before`, then, unless the block raises, `name:after`."""
    for listener in _listeners:
        listener(f"{name}:before")
    token = current_fault_point.set(name)
    try:
        yield
    finally:
        current_fault_point.reset(token)
    for listener in _listeners:
        listener(f"{name}:after")


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call the listener at every fault point that this process passes, for as long as the block runs."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def dying_at(place: str) -> Listener:
    """A listener that kills this process at the n-th passing of a place, written `name:side` or `name:side:n`.

    With `+seconds` at its end it dies so much later, wherever it then is: between two fault points as well.
    """
    passing, _, delay = place.partition("+")
    name, _, side = passing.partition(":")
    side, _, nth = side.partition(":")
    target, remaining, seconds = f"{name}:{side}", int(nth or 1), float(delay or 0)
    if side not in ("before", "after") or remaining < 1 or seconds < 0:
        raise ValueError(f"a place to die at is written name:before or name:after:3+0.25, not {place!r}")

    def listen(passed: str) -> None:
        nonlocal remaining
        if passed == target:
            remaining -= 1
            if remaining == 0 and not seconds:
                _die()
            elif remaining == 0:
                timer = threading.Timer(seconds, _die)
                timer.daemon = True  # a process that ends before is not held up
                timer.start()

    return listen


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def tracing_into(path: Path) -> Listener:
    """A listener that appends each passing to a file, a line each, at once: the trace of a killed process is whole."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def listen(passed: str) -> None:
        os.write(descriptor, f"{passed}\n".encode())

    return listen


def read_trace(path: Path) -> list[str]:
    """All passings of a trace, in their order."""
    return path.read_text("utf-8").split()


def trace_counts(path: Path) -> Counter[str]:
    """Passings of a trace counted by place, in the order of the first passing."""
    return Counter(read_trace(path))
