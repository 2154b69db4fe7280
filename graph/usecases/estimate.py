"""Estimate what a run would take, before a cent is spent: documents are read and their passages chosen, no model is
asked."""

from __future__ import annotations

import asyncio
import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, NotRequired, TypedDict

from graph.adapters.openai.answers import worst_usage
from graph.composition import Container
from graph.runtime.calls.journal import call_key
from graph.runtime.postgres.lease import Lease
from graph.usecases.request_args import absolute, check_engine
from nodes.domain.answers.passages import reading_list
from nodes.domain.answers.summary_answer import summary_passages
from nodes.domain.evidence.findings import Candidate
from nodes.domain.evidence.locate_findings import locate_facts
from nodes.domain.playbook.model import Playbook
from nodes.domain.runs.options import RunOptions, apply
from nodes.domain.runs.settings import WORKFLOW_VERSION, Run, Settings, chain
from nodes.domain.shared.errors import DocumentError, Transient
from nodes.domain.shared.formats import unit_of
from nodes.domain.text.documents import DocumentText, SourceDocument
from nodes.ports import Services, ToolRequest, Usage
from nodes.prompts.questions import model_question, summary_question
from nodes.steps.extract_document import read_question, rules_question

CHARS_A_TOKEN = 4.2
"""Of English and French prose; the bound of a budget counts more carefully."""

LIKELY_ANSWER_TOKENS = 250
LEAST_ANSWER_TOKENS = 40
NOTE_TOKENS = 1_500
"""Of the question about one supplier for the note, as a rule."""

ASSUMED_SECONDS = {"model": (2.5, 12.0), "clause_rules": (0.2, 1.0)}
"""(median, p95) of a call where none was made here yet."""


class Estimate(TypedDict):
    """What a run would take; as JSON it is stored, and `cost` of a run of the same inputs compares with it."""

    documents: dict[str, int]
    """total, unreadable."""
    pages: int
    unit: str
    calls: dict[str, int]
    """reader, clause_rules, model, model_most, known: questions whose answers are there already."""
    tokens: dict[str, int]
    """in, in_most, out, out_most."""
    usd: dict[str, float]
    """low, likely, high, unpriced_calls; `high` is what a budget would have to be so that the run is never held."""
    seconds: dict[str, Any]
    """low, high, basis."""
    reading_seconds: float
    engine: NotRequired[str]
    models: NotRequired[dict[str, str]]
    playbook: NotRequired[str]


async def estimate(
    container: Container,
    sources: Sequence[str | os.PathLike[str]],
    *,
    matter: str,
    playbook: str,
    engine: str,
    passwords: Mapping[str, str] | None,
    options: RunOptions,
) -> Estimate:
    """Estimate a run; what is read for it is kept as any answer is, so that a start of the same matter reads nothing
    anew."""
    source, playbook = await asyncio.to_thread(absolute, sources, playbook)
    settings = apply(Settings(), options)
    check_engine(container, engine, settings, key=False)
    return await _Estimator(container, passwords or {}).estimate(source, playbook, engine, matter, settings)


@dataclass
class _Totals:
    """Sums over the calls of models."""

    calls: int = 0
    answered: int = 0
    """Questions whose answers are there already."""
    unpriced: int = 0
    tokens: dict[str, int] = field(default_factory=lambda: {"in": 0, "in_most": 0, "out": 0, "out_most": 0})
    usd: dict[str, Decimal] = field(default_factory=lambda: dict.fromkeys(("low", "likely", "high"), Decimal(0)))


class _Estimator:
    """Estimates one run; its services are those of a drive."""

    def __init__(self, container: Container, passwords: Mapping[str, str]) -> None:
        self._container = container
        self._services: Services = container.context_for_drive(passwords).services
        self._database = container.database

    async def estimate(self, source: str, playbook_name: str, engine: str, matter: str, settings: Settings) -> Estimate:
        """Read the documents, add up what is left to ask, and store the estimate."""
        services, start = self._services, time.monotonic()
        documents = await services.sources.scan(source, services.passwords)
        playbook = await services.playbooks.load(playbook_name)
        run = _run_of(playbook, engine, matter, settings, services.models, len(documents))
        outlines = await self._read_documents(
            run, playbook, [document for document in documents if not document.skipped]
        )
        reading_seconds = time.monotonic() - start
        questions = [question for outline in outlines for question in outline.questions]
        total = await self._sum(run, questions)
        readable = [outline for outline in outlines if outline.pages is not None]
        suppliers = {outline.supplier for outline in readable if outline.supplier}
        most_calls = total.calls + self._add_note(run, total, suppliers, len(readable))
        estimate: Estimate = {
            "documents": {"total": len(documents), "unreadable": len(outlines) - len(readable)},
            "pages": sum(outline.pages or 0 for outline in readable),
            "unit": unit_of(outline.unit for outline in readable),
            "calls": {
                "reader": len(outlines),
                "clause_rules": len(readable),
                "model": total.calls,
                "model_most": most_calls,
                "known": total.answered,
            },
            "tokens": total.tokens,
            "usd": {
                **{name: float(round(usd, 6)) for name, usd in total.usd.items()},
                "unpriced_calls": total.unpriced,
            },
            "seconds": await self._seconds(run, total.calls, len(readable)),
            "reading_seconds": round(reading_seconds, 1),
        }
        await self._store(run, documents, estimate)
        return {**estimate, "engine": engine, "models": dict(run.settings.models), "playbook": playbook.name}

    async def _read_documents(
        self, run: Run, playbook: Playbook, documents: Sequence[SourceDocument]
    ) -> list[_DocumentOutline]:
        """Read the documents under a lease, so that nobody waits for what a killed dry run had begun to read."""
        slots = asyncio.Semaphore(run.settings.concurrency)
        lease = Lease(self._database, run.thread_id, ttl=self._container.lease_seconds)
        await lease.take()
        lease.keep(_ignore, _ignore)
        try:
            return await asyncio.gather(
                *(self._read_document(run, playbook, document, slots) for document in documents)
            )
        finally:
            await lease.release()

    async def _read_document(
        self, run: Run, playbook: Playbook, source: SourceDocument, slots: asyncio.Semaphore
    ) -> _DocumentOutline:
        """Read a document and choose what a model would be asked about it."""
        services = self._services
        async with slots:
            try:
                reading = await services.calls.call(run, read_question(services, run, source))
                pages, text_ref = len(reading.value["pages"]), reading.value["text_ref"]
                unit = reading.value.get("unit", "page")
                if run.engine != "openai":
                    return _DocumentOutline(pages, unit=unit)
                rules = await services.calls.call(run, rules_question(services, playbook, source, text_ref))
                raw = await services.artifacts.get(text_ref)
            except (DocumentError, Transient):
                return _DocumentOutline(None)
        supplier = (rules.value.get("supplier") or {}).get("name", "")
        model = (chain(run.settings.models, "extract") or ("",))[0]
        chars = services.chunk_chars
        questions = await asyncio.to_thread(_questions, raw, rules.value, playbook, source, model, chars)
        return _DocumentOutline(pages, supplier, questions, unit)

    async def _sum(self, run: Run, questions: Sequence[ToolRequest]) -> _Totals:
        keys = [call_key(run, question) for question in questions]
        rows = await self._database.rows("known_answers", matter=run.matter, keys=keys)
        answered = {row["call_key"] for row in rows}
        total = _Totals()
        for question, key in zip(questions, keys, strict=True):
            total.calls += 1
            if key in answered:
                total.answered += 1
                continue
            chars = sum(len(text) for _, text in question.payload["messages"])
            worst = worst_usage(question)  # of any endpoint, so that no key is needed
            self._add(total, question.model, int(chars / CHARS_A_TOKEN), worst)
        return total

    def _add_note(self, run: Run, total: _Totals, suppliers: set[str], documents: int) -> int:
        """Add one question a supplier for the note; returns how many there may be at the most.

        The rules name a supplier less often than a model does, so that every document may turn out to be of its own.
        """
        models = chain(run.settings.models, "summarize") if run.engine == "openai" else ()
        if not models:
            return 0
        worst = Usage(8 * NOTE_TOKENS, 0, 4_096)
        for _ in suppliers:
            total.calls += 1
            self._add(total, models[0], NOTE_TOKENS, worst)
        unnamed = documents - len(suppliers)
        total.tokens["in_most"] += unnamed * worst.tokens_in
        total.tokens["out_most"] += unnamed * worst.tokens_out
        total.usd["high"] += unnamed * (self._container.prices.price(models[0], worst)[0] or Decimal(0))
        return documents

    def _add(self, total: _Totals, model: str, tokens_in: int, worst: Usage) -> None:
        prices = self._container.prices
        total.tokens["in"] += tokens_in
        total.tokens["in_most"] += worst.tokens_in
        total.tokens["out"] += LIKELY_ANSWER_TOKENS
        total.tokens["out_most"] += worst.tokens_out
        usages = {
            "low": Usage(int(0.9 * tokens_in), 0, LEAST_ANSWER_TOKENS),
            "likely": Usage(tokens_in, 0, LIKELY_ANSWER_TOKENS),
            "high": worst,
        }
        amounts = {name: prices.price(model, usage)[0] for name, usage in usages.items()}
        total.unpriced += amounts["high"] is None
        for name, amount in amounts.items():
            total.usd[name] += amount or Decimal(0)

    async def _seconds(self, run: Run, calls: int, documents: int) -> dict[str, Any]:
        """Estimate the time of the run after this reading, from what such calls took here before."""
        model = (chain(run.settings.models, "extract") or ("",))[0] if run.engine == "openai" else ""
        tool, n = ("model", calls) if model else ("clause_rules", documents)
        row = await self._database.row("latency", tool=tool, model=model) or {"n": 0}
        median, p95 = (row["median"], row["p95"]) if row["n"] else ASSUMED_SECONDS[tool]
        side_by_side = min(run.settings.concurrency, max(n, 1))
        low, high = n * median / side_by_side, (n + side_by_side) * p95 / side_by_side
        return {"low": round(low, 1), "high": round(high, 1), "basis": "measured" if row["n"] else "assumed"}

    async def _store(self, run: Run, documents: Sequence[SourceDocument], estimate: Estimate) -> None:
        inputs = json.dumps([document.to_json() for document in documents], ensure_ascii=True).encode()
        artifacts = self._services.artifacts
        await self._database.execute(
            "keep_estimate",
            matter=run.matter,
            inputs=await artifacts.put(inputs),
            playbook_sha256=run.playbook_sha256,
            engine=run.engine,
            estimate=await artifacts.put(json.dumps(estimate, sort_keys=True).encode()),
        )


@dataclass(frozen=True)
class _DocumentOutline:
    """Pages and supplier of one document, and what a model would be asked about it; `pages` None: it could not be
    read."""

    pages: int | None
    supplier: str = ""
    questions: Sequence[ToolRequest] = ()
    unit: str = "page"


def _ignore() -> None:
    """Nobody can cancel an estimate or take it over."""


def _questions(
    raw: bytes, rules: Mapping[str, Any], playbook: Playbook, source: SourceDocument, model: str, chunk_chars: int
) -> list[ToolRequest]:
    text = DocumentText.from_json(json.loads(raw))
    if playbook.kind == "decisions":
        passages = summary_passages(text, locate_facts(text, rules.get("facts", ())), chunk_chars)
        return [summary_question(text, passages, model=model, document=source.document)]
    candidates = [Candidate(**candidate) for candidate in rules["candidates"]]
    return [
        model_question(text, chunk, playbook.clauses, model=model, document=source.document)
        for chunk in reading_list(text, candidates, chunk_chars, rules.get("passages", ()))
    ]


def _run_of(
    playbook: Playbook, engine: str, matter: str, settings: Settings, models: Mapping[str, str], documents: int
) -> Run:
    """Make a run that nobody will drive: it only says where answers are kept. `models`: of steps that name none."""
    all_models = {**models, **settings.models} if engine == "openai" else settings.models
    return Run(
        run_id=f"estimate-{uuid.uuid4()}",
        thread_id=f"estimate-{uuid.uuid4()}",
        name="",
        matter=matter,
        job_id="",
        playbook=playbook.name,
        playbook_sha256=playbook.sha256,
        engine=engine,
        workflow_version=WORKFLOW_VERSION,
        settings=replace(settings, models=all_models),
        documents_total=documents,
    )
