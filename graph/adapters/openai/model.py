"""A model behind any OpenAI-compatible endpoint, asked for answers in a given form."""

from __future__ import annotations

import asyncio
import json
import warnings
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import openai
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langsmith import tracing_context
from pydantic import SecretStr

from graph.adapters.openai.answers import check_complete, parsed, read_value, schema_of, sendable, worst_usage
from graph.adapters.openai.dialect import Dialect
from graph.adapters.openai.errors import Endpoint, read_usage, translate
from nodes.domain.shared.errors import AnswerInvalid, Transient
from nodes.ports import ToolAnswer, ToolRequest, Usage

OPENAI_URL = "https://api.openai.com/v1"

REQUEST_SECONDS = 45.0

_SHOWN_ANSWER_CHARS = 2_000
_SHOWN_FEEDBACK_CHARS = 1_000
_MAX_REMEMBERED = 256
_ROLES: dict[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


class OpenAIModel:
    """Satisfies ports.Tool; one instance serves every model of one endpoint and is closed with `aclose`.

    A question's payload holds `messages` ([[role, text], …]), `schema` (a name of
    nodes.domain.answers.extraction.SCHEMAS) and, for clauses, `types` (the slugs that are wanted).
    """

    def __init__(
        self,
        *,
        api_key: str = "",
        base_url: str = "",
        timeout: float = REQUEST_SECONDS,
        attempts: int = 4,
        name: str = "model",
        tracing: bool = False,
    ) -> None:
        self._name = name
        self._attempts = attempts
        self._timeout = timeout
        self._key = api_key
        # An address of our own also when none is given: the client would look for one in the environment.
        self._base_url = base_url or OPENAI_URL
        address = urlsplit(self._base_url)
        self._host = f"{address.hostname or self._base_url}{f':{address.port}' if address.port else ''}"
        self._tracing = tracing
        self._clients: dict[tuple[str, bool, float], ChatOpenAI] = {}
        self._dialects: dict[str, Dialect] = {}
        self._invalid: dict[str, str] = {}
        self._http = openai.DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False)
        self._unused_http = openai.DefaultHttpxClient(timeout=timeout)

    @property
    def name(self) -> str:
        return self._name

    @property
    def attempts(self) -> int:
        return self._attempts

    def worst_usage(self, question: ToolRequest) -> Usage:
        return worst_usage(question)

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        """Ask once.

        Raises Transient, AnswerInvalid (`cut` when the answer or the prompt was too long) and EndpointRefused.
        """
        at = Endpoint(self._host, question.model, self._timeout * question.timeouts.factor, self._key)
        dialect = self._dialects.setdefault(question.model, Dialect.of(question.model, self._host))
        used = replace(dialect)
        method = used.methods[0]
        messages = self._messages(question, feedback)
        chars = sum(len(str(message.content)) for message in messages)
        try:
            message = await self._ask(question, messages, used, feedback)
        except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as error:
            raise _unfinished(error, at, chars) from None
        except Exception as error:
            raise (dialect.learn(error, used, at) or translate(error, at)) from error
        text = _text_of(message)
        usage = read_usage(message.response_metadata.get("token_usage"), chars, len(text))
        refusal = at.quoted(str(message.additional_kwargs.get("refusal") or ""))
        check_complete(message.response_metadata.get("finish_reason"), refusal, text, at.model, usage)
        if method == "function_calling" and not _called(message) and parsed(text)[0] is None:
            lesson = dialect.drop(method, at, "that it used")
            if isinstance(lesson, Transient):
                lesson.usage = usage
            raise lesson
        try:
            return ToolAnswer(read_value(text, question, usage), usage)
        except AnswerInvalid:
            self._remember(question, text)
            raise

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()
        self._unused_http.close()

    async def _ask(self, question: ToolRequest, messages: list[BaseMessage], used: Dialect, feedback: str) -> AIMessage:
        limit: dict[str, Any] = {"max_completion_tokens": question.max_tokens}
        if question.call_key:
            # The same question has the same key at every attempt; one that carries feedback is another question.
            limit["extra_headers"] = {"Idempotency-Key": f"{question.call_key}{'-again' if feedback else ''}"}
        if used.limit == "max_tokens":  # ChatOpenAI renames this one wherever else it is given
            del limit["max_completion_tokens"]
            limit["extra_body"] = {"max_tokens": question.max_tokens}
        seconds = self._timeout * question.timeouts.factor
        runnable = self._client(question.model, used.temperature, seconds).with_structured_output(
            schema_of(question),
            method=used.methods[0],  # type: ignore[arg-type]
            include_raw=True,
            strict=True if used.methods[0] == "json_schema" else None,
            **limit,
        )
        # The client's own limit is one of silence: an endpoint that trickles bytes would pass it for ever.
        async with asyncio.timeout(seconds):
            with tracing_context(enabled=self._tracing):
                outcome: Any = await runnable.ainvoke(messages)
        message: AIMessage = outcome["raw"]
        return message

    def _client(self, model: str, temperature: bool, seconds: float) -> ChatOpenAI:
        client = self._clients.get((model, temperature, seconds))
        if client is None:
            # It warns where it also raises, and the raise says more; and of answers in parts, which it reads.
            warnings.filterwarnings(
                "ignore",
                message="(?s)(This model does not support|Invalid schema for) OpenAI's struct|Pydantic serializer warn",
            )
            client = self._clients[model, temperature, seconds] = ChatOpenAI(
                model=model,
                temperature=0 if temperature else None,
                api_key=SecretStr(self._key or "none"),
                base_url=self._base_url,
                timeout=seconds,
                max_retries=0,
                use_responses_api=False,
                http_async_client=self._http,
                http_client=self._unused_http,
            )
        return client

    def _messages(self, question: ToolRequest, feedback: str) -> list[BaseMessage]:
        messages = [_ROLES[role](sendable(text)) for role, text in question.payload["messages"]]
        if feedback:
            invalid_answer = self._invalid.pop(_question_key(question), "")
            if invalid_answer:
                messages.append(AIMessage(invalid_answer))
            problem = sendable(feedback)[:_SHOWN_FEEDBACK_CHARS]
            instruction = "Answer again, with one JSON object of the form that was asked for and nothing else."
            messages.append(HumanMessage(f"Your answer could not be used. {problem}\n{instruction}"))
        return messages

    def _remember(self, question: ToolRequest, text: str) -> None:
        """Keep an unusable answer for the next attempt; after a restart that attempt goes without it."""
        while len(self._invalid) >= _MAX_REMEMBERED:
            self._invalid.pop(next(iter(self._invalid)))
        self._invalid[_question_key(question)] = sendable(text)[:_SHOWN_ANSWER_CHARS]


def _question_key(question: ToolRequest) -> str:
    return json.dumps(question.key, sort_keys=True, default=str)


def _called(message: AIMessage) -> bool:
    return bool(message.tool_calls or message.invalid_tool_calls)


def _text_of(message: AIMessage) -> str:
    """The text of the answer, or the arguments of the tool call that it made."""
    if message.tool_calls:
        return json.dumps(message.tool_calls[0]["args"])
    if message.invalid_tool_calls:
        return message.invalid_tool_calls[0]["args"] or ""
    return message.content if isinstance(message.content, str) else message.text


def _unfinished(
    error: openai.LengthFinishReasonError | openai.ContentFilterFinishReasonError, at: Endpoint, chars: int
) -> AnswerInvalid:
    completion = error.completion
    counts = completion.usage.model_dump() if completion is not None and completion.usage else None
    text = completion.choices[0].message.content if completion is not None and completion.choices else ""
    usage = read_usage(counts, chars, len(text or ""))
    if isinstance(error, openai.LengthFinishReasonError):
        return AnswerInvalid(f"The answer of {at.model} was longer than allowed.", usage=usage, cut=True)
    return AnswerInvalid(f"{at.model} refused to answer: its content filter.", usage=usage)
