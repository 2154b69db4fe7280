"""The run object that every surface shows, derived from storage alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, TypedDict

from langgraph.types import StateSnapshot

from graph.composition import Container
from graph.views.frames import run_frame, run_html
from graph.views.outbox import undelivered
from graph.views.run_records import RunRecords, read_newest_records, read_records
from graph.views.status import Status, StatusFacts, derive, next_action
from graph.views.threads import has_begun
from nodes.domain.evidence.findings import RISKS
from nodes.domain.review.review import undecided
from nodes.domain.runs.settings import WORKFLOW_VERSION, ArtifactRef, Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.runs.webhook_event import unread
from nodes.domain.shared.errors import ArtifactMissing, UnknownThread
from nodes.domain.shared.formats import unit_of
from nodes.ports import Artifacts


class DocumentCounts(TypedDict):
    """Documents of a run by what became of them."""

    total: int
    done: int
    failed: int
    skipped: int


class BatchPosition(TypedDict):
    """The batch that comes next, the documents of a batch, the number of batches."""

    index: int
    size: int
    total: int


class FindingCounts(TypedDict):
    """Findings of a run; those that wait for a person; those of each risk, once it is scored."""

    total: int
    to_review: int
    by_risk: Mapping[str, int]


Basis = Literal["reported", "estimated", "unknown"]


class Cost(TypedDict):
    """What a run has cost: `usd` of calls whose price is known, `basis` reported, estimated or unknown."""

    usd: float
    basis: Basis
    avoided_usd: float
    calls: int
    calls_reused: int
    calls_lost: int
    calls_unpriced: int


class ReviewState(TypedDict):
    """The newest round of review."""

    round: int
    packet: str
    waiting: int
    decisions: int
    reviewers: list[str]
    reply_error: str | None


class ArtifactRow(TypedDict):
    """A stored file that a run names."""

    name: str
    uri: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as scripts and people see it; `to_json` has the stable keys."""

    thread_id: str
    name: str
    """What the user called it; "" when they did not."""
    run_id: str | None
    """None while its inputs are not frozen."""
    job_id: str
    matter: str
    parent_thread_id: str | None
    """Of a fork: the thread whose documents it scores anew."""
    workflow_version: int
    playbook: str
    engine: str
    status: Status
    step: str
    """The step that comes next; publish for a run that is published."""
    next_action: str
    """The command that a person would type next."""
    started_at: str | None
    """ISO 8601, as `updated_at`."""
    updated_at: str | None
    documents: DocumentCounts
    pages: Mapping[str, int]
    """total, and one for each state of a page."""
    batch: BatchPosition
    findings: FindingCounts
    cost: Cost
    resumes: int
    review: ReviewState | None
    artifacts: list[ArtifactRow]
    error: str | None
    """Why it failed, or why a thing that it owes after its end is not done."""
    headline: str = ""
    unit: str = "page"
    """What `pages` are: page, section, or place where there are both."""

    def to_json(self) -> dict[str, Any]:
        return {
            column.name: getattr(self, column.name) for column in fields(self) if column.name not in _BESIDE_THE_JSON
        }

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame of one row, nested keys as `documents.done`. Raises MissingPart without pandas."""
        return run_frame(self.to_json())

    def _repr_html_(self) -> str:
        return run_html(self.to_json())

    def __repr__(self) -> str:
        return (
            f"<run {self.name or self.thread_id}: {self.status}, "
            f"{self.documents['done']} of {self.documents['total']} documents, next: {self.next_action}>"
        )


_BESIDE_THE_JSON = ("headline", "unit")


async def read_run_view(container: Container, thread_id: str) -> RunView:
    """Read the run object of a thread. Raises UnknownThread."""
    return await run_view(container.artifacts, await read_records(container, thread_id))


async def read_run_views(container: Container, limit: int) -> list[RunView]:
    """Read the run objects of the newest runs, the newest first, in one statement."""
    return [await run_view(container.artifacts, records) for records in await read_newest_records(container, limit)]


async def run_view(artifacts: Artifacts, records: RunRecords) -> RunView:
    """Derive the run object; reads the packet that waits, and nothing else. Raises UnknownThread."""
    run, head, tally = records.run, records.head, records.tally
    if run is None:
        return _unfrozen(records)
    state = valid_part(head.values)
    packet = await _packet(artifacts, run, state)
    waiting = len(undecided(packet, records.decisions)) if packet else 0
    last = records.last_resume
    status = derive(
        StatusFacts(
            next=head.next,
            published=bool(state.get("published")),
            live=records.live,
            answered=bool(packet and packet["findings"]) and waiting == 0,
            cancelled=run.cancelled_at is not None,
            failures=unread(tally),
            last=last,
            waiting=tally.documents["deferred"] > 0,
        )
    )
    undone = undelivered(records.effects) if status.startswith("completed") else ""
    return RunView(
        thread_id=records.thread_id,
        name=run.name,
        run_id=run.run_id,
        job_id=run.job_id,
        matter=run.matter,
        parent_thread_id=run.parent_thread_id,
        workflow_version=run.workflow_version,
        playbook=run.playbook,
        engine=run.engine,
        status=status,
        step=_step(head),
        next_action=next_action(
            "interrupted" if undone else status, run.name or records.thread_id, str(state.get("hold") or "")
        ),
        started_at=_time(run.started_at),
        updated_at=_time(records.updated_at),
        documents={
            "total": tally.documents["total"],
            "done": tally.documents["done"],
            "failed": tally.documents["failed"],
            "skipped": tally.documents["skipped"],
        },
        pages=dict(tally.pages),
        batch={
            "index": state.get("batch_index") or 0,
            "size": state.get("batch_size") or 0,
            "total": state.get("batch_total") or 0,
        },
        findings={
            "total": sum((state.get("by_risk") or {}).values()) or tally.findings,
            "to_review": waiting if head.next == ("needs_review",) else 0,
            "by_risk": state.get("by_risk") or dict.fromkeys(RISKS, 0),
        },
        cost=_cost(records.cost),
        resumes=records.resumes,
        review=_review(records, state, waiting),
        artifacts=[_artifact(ref) for ref in records.artifacts],
        error=undone or (last["error"] if last and last["outcome"] == "failed" and status != "running" else None),
        headline=state.get("headline") or "",
        unit=unit_of(tally.units),
    )


async def _packet(artifacts: Artifacts, run: Run, state: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the packet of the newest round of review; None where there is none of this run."""
    if not state.get("packet"):
        return None
    try:
        packet = json.loads(await artifacts.get(state["packet"]))
    except (ArtifactMissing, ValueError):
        return None
    if not isinstance(packet, dict) or packet.get("run_id") != run.run_id:
        return None  # the state was edited; the gate will say so
    return packet


def _review(records: RunRecords, state: Mapping[str, Any], waiting: int) -> ReviewState | None:
    if not state.get("packet"):
        return None
    return {
        "round": state.get("review_round") or 0,
        "packet": state["packet"],
        "waiting": waiting,
        "decisions": len(records.decisions),
        "reviewers": sorted({decision.reviewer for decision in records.decisions}),
        "reply_error": state.get("reply_error") or None,
    }


def _unfrozen(records: RunRecords) -> RunView:
    """Derive the run object of a start that was cut off before its inputs were frozen. Raises UnknownThread."""
    thread_id, head, last = records.thread_id, records.head, records.last_resume
    if not has_begun(head):
        raise UnknownThread(f"No run is on thread {thread_id}: list them with python run.py runs.")
    failed = last is not None and last["outcome"] == "failed"
    status: Status = "running" if records.live else "failed" if failed else "interrupted"
    values = head.values or {}
    options = values.get("options") or {}
    name = str(options.get("name") or "")
    return RunView(
        thread_id=thread_id,
        name=name,
        run_id=None,
        job_id=str(options.get("job") or ""),
        matter=values.get("matter") or "default",
        parent_thread_id=None,
        workflow_version=WORKFLOW_VERSION,
        playbook=values.get("playbook") or "",
        engine=values.get("engine") or "local",
        status=status,
        step="ingest",
        next_action=next_action(status, name or thread_id),
        started_at=head.created_at,
        updated_at=head.created_at,
        documents={"total": 0, "done": 0, "failed": 0, "skipped": 0},
        pages={"total": 0, "read": 0, "ocr": 0, "empty": 0, "failed": 0, "skipped": 0},
        batch={"index": 0, "size": 0, "total": 0},
        findings={"total": 0, "to_review": 0, "by_risk": dict.fromkeys(RISKS, 0)},
        cost=_cost({}),
        resumes=0,
        review=None,
        artifacts=[],
        error=(last or {}).get("error") or None,
    )


def _step(head: StateSnapshot) -> str:
    if head.next:
        return str(head.next[0])
    return "publish" if head.values.get("published") else "ingest"


def _cost(row: Mapping[str, Any]) -> Cost:
    unpriced = int(row.get("calls_unpriced") or 0)
    basis: Basis = "unknown" if unpriced else "estimated" if row.get("estimated") else "reported"
    return {
        "usd": _usd(row.get("usd")),
        "basis": basis,
        "avoided_usd": _usd(row.get("avoided_usd")),
        "calls": int(row.get("calls") or 0),
        "calls_reused": int(row.get("calls_reused") or 0),
        "calls_lost": int(row.get("calls_lost") or 0),
        "calls_unpriced": unpriced,
    }


def _usd(amount: Decimal | None) -> float:
    """Round for JSON alone; money is Decimal everywhere else."""
    return float(round(Decimal(amount or 0), 6))


def _artifact(ref: ArtifactRef) -> ArtifactRow:
    return {"name": ref.name, "uri": ref.uri, "sha256": ref.sha256, "bytes": ref.bytes}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
