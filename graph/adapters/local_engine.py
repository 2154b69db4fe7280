"""The local engine: clauses, supplier and facts of a document, worked out in a worker process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from graph.adapters.processes.worker_pool import WorkerDied, WorkerError, WorkerTimeout
from nodes.domain.evidence.findings import Candidate
from nodes.domain.playbook.model import OwnRule
from nodes.domain.shared.errors import AnswerInvalid
from nodes.domain.text.documents import DocumentText
from nodes.ports import Artifacts, ToolAnswer, ToolRequest, Usage

TIMEOUT = 60.0
"""A hundred times what a long contract takes."""


class Runner(Protocol):
    """The part of WorkerPool that this adapter needs."""

    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any: ...


def read_clauses(
    text: str, types: Sequence[str], facts: str = "", own: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Candidates, supplier and facts of the text whose artifact is this JSON; runs in a worker process.

    `facts` is a `facts_version`, "" for none; `own` a playbook's `own_rules`, whose candidates come to the others.
    `passages` are [clause type, start, length, confidence] of what a model should read, far less sure than candidates.
    """
    # Here and not above: the process that asks starts a good deal sooner without what only its children need.
    from nodes.domain.clauses.local_engine import LocalReading, find_clauses
    from nodes.domain.contracts.parties.supplier import supplier
    from nodes.domain.playbook.fact_readers import propose_facts, read_ruling
    from nodes.domain.playbook.prompt_injection import instruction_spans
    from nodes.domain.text.sentences import headings

    document = DocumentText.from_json(json.loads(text))
    ruling = read_ruling(facts, document, types)
    reading = find_clauses(document, types) if ruling is None else LocalReading(ruling[0], [])
    stated_facts = propose_facts(facts, document, reading.candidates) if ruling is None else ruling[1]
    supplier_match = supplier(document, reading.candidates) if ruling is None else None
    candidates = [*reading.candidates, *_own_candidates(document, types, own or {})]
    spans = instruction_spans(document)
    return {
        "candidates": [
            {
                "clause_type": candidate.clause_type,
                "quote": candidate.quote,
                "confidence": candidate.confidence,
                "source": candidate.source,
                "start": candidate.start,
            }
            for candidate in candidates
        ],
        "passages": [
            [passage.clause_type, passage.start, len(passage.quote), passage.confidence] for passage in reading.passages
        ],
        "instructions": [list(span) for span in spans],
        "headings": [list(heading) for heading in headings(document)],
        "facts": [fact.to_json() for fact in stated_facts],
        "supplier": None
        if supplier_match is None
        else {"name": supplier_match[0], "quote": supplier_match[1], "start": supplier_match[2]},
    }


def _own_candidates(document: DocumentText, types: Sequence[str], own_rules: Mapping[str, Any]) -> list[Candidate]:
    from nodes.domain.clauses.rules import find_by_own_rules

    rules = [OwnRule.model_validate(rule) for rule in own_rules.get("rules", ())]
    applicable = [rule for rule in rules if document.language in ("", rule.language)]
    return find_by_own_rules(document, applicable, types, own_rules["source"]) if applicable else []


class ClauseRules:
    """Answers {"text_ref", "rules", "types", "facts", "own"?} with the result of `read_clauses`; costs only time."""

    name = "clause_rules"
    attempts = 1

    def __init__(self, artifacts: Artifacts, workers: Runner) -> None:
        self._artifacts = artifacts
        self._workers = workers

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return None

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        """Raises ArtifactMissing, and AnswerInvalid when the worker gives no answer for this document."""
        text = await self._artifacts.get(question.key["text_ref"])
        types, facts, own_rules = list(question.key["types"]), question.key.get("facts", ""), question.key.get("own")
        try:
            candidates = await self._workers.run(read_clauses, text.decode(), types, facts, own_rules, timeout=TIMEOUT)
        except (WorkerTimeout, WorkerDied, WorkerError) as error:
            name = question.document or question.document_sha256
            hint = (
                "; see whether a rule of the playbook is slow: python run.py playbook check FILE" if own_rules else ""
            )
            raise AnswerInvalid(f"The clause rules gave no answer for {name}: {error}{hint}.") from error
        return ToolAnswer(value=candidates)
