"""Finds regular expressions of a playbook that take too long, tried in a worker that can be killed."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence

from graph.adapters.processes.worker_pool import WorkerDied, WorkerError, WorkerPool, WorkerTimeout
from nodes.domain.playbook.redos_probe import slow_texts

SECONDS_A_PATTERN = 2.0
"""A usual pattern takes a hundredth of it on all its texts."""


def slow_places(patterns: Sequence[str], seconds: float) -> list[int]:
    """Try each pattern; returns the places of slow ones. Runs in a worker process, where one may never end."""
    slow = []
    before = signal.signal(signal.SIGALRM, _raise_timeout)
    try:
        for place, pattern in enumerate(patterns):
            compiled = re.compile(pattern, re.IGNORECASE)
            texts = slow_texts(pattern)
            # The library looks for signals while it searches.
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                for text in texts:
                    compiled.search(text)
            except _PatternTimeout:
                slow.append(place)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    return slow


class _PatternTimeout(Exception):
    pass


def _raise_timeout(number: int, frame: object) -> None:
    raise _PatternTimeout


async def find_slow_patterns(patterns: Sequence[str], seconds: float = SECONDS_A_PATTERN) -> list[int]:
    """Find the places of patterns that take longer than `seconds` on a text made against them."""
    pool = WorkerPool(1)
    try:
        return await _slow_among(pool, list(patterns), 0, seconds)
    finally:
        await pool.aclose()


async def _slow_among(pool: WorkerPool, patterns: list[str], first: int, seconds: float) -> list[int]:
    """Try all patterns at once; where that does not end, try each half by itself."""
    if not patterns:
        return []
    try:
        slow = await pool.run(slow_places, patterns, seconds, timeout=5 + seconds * len(patterns))
        return [first + int(place) for place in slow]
    except (WorkerTimeout, WorkerDied, WorkerError):
        if len(patterns) == 1:
            return [first]
        half = len(patterns) // 2
        first_half = await _slow_among(pool, patterns[:half], first, seconds)
        return [*first_half, *await _slow_among(pool, patterns[half:], first + half, seconds)]
