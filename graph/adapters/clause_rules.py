"""The local engine: clauses and the party of a document, worked out in a child process by rules and classifier."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from graph.adapters.children import ChildDied, ChildError, ChildTimeout
from nodes.domain.documents import DocumentText
from nodes.domain.entities import supplier
from nodes.domain.errors import AnswerInvalid
from nodes.domain.hostile import instructions
from nodes.domain.local_engine import look
from nodes.domain.sentences import headings
from nodes.ports import Artifacts, Question, ToolAnswer, Usage

TIMEOUT = 60.0
"""A hundred times what a long contract takes."""


class Runner(Protocol):
    """What this adapter needs of Children."""

    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any: ...


def read_clauses(text: str, types: Sequence[str]) -> dict[str, Any]:
    """Candidates and supplier of the text whose artifact is this JSON; runs in a child process.

    `passages` are [clause type, start, length, confidence] of what a model should read, far less sure than candidates.
    """
    document = DocumentText.from_json(json.loads(text))
    seen = look(document, types)
    named = supplier(document, seen.candidates)
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
            for candidate in seen.candidates
        ],
        "passages": [
            [passage.clause_type, passage.start, len(passage.quote), passage.confidence] for passage in seen.passages
        ],
        "instructions": [list(span) for span in spans],
        "headings": [list(entry) for entry in headings(document)],
        "supplier": None if named is None else {"name": named[0], "quote": named[1], "start": named[2]},
    }


class ClauseRules:
    """Answers {"text_ref", "rules", "types"} with what `read_clauses` gives; costs but time."""

    name = "clause_rules"
    attempts = 1

    def __init__(self, artifacts: Artifacts, children: Runner) -> None:
        self._artifacts = artifacts
        self._children = children

    def worst_usage(self, question: Question) -> Usage | None:
        return None

    async def answer(self, question: Question, feedback: str = "") -> ToolAnswer:
        """Raises ArtifactMissing, and AnswerInvalid when the child gives no answer for this document."""
        text = await self._artifacts.get(question.key["text_ref"])
        try:
            value = await self._children.run(read_clauses, text.decode(), list(question.key["types"]), timeout=TIMEOUT)
        except (ChildTimeout, ChildDied, ChildError) as error:
            name = question.document or question.document_sha256
            raise AnswerInvalid(f"The clause rules gave no answer for {name}: {error}.") from error
        return ToolAnswer(value=value)
