"""The lease: one driver a thread, decided by one row and the database's clock."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import uuid
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from graph.runtime.cancel import ended
from graph.runtime.postgres.database import Database
from nodes.domain.shared.errors import DatabaseUnreachable, LeaseLost, ThreadBusy

OWNER = str(uuid.uuid4())
"""Id of this process in leases and fence; never the same twice."""

TTL_SECONDS = 30.0
"""A driver that does not extend its lease for so long may be overtaken."""

BEAT_SECONDS = 3.0
"""How often a driver extends its lease, and so the longest time until it hears that it was cancelled."""


@cache
def host_key() -> str:
    """Key of this machine, boot and pid namespace: only within one of them does a pid mean anything."""
    parts = [socket.gethostname()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with contextlib.suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def alive(pid: int, started: float) -> bool:
    """Whether that process, and not a later one with its pid, still runs. For this host only."""
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def holds(holder: Mapping[str, Any]) -> bool:
    """Whether the process of a `holder` row drives its thread now. A dead one of this machine does not, lease or no."""
    if not holder["live"] or holder["host_key"] != host_key():
        return bool(holder["live"])
    return alive(holder["pid"], holder["pid_started"])


def _this_process() -> tuple[int, float, str]:
    process = psutil.Process()
    return process.pid, process.create_time(), host_key()


class Lease:
    """Exclusive right to drive a thread, from `take` to `release`; `lost` is set once another owner has it."""

    def __init__(self, database: Database, thread_id: str, *, ttl: float = TTL_SECONDS) -> None:
        self.thread_id = thread_id
        self.lost = asyncio.Event()
        self._database = database
        self._ttl = ttl
        self._token = uuid.uuid4()
        self._beat: asyncio.Task[None] | None = None
        self._outages = contextlib.ExitStack()

    async def take(self) -> None:
        """Take the lease, at once when its holder is a dead process of this host, and record its lost calls.

        Raises ThreadBusy with holder and time.
        """
        dead_owner, self._token = "", uuid.uuid4()
        pid, started, this_host = await asyncio.to_thread(_this_process)  # it reads files
        for _ in range(2):
            lease = await self._database.row(
                "take",
                thread_id=self.thread_id,
                owner=OWNER,
                host=socket.gethostname(),
                host_key=this_host,
                pid=pid,
                pid_started=started,
                ttl=self._ttl,
                token=self._token,
                dead_owner=dead_owner,
            )
            if lease:
                await self._database.execute("settle_lost", thread_id=self.thread_id)
                await self._database.execute("drop_claims", thread_id=self.thread_id)
                return
            holder = await self._database.row("holder", thread_id=self.thread_id)
            if holder is None or not holder["live"]:
                continue
            if holder["host_key"] != this_host or await asyncio.to_thread(alive, holder["pid"], holder["pid_started"]):
                raise ThreadBusy(busy(self.thread_id, holder["host"], holder["pid"], holder["taken_at"]))
            dead_owner = holder["owner"]
        raise ThreadBusy(f"Another process has just taken thread {self.thread_id}; look with: python run.py status")

    def keep(self, on_cancel: Callable[[], None], on_lost: Callable[[], None]) -> None:
        """Extend the lease in the background until `release`; after an outage compare it before anything goes on."""

        async def compare() -> None:
            await self._extend(on_cancel, on_lost)

        self._outages.enter_context(self._database.outage.afterwards(compare))
        self._beat = asyncio.create_task(self._keep(compare), name=f"lease {self.thread_id}")

    async def release(self) -> None:
        """Give the lease back; a lease that was lost is left to its new owner."""
        self._outages.close()
        if self._beat is not None:
            await ended([self._beat])
        await self._database.execute("release", thread_id=self.thread_id, owner=OWNER, token=self._token)

    async def check(self) -> None:
        """Raise LeaseLost unless this process still holds the lease."""
        if await self._database.row("extend", **self._key_of_row()) is None:
            self.lost.set()
            raise LeaseLost(f"Another process took thread {self.thread_id} over; nothing more was written here.")

    async def _keep(self, extend: Callable[[], Awaitable[None]]) -> None:
        while not self.lost.is_set():
            await asyncio.sleep(min(BEAT_SECONDS, self._ttl / 3))
            await extend()

    async def _extend(self, on_cancel: Callable[[], None], on_lost: Callable[[], None]) -> None:
        """Extend the lease by the database's clock, unless another owner has it; also after it ran out in an outage."""
        try:
            row = await self._database.once("extend", **self._key_of_row())
        except DatabaseUnreachable:
            return  # whoever needs the database waits for it; then this is tried again
        if row is None:
            self.lost.set()
            on_lost()
        elif row["cancelled"]:
            on_cancel()

    def _key_of_row(self) -> dict[str, Any]:
        return {"thread_id": self.thread_id, "owner": OWNER, "token": self._token, "ttl": self._ttl}


def busy(thread_id: str, host: str, pid: int, since: datetime) -> str:
    """The sentence for a held lease."""
    return (
        f"Thread {thread_id} is driven by process {pid} on {host} since {since:%Y-%m-%d %H:%M:%S} UTC; "
        f"watch it with: python run.py status {thread_id}"
    )
