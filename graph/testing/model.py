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
class Asked:
    """One call as it came in."""

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
        self.calls: list[Asked] = []

    def play(self, script: Sequence[Exception | Mapping[str, Any] | str | None]) -> None:
        """Put another script in the place of what is left of the present one."""
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
        """Ask once; raises what the script says, or AnswerInvalid as a real model's adapter would."""
        self.calls.append(Asked(question, feedback))
        turn = self._script.pop(0) if self._script else None
        if isinstance(turn, Exception):
            raise turn
        messages = [{"role": role, "content": sendable(text)} for role, text in question.payload["messages"]]
        if feedback:
            messages.append({"role": "user", "content": feedback})
        form = {"type": "json_schema", "json_schema": {"schema": schema_of(question)}}
        body = {"model": question.model, "messages": messages, "response_format": form}
        asked = read_request({**body, "max_tokens": question.max_tokens})
        value = turn if isinstance(turn, Mapping) else answer(asked)
        reply = shape(value, turn if isinstance(turn, str) else None, asked)
        said = reply.content or ""
        usage = Usage(tokens(asked.text), 0, reply.completion_tokens)
        check_complete(reply.finish_reason, reply.refusal or "", said, question.model, usage)
        return ToolAnswer(read_value(said, question, usage), usage)

    async def aclose(self) -> None:
        """Nothing to close."""
