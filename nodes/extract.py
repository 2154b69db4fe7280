"""Node extract: one batch a super-step; its documents are processed, its findings stored as one object.

After the last batch come the deferred documents, in the slow lane, as many a super-step as a batch has.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.runs.batching import batch_range
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import ValidState
from nodes.domain.shared.errors import LimitReached
from nodes.domain.shared.formats import count, duration
from nodes.ports import Services
from nodes.steps.batches import close_batch, load_work
from nodes.steps.extract_document import extract_document
from nodes.steps.state_guard import enter
from state import RunContext, RunState

LEAST_AHEAD = 4
"""Documents that are read ahead while models answer: as many as are in flight, but at least this many."""


async def extract(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Process the documents of the next batch and close it; under a driver, later ones are begun ahead.

    A batch waits a bounded time for its last documents; then it defers them and closes, and they are retried once in
    the slow lane. Returns without closing it when a drain was requested or a limit is reached; what is done stays done.
    """
    run_state, run = await enter(state, runtime, services)
    step = _Step(services, run, runtime)
    try:
        if run_state.batch_index < run_state.batch_total:
            return await _batch(step, run_state)
        return await _slow_lane(step, run_state)
    except LimitReached as limit:
        return {"hold": limit.kind, "headline": f"hold: {limit}"}


class _Step:
    """One super-step: services, run and runtime."""

    def __init__(self, services: Services, run: Run, runtime: Runtime[RunContext]) -> None:
        self.services, self.run, self.runtime = services, run, runtime

    async def process(
        self,
        ordinals: Sequence[int],
        following: Callable[[], Awaitable[Sequence[int]]],
        *,
        wait: float | None = None,
        slow: bool = False,
    ) -> list[int]:
        """Process these documents; returns those for which the batch waits no longer. Raises LimitReached."""
        work = await load_work(self.services, self.run, slow)

        def on_done(ordinal: int) -> None:
            event = {"event": "document", "ordinal": ordinal, "document": work.inputs[ordinal].document}
            self.runtime.stream_writer(event)

        async with self.services.heartbeat.during(self.run, self.runtime.stream_writer):
            return await self.services.pool.process(
                self.run,
                ordinals,
                following,
                partial(extract_document, self.services, work),
                on_done,
                lambda: self.runtime.drain_requested,
                ahead=max(LEAST_AHEAD, self.run.settings.concurrency) if self.run.engine == "openai" else 0,
                wait=wait,
                lane=int(slow),
            )


async def _batch(step: _Step, run_state: ValidState) -> dict[str, Any]:
    services, run = step.services, step.run
    index, total = run_state.batch_index, run_state.batch_total
    batch = batch_range(index, run_state.batch_size, run.documents_total)
    ledger, wait = services.ledger, run.settings.batch_wait_seconds
    ordinals = await ledger.open_documents(run.run_id, batch.start, batch.stop)
    following = partial(ledger.open_documents, run.run_id, batch.stop, run.documents_total)
    late = await step.process(ordinals, following, wait=wait)
    if late:
        reason = f"It was not done {duration(wait)} after the others of its batch; it is tried once more at the end."
        await ledger.defer(run.run_id, late, reason)
    rows = await ledger.documents(run.run_id, batch.start, batch.stop)
    if any(row.state == "pending" for row in rows):
        return {"headline": f"extract: batch {index + 1} of {total} was left at a drain"}
    in_time = [row for row in rows if not row.slow]
    await close_batch(services, run, f"findings_batch_{index + 1}", index, rows)
    failed, deferred = sum(row.state == "failed" for row in in_time), len(rows) - len(in_time)
    event = {"event": "batch", "index": index + 1, "total": total, "failed": failed, "deferred": deferred}
    step.runtime.stream_writer(event)
    findings = count(sum(row.findings for row in in_time), "finding")
    later = f", {deferred} put off" if deferred else ""
    changes = {
        "batch_index": index + 1,
        "headline": f"extract: batch {index + 1} of {total}, {findings}, {failed} failed{later}",
    }
    if index + 1 == total and (slow := await ledger.slow_documents(run.run_id)):
        changes |= {"slow_total": len(slow), "slow_index": 0}
    return changes


async def _slow_lane(step: _Step, run_state: ValidState) -> dict[str, Any]:
    """Retry the next deferred documents with larger limits; those that fail again are failed."""
    services, run = step.services, step.run
    index, size = run_state.slow_index, run_state.batch_size
    slow = await services.ledger.slow_documents(run.run_id)
    ordinals, later_ordinals = slow[index * size : (index + 1) * size], slow[(index + 1) * size :]
    await step.process(ordinals, partial(_listed, later_ordinals), slow=True)
    rows = [row for ordinal in ordinals for row in await services.ledger.documents(run.run_id, ordinal, ordinal + 1)]
    if any(row.state in ("pending", "deferred") for row in rows):
        return {"headline": "extract: the slow lane was left at a drain"}
    await close_batch(services, run, f"findings_slow_{index + 1}", index, rows, slow=True)
    done, failed = sum(row.state == "done" for row in rows), sum(row.state == "failed" for row in rows)
    event = {"event": "slow_lane", "index": index + 1, "total": -(-len(slow) // size), "done": done, "failed": failed}
    step.runtime.stream_writer(event)
    documents = count(len(rows), "document")
    return {
        "slow_total": len(slow),
        "slow_index": index + 1,
        "headline": f"extract: slow lane, {documents} tried once more, {failed} failed",
    }


async def _listed(ordinals: Sequence[int]) -> Sequence[int]:
    return ordinals
