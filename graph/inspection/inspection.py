"""Inspect a run: where it stopped, what is still valid, what a resume would do, what it cost.

Reads storage alone; writes nothing and needs no lease.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NotRequired, TypedDict

from graph.composition import Container
from graph.inspection.explanation import explain
from graph.runtime.execution.progress import Progress, progress
from graph.views.frames import JournalView
from graph.views.outbox import EffectRow
from graph.views.remaining import remaining_work
from graph.views.resumes import ResumeRow, resumed
from graph.views.run_records import RunRecords, read_records
from graph.views.run_view import Basis, DocumentCounts, RunView, read_run_view, run_view
from graph.views.threads import find, find_run, read_head, read_run
from nodes.domain.evidence.note_model import title_in
from nodes.domain.report.wording.texts import texts
from nodes.domain.review.review import Decision
from nodes.domain.runs.settings import ArtifactRef, Run
from nodes.domain.scoring.absence import MISSING
from nodes.domain.shared.errors import ArtifactMissing, UserError
from nodes.domain.shared.shell_quote import shell_word
from nodes.domain.text.documents import DocumentText


class DriverRow(TypedDict):
    """The process that drives a run, or that drove it last."""

    live: bool
    host: str | None
    pid: int | None
    since: str | None
    outcome: NotRequired[str | None]


class RunInspection(TypedDict):
    """Where a run stopped and why; JSON-plain but for the rows of the database."""

    run: Mapping[str, Any]
    driver: DriverRow
    checkpoint: Mapping[str, Any]
    artifacts: Mapping[str, list[str]]
    """Names under verified and missing."""
    stopped: str | None
    """Why nothing happens now, in a sentence."""
    versions: Mapping[str, Any] | None
    inputs: Mapping[str, Any] | None
    stale: list[dict[str, Any]]
    """Documents that changed after they were read."""
    calls: list[dict[str, Any]]
    effects: list[EffectRow]
    failures: list[dict[str, Any]]
    resume: Mapping[str, Any]
    """What is left to do, and from what is done, what that may cost and take."""


class RunCost(TypedDict):
    """What a run has cost: in all, by step, by model, by document, and what a dry run said before."""

    usd: float
    basis: Basis
    avoided_usd: float
    calls: int
    calls_reused: int
    calls_lost: int
    calls_unpriced: int
    budget_usd: str | None
    by_step: list[dict[str, Any]]
    by_model: list[dict[str, Any]]
    by_document: list[dict[str, Any]]
    estimate: Mapping[str, Any] | None


class Coverage(TypedDict):
    """Every document of a run and the state of each of its pages."""

    documents: DocumentCounts
    pages: Mapping[str, int]
    unit: str
    listed: list[dict[str, Any]]


async def inspect_run(container: Container, thread: str) -> RunInspection:
    """Say where the run stopped and why, what would be done otherwise now, and what became of its documents."""
    thread_id = await find(container, thread)
    records = await read_records(container, thread_id)
    view = await run_view(container.artifacts, records)
    run, database = records.run, container.database
    driver = await _driver(container, view)
    if run is None:
        return {
            "run": view.to_json(),
            "driver": driver,
            "checkpoint": {"next": "ingest"},
            "artifacts": {"verified": [], "missing": []},
            "stopped": None,
            "versions": None,
            "inputs": None,
            "stale": [],
            "calls": [],
            "effects": [],
            "failures": [],
            "resume": {"documents": None},
        }
    missing = {ref.name for ref in await _missing_artifacts(container, records.artifacts)}
    names = [ref.name for ref in records.artifacts]
    remaining = await remaining_work(database, run, records.tally, view.cost["usd"])
    explanation = await explain(container, records, view, remaining, driver.get("outcome") or "")
    return {
        "run": view.to_json(),
        "driver": driver,
        "stopped": explanation.stopped,
        "versions": explanation.versions,
        "inputs": explanation.inputs,
        "stale": await database.rows("stale", run_id=run.run_id),
        "checkpoint": await _checkpoint(container, run, view, records),
        "artifacts": {
            "verified": [name for name in names if name not in missing],
            "missing": [name for name in names if name in missing],
        },
        "calls": await database.rows("calls_by_tool", run_id=run.run_id),
        "effects": list(records.effects),
        "failures": await database.rows("failures", run_id=run.run_id),
        "resume": {**asdict(remaining), "next_action": view.next_action},
    }


async def _driver(container: Container, view: RunView) -> DriverRow:
    """Who drives, or since when nobody does: the last sign that the ledger has of the last one."""
    holder = await container.database.row("holder", thread_id=view.thread_id)
    last = await container.database.row("last_resume", thread_id=view.thread_id)
    if holder and view.status == "running":
        return {"live": True, "host": holder["host"], "pid": holder["pid"], "since": _time(holder["taken_at"])}
    ended = last["ended_at"] if last else None
    return {
        "live": False,
        "host": last["host"] if last else None,
        "pid": last["pid"] if last else None,
        "since": _time(ended) or view.updated_at,
        "outcome": (last["outcome"] or "killed") if last else None,
    }


async def _checkpoint(container: Container, run: Run, view: RunView, records: RunRecords) -> dict[str, Any]:
    """How far the checkpoint is, and what the ledger has of the documents beyond it."""
    index, size = view.batch["index"], view.batch["size"] or run.settings.batch_size
    closed = min(index * size, run.documents_total)
    rows = await container.database.rows("done_ahead", run_id=run.run_id, closed=closed, batch_end=closed + size)
    counts = rows[0] if rows else {"in_batch": 0, "beyond": 0}
    return {
        "checkpoint_id": records.head.config["configurable"].get("checkpoint_id"),
        "next": view.step if records.head.next else None,
        "batch_index": index,
        "batch_total": view.batch["total"],
        "documents_closed": closed,
        "next_batch_size": min(size, run.documents_total - closed),
        "next_batch_in_ledger": counts["in_batch"],
        "beyond_in_ledger": counts["beyond"],
    }


async def _missing_artifacts(container: Container, refs: Sequence[ArtifactRef]) -> list[ArtifactRef]:
    """Named artifacts of a run that are absent or differ from their name."""
    missing = []
    for ref in refs:
        try:
            await container.artifacts.get(ref.sha256)
        except ArtifactMissing:
            missing.append(ref)
    return missing


async def read_resumes(container: Container, thread: str | None) -> list[ResumeRow]:
    """Read every start and resume of a run, or of all, oldest first: see graph.views.resumes."""
    return await resumed(container.database, None if thread is None else await find(container, thread))


async def read_cost(container: Container, thread: str) -> RunCost:
    """Read what a run has cost; `estimate` is what a dry run of the same inputs said (see graph.usecases.estimate) with
    `made_at`, or None."""
    run = await find_run(container, thread)
    view = await read_run_view(container, run.thread_id)
    rows = await container.database.rows("cost_levels", run_id=run.run_id)
    stored = await container.database.row("estimate_of", run_id=run.run_id)
    estimate = None
    if stored:
        content = json.loads(await container.artifacts.get(stored["estimate"]))
        estimate = {**content, "made_at": _time(stored["made_at"])}
    return {
        **view.cost,
        "budget_usd": run.settings.to_json()["budget_usd"],
        "by_step": _of_level(rows, "step"),
        "by_model": _of_level(rows, "model"),
        "by_document": _of_level(rows, "document"),
        "estimate": estimate,
    }


def _of_level(rows: Sequence[Mapping[str, Any]], level: str) -> list[dict[str, Any]]:
    """Rows of the query `cost_levels` that are of one level."""
    return [{name: row[name] for name in row if name != "level"} for row in rows if row["level"] == level]


async def read_progress(container: Container, thread: str) -> Progress:
    """Read how far the run is and what it does now: see graph.runtime.execution.progress."""
    run = await read_run(container, await find(container, thread))
    return await progress(container.database, run.run_id if run else "")


async def read_coverage(container: Container, thread: str) -> Coverage:
    """Read what became of every document and page."""
    run = await find_run(container, thread)
    view = await read_run_view(container, run.thread_id)
    documents = [
        {
            "document": row.document,
            "sha256": row.sha256,
            "state": row.state,
            "reason": row.reason,
            "supplier": row.supplier,
            "language": row.language,
            "findings": row.findings,
            "warnings": list(row.warnings),
            "unit": row.unit,
            "pages": [{"number": number, "state": state, "reason": reason} for number, state, reason in row.pages],
        }
        for row in await container.ledger.documents(run.run_id, 0, run.documents_total)
    ]
    return {"documents": view.documents, "pages": view.pages, "unit": view.unit, "listed": documents}


async def read_spent(container: Container, thread: str) -> float:
    """Read the US dollars spent so far; 0 while nothing is frozen."""
    run = await read_run(container, await find(container, thread))
    row = await container.database.row("cost", run_id=run.run_id) if run else None
    return float(row["usd"]) if row else 0.0


async def read_releases(container: Container, thread: str) -> list[str]:
    """Read where the released files of a run are."""
    run = await read_run(container, await find(container, thread))
    rows = await container.database.rows("releases", run_id=run.run_id) if run else []
    return list(dict.fromkeys(str(row["outcome"]["uri"]) for row in rows if (row["outcome"] or {}).get("uri")))


async def read_titles(container: Container, thread: str, language: str = "en") -> dict[str, str]:
    """Map each clause type to its title, by the playbook that the run froze."""
    run = await read_run(container, await find(container, thread))
    if run is None:
        return {}
    try:
        playbook = json.loads(await container.artifacts.get(run.artifacts["playbook"]))
    except ArtifactMissing:
        return {}
    clauses = (*playbook["clauses"], *playbook.get("across", ()))
    titles = {clause["type"]: title_in(clause["title"], clause["type"], language) for clause in clauses}
    return {MISSING: texts(language)["missing_clause"], **titles}


async def read_packet(container: Container, thread: str) -> dict[str, Any]:
    """Read the review packet that waits. Raises UserError when none does."""
    thread_id = await find(container, thread)
    head = await read_head(container, thread_id)
    if head.next != ("needs_review",) or not head.values.get("packet"):
        view = await read_run_view(container, thread_id)
        raise UserError(f"{view.name or thread_id} waits for no review, it is {view.status}: {view.next_action}")
    packet: dict[str, Any] = json.loads(await container.artifacts.get(head.values["packet"]))
    return packet


async def read_context(
    container: Container, thread: str, document: str, spans: Sequence[Sequence[int]], reach: int
) -> tuple[str, str]:
    """Read at most `reach` characters of the document before and after a quote; empty where there are none."""
    run = await find_run(container, thread)
    row = await container.database.row("text_of", run_id=run.run_id, document=document)
    if not spans or row is None or not row["text_ref"]:
        return "", ""
    text = DocumentText.from_json(json.loads(await container.artifacts.get(row["text_ref"]))).text
    start, end = spans[0][0], spans[-1][1]
    return text[max(0, start - reach) : start], text[end : end + reach]


async def read_decisions(container: Container, thread: str) -> list[Decision]:
    """Read every decision, oldest first."""
    return await container.ledger.decisions((await find_run(container, thread)).run_id)


async def read_journal(container: Container, thread: str) -> JournalView:
    """Read every call, oldest first."""
    run = await find_run(container, thread)
    return JournalView(await container.database.rows("journal", run_id=run.run_id))


async def read_report(container: Container, thread: str, kind: str) -> str:
    """Read the note, as md or html. Raises UserError while it is not written."""
    run = await find_run(container, thread)
    hashes = {ref.name: ref.sha256 for ref in await container.ledger.artifacts(run.run_id)}
    if f"note.{kind}" not in hashes:
        name = run.name or run.thread_id
        raise UserError(f"The note of {name} is not written yet: see python run.py status {shell_word(name)}")
    return (await container.artifacts.get(hashes[f"note.{kind}"])).decode("utf-8")


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
