"""Documents in flight: the plain pool of LangGraph without a driver, and the driver's read-ahead."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from nodes.domain.run import Run

Work = Callable[[int], Awaitable[None]]

GRACE_SECONDS = 20.0
"""How long calls in flight may go on after a drain was asked for, or after another document broke the run."""

LOOK_SECONDS = 0.2
"""How often a waiting step looks whether it is to stop."""


class PlainPool:
    """The documents of one batch, `concurrency` at a time; nothing outlives the step."""

    async def settle(
        self,
        run: Run,
        wanted: Sequence[int],
        following: Sequence[int],
        work: Work,
        on_done: Callable[[int], None],
        stop: Callable[[], bool],
    ) -> None:
        """See nodes.ports.Pool; `following` is left alone."""
        pool = ReadAhead()
        try:
            await pool.settle(run, wanted, (), work, on_done, stop)
        finally:
            await pool.aclose()


class ReadAhead:
    """Keeps `concurrency` documents in flight across the borders of batches, so that a slow one idles nobody.

    Belongs to one driver of one run, which closes it on every exit.
    """

    def __init__(self, grace: float = GRACE_SECONDS) -> None:
        self._grace = grace
        self._running: dict[int, asyncio.Task[None]] = {}
        self._done: set[int] = set()
        self._queue: deque[int] = deque()
        self._ahead: Sequence[int] = ()
        self._next = 0
        self._limit = 1
        self._open = True
        self._error: BaseException | None = None
        self._work: Work | None = None
        self._on_done: Callable[[int], None] = lambda ordinal: None
        self._changed = asyncio.Event()

    async def settle(
        self,
        run: Run,
        wanted: Sequence[int],
        following: Sequence[int],
        work: Work,
        on_done: Callable[[int], None],
        stop: Callable[[], bool],
    ) -> None:
        """See nodes.ports.Pool."""
        self._work, self._on_done, self._limit = work, on_done, run.settings.concurrency
        self._queue = deque(o for o in wanted if o not in self._done and o not in self._running)
        self._ahead = following
        self._next = 0
        self._open, self._error = True, None
        self._fill()
        while not self._done.issuperset(wanted):
            if self._error is not None or stop():
                await self._drain()
                if self._error is not None:
                    raise self._error
                return
            self._changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), LOOK_SECONDS)

    async def aclose(self) -> None:
        """Cancel what is left; each call in flight is journalled as abandoned."""
        self._open = False
        for task in self._running.values():
            task.cancel()
        while self._running:
            await asyncio.wait(list(self._running.values()))
            await asyncio.sleep(0)

    def _fill(self) -> None:
        while self._open and self._error is None and len(self._running) < self._limit:
            ordinal = self._take()
            if ordinal is None or self._work is None:
                return
            task = asyncio.create_task(_run(self._work, ordinal), name=f"document {ordinal}")
            self._running[ordinal] = task
            task.add_done_callback(lambda task, ordinal=ordinal: self._collect(ordinal, task))  # type: ignore[misc]

    def _take(self) -> int | None:
        if self._queue:
            return self._queue.popleft()
        while self._next < len(self._ahead):
            ordinal = self._ahead[self._next]
            self._next += 1
            if ordinal not in self._done and ordinal not in self._running:
                return ordinal
        return None

    def _collect(self, ordinal: int, task: asyncio.Task[None]) -> None:
        del self._running[ordinal]
        if task.cancelled():
            pass
        elif (error := task.exception()) is not None:
            self._error = self._error or error
        else:
            self._done.add(ordinal)
            self._on_done(ordinal)
        self._changed.set()
        self._fill()

    async def _drain(self) -> None:
        """No new document; those in flight get the grace, then they are cancelled."""
        self._open = False
        if self._running:
            await asyncio.wait(list(self._running.values()), timeout=self._grace)
        await self.aclose()


async def _run(work: Work, ordinal: int) -> None:
    await work(ordinal)
