"""Taking up, one after another, every run that nobody drives and that waits for no person."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from graph.composition import Container
from graph.usecases.resume.plan import UNATTENDED
from graph.usecases.retention import Pruned
from graph.views.run_view import RunView, Views
from nodes.domain.shared.errors import LeaseLost, ThreadBusy

Outcome = Literal["went on", "failed", "skipped"]


class Resumes(Protocol):
    """What a sweep needs of the facade."""

    parts: Container
    views: Views

    async def resume(self, thread: str, *, surface: str, passwords: Mapping[str, str] | None) -> RunView: ...


@dataclass(frozen=True)
class ResumedRun:
    """A run that was taken up."""

    view: RunView
    """As it is afterwards."""
    outcome: Outcome
    """skipped: another process was faster."""
    seconds: float
    error: Exception | None = None
    """Why it failed; None also for a run that failed before and is only named."""


class ResumeAll:
    """One going through all runs. `drain` lets the one at work stop at its next safe step and begins no other."""

    def __init__(self, reprise: Resumes, passwords: Mapping[str, str], on_run: Callable[[ResumedRun], None]) -> None:
        self.taken: list[ResumedRun] = []
        self.left: Counter[str] = Counter()
        """Runs that were left alone, by status: running, needs_review, paused, failed."""
        self.pruned = Pruned()
        self.drain_reason = ""
        self._reprise = reprise
        self._passwords = passwords
        self._on_run = on_run

    def drain(self, reason: str) -> None:
        self.drain_reason = reason

    @property
    def runs(self) -> list[RunView]:
        """The runs that were taken up, as they are afterwards."""
        return [one.view for one in self.taken if one.outcome != "skipped"]

    @property
    def failed(self) -> Sequence[ResumedRun]:
        return [one for one in self.taken if one.outcome == "failed"]

    def to_json(self) -> dict[str, Any]:
        """runs: run objects; failed, skipped: their names; left: counts by status; pruned; stopped by a signal."""
        return {
            "runs": [view.to_json() for view in self.runs],
            "failed": [name_of(one.view) for one in self.failed],
            "skipped": [name_of(one.view) for one in self.taken if one.outcome == "skipped"],
            "left": dict(self.left),
            "pruned": self.pruned.to_json(),
            "stopped": bool(self.drain_reason),
        }

    async def run(self) -> None:
        """Go through them, the oldest first. Raises only what concerns all of them, as DatabaseUnreachable."""
        for row in await self._reprise.parts.outside.database.rows("takeable"):
            if self.drain_reason:
                return
            # Asked anew for each: in the meantime it may have been taken up, answered or cancelled by somebody else.
            view = await self._reprise.views.run(row["thread_id"])
            ended = view.status.startswith("completed")
            if view.status != "interrupted" and not (ended and view.error):
                self.left.update([] if ended else [view.status])
                continue
            one = await self._take(row["thread_id"], view)
            self.taken.append(one)
            self._on_run(one)

    async def _take(self, thread_id: str, before: RunView) -> ResumedRun:
        began = time.monotonic()
        error: Exception | None = None
        outcome: Outcome = "went on"
        try:
            view = await self._reprise.resume(thread_id, surface=UNATTENDED, passwords=self._passwords)
        except (ThreadBusy, LeaseLost):
            return ResumedRun(before, "skipped", time.monotonic() - began)
        except Exception as problem:  # noqa: BLE001 - it is this run's, and the next one shall have its turn
            error, outcome = problem, "failed"
            view = await self._reprise.views.run(thread_id)
        if view.status == "failed":
            outcome = "failed"
        return ResumedRun(view, outcome, time.monotonic() - began, error)


def name_of(view: RunView) -> str:
    """What a person calls the run."""
    return str(view.name or view.thread_id)
