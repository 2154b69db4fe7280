"""The journal of calls in memory, with the same rules as the one in Postgres."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from graph.runtime.calls.journal import Claim, Spent, StoredAnswer
from nodes.domain.runs.settings import Run, Spend
from nodes.ports import ToolRequest


@dataclass
class Call:
    """One attempt."""

    run_id: str
    call_key: str
    tool: str
    document: str
    model: str
    attempt: int
    state: str = "running"
    word: str = ""
    error: str = ""
    spent: Spent = field(default=(None, None, None))


@dataclass
class _Answer:
    state: str
    run_id: str
    call_id: int
    value: Mapping[str, Any] = field(default_factory=dict)


class MemoryJournal:
    """Satisfies graph.runtime.calls.journal.Journal; `.calls` in the order in which they were begun."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._answers: dict[tuple[str, str], _Answer] = {}

    async def claim(
        self, run: Run, question: ToolRequest, key: str, worst_usd: Decimal | None, token: UUID
    ) -> Claim | StoredAnswer | None:
        answer = self._answers.get((run.matter, key))
        if answer is None or (answer.state == "rejected" and answer.run_id != run.run_id):
            call_id = await self.attempt(run, question, key, 1, worst_usd)
            self._answers[run.matter, key] = _Answer("claimed", run.run_id, call_id)
            return Claim(call_id)
        if answer.state == "claimed":
            return None
        return StoredAnswer(answer.value, self.calls[answer.call_id].spent[1])

    async def attempt(self, run: Run, question: ToolRequest, key: str, number: int, worst_usd: Decimal | None) -> int:
        self.calls.append(Call(run.run_id, key, question.tool, question.document, question.model, number))
        return len(self.calls) - 1

    async def complete(
        self, run: Run, key: str, call_id: int, value: Mapping[str, Any], spent: Spent, waited: float = 0.0
    ) -> None:
        self.calls[call_id].state, self.calls[call_id].spent = "completed", spent
        self._answers[run.matter, key] = _Answer("completed", run.run_id, call_id, value)

    async def fail(self, call_id: int, state: str, word: str, error: str, spent: Spent) -> None:
        call = self.calls[call_id]
        if call.state == "running":  # an outcome that is written stays
            call.state, call.word, call.error, call.spent = state, word, error, spent

    async def unclaim(self, run: Run, key: str) -> None:
        answer = self._answers.get((run.matter, key))
        if answer is not None and answer.state == "claimed":
            del self._answers[run.matter, key]

    async def reject(self, run: Run, key: str, reason: str) -> None:
        answer = self._answers.get((run.matter, key))
        if answer is not None and answer.state == "completed" and answer.run_id == run.run_id:
            answer.state = "rejected"

    async def forget(self, run: Run, key: str) -> None:
        self._answers.pop((run.matter, key), None)

    async def reused(self, run: Run, question: ToolRequest, key: str, usd: Decimal | None) -> None:
        call_id = await self.attempt(run, question, key, 0, None)
        self.calls[call_id].state, self.calls[call_id].spent = "reused", (None, Decimal(0), "reported")

    async def spent(self, run_id: str) -> Decimal:
        return self.spend(run_id).usd

    def spend(self, run_id: str) -> Spend:
        """Cost of the calls of a run."""
        charges = [call.spent for call in self.calls if call.run_id == run_id]
        unpriced = sum(basis == "unknown" for _, _, basis in charges)
        estimated = any(basis == "estimated" for _, _, basis in charges)
        basis: Literal["reported", "estimated", "unknown"] = (
            "unknown" if unpriced else "estimated" if estimated else "reported"
        )
        return Spend(sum((usd for _, usd, _ in charges if usd is not None), Decimal(0)), basis, unpriced)
