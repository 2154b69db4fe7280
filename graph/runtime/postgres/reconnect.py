"""Waiting through an outage of the database: all statements together, for a limited time, with a notice of it."""

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
from graph.runtime.fault_points import fault_point
from nodes.domain.shared.errors import DatabaseUnreachable
from nodes.domain.shared.formats import duration

WAIT_SECONDS = 60.0
"""How long statements wait for a server that went away, unless the operator says otherwise."""

NOTICE_SECONDS = 1.0
"""Seconds before a notice is sent: after a shorter outage a dropped connection is a new one already."""

LONGEST_PAUSE = 1.0
"""Longest pause in seconds between two checks whether the server is back."""

LOST = ("08", "40", "57P01", "57P02", "57P03", "57P05", "53300")
"""Beginnings of SQLSTATEs after which the same statement is worth repeating: gone, restarting, deadlocked, full."""

Hook = Callable[[], Awaitable[None]]
Revive = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class OutageNotice:
    """Notice of an outage or of its end."""

    away: bool
    """Whether the server does not answer; False: it answers again."""
    since: datetime
    """When it was first missed, UTC."""
    seconds: float
    """Longest wait for the server; once it is back, the time that it was away."""

    def sentence(self) -> str:
        """Describe the outage for people in one line."""
        if self.away:
            return (
                f"The database does not answer since {self.since:%H:%M:%S} UTC; "
                f"waiting for it, at most {duration(self.seconds)}."
            )
        return f"The database answers again after {duration(self.seconds)}; going on."


class Renewable(Protocol):
    """A pool of connections."""

    async def drain(self) -> None:
        """Replace all connections by new ones."""


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone or the statement was rolled back for another: the same statement may work."""
    if isinstance(error, PoolClosed | psycopg.errors.PipelineAborted):
        return False  # ours, or what follows from an error that was raised already
    if isinstance(error, PoolTimeout | psycopg.InterfaceError):
        return True
    return isinstance(error, psycopg.OperationalError) and (error.sqlstate is None or error.sqlstate.startswith(LOST))


class Outage:
    """Outage handling of one server, for all its pools: one task checks whether it is back, all statements wait for it.

    `url` is a libpq address; `wait_seconds` how long is waited, 0 for not at all; `revive` is asked to start a server
    that died.
    """

    def __init__(self, url: str, wait_seconds: float = WAIT_SECONDS, revive: Revive | None = None) -> None:
        self.wait_seconds = wait_seconds
        self._url = url
        self._revive = revive
        self._pools: list[Renewable] = []
        self._hooks: list[Hook] = []
        self._listeners: list[Callable[[OutageNotice], None]] = []
        self._restoring: asyncio.Task[bool] | None = None
        self._since: datetime | None = None
        self._missed_at = 0.0
        self._given_up = False
        self._last: BaseException | None = None

    @property
    def away(self) -> bool:
        """Whether the server was missed and did not answer since."""
        return self._since is not None

    def add_pool(self, pool: Renewable) -> None:
        """Renew this pool after each outage, since its connections are dead by then."""
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
    def notifying(self, listener: Callable[[OutageNotice], None]) -> Iterator[None]:
        """Send the listener a notice of each outage that lasts, and of its end."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @asynccontextmanager
    async def closing(self) -> AsyncIterator[None]:
        """Stop checking for the server when the block ends."""
        try:
            yield
        finally:
            if self._restoring is not None:
                await ended([self._restoring])

    async def outlast(self, error: BaseException | None = None) -> None:
        """Return once the server answers; the caller then repeats its statement.

        Raises DatabaseUnreachable when it was away for longer than is waited, and at once as long as it stays away
        after that.
        """
        if error is not None:
            self._last = error
        if self._restoring is None or self._restoring.done():
            self._restoring = asyncio.create_task(self._restore(), name="outage")
        if not await asyncio.shield(self._restoring):
            raise self._unreachable() from self._last

    async def _restore(self) -> bool:
        """Wait for the server, then renew pools and run hooks before statements go on; False when it stays away."""
        if self._since is None:
            self._since, self._missed_at = datetime.now(UTC), time.monotonic()
        since, notice = self._since, _DelayedNotice(self, self._since)
        # By a timer: a server that is going down or coming up may keep a check waiting for seconds.
        timer = asyncio.get_running_loop().call_later(NOTICE_SECONDS, notice.send)
        try:
            if not await self._wait_for_answer():
                return False
        finally:
            timer.cancel()
        for pool in self._pools:
            await pool.drain()
        for hook in list(self._hooks):
            await hook()
        self._since, self._given_up = None, False
        if notice.sent:
            self._notify(OutageNotice(False, since, time.monotonic() - self._missed_at))
        return True

    async def _wait_for_answer(self) -> bool:
        """Wait until the server answers; False when that takes too long."""
        pause = 0.05
        while not await self._answers():
            away_seconds = time.monotonic() - self._missed_at
            if self._given_up or away_seconds >= self.wait_seconds:
                self._given_up = True
                return False
            if self._revive is not None:
                await self._revive()
            await asyncio.sleep(min(pause, max(0.0, self.wait_seconds - away_seconds)))
            pause = min(LONGEST_PAUSE, pause * 2)
        return True

    async def _answers(self) -> bool:
        try:
            with fault_point("database.look"):
                connection = await psycopg.AsyncConnection.connect(
                    self._url, connect_timeout=5, application_name="reprise"
                )
                await connection.close()
        except psycopg.Error as error:
            self._last = error
            return False
        return True

    def _notify(self, notice: OutageNotice) -> None:
        for listener in list(self._listeners):
            listener(notice)

    def _unreachable(self) -> DatabaseUnreachable:
        since = self._since or datetime.now(UTC)
        waited = f", longer than the {duration(self.wait_seconds)} that is waited for it" if self.wait_seconds else ""
        return DatabaseUnreachable(
            f"The database does not answer since {since:%H:%M:%S} UTC ({first_line(self._last)}){waited}; what was "
            "committed is safe. Start it, check it with: python run.py doctor, then resume."
        )


class _DelayedNotice:
    """Notice of an outage that is sent once it lasts; `sent` says whether it was."""

    def __init__(self, outage: Outage, since: datetime) -> None:
        self._outage, self._since = outage, since
        self.sent = False

    def send(self) -> None:
        """Notify the listeners that the server is away."""
        self.sent = True
        self._outage._notify(OutageNotice(True, self._since, self._outage.wait_seconds))


def first_line(error: BaseException | None) -> str:
    """First line of an error of a server or a library."""
    lines = str(error or "").strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


class Retries:
    """Retries of one statement: `may_retry` returns when the next attempt may begin.

    A statement that itself brings the server down is not repeated for ever: its attempts have the same time limit.
    """

    def __init__(self, outage: Outage) -> None:
        self._outage = outage
        self._first: float | None = None
        self._pause = 0.0

    async def ready(self) -> None:
        """Wait while the server is known to be away. Raises DatabaseUnreachable."""
        if self._outage.away:
            await self._outage.outlast()

    async def may_retry(self, error: psycopg.Error) -> bool:
        """Wait for the server and a short pause; whether the statement is to be tried again.

        Raises DatabaseUnreachable when the server stays away.
        """
        clock_time = time.monotonic()
        self._first = clock_time if self._first is None else self._first
        if not is_lost(error) or self._outage.wait_seconds <= 0 or clock_time - self._first > self._outage.wait_seconds:
            return False
        await self._outage.outlast(error)
        await asyncio.sleep(self._pause)
        self._pause = min(LONGEST_PAUSE, self._pause * 2 or 0.05)
        return True
