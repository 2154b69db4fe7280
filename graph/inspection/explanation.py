"""Explain why a run stands where it stands, in sentences and figures for `show`; reads storage alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph.composition import Container
from graph.usecases.resume.plan import ResumeRequest, plan_resume
from graph.usecases.resume.reading import complete, examine
from graph.views.remaining import RemainingWork
from graph.views.run_records import RunRecords
from graph.views.run_view import RunView
from nodes.domain.shared.formats import count, one_line

OUTCOMES = {
    "": "its process was killed",
    "cancelled": "it was cancelled",
    "lost": "another process took it over",
    "refused": "the reply was refused",
}
"""How the last drive ended, where that says why the run stands."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a run stands, and what a resume of it would find."""

    stopped: str | None
    """A sentence; None for a run that is driven or at its end."""
    versions: Mapping[str, Any] | None
    """See VersionDiff.to_json."""
    inputs: Mapping[str, Any] | None
    """See PreflightReport.to_json."""


async def explain(
    container: Container, records: RunRecords, view: RunView, remaining: RemainingWork, outcome: str
) -> Explanation:
    """Plan a resume without making it, and say why the run stands; `outcome` is that of its last drive, or killed."""
    reading = await examine(container, await complete(container, records), restore=False, remaining=remaining)
    plan = plan_resume(reading, ResumeRequest())
    return Explanation(plan.stranded or _stopped(view, outcome), plan.versions, plan.inputs)


def _stopped(view: RunView, outcome: str) -> str | None:
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
            sentence = OUTCOMES.get("" if outcome == "killed" else outcome)
            return sentence or (
                f"it was stopped in peace ({outcome})" if outcome != "ended" else "nobody has gone on yet"
            )
    return None
