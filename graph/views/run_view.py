"""What people are shown of a run: one object for every surface, from storage alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from langgraph.types import StateSnapshot

from graph.driver import Compiled
from graph.runtime.postgres.database import Database
from graph.runtime.postgres.lease import busy, holds
from graph.runtime.postgres.ledger import PostgresLedger, run_from_row
from graph.views.frames import Diagram, run_frame, run_html
from graph.views.outbox import undelivered
from graph.views.status import Facts, Status, derive, next_action
from nodes.domain.evidence.findings import RISKS, Finding
from nodes.domain.review.review import Decision, latest, undecided
from nodes.domain.runs.settings import WORKFLOW_VERSION, ArtifactRef, Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.runs.webhook_event import unread
from nodes.domain.shared.errors import ArtifactMissing, ThreadBusy, UnknownThread
from nodes.domain.shared.formats import unit_of
from nodes.ports import Artifacts


@dataclass(frozen=True)
class RunView:
    """A run as scripts and people see it; `to_json` has the stable keys."""

    data: Mapping[str, Any]
    headline: str = ""
    unit: str = "page"
    """What `pages` are: page, section, or place where there are both."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.data[name]
        except KeyError:
            raise AttributeError(name) from None

    def to_json(self) -> dict[str, Any]:
        return dict(self.data)

    def to_frame(self) -> Any:
        """A pandas.DataFrame of one row, nested keys as `documents.done`. Raises MissingPart without pandas."""
        return run_frame(self.data)

    def _repr_html_(self) -> str:
        return run_html(self.data)

    def __repr__(self) -> str:
        documents = self.data["documents"]
        return (
            f"<run {self.data['name'] or self.data['thread_id']}: {self.data['status']}, "
            f"{documents['done']} of {documents['total']} documents, next: {self.data['next_action']}>"
        )


class Views:
    """Reads; writes nothing and needs no lease."""

    def __init__(self, database: Database, ledger: PostgresLedger, artifacts: Artifacts, graph: Compiled) -> None:
        self._database = database
        self._ledger = ledger
        self._artifacts = artifacts
        self._graph = graph

    async def head(self, thread_id: str) -> StateSnapshot:
        return await self._graph.aget_state({"configurable": {"thread_id": thread_id}})

    def diagram(self) -> Diagram:
        return Diagram(self._graph.get_graph().draw_mermaid())

    async def refuse_busy(self, thread_id: str) -> None:
        """Raise ThreadBusy while a process drives the thread."""
        holder = await self._database.row("holder", thread_id=thread_id)
        if holder and holds(holder):
            raise ThreadBusy(busy(thread_id, holder["host"], holder["pid"], holder["taken_at"]))

    async def run_of(self, thread_id: str) -> Run | None:
        row = await self._database.row("run_of_thread", thread_id=thread_id)
        return None if row is None else run_from_row(row)

    async def run(self, thread_id: str, head: StateSnapshot | None = None) -> RunView:
        """The run object; `head` is the newest checkpoint, where that is read already. Raises UnknownThread."""
        head = head or await self.head(thread_id)
        run = await self.run_of(thread_id)
        if run is None and not head.config["configurable"].get("checkpoint_id"):
            raise UnknownThread(f"No run is on thread {thread_id}: list them with python run.py runs.")
        last = await self._database.row("last_resume", thread_id=thread_id)
        holder = await self._database.row("holder", thread_id=thread_id)
        live = bool(holder and holds(holder))
        if run is None:
            return _unfrozen(thread_id, head, live, last)
        tally = await self._ledger.tally(run.run_id)
        state = valid_part(head.values)
        packet, waiting = await self._packet(run, state)
        status = derive(
            Facts(
                next=head.next,
                published=bool(state.get("published")),
                live=live,
                answered=bool(packet and packet["findings"]) and waiting == 0,
                cancelled=run.cancelled_at is not None,
                failures=unread(tally),
                last=last,
                waiting=tally.documents["deferred"] > 0,
            )
        )
        untold = await undelivered(self._database, run.run_id) if status.startswith("completed") else ""
        cost = await self._database.row("cost", run_id=run.run_id) or {}
        updated = await self._database.row("updated_at", run_id=run.run_id, thread_id=thread_id) or {}
        resumes = await self._database.rows("resumes", thread_id=thread_id)
        data = {
            "thread_id": thread_id,
            "name": run.name,
            "run_id": run.run_id,
            "job_id": run.job_id,
            "matter": run.matter,
            "parent_thread_id": run.parent_thread_id,
            "workflow_version": run.workflow_version,
            "playbook": run.playbook,
            "engine": run.engine,
            "status": status,
            "step": _step(head),
            "next_action": next_action(
                "interrupted" if untold else status, run.name or thread_id, str(state.get("hold") or "")
            ),
            "started_at": _time(run.started_at),
            "updated_at": _time(updated.get("updated_at")),
            "documents": {k: tally.documents[k] for k in ("total", "done", "failed", "skipped")},
            "pages": dict(tally.pages),
            "batch": {
                "index": state.get("batch_index") or 0,
                "size": state.get("batch_size") or 0,
                "total": state.get("batch_total") or 0,
            },
            "findings": {
                "total": sum((state.get("by_risk") or {}).values()) or tally.findings,
                "to_review": waiting if head.next == ("needs_review",) else 0,
                "by_risk": state.get("by_risk") or dict.fromkeys(RISKS, 0),
            },
            "cost": _cost(cost),
            "resumes": sum(row["kind"] == "resume" for row in resumes),
            "review": await self._review(run, state, waiting),
            "artifacts": [_artifact(ref) for ref in await self._ledger.artifacts(run.run_id)],
            "error": untold
            or (last["error"] if last and last["outcome"] == "failed" and status != "running" else None),
        }
        return RunView(data, state.get("headline") or "", unit_of(tally.units))

    async def findings(self, run: Run, state: Mapping[str, Any]) -> list[Finding]:
        """All findings with the decisions that hold now: scored ones, or before that those of closed batches."""
        decisions = await self._ledger.decisions(run.run_id)
        if state.get("findings"):
            listed = json.loads(await self._artifacts.get(state["findings"]))["findings"]
        else:
            listed = []
            for row in await self._ledger.documents(run.run_id, 0, run.documents_total):
                if row.findings_ref:
                    listed += json.loads(await self._artifacts.get(row.findings_ref))
        return await asyncio.to_thread(_with_decisions, listed, decisions)

    async def history(self, thread_id: str, limit: int) -> list[dict[str, Any]]:
        """Checkpoints, the newest first."""
        steps = []
        async for one in self._graph.aget_state_history({"configurable": {"thread_id": thread_id}}, limit=limit):
            steps.append(
                {
                    "checkpoint_id": one.config["configurable"]["checkpoint_id"],
                    "step": (one.metadata or {}).get("step"),
                    "next": list(one.next),
                    "headline": one.values.get("headline") or "",
                    "batch_index": valid_part(one.values).get("batch_index") or 0,
                    "created_at": one.created_at,
                }
            )
        return steps

    async def missing_artifacts(self, run: Run) -> list[ArtifactRef]:
        """Named artifacts of a run that are absent or differ from their name."""
        bad = []
        for ref in await self._ledger.artifacts(run.run_id):
            try:
                await self._artifacts.get(ref.sha256)
            except ArtifactMissing:
                bad.append(ref)
        return bad

    async def _packet(self, run: Run, state: Mapping[str, Any]) -> tuple[dict[str, Any] | None, int]:
        if not state.get("packet"):
            return None, 0
        try:
            packet = json.loads(await self._artifacts.get(state["packet"]))
        except (ArtifactMissing, ValueError):
            return None, 0
        if not isinstance(packet, dict) or packet.get("run_id") != run.run_id:
            return None, 0  # the state was edited; the gate will say so
        return packet, len(undecided(packet, await self._ledger.decisions(run.run_id)))

    async def _review(self, run: Run, state: Mapping[str, Any], waiting: int) -> dict[str, Any] | None:
        if not state.get("packet"):
            return None
        decisions = await self._ledger.decisions(run.run_id)
        return {
            "round": state.get("review_round") or 0,
            "packet": state["packet"],
            "waiting": waiting,
            "decisions": len(decisions),
            "reviewers": sorted({decision.reviewer for decision in decisions}),
            "reply_error": state.get("reply_error") or None,
        }


def _with_decisions(listed: Sequence[Mapping[str, Any]], decisions: Sequence[Decision]) -> list[Finding]:
    several = {one["finding_id"]: people for one in listed if (people := one.get("reviewers_needed", 1)) > 1}
    decided = latest(decisions, several)
    findings = []
    for data in listed:
        finding = Finding.from_json(data)
        one = decided.get(finding.finding_id)
        if one is not None:
            finding = finding.with_(decision=one.shown())
        findings.append(finding)
    return findings


def _unfrozen(thread_id: str, head: StateSnapshot, live: bool, last: Mapping[str, Any] | None) -> RunView:
    """A thread whose start was cut off before its inputs were frozen."""
    status: Status = "running" if live else "failed" if last and last["outcome"] == "failed" else "interrupted"
    values = head.values or {}
    options = values.get("options") or {}
    name = str(options.get("name") or "")
    nothing = {"total": 0, "done": 0, "failed": 0, "skipped": 0}
    data: dict[str, Any] = {
        "thread_id": thread_id,
        "name": name,
        "run_id": None,
        "job_id": str(options.get("job") or ""),
        "matter": values.get("matter") or "default",
        "parent_thread_id": None,
        "workflow_version": WORKFLOW_VERSION,
        "playbook": values.get("playbook") or "",
        "engine": values.get("engine") or "local",
        "status": status,
        "step": "ingest",
        "next_action": next_action(status, name or thread_id),
        "started_at": head.created_at,
        "updated_at": head.created_at,
        "documents": nothing,
        "pages": {"total": 0, "read": 0, "ocr": 0, "empty": 0, "failed": 0, "skipped": 0},
        "batch": {"index": 0, "size": 0, "total": 0},
        "findings": {"total": 0, "to_review": 0, "by_risk": dict.fromkeys(RISKS, 0)},
        "cost": _cost({}),
        "resumes": 0,
        "review": None,
        "artifacts": [],
        "error": (last or {}).get("error") or None,
    }
    return RunView(data)


def _step(head: StateSnapshot) -> str:
    if head.next:
        return str(head.next[0])
    return "publish" if head.values.get("published") else "ingest"


def _cost(row: Mapping[str, Any]) -> dict[str, Any]:
    unpriced = int(row.get("calls_unpriced") or 0)
    basis = "unknown" if unpriced else "estimated" if row.get("estimated") else "reported"
    return {
        "usd": _usd(row.get("usd")),
        "basis": basis,
        "avoided_usd": _usd(row.get("avoided_usd")),
        "calls": int(row.get("calls") or 0),
        "calls_reused": int(row.get("calls_reused") or 0),
        "calls_lost": int(row.get("calls_lost") or 0),
        "calls_unpriced": unpriced,
    }


def _usd(value: Any) -> float:
    """For JSON alone; money is Decimal everywhere else."""
    return float(round(Decimal(value or 0), 6))


def _artifact(ref: ArtifactRef) -> dict[str, Any]:
    return {"name": ref.name, "uri": ref.uri, "sha256": ref.sha256, "bytes": ref.bytes}


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()
