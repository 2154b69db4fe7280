"""Summary of a court decision by a model: one call, of which only supported sentences are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from nodes.domain.answers.summary_answer import read_summary, summary_passages
from nodes.domain.evidence.facts import Fact
from nodes.domain.runs.settings import Run, chain
from nodes.domain.shared.errors import AnswerInvalid
from nodes.domain.shared.messages import english
from nodes.domain.text.documents import DocumentText, SourceDocument
from nodes.ports import Services, ToolRequest, ToolResponse
from nodes.prompts.questions import summary_question


async def summarize_ruling(
    services: Services,
    run: Run,
    source: SourceDocument,
    text: DocumentText,
    facts: Sequence[Fact],
    call: Callable[[ToolRequest], Awaitable[ToolResponse]],
) -> tuple[list[Fact], list[str], str]:
    """Return sentences as facts, warnings, and their model; without a usable answer the rules' summary stays.

    Raises what `Calls.call` raises, but for an answer that is none: that is a warning.
    """
    passages = await asyncio.to_thread(summary_passages, text, facts, services.chunk_chars)
    warnings: list[str] = []
    for model in chain(run.settings.models, "extract") or ("",):
        question = summary_question(text, passages, model=model, document=source.document)
        try:
            async with services.pool.slot():
                answer = await call(question)
        except AnswerInvalid as error:
            warnings.append(english("no_summary", detail=error))
            continue
        sentence_facts, dropped = await asyncio.to_thread(
            read_summary, answer.value, text, passages, facts, f"openai:{model}"
        )
        if dropped:
            warnings.append(english("unsupported_sentences", count=dropped))
        return sentence_facts, warnings, model
    return [], warnings, ""
