"""Starts and resumes as rows, with what each found, kept and lost, and what they add up to."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from graph.runtime.postgres.database import Database
from graph.runtime.postgres.lease import holds


async def resumed(
    database: Database, thread_id: str | None = None, *, resume_id: str | None = None
) -> list[dict[str, Any]]:
    """Rows of `resumes`, of one thread or of all, oldest first.

    Beside the columns: name, stopped_at and lost_seconds (None unless the one before was killed), documents_kept,
    kept_usd, success (see `success_of`).
    """
    rows = await database.rows("resumed", thread_id=thread_id, resume_id=resume_id)
    return await asyncio.to_thread(lambda: [_told(row) for row in rows])


def _told(row: Mapping[str, Any]) -> dict[str, Any]:
    # A process that was killed a moment ago has its lease still, and drives nothing all the same.
    told = {**row, "live": holds(row)}
    del told["host_key"], told["pid_started"]
    return {**told, "success": success_of(told)}


def success_of(row: Mapping[str, Any]) -> str:
    """running; ended (at the end of the run, or where it waits); stopped (in peace); failed; killed."""
    if row["ended_at"] is None:
        return "running" if row["live"] else "killed"
    if row["outcome"] == "ended":
        return "ended"
    return "failed" if row["outcome"] in ("failed", "lost") else "stopped"


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Of the resumes among these rows: runs, resumes, by_step, by_success, lost_seconds, kept_usd, documents_kept.

    kept_usd is what starting anew in the place of each resume would have paid once more.
    """
    again = [row for row in rows if row["kind"] == "resume"]
    return {
        "runs": len({row["thread_id"] for row in again}),
        "resumes": len(again),
        "by_step": dict(Counter(row["from_step"] or "end" for row in again)),
        "by_success": dict(Counter(row["success"] for row in again)),
        "lost_seconds": round(sum(row["lost_seconds"] or 0.0 for row in again), 3),
        "kept_usd": float(sum((Decimal(row["kept_usd"]) for row in again), Decimal(0))),
        "documents_kept": sum(int(row["documents_kept"]) for row in again),
    }
