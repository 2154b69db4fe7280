"""Read the records of threads: one statement for one thread or for a thousand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langgraph.types import StateSnapshot

from graph.composition import Container
from graph.runtime.postgres.checkpoints import LoadedCheckpoints
from graph.runtime.postgres.lease import holds
from graph.runtime.postgres.ledger import run_from_row, tally
from graph.views.outbox import EffectRow, effect_row
from nodes.domain.review.review import Decision
from nodes.domain.runs.settings import ArtifactRef, Run, Tally


@dataclass(frozen=True, slots=True)
class RunRecords:
    """One thread at one moment."""

    thread_id: str
    head: StateSnapshot
    """The newest checkpoint; without checkpoint_id where the thread has none."""
    run: Run | None
    """None while its inputs are not frozen; all below is then empty but `live` and `last_resume`."""
    live: bool
    """A process drives the thread now."""
    last_resume: Mapping[str, Any] | None
    """Outcome and error of the newest start or resume."""
    resumes: int
    """How often it was resumed; a start is none."""
    tally: Tally
    cost: Mapping[str, Any]
    """usd, calls, calls_reused, calls_lost, calls_unpriced, estimated, avoided_usd."""
    artifacts: Sequence[ArtifactRef]
    decisions: Sequence[Decision]
    """Oldest first."""
    effects: Sequence[EffectRow]
    """Oldest first."""
    updated_at: datetime | None


COST_COLUMNS = ("usd", "calls", "calls_reused", "calls_lost", "calls_unpriced", "estimated", "avoided_usd")


async def read_records(container: Container, thread_id: str) -> RunRecords:
    """Read one thread, also one that is not there."""
    (records,) = await _read(container, [thread_id], 1)
    return records


async def read_newest_records(container: Container, limit: int) -> list[RunRecords]:
    """Read the threads of the newest runs, the newest first."""
    return await _read(container, None, limit)


async def _read(container: Container, thread_ids: Sequence[str] | None, limit: int) -> list[RunRecords]:
    rows = await container.database.rows("run_records", thread_ids=thread_ids, limit=limit)
    tuples = {
        row["of_thread"]: await container.saver.tuple_of({**row, "thread_id": row["of_thread"]})
        for row in rows
        if row["checkpoint"] is not None
    }
    graph = container.graph.copy({"checkpointer": LoadedCheckpoints(tuples)})
    return [
        _records(row, await graph.aget_state({"configurable": {"thread_id": row["of_thread"]}}))  # no statement
        for row in rows
    ]


def _records(row: Mapping[str, Any], head: StateSnapshot) -> RunRecords:
    documents = row["documents"] or ()
    return RunRecords(
        thread_id=row["of_thread"],
        head=head,
        run=None if row["run_id"] is None else run_from_row(row),
        live=bool(row["holder"] and holds(row["holder"])),
        last_resume=row["last_resume"],
        resumes=row["resumes"],
        tally=tally(
            {group["state"]: group["n"] for group in documents},
            row["pages"] or {},
            sum(group["findings"] for group in documents),
            [unit for group in documents for unit in group["units"] or ()],
        ),
        cost={name: row[name] for name in COST_COLUMNS},
        artifacts=[ArtifactRef(**columns) for columns in row["stored"] or ()],
        decisions=[
            Decision(**{**columns, "at": datetime.fromisoformat(columns["at"])}) for columns in row["decisions"] or ()
        ],
        effects=[effect_row(columns) for columns in row["effects"] or ()],
        updated_at=row["updated_at"],
    )
