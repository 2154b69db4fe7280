"""Stored findings of a batch, one object: written when the batch closes, and rebuilt where it was lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nodes.domain.playbook.model import Playbook
from nodes.domain.runs.settings import ArtifactRef, DocumentResult, Run
from nodes.domain.shared.errors import ArtifactMissing
from nodes.domain.text.documents import SourceDocument
from nodes.ports import Services
from nodes.steps.extract_document import Work, extract_document

CACHED_RUNS = 4
_frozen: dict[tuple[str, str], tuple[Playbook, list[SourceDocument], Counter[str]]] = {}
"""Parsed once for all batches of a run; named by content, so it cannot be stale."""


async def load_work(services: Services, run: Run, slow: bool) -> Work:
    """Load playbook and document list as they were frozen, never as they are today."""
    key = (run.artifacts["playbook"], run.artifacts["inputs"])
    if key not in _frozen:
        playbook = Playbook.model_validate_json(await services.artifacts.get(key[0]))
        listed = json.loads(await services.artifacts.get(key[1]))
        if len(_frozen) >= CACHED_RUNS:
            _frozen.clear()
        inputs = [SourceDocument.from_json(document) for document in listed]
        _frozen[key] = playbook, inputs, Counter(document.container for document in inputs if document.container)
    playbook, inputs, attachment_counts = _frozen[key]
    return Work(run, playbook, inputs, attachment_counts, slow)


async def close_batch(
    services: Services, run: Run, name: str, index: int, rows: Sequence[DocumentResult], *, slow: bool = False
) -> bytes:
    """Store the findings of these documents as one immutable object; doing it again stores the same bytes.

    A batch names deferred documents without their later outcome: that belongs to the slow lane.
    A document whose findings were lost is extracted again: its calls are in the ledger, so that none is paid twice.
    """
    documents = []
    for row in rows:
        excluded = row.slow and not slow
        row, findings = (row, []) if excluded else await _findings_of(services, run, row)
        documents.append(
            {
                "document": row.document,
                "sha256": row.sha256,
                "state": "deferred" if excluded else row.state,
                "reason": "" if excluded else row.reason,
                "text": "" if excluded else row.text_ref,
                "findings": [] if excluded else findings,
            }
        )
    stored = json.dumps({"batch": index + 1, "documents": documents}, ensure_ascii=True).encode()
    sha256 = await services.artifacts.put(stored)
    await services.ledger.keep_artifact(
        run.run_id, ArtifactRef(name, sha256, len(stored), services.artifacts.uri(sha256))
    )
    return stored


async def closed_documents(
    services: Services, run: Run, name: str, sha256: str | None, index: int, ordinals: Sequence[int], *, slow: bool
) -> list[dict[str, Any]]:
    """Load the documents of a closed batch or slow-lane step, each with its findings; [] when it was never closed.

    An object that is gone, or differs from its name, is made again from the rows of its documents.
    """
    if not sha256:
        return []
    try:
        stored = await services.artifacts.get(sha256)
    except ArtifactMissing:
        if not ordinals:
            raise
        listed = await services.ledger.documents(run.run_id, min(ordinals), max(ordinals) + 1)
        chosen = set(ordinals)
        rows = [row for row in listed if row.ordinal in chosen]
        stored = await close_batch(services, run, name, index, rows, slow=slow)
    documents: list[dict[str, Any]] = json.loads(stored)["documents"]
    return documents


async def _findings_of(services: Services, run: Run, row: DocumentResult) -> tuple[DocumentResult, list[Any]]:
    if not row.findings_ref:
        return row, []
    try:
        return row, json.loads(await services.artifacts.get(row.findings_ref))
    except ArtifactMissing:
        row = await _redo(services, run, row)
    return row, json.loads(await services.artifacts.get(row.findings_ref)) if row.findings_ref else []


async def facts_of(services: Services, run: Run, row: DocumentResult) -> list[Any]:
    """Load the stored facts of a document, as JSON; rebuilt where they are gone, [] when they cannot be."""
    return json.loads(await _stored(services, run, row, "facts_ref") or "[]")  # type: ignore[no-any-return]


async def text_of(services: Services, run: Run, row: DocumentResult) -> bytes:
    """Load the stored text of a document, as `DocumentText.from_json` takes it; read again where it is gone.

    b"" when there is none, or when the document cannot be read any more.
    """
    return await _stored(services, run, row, "text_ref") or b""


async def _stored(services: Services, run: Run, row: DocumentResult, name: str) -> bytes | None:
    if not getattr(row, name):
        return None
    try:
        return await services.artifacts.get(getattr(row, name))
    except ArtifactMissing:
        redone = await _redo(services, run, row)
    # Only this was lost: a document that is done stays done, with the findings that it has.
    refs = {ref: getattr(redone, ref) or getattr(row, ref) for ref in ("text_ref", "facts_ref")}
    await services.ledger.finish_document(run.run_id, replace(row, **refs))
    return await services.artifacts.get(getattr(redone, name)) if getattr(redone, name) else None


async def _redo(services: Services, run: Run, row: DocumentResult) -> DocumentResult:
    """Extract a document again whose stored results are gone; its answers are reused."""
    await extract_document(services, await load_work(services, run, True), row.ordinal, force=True)
    (row,) = await services.ledger.documents(run.run_id, row.ordinal, row.ordinal + 1)
    return row
