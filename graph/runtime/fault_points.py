"""Named places around everything that reaches outside: where a drill kills this process, and what a test listens to.

A boundary is passed twice: before the thing is done and after it was done. A process that was told to die at one dies
by SIGKILL there, exactly as it would in a power cut: no handler runs, nothing is flushed.
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

inside: ContextVar[str] = ContextVar("inside", default="")
"""The boundary that the current task is within; "" outside of all."""

Listener = Callable[[str], None]

_listeners: list[Listener] = []


@contextmanager
def boundary(name: str) -> Iterator[None]:
    """Pass a boundary: `name:before`, then, unless the block raises, `name:after`."""
    for listener in _listeners:
        listener(f"{name}:before")
    token = inside.set(name)
    try:
        yield
    finally:
        inside.reset(token)
    for listener in _listeners:
        listener(f"{name}:after")


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear every boundary that this process passes, for as long as the block runs."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def dying_at(place: str) -> Listener:
    """A listener that kills this process at the n-th passing of a place, written `name:side` or `name:side:n`.

    With `+seconds` at its end it dies so much later, wherever it then is: between two boundaries as well.
    """
    passing, _, later = place.partition("+")
    name, _, side = passing.partition(":")
    side, _, nth = side.partition(":")
    wanted, left, seconds = f"{name}:{side}", int(nth or 1), float(later or 0)
    if side not in ("before", "after") or left < 1 or seconds < 0:
        raise ValueError(f"a place to die at is written name:before or name:after:3+0.25, not {place!r}")

    def listen(passed: str) -> None:
        nonlocal left
        if passed == wanted:
            left -= 1
            if left == 0 and not seconds:
                _die()
            elif left == 0:
                timer = threading.Timer(seconds, _die)
                timer.daemon = True  # a process that is done before is not kept
                timer.start()

    return listen


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def counting_into(path: Path) -> Listener:
    """A listener that appends each passing to a file, a line each, at once: what a killed process leaves is whole."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def listen(passed: str) -> None:
        os.write(descriptor, f"{passed}\n".encode())

    return listen


def passings(path: Path) -> list[str]:
    """Every passing that was told to a file, in its order."""
    return path.read_text("utf-8").split()


def counted(path: Path) -> Counter[str]:
    """How often each place was passed, in the order of the first passing."""
    return Counter(passings(path))
