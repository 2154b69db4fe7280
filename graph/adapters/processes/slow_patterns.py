"""Which regular expressions of a playbook take too long, tried out in a child process that can be killed."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from graph.adapters.processes.worker_pool import WorkerDied, WorkerError, WorkerPool, WorkerTimeout
from nodes.domain.playbook.redos_probe import attacks

ONE_SECONDS = 2.0
"""A usual pattern takes a hundredth of it on all its texts."""


def try_out(patterns: Sequence[str], seconds: float) -> list[int]:
    """Places of the patterns that took longer; runs in a child process, where one may never come to an end."""
    slow = []
    before = signal.signal(signal.SIGALRM, _too_long)
    try:
        for place, pattern in enumerate(patterns):
            compiled = re.compile(pattern, re.IGNORECASE)
            texts = attacks(pattern)
            # The library looks for signals while it searches.
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                for text in texts:
                    compiled.search(text)
            except _TooLong:
                slow.append(place)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    return slow


class _TooLong(Exception):
    pass


def _too_long(number: int, frame: object) -> None:
    raise _TooLong


async def slow_ones(patterns: Sequence[str], seconds: float = ONE_SECONDS) -> list[int]:
    """Places of the patterns that take longer than `seconds` on a text made against them."""
    children = WorkerPool(1)
    try:
        return await _among(children, list(patterns), 0, seconds)
    finally:
        await children.aclose()


async def _among(children: WorkerPool, patterns: list[str], first: int, seconds: float) -> list[int]:
    """All at once, and where that does not come to its end all the same, each half by itself."""
    if not patterns:
        return []
    try:
        found = await children.run(try_out, patterns, seconds, timeout=5 + seconds * len(patterns))
        return [first + int(place) for place in found]
    except (WorkerTimeout, WorkerDied, WorkerError):
        if len(patterns) == 1:
            return [first]
        half = len(patterns) // 2
        left = await _among(children, patterns[:half], first, seconds)
        return [*left, *await _among(children, patterns[half:], first + half, seconds)]
