"""The webhook event of a finished run: ids and counts, no word of any document."""

from __future__ import annotations

from typing import Any

from nodes.domain.runs.settings import Run, Tally

EVENT = "run_finished"


def unread(tally: Tally) -> int:
    """Count documents and pages that nobody read; a run with any of them is "completed_with_failures"."""
    documents, pages = tally.documents, tally.pages
    return documents["total"] - documents["done"] + pages["failed"] + pages["skipped"]


def event_key(run: Run, note_sha256: str) -> str:
    """Key of the event at its receiver: one for each note of a run, however often it is sent."""
    return f"{run.run_id}:{note_sha256}"


def run_finished(run: Run, tally: Tally, note_sha256: str) -> dict[str, Any]:
    """Build the event, JSON-plain and without a time, so that it is equal when sent again."""
    return {
        "event": EVENT,
        "event_id": event_key(run, note_sha256),
        "thread_id": run.thread_id,
        "name": run.name,
        "run_id": run.run_id,
        "job_id": run.job_id,
        "matter": run.matter,
        "workflow_version": run.workflow_version,
        "playbook": run.playbook,
        "engine": run.engine,
        "status": "completed_with_failures" if unread(tally) else "completed",
        "documents": {state: tally.documents[state] for state in ("total", "done", "failed", "skipped")},
        "pages": dict(tally.pages),
        "note_sha256": note_sha256,
    }
