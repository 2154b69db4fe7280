"""The local engine: clause rules and the party of a document, worked out in a child process."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from graph.adapters.children import ChildDied, ChildError, ChildTimeout
from nodes.domain.documents import DocumentText
from nodes.domain.entities import supplier
from nodes.domain.errors import AnswerInvalid
from nodes.domain.rules import find
from nodes.ports import Artifacts, Question, ToolAnswer, Usage

TIMEOUT = 60.0
"""A hundred times what a long contract takes."""


class Runner(Protocol):
    """What this adapter needs of Children."""

    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any: ...


def read_clauses(text: str, types: Sequence[str]) -> dict[str, Any]:
    """Candidates and supplier of the text whose artifact is this JSON; runs in a child process."""
    document = DocumentText.from_json(json.loads(text))
    candidates = find(document, types)
    named = supplier(document, candidates)
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
        "supplier": None if named is None else {"name": named[0], "quote": named[1], "start": named[2]},
    }


class ClauseRules:
    """Answers {"text_ref", "rules", "types"} with {"candidates", "supplier"}; costs nothing but time."""

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
