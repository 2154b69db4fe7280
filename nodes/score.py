"""Node score: scores the findings by rules alone, and freezes the review packet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.evidence.findings import RISKS, Finding
from nodes.domain.playbook.model import Playbook
from nodes.domain.review.review import Decision, freeze_packet, latest, sha256_of, to_bytes
from nodes.domain.runs.batching import batch_range
from nodes.domain.runs.completeness import check_all_settled, check_findings_stored
from nodes.domain.runs.settings import ArtifactRef, DocumentResult, Run
from nodes.domain.runs.state_validation import ValidState, check_batch_closed, check_retry_lane_closed
from nodes.domain.scoring.absence import missing_clauses
from nodes.domain.scoring.risk import Scored, reviewers_needed
from nodes.domain.scoring.risk import score as scored_by
from nodes.domain.shared.errors import SourceError
from nodes.domain.shared.formats import count
from nodes.ports import Services
from nodes.steps.batches import closed_documents
from nodes.steps.families import relate_documents
from nodes.steps.state_guard import enter, load_search_scope
from state import RunContext, RunState

_RATED = ("documents", "suppliers")


async def score(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Score the run's findings: same findings and decisions, same scores; no model is called.

    Raises StateEdited when the stored batches do not cover every document of the run, Unaccounted when sums differ.
    """
    run_state, run = await enter(state, runtime, services)
    playbook = Playbook.model_validate_json(await services.artifacts.get(run.artifacts["playbook"]))
    search_scope = await load_search_scope(services, run, playbook)
    decisions = await services.ledger.decisions(run.run_id)
    stored = await _stored(services, run, run_state)
    documents = await services.ledger.documents(run.run_id, 0, run.documents_total)
    _require_one_read(run, documents)
    check_all_settled(run, documents)
    check_findings_stored(run, documents, len(stored))
    related = await relate_documents(services, run, playbook, documents, stored)
    findings = _with_decisions(related.findings, decisions, playbook)
    absent = missing_clauses(findings, related.documents, playbook, search_scope, related.parts)
    findings += _with_decisions(absent, decisions, playbook)
    scored = scored_by(findings, related.documents, playbook, search_scope, related.parts)
    round_number = run_state.review_round + 1
    findings_ref = await _keep(services, run, "findings", _bytes(scored))
    frozen = freeze_packet(run.run_id, playbook, round_number, scored.findings, decisions)
    waiting = len(frozen["findings"])
    counts = Counter(finding.risk for finding in scored.findings)
    gate_needed = run.settings.review != "never" and (
        waiting > 0 or (run.settings.review == "always" and round_number == 1)
    )
    changes: dict[str, Any] = {
        "findings": findings_ref,
        "by_risk": {risk: counts[risk] for risk in RISKS},
        "to_review": waiting,
        "gate": gate_needed,
        "rescore": False,
        "headline": f"score: {count(len(scored.findings), 'finding')}, {waiting} to review",
    }
    if gate_needed:
        sha256 = await _keep(services, run, f"review_packet_{round_number}", to_bytes(frozen))
        assert sha256 == sha256_of(frozen)
        changes |= {"packet": sha256, "review_round": round_number}
    return changes


def _with_decisions(findings: Iterable[Finding], decisions: Sequence[Decision], playbook: Playbook) -> list[Finding]:
    """Attach to findings the decisions that hold; where the playbook asks for several people, one alone does not."""
    findings = list(findings)
    needed = {finding.finding_id: reviewers_needed(finding, playbook) for finding in findings}
    decided = latest(decisions, {finding_id: people for finding_id, people in needed.items() if people > 1})
    return [
        finding.with_(decision=decided[finding.finding_id].shown()) if finding.finding_id in decided else finding
        for finding in findings
    ]


def _require_one_read(run: Run, documents: Sequence[DocumentResult]) -> None:
    """Refuse a run of which no document was read: its note would look like one without risks."""
    if not any(document.state == "done" for document in documents):
        first = next((document.reason for document in documents if document.reason), "no reason was recorded")
        raise SourceError(f"None of the {count(len(documents), 'document')} could be read. The first: {first}")


async def _stored(services: Services, run: Run, run_state: ValidState) -> list[Finding]:
    """Load the findings of every batch, then of the slow lane; each document of the run is in one of them."""
    refs = {ref.name: ref.sha256 for ref in await services.ledger.artifacts(run.run_id)}
    findings: list[Finding] = []
    deferred: set[str] = set()
    for index in range(run_state.batch_total):
        name, batch = f"findings_batch_{index + 1}", batch_range(index, run_state.batch_size, run.documents_total)
        documents = await closed_documents(services, run, name, refs.get(name), index, batch, slow=False)
        check_batch_closed(run_state, index, complete=len(documents) == len(batch))
        deferred |= {document["document"] for document in documents if document["state"] == "deferred"}
        findings += _findings(documents)
    tried: set[str] = set()
    slow = await services.ledger.slow_documents(run.run_id) if run_state.slow_index else []
    for index in range(run_state.slow_index):
        name, ordinals = (
            f"findings_slow_{index + 1}",
            slow[index * run_state.batch_size : (index + 1) * run_state.batch_size],
        )
        documents = await closed_documents(services, run, name, refs.get(name), index, ordinals, slow=True)
        tried |= {document["document"] for document in documents}
        findings += _findings(documents)
    check_retry_lane_closed(run_state, deferred, tried)
    return findings


def _findings(documents: Sequence[dict[str, Any]]) -> list[Finding]:
    return [Finding.from_json(finding) for document in documents for finding in document["findings"]]


async def _keep(services: Services, run: Run, name: str, data: bytes) -> str:
    sha256 = await services.artifacts.put(data)
    await services.ledger.keep_artifact(
        run.run_id, ArtifactRef(name, sha256, len(data), services.artifacts.uri(sha256))
    )
    return sha256


def _bytes(scored: Scored) -> bytes:
    ratings = {name: {subject: asdict(rating) for subject, rating in getattr(scored, name).items()} for name in _RATED}
    # Piece by piece: as one object it would be the largest thing in memory.
    findings = ", ".join(json.dumps(finding.to_json()) for finding in scored.findings)
    return f'{{"findings": [{findings}], {json.dumps(ratings)[1:]}'.encode()
