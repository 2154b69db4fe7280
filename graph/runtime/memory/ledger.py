"""The ledger in memory: for plain LangGraph with a memory saver, and for tests that look into it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from graph.runtime.memory.journal import MemoryJournal
from graph.runtime.postgres.ledger import tally
from nodes.domain.review.review import Decision
from nodes.domain.runs.settings import ArtifactRef, DocumentResult, Run, Settings, Spend, Tally
from nodes.domain.shared.errors import UnknownThread
from nodes.domain.text.documents import SourceDocument
from nodes.domain.text.search_entries import Entry


class MemoryLedger:
    """Satisfies nodes.ports.Ledger; its dictionaries are open to tests."""

    def __init__(self, journal: MemoryJournal | None = None) -> None:
        self.runs: dict[str, Run] = {}
        self.rows: dict[str, list[DocumentResult]] = {}
        self.named: dict[str, dict[str, ArtifactRef]] = {}
        self.decided: dict[str, list[Decision]] = {}
        self.effects: dict[tuple[str, str], dict[str, Any]] = {}
        self.entries: dict[tuple[str, str], list[Entry]] = {}
        self._journal = journal

    async def open_run(self, run: Run, documents: Sequence[SourceDocument]) -> Run:
        for existing_run in self.runs.values():
            if existing_run.thread_id == run.thread_id:
                return existing_run
        self.runs[run.run_id] = run
        self.rows[run.run_id] = [
            DocumentResult(ordinal, document.document, document.sha256, "pending")
            for ordinal, document in enumerate(documents)
        ]
        return run

    async def fork_run(self, run: Run, parent_run_id: str) -> Run | None:
        for existing_run in self.runs.values():
            if existing_run.thread_id == run.thread_id:
                return existing_run
        rows = self.rows[parent_run_id]
        if any(row.state not in ("done", "failed", "skipped") for row in rows):
            return None
        self.runs[run.run_id] = run
        self.rows[run.run_id] = [replace(row, slow=False) for row in rows]
        return run

    async def run(self, run_id: str) -> Run:
        if run_id not in self.runs:
            raise UnknownThread(f"No run {run_id} is in this database: list the runs with python run.py runs.")
        return self.runs[run_id]

    async def change_settings(self, run_id: str, settings: Settings) -> None:
        self.runs[run_id] = replace(self.runs[run_id], settings=settings)

    async def change_versions(self, run_id: str, workflow_version: int, versions: Mapping[str, str]) -> None:
        self.runs[run_id] = replace(self.runs[run_id], workflow_version=workflow_version, versions=dict(versions))

    async def documents(self, run_id: str, start: int, stop: int) -> list[DocumentResult]:
        return self.rows[run_id][start:stop]

    async def open_documents(self, run_id: str, start: int, stop: int) -> list[int]:
        return [row.ordinal for row in self.rows[run_id][start:stop] if row.state == "pending"]

    async def slow_documents(self, run_id: str) -> list[int]:
        return [row.ordinal for row in self.rows[run_id] if row.slow]

    async def defer(self, run_id: str, ordinals: Sequence[int], reason: str) -> None:
        rows = self.rows[run_id]
        for ordinal in ordinals:
            if rows[ordinal].state == "pending":
                rows[ordinal] = replace(rows[ordinal], state="deferred", slow=True, reason=reason)

    async def retry_failed(self, run_id: str) -> int:
        rows = self.rows[run_id]
        failed = [row for row in rows if row.state == "failed"]
        for row in failed:
            rows[row.ordinal] = replace(row, state="deferred", slow=True, reason=f"To be tried again: {row.reason}")
        return len(failed)

    async def finish_document(self, run_id: str, result: DocumentResult, entries: Sequence[Entry] = ()) -> None:
        slow = self.rows[run_id][result.ordinal].slow or result.state == "deferred"
        self.rows[run_id][result.ordinal] = replace(result, slow=slow)
        if entries:
            self.entries.setdefault((self.runs[run_id].matter, result.text_ref), list(entries))

    async def keep_artifact(self, run_id: str, ref: ArtifactRef) -> None:
        self.named.setdefault(run_id, {})[ref.name] = ref

    async def artifacts(self, run_id: str) -> list[ArtifactRef]:
        return list(self.named.get(run_id, {}).values())

    async def decide(self, run_id: str, decisions: Sequence[Decision]) -> int:
        history = self.decided.setdefault(run_id, [])
        new = 0
        for decision in decisions:
            previous = next(
                (earlier for earlier in reversed(history) if earlier.finding_id == decision.finding_id), None
            )
            if previous is None or _substance(previous) != _substance(decision):
                history.append(decision)
                new += 1
        return new

    async def decisions(self, run_id: str) -> list[Decision]:
        return list(self.decided.get(run_id, ()))

    async def intend(self, run_id: str, kind: str, key: str, payload: Mapping[str, Any]) -> str:
        effect = self.effects.setdefault((run_id, key), {"kind": kind, "payload": dict(payload), "state": "pending"})
        return str(effect["state"])

    async def record_effect(self, run_id: str, key: str, outcome: Mapping[str, Any]) -> None:
        effect = self.effects[run_id, key]
        if effect["state"] == "pending":
            effect |= {"state": "done", "outcome": dict(outcome), "error": ""}

    async def fail_effect(self, run_id: str, key: str, error: str) -> None:
        effect = self.effects.get((run_id, key))
        if effect is not None and effect["state"] == "pending":
            effect |= {"error": error, "attempts": effect.get("attempts", 0) + 1}

    async def spent(self, run_id: str) -> Spend:
        return self._journal.spend(run_id) if self._journal else Spend(Decimal(0), "reported", 0)

    async def tally(self, run_id: str) -> Tally:
        rows = self.rows[run_id]
        pages = Counter(state for row in rows for _, state, _ in row.pages)
        units = [row.unit for row in rows if row.state == "done"]
        return tally(Counter(row.state for row in rows), pages, sum(row.findings for row in rows), units)


def _substance(decision: Decision) -> tuple[str, str, str, str]:
    return decision.verdict, decision.reviewer, decision.reason, decision.packet
