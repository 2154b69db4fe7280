"""An outage of the database is waited for: by all statements together, for a bounded time, with word of it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from graph.runtime.cancel import ended
from graph.runtime.fault_points import boundary
from nodes.domain.shared.errors import DatabaseUnreachable
from nodes.domain.shared.formats import duration

WAIT_SECONDS = 60.0
"""How long statements wait for a server that went away, unless the operator says otherwise."""

TELL_SECONDS = 1.0
"""A shorter outage is no news: a connection that was dropped is a new one by then."""

LONGEST_PAUSE = 1.0
"""Seconds between two looks whether the server is back."""

LOST = ("08", "40", "57P01", "57P02", "57P03", "57P05", "53300")
"""Beginnings of SQLSTATEs after which the same statement is worth repeating: gone, restarting, deadlocked, full."""

Hook = Callable[[], Awaitable[None]]
Revive = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Word:
    """What is said of an outage."""

    away: bool
    """The server does not answer; False: it answers again."""
    since: datetime
    """When it was first missed, UTC."""
    seconds: float
    """How long it is waited for at most; how long it was away once it is back."""

    def sentence(self) -> str:
        """For people, in one line."""
        if self.away:
            return (
                f"The database does not answer since {self.since:%H:%M:%S} UTC; "
                f"waiting for it, at most {duration(self.seconds)}."
            )
        return f"The database answers again after {duration(self.seconds)}; going on."


class Renewable(Protocol):
    """A pool of connections."""

    async def drain(self) -> None:
        """Make new connections instead of those that it has."""


def is_lost(error: BaseException) -> bool:
    """The connection is gone, or the statement was undone for the sake of another: the same statement may work."""
    if isinstance(error, PoolClosed | psycopg.errors.PipelineAborted):
        return False  # ours, or what follows from an error that was raised already
    if isinstance(error, PoolTimeout | psycopg.InterfaceError):
        return True
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate.startswith(LOST))


class Outage:
    """Of one server, whatever the number of pools: one task looks whether it is back, all statements wait for that.

    `url` is a libpq address; `wait_seconds` how long is waited, 0 for not at all; `revive` is asked to start a server
    that died.
    """

    def __init__(self, url: str, wait_seconds: float = WAIT_SECONDS, revive: Revive | None = None) -> None:
        self.wait_seconds = wait_seconds
        self._url = url
        self._revive = revive
        self._pools: list[Renewable] = []
        self._hooks: list[Hook] = []
        self._listeners: list[Callable[[Word], None]] = []
        self._looking: asyncio.Task[bool] | None = None
        self._since: datetime | None = None
        self._missed = 0.0
        self._given_up = False
        self._last: BaseException | None = None

    @property
    def away(self) -> bool:
        """The server was missed and did not answer since."""
        return self._since is not None

    def covers(self, pool: Renewable) -> None:
        """Renew this pool after an outage: what it holds then are connections to nobody."""
        self._pools.append(pool)

    @contextlib.contextmanager
    def afterwards(self, hook: Hook) -> Iterator[None]:
        """Await the hook after each outage, before any statement goes on."""
        self._hooks.append(hook)
        try:
            yield
        finally:
            self._hooks.remove(hook)

    @contextlib.contextmanager
    def telling(self, listener: Callable[[Word], None]) -> Iterator[None]:
        """Tell the listener of each outage that lasts, and of its end."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[None]:
        """Stop looking when the block ends."""
        try:
            yield
        finally:
            if self._looking is not None:
                await ended([self._looking])

    async def outlast(self, error: BaseException | None = None) -> None:
        """Return once the server answers; the caller then repeats its statement.

        Raises DatabaseUnreachable when it was away for longer than is waited, and at once as long as it stays away
        after that.
        """
        if error is not None:
            self._last = error
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="outage")
        if not await asyncio.shield(self._looking):
            raise self._unreachable() from self._last

    async def _look(self) -> bool:
        """Whether the server is back within the time; everything is made ready before anybody goes on."""
        if self._since is None:
            self._since, self._missed = datetime.now(UTC), time.monotonic()
        since, news = self._since, _News(self, self._since)
        # By a timer: a server that is going down or coming up may keep a look waiting for seconds.
        timer = asyncio.get_running_loop().call_later(TELL_SECONDS, news.tell)
        try:
            if not await self._back():
                return False
        finally:
            timer.cancel()
        for pool in self._pools:
            await pool.drain()
        for hook in list(self._hooks):
            await hook()
        self._since, self._given_up = None, False
        if news.told:
            self._tell(Word(False, since, time.monotonic() - self._missed))
        return True

    async def _back(self) -> bool:
        """Wait until the server answers; False when that takes too long."""
        pause = 0.05
        while not await self._answers():
            missed = time.monotonic() - self._missed
            if self._given_up or missed >= self.wait_seconds:
                self._given_up = True
                return False
            if self._revive is not None:
                await self._revive()
            await asyncio.sleep(min(pause, max(0.0, self.wait_seconds - missed)))
            pause = min(LONGEST_PAUSE, pause * 2)
        return True

    async def _answers(self) -> bool:
        try:
            with boundary("database.look"):
                connection = await psycopg.AsyncConnection.connect(
                    self._url, connect_timeout=5, application_name="reprise"
                )
                await connection.close()
        except psycopg.Error as error:
            self._last = error
            return False
        return True

    def _tell(self, word: Word) -> None:
        for listener in list(self._listeners):
            listener(word)

    def _unreachable(self) -> DatabaseUnreachable:
        since = self._since or datetime.now(UTC)
        waited = f", longer than the {duration(self.wait_seconds)} that is waited for it" if self.wait_seconds else ""
        return DatabaseUnreachable(
            f"The database does not answer since {since:%H:%M:%S} UTC ({first_line(self._last)}){waited}; what was "
            "committed is safe. Start it, check it with: python run.py doctor, then resume."
        )


class _News:
    """Word of one outage that lasts; `told` once it was given."""

    def __init__(self, outage: Outage, since: datetime) -> None:
        self._outage, self._since = outage, since
        self.told = False

    def tell(self) -> None:
        """Say that the server is missed."""
        self.told = True
        self._outage._tell(Word(True, self._since, self._outage.wait_seconds))


def first_line(error: BaseException | None) -> str:
    """What a server or a library said, in one line."""
    lines = str(error or "").strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


class Repeats:
    """The tries of one statement: `again` returns when the next may begin.

    A statement that is itself what brings the server down is not repeated for ever: its tries have the same limit.
    """

    def __init__(self, outage: Outage) -> None:
        self._outage = outage
        self._first: float | None = None
        self._pause = 0.0

    async def ready(self) -> None:
        """Wait while the server is known to be away. Raises DatabaseUnreachable."""
        if self._outage.away:
            await self._outage.outlast()

    async def again(self, error: psycopg.Error) -> bool:
        """Whether the statement is to be tried again, after the outage and a short pause.

        Raises DatabaseUnreachable when the server stays away.
        """
        now = time.monotonic()
        self._first = now if self._first is None else self._first
        if not is_lost(error) or self._outage.wait_seconds <= 0 or now - self._first > self._outage.wait_seconds:
            return False
        await self._outage.outlast(error)
        await asyncio.sleep(self._pause)
        self._pause = min(LONGEST_PAUSE, self._pause * 2 or 0.05)
        return True
