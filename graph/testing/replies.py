"""Replies of the scripted endpoint: the content, spoilt by a fault or not, and the objects of the protocol."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graph.testing.answers import ChatRequest, to_text, tokens
from graph.testing.faults import Settings

INVENTED = " The parties further agree that this obligation survives for ninety-nine years."


def error_body(status: int, fault: str | None, request: ChatRequest, settings: Settings) -> dict[str, Any]:
    kind: str
    code: str | None
    param: str | None = None
    if status == 400:
        limit = settings.context_tokens or 8192
        kind, code, param = "invalid_request_error", "context_length_exceeded", "messages"
        message = (
            f"This model's maximum context length is {limit} tokens. However, your messages resulted in "
            f"{max(tokens(request.text), limit + 1)} tokens. Please reduce the length of the messages."
        )
    elif status == 401:
        message, kind, code = "Incorrect API key provided.", "invalid_request_error", "invalid_api_key"
    elif status == 404:
        message = f"The model `{request.model}` does not exist or you do not have access to it."
        kind, code = "invalid_request_error", "model_not_found"
    elif fault == "quota":
        message = "You exceeded your current quota, please check your plan and billing details."
        kind, code = "insufficient_quota", "insufficient_quota"
    elif status == 429:
        message, kind, code = f"Rate limit reached for {request.model}.", "requests", "rate_limit_exceeded"
    elif status == 503:
        message, kind, code = "The engine is currently overloaded, please try again later.", "server_error", None
    else:
        message, kind, code = "The server had an error while processing your request.", "server_error", None
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


@dataclass(slots=True)
class Reply:
    """The model's side of an answer, before it is written as HTTP."""

    content: str | None
    finish_reason: str = "stop"
    refusal: str | None = None
    tool: str | None = None

    @property
    def completion_tokens(self) -> int:
        return tokens(self.content or self.refusal or "")


def shape(value: Any, fault: str | None, request: ChatRequest) -> Reply:
    """Write an answer as text, spoilt by the fault where the fault is one of the content."""
    text = to_text(value)
    tool = request.tool
    reply = Reply(text, "tool_calls" if tool and not request.tool_forced else "stop", tool=tool)
    if fault == "refusal":
        return Reply(None, refusal="I'm sorry, I can't help with that request.")
    if fault == "no_tool_call":
        return Reply("I read the passages but have nothing to fill in.")
    if fault in ("empty", "null"):
        reply.content = "" if fault == "empty" or tool else None
    elif fault == "bad_json":
        reply.content = f"Sure, here are the clauses: {text[:-1]},,"
    elif fault == "cut_json":
        reply.content, reply.finish_reason = text[: max(1, len(text) // 2)], "length"
    elif fault == "early_close":
        reply.content, reply.finish_reason = to_text(_halve(value)), "length"
    elif fault == "wrong_schema":
        reply.content = to_text({"results": [{"label": "clause", "text": "see the contract"}], "status": "done"})
    elif fault in ("nul", "surrogate"):
        mark = "\x00" if fault == "nul" else "\ud800"
        reply.content = to_text(_respell(value, lambda s: s[: len(s) // 2] + mark + s[len(s) // 2 :]), escaped=True)
    elif fault == "fabricated":
        reply.content = to_text(_respell(value, lambda s: s + INVENTED))
    if request.max_tokens is not None and reply.completion_tokens > request.max_tokens:
        reply.content, reply.finish_reason = (reply.content or "")[: request.max_tokens * 4], "length"
    return reply


def _halve(value: Any) -> Any:
    """Half of every list, rounded down."""
    if isinstance(value, dict):
        return {name: _halve(part) for name, part in value.items()}
    return value[: len(value) // 2] if isinstance(value, list) else value


def _respell(value: Any, spell: Callable[[str], str]) -> Any:
    """Respell the first string under the key ``quote``, or where there is none the first string of all."""
    respelt, changed = _respell_under("quote", value, spell)
    return respelt if changed else _respell_under(None, value, spell)[0]


def _respell_under(key: str | None, value: Any, spell: Callable[[str], str]) -> tuple[Any, bool]:
    if isinstance(value, str):
        return (spell(value), True) if key is None else (value, False)
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        respelt, changed = _respell_under(None if name == key else key, part, spell)
        if changed:
            copy = value.copy()
            copy[name] = respelt
            return copy, True
    return value, False


def _usage(request: ChatRequest, reply: Reply) -> dict[str, Any]:
    prompt_tokens, completion_tokens = tokens(request.text), reply.completion_tokens
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def completion(number: str, request: ChatRequest, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    if reply.tool:
        function = {"name": reply.tool, "arguments": reply.content or ""}
        tool_call = {"id": f"call-{number}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [tool_call]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    return {
        "id": number,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.model,
        "choices": [choice],
        "usage": _usage(request, reply),
    }
