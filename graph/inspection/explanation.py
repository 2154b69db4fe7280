"""Why a run stands where it stands, in sentences and figures for `show`: from storage alone, writing nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.composition import Container
from graph.usecases.resume.preflight import survey
from graph.usecases.resume.versions import VersionCheck
from graph.views.run_view import RunView, Views
from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import SourceError
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
        self._as_begun = VersionCheck(parts)

    async def of(self, run: Run, view: RunView, left: Mapping[str, Any], driver: Mapping[str, Any]) -> dict[str, Any]:
        """Keys: stopped (a sentence or None), versions (see VersionDiff.to_json), inputs (see PreflightReport.to_json), stale
        [{document, stale}] of documents that changed after they were read."""
        head = await self._views.head(run.thread_id)

        async def known(_: Run) -> Mapping[str, Any]:
            return left

        try:
            inputs: dict[str, Any] = (await survey(self._parts, run)).to_json()
        except SourceError as error:
            inputs = {"error": str(error)}
        adrift = await self._views.adrift(head)
        return {
            "stopped": adrift.sentence(run.name or run.thread_id) if adrift else _stopped(view, driver),
            "versions": (await self._as_begun.compare(run, head, known)).to_json(),
            "inputs": inputs,
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
