"""Extraction of one document: read it, find clauses, locate their quotes, write its row."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from nodes.domain.answers.extraction import read_answer
from nodes.domain.answers.passages import Passage, halve, reading_list
from nodes.domain.clauses.engine_comparison import compare_engines
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Candidate, Finding
from nodes.domain.evidence.locate_findings import bare_quotes, locate_candidates, locate_facts, lost_quotes, states_name
from nodes.domain.playbook.fact_readers import facts_version
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.prompt_injection import hidden_findings, instruction_candidates
from nodes.domain.playbook.searched_types import local_types
from nodes.domain.runs.settings import DocumentResult, Run, chain
from nodes.domain.shared.errors import AnswerInvalid, ArtifactMissing, DocumentError, Transient, Unreadable
from nodes.domain.shared.file_names import extension_warning, unopened_warning
from nodes.domain.shared.formats import duration
from nodes.domain.text.documents import DocumentText, SourceDocument, passwords_for
from nodes.domain.text.search_entries import Entry, entries_of
from nodes.domain.text.sentences import heading_at
from nodes.ports import Services, Timeouts, ToolRequest, ToolResponse
from nodes.prompts.questions import ANSWER_TOKENS, model_question
from nodes.steps.summarize_ruling import summarize_ruling

SLOW_FACTOR = 3.0
"""Multiple of the usual limits for a document of the slow lane."""

SMALL_BYTES = 20_000

T = TypeVar("T")

SPARE_SECONDS = 1.0
"""A call keeps to the limit of its document by itself; after so much more, work without a call is left too."""


@dataclass(frozen=True, slots=True)
class Work:
    """What the extraction of all documents of a run shares."""

    run: Run
    playbook: Playbook
    inputs: Sequence[SourceDocument]
    attachment_counts: Mapping[str, int]
    """Number of embedded files of a document that are documents of the run."""
    slow: bool = False
    """Second and last try, with larger limits."""


@dataclass(frozen=True, slots=True)
class _Extraction:
    """Candidates and supplier that an engine found in a document."""

    candidates: Sequence[Candidate]
    supplier: str
    warnings: Sequence[str] = ()
    answers: Sequence[tuple[ToolResponse, frozenset[str]]] = ()
    """Each answer of a model with its quotes."""
    passages: Sequence[Sequence[Any]] = ()
    """What a model should read beside the candidates: see `likely_candidates`."""


async def extract_document(services: Services, work: Work, ordinal: int, *, force: bool = False) -> None:
    """Extract one open document and write its row; in the slow lane, one that was done meanwhile is left alone.

    `force`: do it whatever its row says, because its stored results are lost.

    A fault of the document itself ends in its row; a timeout or a passing failure defers it the first time. Raises
    what concerns the whole run: LimitReached, EndpointRefused, LeaseLost, DatabaseUnreachable.
    """
    run = work.run
    if work.slow and not force:
        (row,) = await services.ledger.documents(run.run_id, ordinal, ordinal + 1)
        if row.state != "deferred":
            return
    document = _Document(services, work, ordinal)
    try:
        async with asyncio.timeout_at((document.timeouts.until or 0) + SPARE_SECONDS):
            result = await document.extract()
    except TimeoutError:
        limit = duration(document.limit)
        result = document.defer(f"{document.source.document} was not done within {limit}.")
    except Transient as error:
        result = document.defer(str(error))
    except DocumentError as error:
        late = isinstance(error, Unreadable) and error.word == "parsing_timeout"
        result = document.defer(str(error)) if late else document.result(state="failed", reason=str(error))
    await services.ledger.finish_document(run.run_id, result, document.entries if result.state == "done" else ())


class _Document:
    """One document at work."""

    def __init__(self, services: Services, work: Work, ordinal: int) -> None:
        self.services, self.work, self.run, self.ordinal = services, work, work.run, ordinal
        self.source = work.inputs[ordinal]
        factor = SLOW_FACTOR if work.slow else 1.0
        self.limit = self.run.settings.document_seconds * factor
        until = asyncio.get_running_loop().time() + self.limit
        self.timeouts = Timeouts(until, factor, insists=False)
        self.pages: tuple[tuple[int, str, str], ...] = ()
        self.model = ""
        self.entries: Sequence[Entry] = ()

    def result(self, **columns: Any) -> DocumentResult:
        """Build the document's row."""
        return DocumentResult(
            ordinal=self.ordinal,
            document=self.source.document,
            sha256=self.source.sha256,
            engine=self.run.engine,
            model=self.model,
            pages=self.pages,
            **columns,
        )

    def defer(self, reason: str) -> DocumentResult:
        """Build the row of a document that is deferred, or failed at its second try."""
        if self.work.slow:
            return self.result(state="failed", reason=f"{reason.rstrip('.')}, also at a second try with more time.")
        return self.result(state="deferred", reason=f"Put off: {reason}")

    async def extract(self) -> DocumentResult:
        """Extract the document and build its row. Raises what `Calls.call` raises."""
        services, run, source = self.services, self.run, self.source
        if source.skipped:
            return self.result(state="skipped", reason=source.skipped)
        reading, raw = await self._read()
        self.pages = tuple((number, state, reason) for number, state, reason in reading.value["pages"])
        text = await _in_thread_if_large(len(raw), _parse, raw)
        self.entries = await _in_thread_if_large(len(raw), entries_of, text)
        rules = await self._call(rules_question(services, self.work.playbook, source, reading.value["text_ref"]))
        text = replace(text, instructions=tuple((start, end) for start, end in rules.value.get("instructions", ())))
        extraction = _extraction_by_rules(rules.value)
        case_law = self.work.playbook.kind == "decisions"
        if run.engine == "openai" and not case_law:
            extraction = await self._extraction_by_models(text, extraction)
        candidates = [*extraction.candidates, *instruction_candidates(text)]
        findings = await _in_thread_if_large(len(raw), locate_candidates, text, source, candidates, extraction.supplier)
        await _reject_unlocated(services, run, extraction, findings)
        headings = [(start, heading) for start, heading in rules.value.get("headings", ())]
        findings = [
            finding.with_(section=heading_at(headings, finding.spans[0][0])) if finding.spans else finding
            for finding in findings
        ]
        findings += hidden_findings(text, source, extraction.supplier)
        facts = await _in_thread_if_large(len(raw), locate_facts, text, rules.value.get("facts", ()))
        if run.engine == "openai" and case_law:
            model_facts, notes, self.model = await summarize_ruling(services, run, source, text, facts, self._call)
            facts, extraction = [*facts, *model_facts], replace(extraction, warnings=notes)
        return self.result(
            state="done",
            supplier=extraction.supplier,
            language=text.language,
            findings_ref=await services.artifacts.put(_stored(findings)),
            facts_ref=await services.artifacts.put(_stored(facts)),
            text_ref=reading.value["text_ref"],
            findings=len(findings),
            unit=text.unit,
            warnings=(*self._name_warnings(reading.value), *text.warnings, *extraction.warnings),
        )

    def _name_warnings(self, reading: Mapping[str, Any]) -> Iterator[str]:
        """Yield warnings on the document's name and its attachments, not on its text."""
        attachment_count = self.work.attachment_counts.get(self.source.document, 0)
        names = [attachment["name"] for attachment in reading.get("attachments", ())]
        yield from filter(
            None,
            (
                extension_warning(self.source.document, reading.get("kind", "")),
                unopened_warning(names, attachment_count),
            ),
        )

    async def _read(self) -> tuple[ToolResponse, bytes]:
        """Return the reader's answer and the stored text; where that was lost, the document is read again."""
        question = read_question(self.services, self.run, self.source)
        reading = await self._call(question)
        try:
            return reading, await self.services.artifacts.get(reading.value["text_ref"])
        except ArtifactMissing:
            await self.services.calls.forget(self.run, reading)
        reading = await self._call(question)
        return reading, await self.services.artifacts.get(reading.value["text_ref"])

    async def _call(self, question: ToolRequest) -> ToolResponse:
        return await self.services.calls.call(self.run, replace(question, timeouts=self.timeouts))

    async def _extraction_by_models(self, text: DocumentText, rules: _Extraction) -> _Extraction:
        """Extract with the first model that can; all requests on the document name that model."""
        failed: list[str] = []
        for model in chain(self.run.settings.models, "extract") or ("",):
            self.model = model
            try:
                extraction = await self._extraction_by(model, text, rules)
            except AnswerInvalid as error:
                failed.append(str(error))
                continue
            return replace(extraction, warnings=(*failed, *extraction.warnings))
        raise AnswerInvalid(" ".join(failed))

    async def _extraction_by(self, model: str, text: DocumentText, rules: _Extraction) -> _Extraction:
        """Extract with a model: the rules choose what it reads, and its findings count."""
        candidates: list[Candidate] = []
        warnings: list[str] = []
        answers: list[tuple[ToolResponse, frozenset[str]]] = []
        supplier = ""
        for chunk in reading_list(text, rules.candidates, self.services.chunk_chars, rules.passages):
            for answer, part in await self._answers(model, text, chunk):
                reported, party, notes = read_answer(answer.value, part, self.work.playbook.types, f"openai:{model}")
                candidates += reported
                warnings += notes
                answers.append((answer, frozenset(candidate.quote for candidate in reported)))
                if party and not supplier and states_name(text, party.name, party.quote):
                    supplier = party.name
        judged = local_types(text.language) | {rule.type for rule in self.work.playbook.rules}
        lost = await _in_thread_if_large(len(text.text), lost_quotes, text, candidates)
        bare = await _in_thread_if_large(len(text.text), bare_quotes, text, candidates)
        candidates = compare_engines(candidates, rules.candidates, judged, lost, bare)
        return _Extraction(candidates, supplier or rules.supplier, warnings, answers)

    async def _answers(
        self, model: str, text: DocumentText, chunk: Sequence[Passage], room: int = ANSWER_TOKENS
    ) -> list[tuple[ToolResponse, Sequence[Passage]]]:
        """Call the model about a chunk; where an answer is cut, about its halves, or again with twice the tokens."""
        clauses, document = self.work.playbook.clauses, self.source.document
        question = model_question(text, chunk, clauses, model=model, document=document, max_tokens=room)
        try:
            async with self.services.pool.slot():
                return [(await self._call(question), chunk)]
        except AnswerInvalid as error:
            halves = halve(text, chunk) if error.cut else []
            # A prompt that is too long was not answered, and so used nothing: more room would not help it.
            if error.cut and error.usage and not halves and room == ANSWER_TOKENS:
                return await self._answers(model, text, chunk, 2 * ANSWER_TOKENS)
            if not halves:
                raise
            answers: list[tuple[ToolResponse, Sequence[Passage]]] = []
            for half in halves:
                answers += await self._answers(model, text, half)
            return answers


def read_question(services: Services, run: Run, source: SourceDocument) -> ToolRequest:
    password = services.passwords.get(source.document) or services.passwords.get("*")
    attachment = (
        {"inside": source.inside, "keys": passwords_for(source.container, services.passwords)} if source.inside else {}
    )
    return ToolRequest(
        tool="reader",
        step="extract",
        key={"sha256": source.sha256, "reader": services.reader_version, "language": run.settings.language},
        payload={"path": source.path, "document": source.document, "password": password, **attachment},
        document=source.document,
        document_sha256=source.sha256,
    )


def rules_question(services: Services, playbook: Playbook, source: SourceDocument, text_ref: str) -> ToolRequest:
    return ToolRequest(
        tool="clause_rules",
        step="extract",
        key={
            "text_ref": text_ref,
            "rules": services.rules_sha256,
            "types": list(playbook.types),
            "facts": facts_version(playbook),
            **({"own": playbook.own_rules} if playbook.rules else {}),
        },
        document=source.document,
        document_sha256=source.sha256,
    )


def _extraction_by_rules(value: Mapping[str, Any]) -> _Extraction:
    supplier = value.get("supplier") or {}
    candidates = [Candidate(**candidate) for candidate in value["candidates"]]
    return _Extraction(candidates, supplier.get("name", ""), passages=value.get("passages", ()))


async def _reject_unlocated(services: Services, run: Run, extraction: _Extraction, findings: Sequence[Finding]) -> None:
    """Keep other runs from reusing answers with quotes that are not in the document; this run keeps them."""
    lost = {finding.quote for finding in findings if finding.alignment == "not_found"}
    for answer, quotes in extraction.answers:
        if quotes & lost:
            await services.calls.reject(run, answer, "quotes that are not in the document")


async def _in_thread_if_large(size: int, work: Callable[..., T], *args: Any) -> T:
    """Run in a thread where the document is large; a small one takes longer to hand over than to do."""
    return work(*args) if size < SMALL_BYTES else await asyncio.to_thread(work, *args)


def _stored(records: Sequence[Finding] | Sequence[Fact]) -> bytes:
    # Sorted, so that an answer that comes out of the ledger gives the same bytes as one that was asked for now.
    return json.dumps([record.to_json() for record in records], ensure_ascii=True, sort_keys=True).encode()


def _parse(raw: bytes) -> DocumentText:
    return DocumentText.from_json(json.loads(raw))
