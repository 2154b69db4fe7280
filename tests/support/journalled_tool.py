"""A tool that answers as it is told, and runs and requests for the journal."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from typing import Any

from nodes.domain.runs.settings import Run, Settings
from nodes.ports import ToolAnswer, ToolRequest, Usage

DOLLAR = {"paid-1": {"input": 1_000_000, "output": 0}}
"""One dollar a prompt token."""


@dataclass
class Tool:
    """Answers as it is told; `.asked` counts the world."""

    script: list[Any] = field(default_factory=list)
    asked: list[tuple[ToolRequest, str]] = field(default_factory=list)
    delay: float = 0.0
    name: str = "model"
    attempts: int = 3

    def worst_usage(self, question: ToolRequest) -> Usage:
        return Usage(2, 0, 0)

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        self.asked.append((question, feedback))
        await asyncio.sleep(self.delay)
        turn = self.script.pop(0) if self.script else {"ok": question.key["n"]}
        if isinstance(turn, Exception):
            raise turn
        return ToolAnswer(turn, Usage(1, 0, 0))


def a_run(matter: str = "m", **settings: Any) -> Run:
    run_id, thread_id = str(uuid.uuid4()), str(uuid.uuid4())
    return Run(run_id, thread_id, "", matter, "", "p", "x", "openai", 1, Settings(**settings))


def question(n: int) -> ToolRequest:
    return ToolRequest("model", "extract", {"n": n}, model="paid-1")
