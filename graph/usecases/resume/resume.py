"""Resume a thread: read it, plan, apply the plan under the lease, drive it until it ends or waits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.types import StateSnapshot

from graph.composition import Container
from graph.driver import OnEvent, announce_run, steps_for
from graph.runtime.execution.first_call import first_work
from graph.runtime.postgres.lease import Lease
from graph.usecases.request_args import check_engine, reply_of
from graph.usecases.resume.apply import apply_plan
from graph.usecases.resume.plan import ResumeRequest, at_gate, decisions_of, late_decisions, next_input, plan_resume
from graph.usecases.resume.reading import examine, read_interrupt, read_thread, read_under_lease
from graph.views.run_records import read_records
from graph.views.run_view import RunView, read_run_view, run_view
from graph.views.stranded import require_a_place
from graph.views.threads import find, frozen_run, read_head
from nodes.domain.runs.options import apply
from nodes.domain.shared.errors import RepriseError


async def resume(
    container: Container,
    thread: str,
    request: ResumeRequest,
    *,
    passwords: Mapping[str, str] | None = None,
    on_event: OnEvent | None = None,
) -> RunView:
    """Go on from the last safe step until the run ends or waits again; see `Reprise.resume`."""
    thread_id = await find(container, thread)
    reading = await read_thread(container, thread_id)
    plan = plan_resume(reading, request)
    if plan.idle:
        await _refuse_late(container, reading.head, request)
        return await run_view(container.artifacts, reading.records)
    reply = reply_of(request.decisions, request.accept_all, request.reviewer, request.reason)
    _refuse(plan.refusal)
    reading = await examine(container, reading, passwords, retry_failed=request.retry_failed)
    _refuse(plan_resume(reading, request).refusal)
    step = reading.head.next[0] if reading.head.next else ""
    async with container.drive(thread_id, "resume", step, passwords) as driver:
        # Who resumes a cancelled run takes the cancellation back.
        await container.database.execute("uncancel", thread_id=thread_id, surface=request.surface)
        await _change_settings(container, thread_id, request.settings)
        reading = await read_under_lease(container, reading)
        if await apply_plan(container, driver, reading, plan_resume(reading, request), on_event):
            reading = replace(reading, records=await read_records(container, thread_id))
        head, documents = reading.head, reading.records.tally.documents
        steps = steps_for(reading.state.get("documents_total") or 0)
        announce_run(on_event, thread_id, thread, documents["total"], documents["done"] + documents["failed"])
        while True:
            interrupt = await read_interrupt(container, head, request.surface)
            graph_input = next_input(head, interrupt, reply, request.surface)
            _refuse(graph_input.refusal)
            if graph_input.waits:
                break
            if graph_input.decisions:
                await container.ledger.decide(head.values["run_id"], graph_input.decisions)
            reply = None if at_gate(head) else reply
            with first_work(on_event):
                head = await driver.run(graph_input.command, on_event, steps)
            require_a_place(head, thread)
            if driver.drain_reason:
                break
        if reply is not None:
            await _refuse_late(container, head, request)
    return await read_run_view(container, thread_id)


async def decide(container: Container, thread: str, request: ResumeRequest) -> int:
    """Store the decisions of a reply without going on; returns how many were new. Raises ReplyError."""
    thread_id = await find(container, thread)
    reply = reply_of(request.decisions, request.accept_all, request.reviewer, request.reason) or {}
    lease = Lease(container.database, thread_id, ttl=container.lease_seconds)
    await lease.take()
    try:
        head = await read_head(container, thread_id)
        interrupt = await read_interrupt(container, head, request.surface, asks=False)
        graph_input = decisions_of(head, interrupt, reply, request.surface)
        _refuse(graph_input.refusal)
        return await container.ledger.decide(head.values["run_id"], graph_input.decisions)
    finally:
        await lease.release()


def _refuse(refusal: RepriseError | None) -> None:
    if refusal:
        raise refusal


async def _refuse_late(container: Container, head: StateSnapshot, request: ResumeRequest) -> None:
    """Raise ReplyError for decisions that came too late: what a person decided is not dropped in silence."""
    if not request.decisions or head.next or not head.values.get("run_id"):
        return
    run = await container.ledger.run(head.values["run_id"])
    _refuse(late_decisions(run, request.decisions, await container.ledger.decisions(run.run_id)))


async def _change_settings(container: Container, thread_id: str, settings: Mapping[str, Any]) -> None:
    """Store the settings that this resume changes, before anything runs."""
    if not any(setting is not None for setting in settings.values()):
        return
    run = await frozen_run(container, thread_id)
    changed = apply(run.settings, settings)
    check_engine(container, run.engine, changed)
    await container.ledger.change_settings(run.run_id, changed)
