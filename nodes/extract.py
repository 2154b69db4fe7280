"""One batch a super-step: its documents are done, its findings are one stored object, then comes the checkpoint."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.batching import batch_range
from nodes.domain.documents import SourceDocument
from nodes.domain.errors import LimitReached
from nodes.domain.format import count
from nodes.domain.playbook import Playbook
from nodes.domain.run import ArtifactRef, DocumentResult, Run
from nodes.entry import enter
from nodes.extract_document import Work, extract_document
from nodes.ports import Services
from state import RunContext, RunState

KEPT = 4
_frozen: dict[tuple[str, str], tuple[Playbook, list[SourceDocument]]] = {}
"""Parsed once for all batches of a run; named by content, so it cannot be stale."""


async def extract(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Settle the documents of the next batch and close it; under a driver, those that follow are begun ahead.

    Returns without closing it when a drain was asked for or a limit is reached; what is done stays done.
    """
    given, run = await enter(state, runtime, services)
    index, total = given.batch_index, given.batch_total
    batch = batch_range(index, given.batch_size, run.documents_total)
    work = await _work(services, run)

    def on_done(ordinal: int) -> None:
        runtime.stream_writer({"event": "document", "ordinal": ordinal, "document": work.inputs[ordinal].document})

    try:
        await services.pool.settle(
            run,
            batch,
            range(batch.stop, run.documents_total),
            partial(extract_document, services, work),
            on_done,
            lambda: runtime.drain_requested,
        )
    except LimitReached as limit:
        return {"hold": limit.kind, "headline": f"hold: {limit}"}
    rows = await services.ledger.documents(run.run_id, batch.start, batch.stop)
    if any(row.state == "pending" for row in rows):
        return {"headline": f"extract: batch {index + 1} of {total} was left at a drain"}
    await _close(services, run, index, rows)
    failed = sum(row.state == "failed" for row in rows)
    findings = sum(row.findings for row in rows)
    runtime.stream_writer({"event": "batch", "index": index + 1, "total": total, "failed": failed})
    return {
        "batch_index": index + 1,
        "headline": f"extract: batch {index + 1} of {total}, {count(findings, 'finding')}, {failed} failed",
    }


async def _work(services: Services, run: Run) -> Work:
    """Playbook and document list as they were frozen, never as they are today."""
    key = (run.artifacts["playbook"], run.artifacts["inputs"])
    if key not in _frozen:
        playbook = Playbook.model_validate_json(await services.artifacts.get(key[0]))
        listed = json.loads(await services.artifacts.get(key[1]))
        if len(_frozen) >= KEPT:
            _frozen.clear()
        _frozen[key] = playbook, [SourceDocument(**document) for document in listed]
    playbook, inputs = _frozen[key]
    return Work(run, playbook, inputs)


async def _close(services: Services, run: Run, index: int, rows: list[DocumentResult]) -> None:
    """Store the findings of the batch as one immutable object; doing it again stores the same bytes."""
    documents = []
    for row in rows:
        findings = json.loads(await services.artifacts.get(row.findings_ref)) if row.findings_ref else []
        documents.append(
            {
                "document": row.document,
                "sha256": row.sha256,
                "state": row.state,
                "reason": row.reason,
                "text": row.text_ref,
                "findings": findings,
            }
        )
    stored = json.dumps({"batch": index + 1, "documents": documents}, ensure_ascii=True).encode()
    sha256 = await services.artifacts.put(stored)
    ref = ArtifactRef(f"findings_batch_{index + 1}", sha256, len(stored), services.artifacts.uri(sha256))
    await services.ledger.keep_artifact(run.run_id, ref)
