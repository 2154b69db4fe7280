"""Release what the run made: each file is an effect with a key, found at its target and never doubled."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.entering import unwritten
from nodes.domain.format import money
from nodes.domain.note import Note
from nodes.domain.report import ReportFacts, render_report
from nodes.domain.run import ArtifactRef, Run
from nodes.entry import enter
from nodes.ports import Services
from state import RunContext, RunState


async def publish(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Put note.md and note.html where people find them. Repeating it replaces each file by itself."""
    _, run = await enter(state, runtime, services)
    refs = {ref.name: ref.sha256 for ref in await services.ledger.artifacts(run.run_id)}
    if "note.json" not in refs:
        raise unwritten()
    note = Note.from_json(json.loads(await services.artifacts.get(refs["note.json"])))
    tally = await services.ledger.tally(run.run_id)
    spend = await services.ledger.spent(run.run_id)
    read = sum(tally.pages[state] for state in ("read", "ocr", "empty"))
    facts = ReportFacts(
        run=run.name or run.thread_id,
        documents=(tally.documents["done"], tally.documents["total"]),
        pages=(read, tally.pages["total"]),
        cost=money(spend.usd, basis=spend.basis, unpriced=spend.unpriced, language=note.language),
        engine=run.engine,
    )
    html = (await asyncio.to_thread(render_report, note, facts)).encode("utf-8", "replace")
    sha256 = await services.artifacts.put(html)
    ref = ArtifactRef("note.html", sha256, len(html), services.artifacts.uri(sha256))
    await services.ledger.keep_artifact(run.run_id, ref)
    await _release(services, run, "note.md", refs["note.md"])
    await _release(services, run, "note.html", sha256)
    failed = tally.documents["failed"]
    end = f"completed with {failed} failed" if failed else "completed"
    return {"published": True, "headline": f"publish: {end}"}


async def _release(services: Services, run: Run, name: str, sha256: str) -> None:
    """Intent, act, outcome; after a death in between the same file is put again in its place."""
    key = f"release:{name}:{sha256}"
    if await services.ledger.intend(run.run_id, "object_put", key, {"name": name, "sha256": sha256}) == "done":
        return
    uri = await services.releases.put(run, name, await services.artifacts.get(sha256))
    await services.ledger.settle_effect(run.run_id, key, {"uri": uri})
