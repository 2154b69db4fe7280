"""Why a run stands where it stands, in sentences and figures for `show`: from storage alone, writing nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.composition import Container
from graph.usecases.resume.plan import ResumeRequest, plan_resume
from graph.usecases.resume.reading import examine, read_thread
from graph.views.remaining import RemainingWork
from graph.views.run_view import RunView, Views
from nodes.domain.runs.settings import Run
from nodes.domain.shared.formats import count, one_line

OUTCOMES = {
    "": "its process was killed",
    "cancelled": "it was cancelled",
    "lost": "another process took it over",
    "refused": "the reply was refused",
}
"""How the last drive ended, where that says why the run stands."""


class Explained:
    """What `show` adds to the run object and its counts."""

    def __init__(self, parts: Container, views: Views) -> None:
        self._parts, self._views = parts, views

    async def of(self, run: Run, view: RunView, remaining: RemainingWork, driver: Mapping[str, Any]) -> dict[str, Any]:
        """Keys: stopped (a sentence or None), versions (see VersionDiff.to_json), inputs (see PreflightReport.to_json), stale
        [{document, stale}] of documents that changed after they were read."""
        head = await self._views.head(run.thread_id)
        reading = await read_thread(self._parts, head)
        reading = await examine(self._parts, reading, restore=False, remaining=remaining)
        plan = plan_resume(reading, ResumeRequest())
        return {
            "stopped": plan.stranded or _stopped(view, driver),
            "versions": plan.versions,
            "inputs": plan.inputs,
            "stale": await self._parts.outside.database.rows("stale", run_id=run.run_id),
        }


def _stopped(view: RunView, driver: Mapping[str, Any]) -> str | None:
    """Why nothing happens now; None for a run that is driven or at its end."""
    match view.status:
        case "needs_review":
            return f"it waits for a person to decide on {count(view.findings['to_review'], 'finding')}"
        case "paused":
            return "its budget or deadline is reached"
        case "failed":
            return f"it failed: {one_line(view.error, 400)}" if view.error else "it failed"
        case "cancelled":
            return "it was cancelled"
        case "interrupted":
            outcome = str(driver.get("outcome") or "")
            known = OUTCOMES.get("" if outcome == "killed" else outcome)
            return known or (f"it was stopped in peace ({outcome})" if outcome != "ended" else "nobody has gone on yet")
    return None
