"""What whoever supports a run asks of it: where it stopped, what is still valid, what a resume would do."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from graph.composition import Container
from graph.inspection.explanation import Explained
from graph.runtime.execution.progress import progress
from graph.views.outbox import effects
from graph.views.remaining import remaining_work
from graph.views.resumes import resumed
from graph.views.run_view import RunView, Views
from nodes.domain.evidence.note_model import title_in
from nodes.domain.report.wording.texts import texts
from nodes.domain.runs.settings import Run
from nodes.domain.scoring.absence import MISSING
from nodes.domain.shared.errors import ArtifactMissing, UserError
from nodes.domain.text.documents import DocumentText


class Support:
    """Reads; writes nothing and needs no lease. Every method takes the id of a thread."""

    def __init__(self, parts: Container, views: Views) -> None:
        self._parts = parts
        self._database = parts.outside.database
        self._ledger = parts.ledger
        self._artifacts = parts.outside.services.artifacts
        self._views = views
        self._explained = Explained(parts, views)

    async def show(self, thread_id: str) -> dict[str, Any]:
        """Where the run stopped: run, driver, checkpoint, artifacts, calls, failures, resume; from storage alone.

        And why, what would be done otherwise now, and what became of its documents: see graph.inspection.explanation.
        """
        view = await self._views.run(thread_id)
        run = await self._views.run_of(thread_id)
        shown = {"run": view.to_json(), "driver": await self._driver(thread_id, view)}
        if run is None:
            nothing: dict[str, Any] = {"checkpoint": {"next": "ingest"}, "artifacts": {"verified": [], "missing": []}}
            nothing |= {"stopped": None, "versions": None, "inputs": None, "stale": []}
            return {**shown, **nothing, "calls": [], "effects": [], "failures": [], "resume": {"documents": None}}
        tally = await self._ledger.tally(run.run_id)
        missing = {ref.name for ref in await self._views.missing_artifacts(run)}
        names = [ref.name for ref in await self._ledger.artifacts(run.run_id)]
        remaining = await remaining_work(self._database, run, tally, view.cost["usd"])
        return {
            **shown,
            **await self._explained.of(run, view, remaining, shown["driver"]),
            "checkpoint": await self._checkpoint(run, view),
            "artifacts": {
                "verified": [name for name in names if name not in missing],
                "missing": [name for name in names if name in missing],
            },
            "calls": await self._database.rows("calls_by_tool", run_id=run.run_id),
            "effects": await effects(self._database, run.run_id),
            "failures": await self._database.rows("failures", run_id=run.run_id),
            "resume": {**asdict(remaining), "next_action": view.next_action},
        }

    async def resumes(self, thread_id: str | None = None) -> list[dict[str, Any]]:
        """Every start and resume of a run, or of all, oldest first: see graph.views.resumes."""
        return await resumed(self._database, thread_id)

    async def cost(self, thread_id: str) -> dict[str, Any]:
        """The cost of the run object, the rows of `cost_levels` under by_step, by_model, by_document, and the estimate.

        `estimate` is what a dry run of the same inputs said (see graph.usecases.estimate) with `made_at`, or None.
        """
        run = await self._run(thread_id)
        view = await self._views.run(thread_id)
        rows = await self._database.rows("cost_levels", run_id=run.run_id)
        levels = {
            f"by_{level}": [
                {name: row[name] for name in row if name != "level"} for row in rows if row["level"] == level
            ]
            for level in ("step", "model", "document")
        }
        kept = await self._database.row("estimate_of", run_id=run.run_id)
        estimate = None
        if kept:
            estimate = {**json.loads(await self._artifacts.get(kept["estimate"])), "made_at": _time(kept["made_at"])}
        return {**view.cost, "budget_usd": run.settings.to_json()["budget_usd"], **levels, "estimate": estimate}

    async def progress(self, thread_id: str) -> dict[str, Any]:
        """How far the run is and what it does now: see graph.runtime.execution.progress."""
        run = await self._views.run_of(thread_id)
        return await progress(self._database, run.run_id if run else "")

    async def coverage(self, thread_id: str) -> dict[str, Any]:
        """Every document and the state of each of its pages; keys: documents, pages, unit, listed."""
        run = await self._run(thread_id)
        view = await self._views.run(thread_id)
        listed = [
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
                "pages": [{"number": number, "state": state, "reason": why} for number, state, why in row.pages],
            }
            for row in await self._ledger.documents(run.run_id, 0, run.documents_total)
        ]
        return {"documents": view.documents, "pages": view.pages, "unit": view.unit, "listed": listed}

    async def spent(self, thread_id: str) -> float:
        """US dollars so far; 0 while nothing is frozen."""
        run = await self._views.run_of(thread_id)
        row = await self._database.row("cost", run_id=run.run_id) if run else None
        return float(row["usd"]) if row else 0.0

    async def releases(self, thread_id: str) -> list[str]:
        """Where the released files of a run are."""
        run = await self._views.run_of(thread_id)
        rows = await self._database.rows("releases", run_id=run.run_id) if run else []
        return list(dict.fromkeys(str(row["outcome"]["uri"]) for row in rows if (row["outcome"] or {}).get("uri")))

    async def titles(self, thread_id: str, language: str = "en") -> dict[str, str]:
        """Clause type to its name, by the playbook that the run froze."""
        run = await self._views.run_of(thread_id)
        if run is None:
            return {}
        try:
            playbook = json.loads(await self._artifacts.get(run.artifacts["playbook"]))
        except ArtifactMissing:
            return {}
        clauses = (*playbook["clauses"], *playbook.get("across", ()))
        names = {one["type"]: title_in(one["title"], one["type"], language) for one in clauses}
        return {MISSING: texts(language)["missing_clause"], **names}

    async def packet(self, thread_id: str) -> dict[str, Any]:
        """The review packet that waits. Raises UserError when none does."""
        head = await self._views.head(thread_id)
        if head.next != ("needs_review",) or not head.values.get("packet"):
            view = await self._views.run(thread_id)
            raise UserError(f"{view.name or thread_id} waits for no review, it is {view.status}: {view.next_action}")
        packet: dict[str, Any] = json.loads(await self._artifacts.get(head.values["packet"]))
        return packet

    async def around(self, thread_id: str, document: str, spans: list[list[int]], reach: int) -> tuple[str, str]:
        """At most `reach` characters of the document before and after a quote; empty where there are none."""
        run = await self._run(thread_id)
        row = await self._database.row("text_of", run_id=run.run_id, document=document)
        if not spans or row is None or not row["text_ref"]:
            return "", ""
        text = DocumentText.from_json(json.loads(await self._artifacts.get(row["text_ref"]))).text
        start, end = spans[0][0], spans[-1][1]
        return text[max(0, start - reach) : start], text[end : end + reach]

    async def _driver(self, thread_id: str, view: RunView) -> dict[str, Any]:
        """Who drives, or since when nobody does: the last sign that the ledger has of the last one."""
        holder = await self._database.row("holder", thread_id=thread_id)
        last = await self._database.row("last_resume", thread_id=thread_id)
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

    async def _checkpoint(self, run: Run, view: RunView) -> dict[str, Any]:
        head = await self._views.head(run.thread_id)
        index, size = view.batch["index"], view.batch["size"] or run.settings.batch_size
        closed = min(index * size, run.documents_total)
        ahead = await self._database.rows("done_ahead", run_id=run.run_id, closed=closed, batch_end=closed + size)
        counts = ahead[0] if ahead else {"in_batch": 0, "beyond": 0}
        return {
            "checkpoint_id": head.config["configurable"].get("checkpoint_id"),
            "next": view.step if head.next else None,
            "batch_index": index,
            "batch_total": view.batch["total"],
            "documents_closed": closed,
            "next_batch_size": min(size, run.documents_total - closed),
            "next_batch_in_ledger": counts["in_batch"],
            "beyond_in_ledger": counts["beyond"],
        }

    async def _run(self, thread_id: str) -> Run:
        run = await self._views.run_of(thread_id)
        if run is None:
            raise UserError(f"Thread {thread_id} has not frozen its inputs yet: python run.py resume {thread_id}")
        return run


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()
