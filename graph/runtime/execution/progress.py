"""Heartbeat and progress of a run: a row and an event every few seconds, and the progress as storage has it."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any, TypedDict

from graph.runtime.cancel import ended
from graph.runtime.postgres.database import Database
from graph.runtime.postgres.lease import OWNER
from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import RepriseError
from nodes.ports import Ledger

BEAT_SECONDS = 2.0
"""Seconds between two heartbeats."""

Emit = Callable[[Mapping[str, Any]], None]


class _Heartbeat:
    """Emits progress whenever a beat is due, across the borders of super-steps; satisfies nodes.ports.Heartbeat."""

    def __init__(self, seconds: float = BEAT_SECONDS) -> None:
        self._seconds = seconds
        self._last: dict[str, float] = {}

    @asynccontextmanager
    async def during(self, run: Run, emit: Emit) -> AsyncIterator[None]:
        beating = asyncio.create_task(self._beat_until_cancelled(run, emit), name=f"pulse {run.run_id}")
        try:
            yield
        finally:
            await ended([beating])

    async def _beat_until_cancelled(self, run: Run, emit: Emit) -> None:
        while True:
            last = self._last.get(run.run_id)
            due = 0.0 if last is None else last + self._seconds - time.monotonic()
            await asyncio.sleep(max(due, 0.0))
            self._last[run.run_id] = time.monotonic()
            # A heartbeat is no reason to end a run: whatever is wrong, the next call of a tool meets it too.
            with contextlib.suppress(RepriseError):
                emit({"event": "progress", **await self._beat(run)})

    async def _beat(self, run: Run) -> Mapping[str, Any]:
        raise NotImplementedError


class PostgresHeartbeat(_Heartbeat):
    """Writes each heartbeat to the database and emits the progress that storage shows."""

    def __init__(self, database: Database, seconds: float = BEAT_SECONDS) -> None:
        super().__init__(seconds)
        self._database = database

    async def _beat(self, run: Run) -> Mapping[str, Any]:
        await self._database.execute("beat", run_id=run.run_id, owner=OWNER, token=uuid.uuid4())
        return await progress(self._database, run.run_id)


class MemoryHeartbeat(_Heartbeat):
    """Only emits progress: nobody else can watch a run that is in this process alone."""

    def __init__(self, ledger: Ledger, seconds: float = BEAT_SECONDS) -> None:
        super().__init__(seconds)
        self._ledger = ledger
        self._first: dict[str, tuple[float, int, int]] = {}

    async def _beat(self, run: Run) -> Mapping[str, Any]:
        tally, spend = await self._ledger.tally(run.run_id), await self._ledger.spent(run.run_id)
        documents, clock_time = tally.documents, time.monotonic()
        settled = documents["done"] + documents["failed"] + documents["skipped"]
        began, settled_at_start, pages_at_start = self._first.setdefault(
            run.run_id, (clock_time, settled, tally.pages["total"])
        )
        row = {
            "total": documents["total"],
            "settled": settled,
            "deferred": documents["deferred"],
            "pages": tally.pages["total"],
            "usd": spend.usd,
            "budget_usd": run.settings.budget_usd,
            "silent_seconds": 0,
            "beat_documents": settled - settled_at_start,
            "beat_pages": tally.pages["total"] - pages_at_start,
            "beat_seconds": clock_time - began,
        }
        return _progress(row)


class DocumentProgress(TypedDict):
    """Counts of documents: all, settled ones that need no more work, deferred ones; and the pace a minute."""

    total: int
    settled: int
    deferred: int
    a_minute: float | None


class PageProgress(TypedDict):
    """Count of pages that were read, and the pace a minute."""

    total: int
    a_minute: float | None


class OldestCall(TypedDict):
    """The call that has been in flight for longest."""

    document: str
    tool: str
    model: str
    seconds: float


class Progress(TypedDict):
    """Progress of a run, its pace, and its oldest call in flight; JSON-plain."""

    documents: DocumentProgress
    pages: PageProgress
    eta_seconds: float | None
    spent_usd: float
    budget_usd: float | None
    in_flight: int
    oldest_call: OldestCall | None
    silent_seconds: float | None
    """Since the last heartbeat; None where there was none."""


async def progress(database: Database, run_id: str) -> Progress:
    """Read the progress of a run from storage alone."""
    return _progress(await database.row("progress", run_id=run_id) or {})


def _progress(row: Mapping[str, Any]) -> Progress:
    seconds = float(row.get("beat_seconds") or 0)
    a_second = row["beat_documents"] / seconds if seconds else 0.0
    total, settled = int(row.get("total") or 0), int(row.get("settled") or 0)
    budget, oldest = row.get("budget_usd"), row.get("oldest_tool")
    return {
        "documents": {
            "total": total,
            "settled": settled,
            "deferred": int(row.get("deferred") or 0),
            "a_minute": round(60 * a_second, 1) if a_second else None,
        },
        "pages": {
            "total": int(row.get("pages") or 0),
            "a_minute": round(60 * row["beat_pages"] / seconds, 1) if seconds else None,
        },
        "eta_seconds": round((total - settled) / a_second, 1) if a_second else None,
        "spent_usd": float(round(Decimal(row.get("usd") or 0), 6)),
        "budget_usd": None if budget is None else float(budget),
        "in_flight": int(row.get("in_flight") or 0),
        "oldest_call": {
            "document": row["oldest_document"],
            "tool": oldest,
            "model": row["oldest_model"],
            "seconds": round(float(row["oldest_seconds"]), 1),
        }
        if oldest
        else None,
        "silent_seconds": None if row.get("silent_seconds") is None else round(float(row["silent_seconds"]), 1),
    }
