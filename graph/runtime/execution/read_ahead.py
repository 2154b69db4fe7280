"""Documents in flight: the plain pool of LangGraph without a driver, and the driver's read-ahead."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any

from graph.runtime.cancel import drain_check, ended
from nodes.domain.runs.settings import Run

Work = Callable[[int], Awaitable[None]]
Following = Callable[[], Awaitable[Sequence[int]]]

GRACE_SECONDS = 20.0
"""How long calls in flight may go on after a drain was asked for, or after another document broke the run."""

CHECK_SECONDS = 0.2
"""How often a waiting step checks whether it is to stop."""


class PlainPool:
    """Processes the documents of one batch, `concurrency` at a time; nothing outlives the step."""

    async def process(
        self,
        run: Run,
        ordinals: Sequence[int],
        following: Following,
        work: Work,
        on_done: Callable[[int], None],
        stop: Callable[[], bool],
        *,
        ahead: int = 0,
        wait: float | None = None,
        lane: int = 0,
    ) -> list[int]:
        """See nodes.ports.Pool; `following` is not called, and late documents are cancelled."""
        pool = ReadAhead()
        try:
            return await pool.process(
                run, ordinals, _no_ordinals, work, on_done, stop, ahead=ahead, wait=wait, lane=lane
            )
        finally:
            await pool.aclose()

    def slot(self) -> AbstractAsyncContextManager[None]:
        """See nodes.ports.Pool."""
        return _slot()


class ReadAhead:
    """Keeps `concurrency` documents in flight across the borders of batches, so that a slow one idles nobody.

    With `ahead`, so many more are prepared while those in their slots are being processed.

    Belongs to one driver of one run, which closes it on every exit. While `away` says that the database is away nobody
    can finish, so that this time does not count for a document.
    """

    def __init__(self, grace: float = GRACE_SECONDS, away: Callable[[], bool] = lambda: False) -> None:
        self._grace = grace
        self._away = away
        self._running: dict[int, asyncio.Task[None]] = {}
        self._lane_of: dict[int, int] = {}
        self._done: set[int] = set()
        self._missing: set[int] = set()
        self._queue: deque[int] = deque()
        self._ahead: deque[int] | None = None
        self._lane = 0
        self._limit = 1
        self._slots = asyncio.Semaphore(1)
        self._waiting: set[asyncio.Task[Any]] = set()
        self._open = True
        self._stop: Callable[[], bool] = lambda: False
        self._error: BaseException | None = None
        self._work: Work | None = None
        self._on_done: Callable[[int], None] = lambda ordinal: None
        self._changed = asyncio.Event()
        self._last = 0.0

    @property
    def draining(self) -> bool:
        """Whether no new call may begin."""
        return not self._open or self._stop()

    @property
    def in_flight(self) -> int:
        """Number of documents that are being processed."""
        return len(self._running)

    async def process(
        self,
        run: Run,
        ordinals: Sequence[int],
        following: Following,
        work: Work,
        on_done: Callable[[int], None],
        stop: Callable[[], bool],
        *,
        ahead: int = 0,
        wait: float | None = None,
        lane: int = 0,
    ) -> list[int]:
        """See nodes.ports.Pool; late documents stay in flight."""
        if self._ahead is None:
            self._slots = asyncio.Semaphore(run.settings.concurrency)
        if self._ahead is None or lane != self._lane:
            self._lane, self._done = lane, set()
            self._ahead = deque(await following())
        self._work, self._on_done, self._limit = work, on_done, run.settings.concurrency + ahead
        self._missing = set(ordinals) - self._done
        self._queue = deque(
            ordinal for ordinal in ordinals if ordinal in self._missing and ordinal not in self._running
        )
        self._open, self._error, self._stop = True, None, stop
        clock = asyncio.get_running_loop().time
        self._last = clock()
        self._fill()
        while self._missing:
            if self._error is not None or stop():
                await self.drain()
                if self._error is not None:
                    raise self._error
                return []
            if self._away():
                self._last = clock()
            if wait is not None and clock() - self._last >= wait and self._missing <= self._running.keys():
                return sorted(self._missing)
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await self._changed.wait()
        return []

    def slot(self) -> AbstractAsyncContextManager[None]:
        """See nodes.ports.Pool."""
        return _slot()

    @asynccontextmanager
    async def own_slot(self) -> AsyncIterator[None]:
        """Hold one of `concurrency` slots; a document that waits for one at a drain is cancelled."""
        task = asyncio.current_task()
        assert task is not None
        slots = self._slots
        self._waiting.add(task)
        try:
            if self.draining:
                raise asyncio.CancelledError
            await slots.acquire()
        finally:
            self._waiting.discard(task)
        try:
            if self.draining:
                raise asyncio.CancelledError
            yield
        finally:
            slots.release()

    async def aclose(self) -> None:
        """Cancel all documents in flight; each of their calls is journalled as abandoned."""
        self._open = False
        while self._running:
            await ended(list(self._running.values()))
            await asyncio.sleep(0)

    def _fill(self) -> None:
        while not self.draining and self._error is None and len(self._running) < self._limit:
            ordinal = self._take()
            if ordinal is None or self._work is None:
                return
            task = asyncio.create_task(_run(self, self._work, ordinal), name=f"document {ordinal}")
            self._running[ordinal], self._lane_of[ordinal] = task, self._lane
            task.add_done_callback(lambda task, ordinal=ordinal: self._collect(ordinal, task))  # type: ignore[misc]

    def _take(self) -> int | None:
        if self._queue:
            return self._queue.popleft()
        while self._ahead:
            ordinal = self._ahead.popleft()
            if ordinal not in self._done and ordinal not in self._running:
                return ordinal
        return None

    def _collect(self, ordinal: int, task: asyncio.Task[None]) -> None:
        del self._running[ordinal]
        lane = self._lane_of.pop(ordinal)
        if task.cancelled():
            pass
        elif (error := task.exception()) is not None:
            self._error = self._error or error
        elif lane != self._lane:
            # It was begun in the lane before, with the limits of that one: this lane processes it anew.
            if ordinal in self._missing:
                self._queue.append(ordinal)
        else:
            self._done.add(ordinal)
            if ordinal in self._missing:
                self._missing.remove(ordinal)
                self._last = asyncio.get_running_loop().time()
            self._on_done(ordinal)
        if not self._missing or self._error is not None:
            self._changed.set()
        self._fill()

    async def drain(self) -> None:
        """Begin no new document; those in flight get the grace, then they are cancelled."""
        self._open = False
        for task in self._waiting:
            task.cancel()
        if self._running:
            await asyncio.wait(list(self._running.values()), timeout=self._grace)
        await self.aclose()


_pool: ContextVar[ReadAhead | None] = ContextVar("pool", default=None)
"""The pool of the document that the current task works on."""


async def _run(pool: ReadAhead, work: Work, ordinal: int) -> None:
    _pool.set(pool)
    drain_check.set(lambda: pool.draining)
    await work(ordinal)


@asynccontextmanager
async def _slot() -> AsyncIterator[None]:
    pool = _pool.get()
    if pool is None:
        yield
        return
    async with pool.own_slot():
        yield


async def _no_ordinals() -> Sequence[int]:
    return ()
