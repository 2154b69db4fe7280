"""Steps common to every model adapter: bounds and schema of a question, checks and parsing of a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from nodes.domain.answers.extraction import complaint, json_schema
from nodes.domain.shared.errors import AnswerInvalid, Transient
from nodes.ports import ToolRequest, Usage

BYTES_A_TOKEN_AT_LEAST = 2.5
"""Tokenizers in use make a token of 3.5 to 4.5 bytes of English or French prose and of about 3 of tables and numbers;
the bound leaves room for scanned text. It is of UTF-8 bytes, so that scripts with short tokens count for more."""

FEEDBACK_TOKENS = 1_500
"""Room in the bound of a call for a second attempt, which shows the model its answer and what was wrong with it."""

_MESSAGE_TOKENS = 16
_CUT = ("length", "model_length", "max_tokens")
"""How endpoints call the end of an answer that reached its limit."""
_THOUGHTS = re.compile(r"\A.*</think>|\A<think>.*", re.S | re.I)
"""Some templates swallow the tag that opens them; one that is never closed holds drafts and no answer."""
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def schema_of(question: ToolRequest) -> dict[str, Any]:
    """JSON schema of the answer to a question."""
    return json_schema(question.payload["schema"], tuple(question.payload.get("types", ())))


def worst_usage(question: ToolRequest) -> Usage:
    """Bound the tokens of a call: largest prompt, feedback of a second attempt, longest answer allowed."""
    messages = question.payload["messages"]
    prompt_bytes = sum(len(text.encode("utf-8", "replace")) for _, text in messages)
    prompt_tokens = int((prompt_bytes + len(json.dumps(schema_of(question)))) / BYTES_A_TOKEN_AT_LEAST)
    return Usage(
        prompt_tokens + _MESSAGE_TOKENS * (len(messages) + 4) + FEEDBACK_TOKENS, 0, question.max_tokens, reported=False
    )


def check_complete(finish: str | None, refusal: str, text: str, model: str, usage: Usage) -> None:
    """Pass when the model ended its answer itself and the answer is not empty.

    Raises AnswerInvalid, `cut` when the answer reached its limit: also a part that happens to be valid JSON is
    only a part. Raises Transient when nobody says that the answer is at its end.
    """
    if finish in _CUT:
        raise AnswerInvalid(f"The answer of {model} was longer than allowed.", usage=usage, cut=True)
    if refusal or finish == "content_filter":
        reason = refusal or "its content filter"
        raise AnswerInvalid(f"{model} refused to answer: {reason}.", usage=usage)
    if not finish or finish == "error":
        raise Transient(f"The answer of {model} broke off.", word="connection", unknown=True, usage=usage)
    if not text.strip():
        raise AnswerInvalid(f"{model} gave an empty answer.", usage=usage)


def read_value(text: str, question: ToolRequest, usage: Usage) -> dict[str, Any]:
    """Read the value of an answer.

    Raises AnswerInvalid, which names what is wrong with its form so that the model can be told.
    """
    value, problem = parsed(text)
    problem = problem or complaint(question.payload["schema"], value)
    if problem or not isinstance(value, dict):
        raise AnswerInvalid(f"{question.model} answered in a form that cannot be used: {problem}.", usage=usage)
    return value


def parsed(text: str) -> tuple[Any, str]:
    """Parse an answer: its JSON value and "", or None and what is wrong. Nothing is repaired: a repair invents.

    Thoughts, fences and words around it are no part of it, as long as there is one object among them and not two.
    """
    body = text.strip("\ufeff \t\r\n")
    try:
        return _storable(_DECODER.decode(body)), ""
    except (ValueError, RecursionError) as error:
        problem = f"it is no JSON ({error})"
    object_inside = _only_object(_THOUGHTS.sub("", body, count=1))
    return (None, problem) if object_inside is None else (_storable(object_inside), "")


def _only_object(text: str) -> Any:
    """The one JSON object of a text; None without one, or where a brace before or behind it may belong to another."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return None if re.search(r"[{}]", text[end:]) else value


def sendable(text: str) -> str:
    """Replace what no endpoint takes, NUL and halves of surrogate pairs, by spaces."""
    return _UNSTORABLE.sub(" ", text)


def _storable(value: Any) -> Any:
    """Remove NUL and halves of surrogate pairs, which a database does not take."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("", value)
    if isinstance(value, Mapping):
        return {_storable(str(name)): _storable(part) for name, part in value.items()}
    return [_storable(part) for part in value] if isinstance(value, list) else value
