"""The local engine: clauses, supplier and facts of a document, worked out in a child process."""

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
    """What this adapter needs of WorkerPool."""

    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any: ...


def read_clauses(
    text: str, types: Sequence[str], facts: str = "", own: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Candidates, supplier and facts of the text whose artifact is this JSON; runs in a child process.

    `facts` is a `facts_version`, "" for none; `own` a playbook's `own_rules`, whose candidates come to the others.
    `passages` are [clause type, start, length, confidence] of what a model should read, far less sure than candidates.
    """
    # Here and not above: the process that asks starts a good deal sooner without what only its children need.
    from nodes.domain.clauses.local_engine import Seen, look
    from nodes.domain.contracts.parties.supplier import supplier
    from nodes.domain.playbook.fact_readers import propose, read_as_decision
    from nodes.domain.playbook.prompt_injection import instructions
    from nodes.domain.text.sentences import headings

    document = DocumentText.from_json(json.loads(text))
    decided = read_as_decision(facts, document, types)
    seen = look(document, types) if decided is None else Seen(decided[0], [])
    stated = propose(facts, document, seen.candidates) if decided is None else decided[1]
    named = supplier(document, seen.candidates) if decided is None else None
    candidates = [*seen.candidates, *_by_own(document, types, own or {})]
    spans = instructions(document)
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
            [passage.clause_type, passage.start, len(passage.quote), passage.confidence] for passage in seen.passages
        ],
        "instructions": [list(span) for span in spans],
        "headings": [list(entry) for entry in headings(document)],
        "facts": [fact.to_json() for fact in stated],
        "supplier": None if named is None else {"name": named[0], "quote": named[1], "start": named[2]},
    }


def _by_own(document: DocumentText, types: Sequence[str], own: Mapping[str, Any]) -> list[Candidate]:
    from nodes.domain.clauses.rules import find_own

    rules = [OwnRule.model_validate(rule) for rule in own.get("rules", ())]
    chosen = [rule for rule in rules if document.language in ("", rule.language)]
    return find_own(document, chosen, types, own["source"]) if chosen else []


class ClauseRules:
    """Answers {"text_ref", "rules", "types", "facts", "own"?} with what `read_clauses` gives; costs but time."""

    name = "clause_rules"
    attempts = 1

    def __init__(self, artifacts: Artifacts, children: Runner) -> None:
        self._artifacts = artifacts
        self._children = children

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return None

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        """Raises ArtifactMissing, and AnswerInvalid when the child gives no answer for this document."""
        text = await self._artifacts.get(question.key["text_ref"])
        types, facts, own = list(question.key["types"]), question.key.get("facts", ""), question.key.get("own")
        try:
            value = await self._children.run(read_clauses, text.decode(), types, facts, own, timeout=TIMEOUT)
        except (WorkerTimeout, WorkerDied, WorkerError) as error:
            name = question.document or question.document_sha256
            hint = "; see whether a rule of the playbook is slow: python run.py playbook check FILE" if own else ""
            raise AnswerInvalid(f"The clause rules gave no answer for {name}: {error}{hint}.") from error
        return ToolAnswer(value=value)
