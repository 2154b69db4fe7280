"""Requests to a model: prompt, schema and passages, with the key of all that determines the answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from nodes.domain.answers.extraction import schema_sha256
from nodes.domain.answers.passages import Passage, fingerprint, render
from nodes.domain.playbook.model import Clause
from nodes.domain.text.documents import DocumentText
from nodes.ports import ToolRequest
from nodes.prompts import Prompt, load_prompt

ANSWER_TOKENS = 4_096
"""Room for the answer about one chunk of passages; one that is cut is asked about in halves, or with twice as much."""

SUMMARY_TOKENS = 2_048
"""Room for fourteen sentences with their citations."""


def model_question(
    text: DocumentText,
    passages: Sequence[Passage],
    clauses: Sequence[Clause],
    *,
    model: str,
    document: str = "",
    max_tokens: int = ANSWER_TOKENS,
    prompt: Prompt | None = None,
) -> ToolRequest:
    """Ask a model which of the clauses stand in these passages, numbered from 1 in this order."""
    prompt = prompt or load_prompt("extract_clauses")
    types = [clause.type for clause in clauses]
    type_list = "\n".join(f"- {clause.type}: {' '.join(clause.question.split())}" for clause in clauses)
    key = {
        "prompt": prompt.sha256,
        "schema": schema_sha256("ClauseAnswers", types),
        "model": model,
        "temperature": 0,
        "max_tokens": max_tokens,
        "types": hashlib.sha256(type_list.encode()).hexdigest(),
        "passages": [fingerprint(text, passage) for passage in passages],
    }
    messages = prompt.messages({"types": type_list, "passages": render(text, passages)})
    return ToolRequest(
        tool="model",
        step="extract",
        key=key,
        payload={"messages": messages, "schema": "ClauseAnswers", "types": types},
        document=document,
        document_sha256=text.sha256,
        model=model,
        max_tokens=max_tokens,
    )


def summary_question(
    text: DocumentText, passages: Sequence[Passage], *, model: str, document: str = "", max_tokens: int = SUMMARY_TOKENS
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


def note_question(
    findings: Sequence[dict[str, str]],
    *,
    model: str,
    language: str = "English",
    max_sentences: int = 12,
    max_tokens: int = ANSWER_TOKENS,
    prompt: Prompt | None = None,
) -> ToolRequest:
    """Ask a model for the sentences of the note; each finding has id, supplier, type, risk and quote."""
    prompt = prompt or load_prompt("write_note")
    listed = "\n".join(json.dumps(finding, ensure_ascii=False, sort_keys=True) for finding in findings)
    messages = prompt.messages({"findings": listed, "language": language, "max_sentences": str(max_sentences)})
    key = {
        "prompt": prompt.sha256,
        "schema": schema_sha256("NoteAnswer"),
        "model": model,
        "temperature": 0,
        "max_tokens": max_tokens,
        "language": language,
        "max_sentences": max_sentences,
        "findings": hashlib.sha256(listed.encode("utf-8", "replace")).hexdigest(),
    }
    payload = {"messages": messages, "schema": "NoteAnswer"}
    return ToolRequest("model", "summarize", key, payload, model=model, max_tokens=max_tokens)
