"""Node publish: releases the note and calls the webhook, as effects with a key that are never doubled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.evidence.note_model import Note
from nodes.domain.runs.settings import ArtifactRef, Run
from nodes.domain.runs.state_validation import note_not_written
from nodes.domain.runs.webhook_event import event_key, run_finished
from nodes.domain.shared.errors import Undelivered
from nodes.domain.shared.formats import money, unit_of
from nodes.ports import Services
from nodes.steps.effects import perform_once
from nodes.steps.state_guard import enter
from state import RunContext, RunState


async def publish(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Put note.md and note.html where people find them, then tell the webhook. Repeating it does nothing twice.

    A webhook that is not taken does not fail the run: the ledger keeps it to be sent by a resume.
    """
    _, run = await enter(state, runtime, services)
    refs = {ref.name: ref.sha256 for ref in await services.ledger.artifacts(run.run_id)}
    if "note.json" not in refs:
        raise note_not_written()
    note = Note.from_json(json.loads(await services.artifacts.get(refs["note.json"])))
    tally = await services.ledger.tally(run.run_id)
    spend = await services.ledger.spent(run.run_id)
    read = sum(tally.pages[state] for state in ("read", "ocr", "empty"))
    # Only a run at its end needs it, and it takes a while to load.
    from nodes.domain.report.render.html import ReportFacts, render_report

    facts = ReportFacts(
        run=run.name or run.thread_id,
        documents=(tally.documents["done"], tally.documents["total"]),
        pages=(read, tally.pages["total"]),
        unit=unit_of(tally.units),
        cost=money(spend.usd, basis=spend.basis, unpriced=spend.unpriced, language=note.language),
        engine=run.engine,
        begun_at=run.started_at,
    )
    html = (await asyncio.to_thread(render_report, note, facts)).encode("utf-8", "replace")
    sha256 = await services.artifacts.put(html)
    ref = ArtifactRef("note.html", sha256, len(html), services.artifacts.uri(sha256))
    await services.ledger.keep_artifact(run.run_id, ref)
    await _release(services, run, "note.md", refs["note.md"])
    await _release(services, run, "note.html", sha256)
    failed = tally.documents["failed"]
    end = f"completed with {failed} failed" if failed else "completed"
    event = run_finished(run, tally, refs["note.md"])
    if not await _tell(services, run, event, lambda: runtime.drain_requested):
        end += ", but the webhook was not delivered"
    return {"published": True, "headline": f"publish: {end}"}


async def _release(services: Services, run: Run, name: str, sha256: str) -> None:
    async def put() -> Mapping[str, Any]:
        return {"uri": await services.releases.put(run, name, await services.artifacts.get(sha256))}

    async def stands() -> Mapping[str, Any] | None:
        uri = await services.releases.find(run, name, sha256)
        return None if uri is None else {"uri": uri}

    key, payload = f"release:{name}:{sha256}", {"name": name, "sha256": sha256}
    await perform_once(services, run, "release", key, payload, put, stands)


async def _tell(services: Services, run: Run, event: Mapping[str, Any], stop: Callable[[], bool]) -> bool:
    """Tell the webhook; False when it was not taken: the ledger says why, and a resume sends it again."""
    webhook = services.webhook
    name = event_key(run, event["note_sha256"])
    key = f"webhook:{name}"
    if webhook is None:
        waits = "The webhook of this run was not taken and has no address any more: set REPRISE_WEBHOOK_URL."
        await services.ledger.fail_effect(run.run_id, key, waits)
        return True

    async def send() -> Mapping[str, Any]:
        return await webhook.send(name, event, stop)

    try:
        await perform_once(services, run, "webhook", key, {"where": webhook.where, "event": event["event"]}, send)
    except Undelivered as error:
        await services.ledger.fail_effect(run.run_id, key, str(error))
        return False
    return True
