"""The journal of calls in Postgres."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from graph.runtime.calls.journal import Claim, Spent, StoredAnswer
from graph.runtime.postgres.database import Database, as_jsonb, storable
from graph.runtime.postgres.lease import OWNER
from nodes.domain.runs.settings import Run
from nodes.ports import ToolRequest

CLAIM_SECONDS = 600
"""How long a claim holds under plain LangGraph, which has no lease to bind it to."""


class PostgresJournal:
    """Satisfies graph.runtime.calls.journal.Journal.

    `leased`: the claims of this process live as long as the lease of their thread, not for a fixed time.
    """

    def __init__(self, database: Database, *, leased: bool = False) -> None:
        self._database = database
        self._leased = leased

    async def claim(
        self, run: Run, question: ToolRequest, key: str, worst_usd: Decimal | None, token: UUID
    ) -> Claim | StoredAnswer | None:
        row = await self._database.row(
            "claim",
            **_call(run, question, key),
            leased=self._leased,
            claim_seconds=CLAIM_SECONDS,
            worst_usd=worst_usd,
            token=token,
        )
        if row is not None:
            return Claim(row["call_id"])
        stored = await self._database.row("stored", matter=run.matter, call_key=key)
        if stored is None or stored["state"] == "claimed":
            return None
        return StoredAnswer(stored["value"], stored["usd"])

    async def attempt(self, run: Run, question: ToolRequest, key: str, number: int, worst_usd: Decimal | None) -> int:
        row = await self._database.row(
            "attempt", **_call(run, question, key), attempt=number, worst_usd=worst_usd, token=uuid4()
        )
        assert row is not None
        return int(row["call_id"])

    async def complete(
        self, run: Run, key: str, call_id: int, value: Mapping[str, Any], spent: Spent, waited: float = 0.0
    ) -> None:
        await self._database.execute(
            "complete",
            call_id=call_id,
            matter=run.matter,
            call_key=key,
            owner=OWNER,
            value=as_jsonb(value),
            waited_ms=round(1000 * waited),
            **_spent(spent),
        )

    async def fail(self, call_id: int, state: str, word: str, error: str, spent: Spent) -> None:
        await self._database.execute(
            "fail", call_id=call_id, state=state, word=word, error=storable(error)[:2000], **_spent(spent)
        )

    async def unclaim(self, run: Run, key: str) -> None:
        await self._database.execute("unclaim", matter=run.matter, call_key=key, owner=OWNER)

    async def reject(self, run: Run, key: str, reason: str) -> None:
        await self._database.execute(
            "reject", matter=run.matter, call_key=key, run_id=run.run_id, reason=storable(reason)
        )

    async def forget(self, run: Run, key: str) -> None:
        await self._database.execute("forget", matter=run.matter, call_key=key)

    async def reused(self, run: Run, question: ToolRequest, key: str, usd: Decimal | None) -> None:
        await self._database.execute("reuse", **_call(run, question, key), avoided_usd=usd, token=uuid4())

    async def spent(self, run_id: str) -> Decimal:
        row = await self._database.row("spent", run_id=run_id)
        assert row is not None
        return Decimal(row["usd"])


def _call(run: Run, question: ToolRequest, key: str) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "thread_id": run.thread_id,
        "matter": run.matter,
        "call_key": key,
        "tool": question.tool,
        "step": question.step,
        "document": storable(question.document),
        "document_sha256": question.document_sha256,
        "model": question.model,
        "parameters": as_jsonb(question.key),
        "owner": OWNER,
    }


def _spent(spent: Spent) -> dict[str, Any]:
    usage, usd, basis = spent
    return {
        "tokens_in": usage.tokens_in if usage else None,
        "tokens_cached": usage.tokens_cached if usage else None,
        "tokens_out": usage.tokens_out if usage else None,
        "usd": usd,
        "basis": basis,
    }
