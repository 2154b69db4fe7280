"""Write the note from accepted findings alone; every sentence that states a fact is checked against its quotes."""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.clauses import Finding
from nodes.domain.errors import DocumentError, LimitReached, Transient
from nodes.domain.extraction import NoteAnswer
from nodes.domain.format import count
from nodes.domain.note import Note, Sentence, Standing, is_stated
from nodes.domain.note_check import verified
from nodes.domain.note_markdown import to_markdown
from nodes.domain.note_writer import NoteInput, with_dropped, write_note
from nodes.domain.playbook import Playbook
from nodes.domain.review import latest
from nodes.domain.run import ArtifactRef, DocumentResult, Run, chain
from nodes.entry import enter, scored_findings
from nodes.ports import Services
from nodes.prompts.questions import note_question
from state import RunContext, RunState

MOST_FINDINGS = 40
"""Findings of one supplier that a model is shown; the most serious ones."""


async def summarize(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Store the note as data and as Markdown; with the openai engine its lead sentences come from a model."""
    given, run = await enter(state, runtime, services)
    playbook = Playbook.model_validate_json(await services.artifacts.get(run.artifacts["playbook"]))
    scored = await scored_findings(given, run, services)
    decided = latest(await services.ledger.decisions(run.run_id))
    listed = scored.pop("findings")[::-1]
    findings = [_with_decision(Finding.from_json(listed.pop()), decided) for _ in range(len(listed))]
    documents = await services.ledger.documents(run.run_id, 0, run.documents_total)
    language = run.settings.language or _language(documents)
    try:
        written = await _written(services, run, findings, language) if run.engine == "openai" else {}
    except LimitReached as limit:
        return {"hold": limit.kind, "headline": f"hold: {limit}"}
    standings = [
        Standing(name, rating["risk"], rating["score"], tuple(rating["reasons"]))
        for name, rating in scored["suppliers"].items()
    ]
    parts = NoteInput(_title(run, playbook), findings, documents, playbook, standings, language, written)
    note, markdown = await asyncio.to_thread(_note, parts)
    data = json.dumps(note.to_json(), ensure_ascii=True, default=str).encode()
    sha256 = ""
    for name, stored in (("note.json", data), ("note.md", markdown.encode("utf-8", "replace"))):
        sha256 = await services.artifacts.put(stored)
        ref = ArtifactRef(name, sha256, len(stored), services.artifacts.uri(sha256))
        await services.ledger.keep_artifact(run.run_id, ref)
    dropped = f", {count(len(note.dropped), 'sentence')} dropped" if note.dropped else ""
    return {"note": sha256, "hold": "", "headline": f"summarize: the note is written{dropped}"}


def _note(parts: NoteInput) -> tuple[Note, str]:
    note, _ = verified(write_note(parts))
    note = with_dropped(note)
    return note, to_markdown(note)


def _title(run: Run, playbook: Playbook) -> str:
    return f"{playbook.title}: {run.name}" if run.name else playbook.title


def _with_decision(finding: Finding, decided: Mapping[str, Any]) -> Finding:
    """The decision that holds now: an acceptance does not go back to score."""
    one = decided.get(finding.finding_id)
    if one is None:
        return finding
    shown = {name: getattr(one, name) for name in ("verdict", "reviewer", "reason", "packet")}
    return finding.with_(decision={**shown, "at": one.at.isoformat()})


def _language(documents: Sequence[DocumentResult]) -> str:
    spoken = Counter(document.language for document in documents if document.language)
    return spoken.most_common(1)[0][0] if spoken else "en"


async def _written(
    services: Services, run: Run, findings: Sequence[Finding], language: str
) -> dict[str, Sequence[Sentence]]:
    """A model's sentences by supplier, asked for side by side; an error waits until the calls in flight have ended."""
    by_supplier: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(findings, key=lambda finding: (-finding.score, finding.finding_id)):
        if is_stated(finding) and finding.supplier:
            by_supplier[finding.supplier].append(finding)
    slots = asyncio.Semaphore(run.settings.concurrency)
    ends = await asyncio.gather(
        *(_about(services, run, supplier, by_supplier[supplier], language, slots) for supplier in sorted(by_supplier)),
        return_exceptions=True,
    )
    broken = next((end for end in ends if isinstance(end, BaseException)), None)
    if broken is not None:
        raise broken
    return {supplier: end for supplier, end in zip(sorted(by_supplier), ends, strict=True) if isinstance(end, list)}


async def _about(
    services: Services, run: Run, supplier: str, findings: Sequence[Finding], language: str, slots: asyncio.Semaphore
) -> list[Sentence]:
    """What the first model says of one supplier that can; nothing where none gives a usable answer."""
    shown = [
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
        question = note_question(shown, model=model, language="French" if language == "fr" else "English")
        try:
            async with slots:
                answer = await services.calls.ask(run, question)
        except (DocumentError, Transient):
            continue
        said = NoteAnswer.model_validate(answer.value).sentences
        return [Sentence(one.text, tuple(one.cites), "fact") for one in said]
    return []
