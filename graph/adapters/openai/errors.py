"""Translates errors and usage counts of OpenAI-compatible endpoints into our own.

Endpoints that call themselves compatible agree on the happy path only, so that everything here is read with doubt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import openai

from graph.adapters.retry_after import retry_after
from nodes.domain.shared.errors import AnswerInvalid, EndpointRefused, RepriseError, Transient
from nodes.domain.shared.formats import duration
from nodes.ports import Usage

CHARS_A_TOKEN = 4
"""Of European prose; for counts that the endpoint did not give."""

MOST_TOKENS = 10**8
"""What is no count of one call is no count."""

SHORTEST_KEY = 8
"""What is shorter is a placeholder of a local endpoint, and may be a word."""

TOO_LONG = re.compile(
    r"""
    context.?(?:length|window|size)
    | prompt\ is\ too\ long
    | input\ (?:tokens\ exceed|is\ too\ long)
    | reduce\ the\ length
    | maximum\ (?:context|input)
    | too\ many\ (?:input\ )?tokens
    """,
    re.I | re.X,
)
"""Such as "This model's maximum context length is 8192 tokens"."""
_TOO_LARGE = re.compile(r"request too large|tokens must be reduced", re.I)
"""A rate that this question alone passes: waiting does not help."""
_NO_CREDIT = re.compile(r"insufficient.?(?:quota|credit|balance|funds)", re.I)
_BILLING = re.compile(r"billing", re.I)
"""Also said by those who would sell a higher rate: no credit is left only where they name no time."""
_NO_MODEL = re.compile(
    r"""
    model.?not.?found
    | \b(?:model|deployment)\b.{0,80}(?:does\ not\ exist|not\ found|not\ exist)
    | not\ a\ valid\ model
    | (?:invalid|unknown|no\ such)\ model
    """,
    re.I | re.S | re.X,
)
"""Such as "The model `gpt-9` does not exist or you do not have access to it"."""
_BAD_KEY = re.compile(
    r"""
    (?:invalid|incorrect|no)\W{0,3}api.?key
    | api.?key\b.{0,20}\b(?:invalid|not\ valid|expired)
    """,
    re.I | re.X,
)
"""Such as "Incorrect API key provided"."""
_KEYLIKE = re.compile(r"\b(?:sk|pk|key|gsk|xai|or)-[\w*.-]{6,}|\bBearer\s+\S+", re.I)
_UNSENT = {"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "ProxyError"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint and model of a call, as error messages name them."""

    host: str
    model: str
    timeout: float
    secret: str = ""
    """Never shown: cut out of whatever the other side says."""

    def quoted(self, message: str) -> str:
        plain = message.replace(self.secret, "[key]") if len(self.secret) >= SHORTEST_KEY else message
        return " ".join(_KEYLIKE.sub("[key]", plain).split())[:300].rstrip(".")


def translate(error: Exception, at: Endpoint) -> RepriseError:
    """Translate any error of the client into one of ours."""
    if isinstance(error, RepriseError):
        return error
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        unsent = not _UNSENT.isdisjoint(_names(error))
        return Transient(
            f"{at.host} did not answer within {at.timeout:g} s.", word="request_timeout", unknown=not unsent
        )
    if isinstance(error, openai.APIStatusError):
        return _of_status(error.status_code, _code(error.body), message_of(error), at, error.response.headers)
    if isinstance(error, openai.APIConnectionError):
        return _of_connection(error, at)
    if isinstance(error, openai.APIError):
        return Transient(f"{at.host} reports an error: {at.quoted(message_of(error))}.", word="server_error")
    body = _error_in_body(error)
    if body is not None:  # some gateways answer 200 and put the error into the body
        return _of_status(_status_in(body), _code(body), str(body.get("message", "")), at, {})
    return Transient(
        f"{at.host} answered with something that is no chat completion (if that stays so, check OPENAI_BASE_URL).",
        word="server_error",
        unknown=True,
    )


def _of_status(status: int, code: str, message: str, at: Endpoint, headers: Mapping[str, str]) -> RepriseError:
    words = f"{code} {message}"
    if status == 401:
        return EndpointRefused(f"The endpoint {at.host} refused the key (401): set OPENAI_API_KEY and resume.")
    if status == 403 and re.search(r"moderat|flagged|content.?policy", words, re.I):
        return AnswerInvalid(f"{at.host} refused this text ({status}): {at.quoted(message)}.")
    if (status in (403, 404) and re.search("model|deployment", words, re.I)) or (
        status in (400, 422) and _NO_MODEL.search(words)
    ):
        verb = "lets us not use model" if status == 403 else "knows no model"
        return EndpointRefused(
            f"The endpoint {at.host} {verb} {at.model!r} ({status}): name another one with --model and resume."
        )
    if status == 403:
        reason = at.quoted(message) or "it does not say why"
        return EndpointRefused(
            f"The endpoint {at.host} refused the key (403): {reason}; check what OPENAI_API_KEY may do and resume."
        )
    if status == 400 and _BAD_KEY.search(words):
        return EndpointRefused(f"The endpoint {at.host} refused the key (400): set OPENAI_API_KEY and resume.")
    wait = retry_after(headers, message)
    if (
        status == 402
        or (status == 429 and _NO_CREDIT.search(words))
        or (status == 429 and wait is None and _BILLING.search(words))
    ):
        return EndpointRefused(f"The account at {at.host} has no credit left ({status}): add some and resume.")
    if 300 <= status < 400:
        return EndpointRefused(f"The endpoint {at.host} sends us elsewhere ({status}): check OPENAI_BASE_URL.")
    if status in (404, 405):
        return EndpointRefused(
            f"The endpoint {at.host} has no chat completions there ({status}): check OPENAI_BASE_URL."
        )
    if (
        status == 413
        or (status in (400, 422, 500) and TOO_LONG.search(words))
        or (status == 429 and _TOO_LARGE.search(words))
    ):
        return AnswerInvalid(f"The prompt is longer than {at.model} can read ({status}).", cut=True)
    if status == 429:
        wait_words = f" for {duration(wait)}" if wait else ""
        return Transient(f"{at.host} asks to slow down{wait_words} (429).", word="rate_limited", retry_after=wait)
    if status in (408, 504):
        return Transient(f"{at.host} gave up waiting ({status}).", word="request_timeout", unknown=True)
    if status >= 500 or status in (409, 425):
        wait_words = f" and asks to wait {duration(wait)}" if wait else ""
        return Transient(
            f"{at.host} has trouble{wait_words} ({status}).", word="server_error", retry_after=wait, unknown=True
        )
    return AnswerInvalid(f"{at.host} refused the question ({status}): {at.quoted(message) or 'no reason given'}.")


def _of_connection(error: Exception, at: Endpoint) -> Transient:
    causes = " ".join(str(cause) for cause in _causes(error)).lower()
    if _UNSENT.isdisjoint(_names(error)):
        return Transient(f"The connection to {at.host} broke off.", word="connection", unknown=True)
    if "name or service" in causes or "name resolution" in causes or "nodename" in causes or "getaddrinfo" in causes:
        reason = "its name is not known"
    elif "certificate" in causes or "ssl" in causes:
        reason = "its certificate is not accepted"
    else:
        reason = "the connection was refused" if "refused" in causes or "attempts failed" in causes else "no connection"
    return Transient(f"Nothing answers at {at.host} ({reason}): check OPENAI_BASE_URL and resume.", word="connection")


def read_usage(raw: object, prompt_chars: int, answer_chars: int) -> Usage:
    """Read token counts as reported, cached and reasoning tokens once each; estimate them when there are none."""
    fields = raw if isinstance(raw, Mapping) else {}
    tokens_in, tokens_out = _count(fields, "prompt_tokens"), _count(fields, "completion_tokens")
    if not tokens_in or (answer_chars and not tokens_out):
        prompt_tokens, answer_tokens = -(-prompt_chars // CHARS_A_TOKEN), -(-answer_chars // CHARS_A_TOKEN)
        return Usage(tokens_in or prompt_tokens, 0, tokens_out or answer_tokens, reported=False)
    cached = _count(fields.get("prompt_tokens_details"), "cached_tokens") or _count(fields, "prompt_cache_hit_tokens")
    reasoning = _count(fields.get("completion_tokens_details"), "reasoning_tokens")
    if cached > tokens_in:  # this endpoint counts them beside the others
        tokens_in += cached
    if reasoning and _count(fields, "total_tokens") == tokens_in + tokens_out + reasoning:
        tokens_out += reasoning  # likewise
    return Usage(tokens_in, cached, tokens_out)


def _count(fields: object, name: str) -> int:
    number = fields.get(name) if isinstance(fields, Mapping) else None
    if isinstance(number, bool) or not isinstance(number, int | float):
        return 0
    return int(number) if 0 < number < MOST_TOKENS else 0


def _code(body: object) -> str:
    body = _single(body)
    if not isinstance(body, Mapping):
        return ""
    inner = body.get("error", body)
    return " ".join(str(inner.get(name) or "") for name in ("code", "type")) if isinstance(inner, Mapping) else ""


def _single(body: object) -> Any:
    """Unwrap a body of one element: some endpoints put their error into a list."""
    return body[0] if isinstance(body, list) and len(body) == 1 else body


_STATUS_OF = (
    (429, re.compile(r"rate.?limit|too many requests|quota|insufficient", re.I)),
    (401, re.compile(r"invalid.?api.?key|authentication|unauthori[sz]ed", re.I)),
    (404, _NO_MODEL),
    (400, re.compile(r"invalid.?request|context.?length|bad.?request", re.I)),
)


def _status_in(body: Mapping[str, Any]) -> int:
    """The status that an error in the body of a 200 would have had; 500 where it gives no sign."""
    code = str(body.get("code") or "")
    if re.fullmatch(r"[45]\d\d", code):
        return int(code)
    return next((status for status, pattern in _STATUS_OF if pattern.search(_code(body))), 500)


def message_of(error: openai.APIError) -> str:
    """Message of the endpoint; "" when it is nothing but a page or a code."""
    body: Any = _single(error.body)
    if isinstance(body, Mapping):
        inner: Any = body.get("error", body)
        message = inner.get("message") if isinstance(inner, Mapping) else inner
        return str(message or body.get("detail") or "")
    return "" if re.match("Error code:|<", str(error.message)) else str(error.message)


def _error_in_body(error: Exception) -> Mapping[str, Any] | None:
    """The error object of a response that ChatOpenAI could make nothing of; it hangs the response on its exception."""
    if error.args and isinstance(error.args[0], Mapping):
        return error.args[0]
    try:
        body = json.loads(getattr(error, "response").content)  # noqa: B009
    except (AttributeError, ValueError):
        return None
    body = _single(body)
    inner = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(inner, str) and inner:
        return {"message": inner}
    if isinstance(body, Mapping) and body.get("object") == "error":
        return body
    return inner if isinstance(inner, Mapping) else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _names(error: BaseException) -> set[str]:
    return {type(cause).__name__ for cause in _causes(error)}
