"""Carry out the plan of a resume under the lease: what was agreed is written down, the state is repaired."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from decimal import Decimal
from typing import Any

from psycopg.types.json import Jsonb

from graph.composition import Container
from graph.driver import Driver, OnEvent
from graph.usecases.resume.plan import Repair, ResumePlan, ThreadReading
from graph.usecases.resume.preflight import mark_stale
from graph.views.resumes import resumed
from nodes.domain.runs.settings import WORKFLOW_VERSION
from nodes.domain.shared.formats import count, money, one_line, when


async def apply_plan(
    container: Container, driver: Driver, reading: ThreadReading, plan: ResumePlan, on_event: OnEvent | None
) -> bool:
    """Carry it out, ledger before state, so that a death loses no wish; returns whether the thread was changed."""
    run, database = reading.run, container.database
    if run is None:
        return False
    versions, preflight = reading.examination.versions, reading.examination.preflight
    if versions and "versions" in plan.notes and versions.current is not None:
        await container.ledger.change_versions(run.run_id, WORKFLOW_VERSION, versions.current)
    if preflight:
        await mark_stale(container, run, preflight)
    for repair in plan.repairs:
        await _update(driver, repair)
    await database.execute("note_resume", resume_id=driver.resume_id, changes=Jsonb(dict(plan.notes)))
    if on_event is not None:
        rows = await resumed(database, resume_id=driver.resume_id)
        on_event({"event": "resume", "lines": [*(resumed_line(row, reading.name) for row in rows), *plan.lines]})
    if plan.retry_failed:
        await container.ledger.retry_failed(run.run_id)
    if plan.retry:
        await _update(driver, plan.retry)
    return bool(plan.repairs or plan.retry or plan.retry_failed)


async def _update(driver: Driver, repair: Repair) -> None:
    await driver.graph.aupdate_state(driver.config, dict(repair.changes), as_node=repair.as_node)


def resumed_line(row: Mapping[str, Any], thread: str) -> str:
    """The one line of a resume: at which step, what it keeps, since when the run stood still."""
    documents = f"{count(int(row['documents_kept']), 'document')} kept"
    paid = f", {money(Decimal(row['kept_usd']))} not paid again" if row["kept_usd"] else ""
    since = f", stopped since {when(row['stopped_at'].astimezone(UTC))}" if row["stopped_at"] else ""
    return f"{one_line(thread, 60)}: resumed at {row['from_step'] or 'its end'}, {documents}{paid}{since}"
