"""What a run has left to do, and from what is done, what that may cost and take."""

from __future__ import annotations

from dataclasses import dataclass

from graph.runtime.postgres.database import Database
from nodes.domain.runs.settings import Run, Tally


@dataclass(frozen=True, slots=True)
class RemainingWork:
    """Documents that are left, with an estimate of their cost and time."""

    documents: int
    usd: float | None
    """None while no document is done."""
    seconds: float | None
    """None while fewer than two documents are done."""


async def remaining_work(database: Database, run: Run, tally: Tally, usd: float) -> RemainingWork:
    """The estimate for a run; `usd` is what it has cost so far."""
    documents = run.documents_total - sum(tally.documents[state] for state in ("done", "failed", "skipped"))
    done = tally.documents["done"]
    pace = await database.row("pace", run_id=run.run_id) or {}
    seconds = float(pace["seconds"]) / (pace["n"] - 1) * documents if (pace.get("n") or 0) > 1 else None
    return RemainingWork(documents, usd / done * documents if done else None, seconds)
