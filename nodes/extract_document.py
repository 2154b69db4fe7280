"""What is done for one document of a batch: read it, find clauses, locate their quotes, write its row."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from nodes.domain.clauses import Candidate, Finding, finding_id
from nodes.domain.documents import DocumentText, SourceDocument
from nodes.domain.errors import AnswerInvalid, DocumentError, Transient
from nodes.domain.evidence import Locator
from nodes.domain.extraction import read_answer
from nodes.domain.passages import Passage, choose, chunks, halve
from nodes.domain.playbook import Playbook
from nodes.domain.run import DocumentResult, Run
from nodes.ports import Answer, Question, Services
from nodes.prompts.questions import model_question

READ_SHARE, READ_LEAST = 0.3, 12_000
"""A model reads at most this share of a document's characters, but this many in any case."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the documents of one run have in common."""

    run: Run
    playbook: Playbook
    inputs: Sequence[SourceDocument]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an engine says of a document."""

    candidates: Sequence[Candidate]
    supplier: str
    warnings: Sequence[str] = ()
    asked: Sequence[tuple[Answer, frozenset[str]]] = ()
    """Each answer of a model with the quotes that it gave."""


async def extract_document(services: Services, work: Work, ordinal: int) -> None:
    """Do one document and write its row; a document that is done or failed already is left alone.

    What is wrong with the document itself ends in its row. Raises what concerns the whole run: LimitReached,
    EndpointRefused, LeaseLost, DatabaseUnreachable.
    """
    run = work.run
    row = (await services.ledger.documents(run.run_id, ordinal, ordinal + 1))[0]
    if row.state not in ("pending", "deferred"):
        return
    source = work.inputs[ordinal]
    model = run.settings.models.get("extract", "") if run.engine == "openai" else ""
    named = partial(
        DocumentResult, ordinal=ordinal, document=source.document, sha256=source.sha256, engine=run.engine, model=model
    )
    pages: tuple[tuple[int, str, str], ...] = ()
    try:
        reading = await services.calls.ask(run, _read(services, run, source))
        pages = tuple((number, state, reason) for number, state, reason in reading.value["pages"])
        raw = await services.artifacts.get(reading.value["text_ref"])
        text = await asyncio.to_thread(_parse, raw)
        rules = await services.calls.ask(run, _rules(services, work.playbook, source, reading.value["text_ref"]))
        seen = _seen_by_rules(rules.value)
        if run.engine == "openai":
            seen = await _seen_by_model(services, work, text, source, seen, model)
        findings = await asyncio.to_thread(located, text, source, seen.candidates, seen.supplier)
        await _reject_unlocated(services, run, seen, findings)
        stored = json.dumps([finding.to_json() for finding in findings], ensure_ascii=True).encode()
        result = named(
            state="done",
            supplier=seen.supplier,
            language=text.language,
            findings_ref=await services.artifacts.put(stored),
            text_ref=reading.value["text_ref"],
            findings=len(findings),
            pages=pages,
            warnings=(*text.warnings, *seen.warnings),
        )
    except (DocumentError, Transient) as error:
        result = named(state="failed", reason=str(error), pages=pages)
    await services.ledger.finish_document(run.run_id, result)


def _read(services: Services, run: Run, source: SourceDocument) -> Question:
    password = services.passwords.get(source.document) or services.passwords.get("*")
    return Question(
        tool="reader",
        step="extract",
        key={"sha256": source.sha256, "reader": services.reader_version, "language": run.settings.language},
        payload={"path": source.path, "document": source.document, "password": password},
        document=source.document,
        document_sha256=source.sha256,
    )


def _rules(services: Services, playbook: Playbook, source: SourceDocument, text_ref: str) -> Question:
    return Question(
        tool="clause_rules",
        step="extract",
        key={"text_ref": text_ref, "rules": services.rules_sha256, "types": list(playbook.types)},
        document=source.document,
        document_sha256=source.sha256,
    )


def _seen_by_rules(value: Mapping[str, Any]) -> _Seen:
    supplier = value.get("supplier") or {}
    return _Seen([Candidate(**candidate) for candidate in value["candidates"]], supplier.get("name", ""))


async def _seen_by_model(
    services: Services, work: Work, text: DocumentText, source: SourceDocument, rules: _Seen, model: str
) -> _Seen:
    """The rules choose what the model reads; what counts is what the model finds there."""
    budget = max(READ_LEAST, int(len(text.text) * READ_SHARE))
    passages = choose(text, rules.candidates, budget)
    candidates: list[Candidate] = []
    warnings: list[str] = []
    asked: list[tuple[Answer, frozenset[str]]] = []
    supplier = ""
    for chunk in chunks(text, passages, services.chunk_chars):
        for answer, part in await _ask_model(services, work, text, source, chunk, model):
            found, named, notes = read_answer(answer.value, part, work.playbook.types, f"openai:{model}")
            candidates += found
            warnings += notes
            asked.append((answer, frozenset(candidate.quote for candidate in found)))
            if named and not supplier and Locator(text).locate(named.quote or named.name).alignment != "not_found":
                supplier = named.name
    return _Seen(candidates, supplier or rules.supplier, warnings, asked)


async def _ask_model(
    services: Services,
    work: Work,
    text: DocumentText,
    source: SourceDocument,
    chunk: Sequence[Passage],
    model: str,
) -> list[tuple[Answer, Sequence[Passage]]]:
    """The answers about a chunk; where an answer is cut, the halves are asked about instead."""
    question = model_question(text, chunk, work.playbook.clauses, model=model, document=source.document)
    try:
        return [(await services.calls.ask(work.run, question), chunk)]
    except AnswerInvalid as error:
        halves = halve(text, chunk) if error.cut else []
        if not halves:
            raise
        answers: list[tuple[Answer, Sequence[Passage]]] = []
        for half in halves:
            answers += await _ask_model(services, work, text, source, half, model)
        return answers


def located(
    text: DocumentText, source: SourceDocument, candidates: Sequence[Candidate], supplier: str
) -> list[Finding]:
    """Candidates as findings with their place, one for each clause type and place, in order of the text."""
    locator = Locator(text)
    found: dict[str, Finding] = {}
    for candidate in candidates:
        place = locator.locate(candidate.quote, candidate.start)
        own_words = " … ".join(text.text[start:end] for start, end in place.spans) or candidate.quote
        finding = Finding(
            finding_id=finding_id(source.sha256, candidate.clause_type, place, candidate.quote),
            document=source.document,
            document_sha256=source.sha256,
            supplier=supplier,
            clause_type=candidate.clause_type,
            quote=own_words,
            page=place.page,
            page_end=place.page_end,
            boxes=place.boxes,
            spans=place.spans,
            alignment=place.alignment,
            confidence=round(candidate.confidence, 4),
            source=candidate.source,
        )
        twin = _twin(found.values(), finding)
        if twin is None:
            found[finding.finding_id] = finding
        elif finding.confidence > twin.confidence:
            del found[twin.finding_id]
            found[finding.finding_id] = finding
    return sorted(found.values(), key=lambda finding: (finding.spans or ((1 << 60, 0),), finding.clause_type))


def _twin(found: Any, finding: Finding) -> Finding | None:
    """A finding of the same type of which one lies within the other: the same clause, seen twice."""
    for other in found:
        if other.clause_type == finding.clause_type and (
            other.finding_id == finding.finding_id
            or (other.spans and finding.spans and _within(other.spans[0], finding.spans[0]))
        ):
            return other  # type: ignore[no-any-return]
    return None


def _within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return (one[0] <= other[0] and other[1] <= one[1]) or (other[0] <= one[0] and one[1] <= other[1])


async def _reject_unlocated(services: Services, run: Run, seen: _Seen, findings: Sequence[Finding]) -> None:
    """An answer with quotes that are not in the document is kept for this run, but no other run builds on it."""
    lost = {finding.quote for finding in findings if finding.alignment == "not_found"}
    for answer, quotes in seen.asked:
        if quotes & lost:
            await services.calls.reject(run, answer, "quotes that are not in the document")


def _parse(raw: bytes) -> DocumentText:
    return DocumentText.from_json(json.loads(raw))
