"""The question about a court decision that a model is asked."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.domain.answers.extraction import schema_sha256
from nodes.domain.answers.passages import Passage, fingerprint, render
from nodes.domain.text.documents import DocumentText
from nodes.ports import ToolRequest
from nodes.prompts import load_prompt

ANSWER_TOKENS = 2_048
"""Room for fourteen sentences with their citations."""


def summary_question(
    text: DocumentText, passages: Sequence[Passage], *, model: str, document: str = "", max_tokens: int = ANSWER_TOKENS
) -> ToolRequest:
    """Ask a model to summarise a decision from these passages, numbered from 1 in this order."""
    prompt = load_prompt("summarize_decision")
    key = {
        "prompt": prompt.sha256,
        "schema": schema_sha256("DecisionSummary"),
        "model": model,
        "temperature": 0,
        "max_tokens": max_tokens,
        "passages": [fingerprint(text, passage) for passage in passages],
    }
    messages = prompt.messages({"passages": render(text, passages)})
    return ToolRequest(
        tool="model",
        step="extract",
        key=key,
        payload={"messages": messages, "schema": "DecisionSummary"},
        document=document,
        document_sha256=text.sha256,
        model=model,
        max_tokens=max_tokens,
    )
