"""Node summarize: writes the note from accepted findings; each stated fact is checked against its quotes."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.errors import GraphDrained
from langgraph.runtime import Runtime

from nodes.domain.answers.extraction import NoteAnswer
from nodes.domain.contracts.families.families import Families
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import Note, Sentence, SupplierRating, is_stated
from nodes.domain.playbook.model import Playbook
from nodes.domain.report.render.markdown import to_markdown
from nodes.domain.report.wording.texts import note_title
from nodes.domain.report.writers.contract_terms import write_contract_note
from nodes.domain.report.writers.note_writer import NoteInput, with_dropped
from nodes.domain.review.review import Decision, latest
from nodes.domain.runs.completeness import check_all_settled
from nodes.domain.runs.settings import ArtifactRef, DocumentResult, Run, chain
from nodes.domain.shared.errors import DocumentError, LimitReached, Transient
from nodes.domain.shared.formats import count
from nodes.domain.text.supplier_names import fullest, spelling
from nodes.ports import Services
from nodes.prompts.questions import note_question
from nodes.steps.batches import facts_of
from nodes.steps.families import load_families, with_adopted_suppliers
from nodes.steps.state_guard import enter, load_search_scope, scored_findings
from state import RunContext, RunState

MOST_FINDINGS = 40
"""Findings of one supplier that a model is shown; the most serious ones."""

_lanes = itertools.count(2)
"""After the two of `extract`."""


async def summarize(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Store the note as data and as Markdown; with the openai engine its lead sentences come from a model."""
    run_state, run = await enter(state, runtime, services)
    playbook = Playbook.model_validate_json(await services.artifacts.get(run.artifacts["playbook"]))
    scored = await scored_findings(run_state, run, services)
    listed = scored.pop("findings")[::-1]
    several = {row["finding_id"]: people for row in listed if (people := row.get("reviewers_needed", 1)) > 1}
    decided = latest(await services.ledger.decisions(run.run_id), several)
    findings = [_with_decision(Finding.from_json(listed.pop()), decided) for _ in range(len(listed))]
    documents = await services.ledger.documents(run.run_id, 0, run.documents_total)
    check_all_settled(run, documents)
    language = run.settings.language or _language(documents)
    try:
        asks = run.engine == "openai" and run.parent_thread_id is None and run.settings.model_writes_note
        written = await _model_sentences(services, run, findings, language, runtime) if asks else {}
    except LimitReached as limit:
        return {"hold": limit.kind, "headline": f"hold: {limit}"}
    ratings = [
        SupplierRating(name, rating["risk"], rating["score"], tuple(rating["reasons"]))
        for name, rating in scored["suppliers"].items()
    ]
    search_scope = await load_search_scope(services, run, playbook)
    facts: dict[str, list[Fact]] = {}
    if playbook.kind == "decisions":
        families, facts = None, await _facts_by_document(services, run, documents)
    else:
        families = await load_families(services, run, documents, facts)
        documents = with_adopted_suppliers(documents, families)
    part_documents = families.parts if families else frozenset()
    title = note_title(playbook.title, run.name, language)
    note_input = NoteInput(
        title, findings, documents, playbook, ratings, language, written, search_scope, part_documents
    )
    note, markdown = await asyncio.to_thread(_note, note_input, facts, families)
    data = json.dumps(note.to_json(), ensure_ascii=True, default=str).encode()
    sha256 = ""
    for name, stored in (("note.json", data), ("note.md", markdown.encode("utf-8", "replace"))):
        sha256 = await services.artifacts.put(stored)
        ref = ArtifactRef(name, sha256, len(stored), services.artifacts.uri(sha256))
        await services.ledger.keep_artifact(run.run_id, ref)
    dropped = f", {count(len(note.dropped), 'sentence')} dropped" if note.dropped else ""
    return {"note": sha256, "hold": "", "headline": f"summarize: the note is written{dropped}"}


def _note(note_input: NoteInput, facts: Mapping[str, Sequence[Fact]], families: Families | None) -> tuple[Note, str]:
    """Write and render the note; `facts` by document, `families` None where the documents are court decisions."""
    from nodes.domain.report.writers.rulings_note import (
        write_ruling_note,  # only a run at its end, of this kind, needs it
    )

    note = (
        write_ruling_note(note_input, facts) if families is None else write_contract_note(note_input, facts, families)
    )
    note = with_dropped(note)
    return note, to_markdown(note)


async def _facts_by_document(
    services: Services, run: Run, documents: Sequence[DocumentResult]
) -> dict[str, list[Fact]]:
    return {
        row.document: [Fact.from_json(record) for record in await facts_of(services, run, row)]
        for row in documents
        if row.facts_ref
    }


def _with_decision(finding: Finding, decided: Mapping[str, Decision]) -> Finding:
    """Attach the decision that holds now: an acceptance does not go back to score."""
    decision = decided.get(finding.finding_id)
    return finding if decision is None else finding.with_(decision=decision.shown())


def _language(documents: Sequence[DocumentResult]) -> str:
    languages = Counter(document.language for document in documents if document.language)
    return languages.most_common(1)[0][0] if languages else "en"


async def _model_sentences(
    services: Services, run: Run, findings: Sequence[Finding], language: str, runtime: Runtime[RunContext]
) -> dict[str, Sequence[Sentence]]:
    """Ask a model for sentences by supplier, concurrently; an error waits until the calls in flight have ended.

    Raises GraphDrained when a drain leaves suppliers unasked: the step is then done anew, without its answered calls.
    """
    by_supplier: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(findings, key=lambda finding: (-finding.score, finding.finding_id)):
        if is_stated(finding) and finding.supplier and not finding.about:
            by_supplier[spelling(finding.supplier)].append(finding)
    by_supplier = {fullest(finding.supplier for finding in group): group for group in by_supplier.values()}
    suppliers = sorted(by_supplier)
    written: dict[str, Sequence[Sentence]] = {}

    async def ask(ordinal: int) -> None:
        supplier = suppliers[ordinal]
        written[supplier] = await _sentences_about(services, run, supplier, by_supplier[supplier], language)

    # The pool of the documents serves here too, in a lane that is never used again.
    lane = next(_lanes)
    ordinals = range(len(suppliers))
    await services.pool.process(run, ordinals, _none, ask, lambda _: None, lambda: runtime.drain_requested, lane=lane)
    if len(written) < len(suppliers):
        raise GraphDrained(f"{len(written)} of {count(len(suppliers), 'supplier')} are written about")
    return written


async def _none() -> Sequence[int]:
    return ()


async def _sentences_about(
    services: Services, run: Run, supplier: str, findings: Sequence[Finding], language: str
) -> list[Sentence]:
    """Return the sentences of the first model with a usable answer on one supplier; [] where none has one."""
    rows = [
        {
            "id": finding.finding_id,
            "supplier": supplier,
            "type": finding.clause_type,
            "risk": finding.risk,
            "quote": finding.quote,
        }
        for finding in findings[:MOST_FINDINGS]
    ]
    for model in chain(run.settings.models, "summarize") or ("",):
        question = note_question(rows, model=model, language="French" if language == "fr" else "English")
        try:
            answer = await services.calls.call(run, question)
        except (DocumentError, Transient):
            continue
        sentences = NoteAnswer.model_validate(answer.value).sentences
        return [Sentence(sentence.text, tuple(sentence.cites), "fact") for sentence in sentences]
    return []
