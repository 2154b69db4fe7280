"""Starts and resumes of runs, with what each kept and lost, and their totals."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypedDict, cast

from graph.runtime.postgres.database import Database
from graph.runtime.postgres.lease import holds

Success = Literal["running", "ended", "stopped", "failed", "killed"]


class ResumeRow(TypedDict):
    """One start or resume of a run: a row of reprise.resumes and what follows from it."""

    resume_id: str
    thread_id: str
    kind: Literal["start", "resume"]
    owner: str
    host: str
    pid: int
    workflow_version: int
    from_step: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str
    error: str
    changes: dict[str, Any]
    name: str | None
    live: bool
    stopped_at: datetime | None
    """Last sign of the drive before, where that was killed; else None, as `lost_seconds`."""
    lost_seconds: float | None
    documents_kept: int
    kept_usd: Decimal
    success: Success


class ResumeTotals(TypedDict):
    """Totals of resumes; kept_usd is what starting anew in the place of each would have paid once more."""

    runs: int
    resumes: int
    by_step: dict[str, int]
    by_success: dict[str, int]
    lost_seconds: float
    kept_usd: float
    documents_kept: int


async def resumed(database: Database, thread_id: str | None = None, *, resume_id: str | None = None) -> list[ResumeRow]:
    """Read the starts and resumes of one thread or of all, oldest first."""
    rows = await database.rows("resumed", thread_id=thread_id, resume_id=resume_id)
    return await asyncio.to_thread(lambda: [_resume_row(row) for row in rows])


def _resume_row(row: Mapping[str, Any]) -> ResumeRow:
    # A process that was killed a moment ago has its lease still, and drives nothing all the same.
    columns = {**row, "live": holds(row)}
    del columns["host_key"], columns["pid_started"]
    return cast(ResumeRow, {**columns, "success": success_of(columns)})


def success_of(row: Mapping[str, Any]) -> Success:
    """Tell how a drive went: running; ended (at the end of the run, or where it waits); stopped (in peace); failed;
    killed."""
    if row["ended_at"] is None:
        return "running" if row["live"] else "killed"
    if row["outcome"] == "ended":
        return "ended"
    return "failed" if row["outcome"] in ("failed", "lost") else "stopped"


def summary(rows: Sequence[ResumeRow]) -> ResumeTotals:
    """Add up the resumes among these rows; starts are left out."""
    resumes = [row for row in rows if row["kind"] == "resume"]
    return {
        "runs": len({row["thread_id"] for row in resumes}),
        "resumes": len(resumes),
        "by_step": dict(Counter(row["from_step"] or "end" for row in resumes)),
        "by_success": dict(Counter(row["success"] for row in resumes)),
        "lost_seconds": round(sum(row["lost_seconds"] or 0.0 for row in resumes), 3),
        "kept_usd": float(sum((Decimal(row["kept_usd"]) for row in resumes), Decimal(0))),
        "documents_kept": sum(int(row["documents_kept"]) for row in resumes),
    }
