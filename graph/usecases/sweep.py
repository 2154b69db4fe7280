"""Resume, one after another, every run that nobody drives and that waits for no person."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from graph.composition import Container
from graph.usecases.purge import finish_purges
from graph.usecases.resume.plan import UNATTENDED, ResumeRequest
from graph.usecases.resume.resume import resume
from graph.usecases.retention import Pruned, prune
from graph.views.run_view import RunView, read_run_view
from nodes.domain.shared.errors import LeaseLost, ThreadBusy

Outcome = Literal["went on", "failed", "skipped"]


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


@dataclass(frozen=True)
class ResumeAllReport:
    """What became of all runs."""

    resumed: Sequence[ResumedRun]
    untouched: Mapping[str, int]
    """Runs that were left alone, by status: running, needs_review, paused, failed."""
    pruned: Pruned
    drain_reason: str
    """Why it stopped before the last run; "" when it did not."""

    @property
    def runs(self) -> list[RunView]:
        """The runs that were taken up, as they are afterwards."""
        return [resumed.view for resumed in self.resumed if resumed.outcome != "skipped"]

    @property
    def failed(self) -> Sequence[ResumedRun]:
        return [resumed for resumed in self.resumed if resumed.outcome == "failed"]

    def to_json(self) -> dict[str, Any]:
        """runs: run objects; failed, skipped: their names; left: counts by status; pruned; stopped by a signal."""
        return {
            "runs": [view.to_json() for view in self.runs],
            "failed": [name_of(resumed.view) for resumed in self.failed],
            "skipped": [name_of(resumed.view) for resumed in self.resumed if resumed.outcome == "skipped"],
            "left": dict(self.untouched),
            "pruned": self.pruned.to_json(),
            "stopped": bool(self.drain_reason),
        }


async def resume_all(
    container: Container, passwords: Mapping[str, str], on_run: Callable[[ResumedRun], None] | None = None
) -> ResumeAllReport:
    """Resume them, the oldest first, then finish purges that were cut off and prune old checkpoints.

    Raises only what concerns all of them, as DatabaseUnreachable.
    """
    sweep = _Sweep(container, passwords, on_run)
    with container.drainable(sweep):
        await sweep.run()
    pruned = Pruned()
    if not sweep.drain_reason:
        await finish_purges(container)
        if days := container.settings.retention_days:
            pruned = await prune(container, days)
    return ResumeAllReport(sweep.resumed, sweep.untouched, pruned, sweep.drain_reason)


class _Sweep:
    """One pass over all runs. `drain` lets the run at work stop at its next safe step and begins no other."""

    def __init__(
        self, container: Container, passwords: Mapping[str, str], on_run: Callable[[ResumedRun], None] | None
    ) -> None:
        self.resumed: list[ResumedRun] = []
        self.untouched: Counter[str] = Counter()
        self.drain_reason = ""
        self._container = container
        self._passwords = passwords
        self._on_run = on_run

    def drain(self, reason: str) -> None:
        self.drain_reason = reason

    async def run(self) -> None:
        for row in await self._container.database.rows("takeable"):
            if self.drain_reason:
                return
            # Asked anew for each: in the meantime it may have been taken up, answered or cancelled by somebody else.
            view = await read_run_view(self._container, row["thread_id"])
            ended = view.status.startswith("completed")
            if view.status != "interrupted" and not (ended and view.error):
                self.untouched.update([] if ended else [view.status])
                continue
            resumed = await self._resume(view)
            self.resumed.append(resumed)
            if self._on_run is not None:
                self._on_run(resumed)

    async def _resume(self, before: RunView) -> ResumedRun:
        container, start = self._container, time.monotonic()
        request = ResumeRequest(surface=UNATTENDED)
        error: Exception | None = None
        outcome: Outcome = "went on"
        try:
            view = await resume(container, before.thread_id, request, passwords=self._passwords)
        except (ThreadBusy, LeaseLost):
            return ResumedRun(before, "skipped", time.monotonic() - start)
        except Exception as failure:  # noqa: BLE001 - it is this run's, and the next one shall have its turn
            error, outcome = failure, "failed"
            view = await read_run_view(container, before.thread_id)
        if view.status == "failed":
            outcome = "failed"
        return ResumedRun(view, outcome, time.monotonic() - start, error)


def name_of(view: RunView) -> str:
    """What a person calls the run."""
    return view.name or view.thread_id
