"""A model that needs no network: the rules of the scripted endpoint, in process, with every call in sight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.adapters.openai.answers import check_complete, read_value, schema_of, sendable, worst_usage
from graph.testing.answers import answer, read_request, tokens
from graph.testing.replies import shape
from nodes.ports import ToolAnswer, ToolRequest, Usage


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of the model with the feedback on its last answer."""

    question: ToolRequest
    feedback: str


class ScriptedModel:
    """Satisfies ports.Tool; answers by keyword, always the same to the same question.

    `script` is played first, an item a call: an exception is raised, a mapping is the answer, the name of a content
    fault of the scripted endpoint spoils the answer, None leaves it to the rules.
    """

    def __init__(
        self,
        script: Sequence[Exception | Mapping[str, Any] | str | None] = (),
        *,
        attempts: int = 4,
        name: str = "model",
    ) -> None:
        self._name = name
        self._attempts = attempts
        self._script = list(script)
        self.calls: list[ModelCall] = []

    def play(self, script: Sequence[Exception | Mapping[str, Any] | str | None]) -> None:
        """Replace the rest of the present script by another one."""
        self._script = list(script)

    @property
    def name(self) -> str:
        return self._name

    @property
    def attempts(self) -> int:
        return self._attempts

    def worst_usage(self, question: ToolRequest) -> Usage:
        return worst_usage(question)

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        """Answer once; raises what the script says, or AnswerInvalid as a real model's adapter would."""
        self.calls.append(ModelCall(question, feedback))
        script_step = self._script.pop(0) if self._script else None
        if isinstance(script_step, Exception):
            raise script_step
        messages = [{"role": role, "content": sendable(text)} for role, text in question.payload["messages"]]
        if feedback:
            messages.append({"role": "user", "content": feedback})
        response_format = {"type": "json_schema", "json_schema": {"schema": schema_of(question)}}
        body = {"model": question.model, "messages": messages, "response_format": response_format}
        request = read_request({**body, "max_tokens": question.max_tokens})
        value = script_step if isinstance(script_step, Mapping) else answer(request)
        reply = shape(value, script_step if isinstance(script_step, str) else None, request)
        content = reply.content or ""
        usage = Usage(tokens(request.text), 0, reply.completion_tokens)
        check_complete(reply.finish_reason, reply.refusal or "", content, question.model, usage)
        return ToolAnswer(read_value(content, question, usage), usage)

    async def aclose(self) -> None:
        """Nothing to close."""
