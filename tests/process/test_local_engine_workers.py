"""The local engine in worker processes: what it answers, and what a document without an answer costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from sample_clauses import ENGLISH, document

from graph.adapters.local_engine import ClauseRules, read_clauses
from graph.adapters.processes.worker_pool import WorkerPool, WorkerTimeout
from nodes.domain.clauses.rules import rules_sha256
from nodes.domain.shared.errors import AnswerInvalid
from nodes.domain.text.documents import DocumentText
from nodes.ports import ToolRequest


class OneText:
    """Artifacts that hold one text."""

    def __init__(self, text: DocumentText) -> None:
        self.data = json.dumps(text.to_json()).encode()

    async def get(self, sha256: str) -> bytes:
        return self.data


class Slow:
    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any:
        raise WorkerTimeout(f"no answer within {timeout:g} s")


def question() -> ToolRequest:
    key = {"text_ref": "0" * 64, "rules": rules_sha256(), "types": ["insurance", "governing_law"]}
    return ToolRequest("clause_rules", "extract", key, document="a.pdf")


async def test_the_tool_answers_from_a_child_process_what_the_rules_say() -> None:
    head = 'Agreement between Acme Ltd ("Supplier") and Bank plc ("Customer").'
    text = document(f"{head}\n\n{ENGLISH['insurance']}")
    children = WorkerPool(workers=1)
    try:
        answer = await ClauseRules(OneText(text), children).answer(question())  # type: ignore[arg-type]
    finally:
        await children.aclose()
    (candidate,) = answer.value["candidates"]
    assert candidate["quote"] == ENGLISH["insurance"]
    assert answer.value["supplier"]["name"] == "Acme Ltd"
    assert (
        json.loads(json.dumps(answer.value)) == answer.value == read_clauses(json.dumps(text.to_json()), ["insurance"])
    )


async def test_a_child_without_an_answer_fails_this_document_only() -> None:
    with pytest.raises(AnswerInvalid, match=r"a\.pdf.*60 s"):
        await ClauseRules(OneText(document("x")), Slow()).answer(question())  # type: ignore[arg-type]
