"""Progress of a driven run on stderr: a live bar on a terminal, elsewhere one line a finished step or batch."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from graph.surfaces.terminal.output import messages, say
from nodes.domain.shared.formats import clean, count, duration, one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from graph.app import Reprise

SPENT_SECONDS = 1.0
"""Seconds between two looks of the bar at the ledger for what was spent."""


class Progress:
    """Shows the events of one drive as they come; `thread_id` is empty until the thread is known."""

    def __init__(self, reprise: Reprise, name: str = "", *, quiet: bool = False) -> None:
        self.thread_id = ""
        self.name = name
        self._reprise = reprise
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet
        self._began = time.monotonic()
        self._done: set[int] = set()
        self._settled_before = self._total = self._failed = 0
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._spent_task: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._spent_task is not None:
            self._spent_task.cancel()
        self._close()

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Show one event; one of an unknown kind is ignored."""
        handler: Callable[[Mapping[str, Any]], None] | None = getattr(self, f"_on_{event.get('event')}", None)
        if handler is not None and not self._quiet:
            handler(event)
        elif event.get("event") == "run":
            self._remember_thread(event)

    def say(self, text: str) -> None:
        """Print one line for people, above the bar while there is one."""
        if self._bar is None:
            say(text)
            return
        from rich.text import Text

        self._bar.console.print(Text(clean(text)), soft_wrap=True)

    def _remember_thread(self, event: Mapping[str, Any]) -> None:
        self.thread_id = str(event["thread_id"])
        self.name = str(event["name"]) or self.thread_id

    def _on_resume(self, event: Mapping[str, Any]) -> None:
        for line in event["lines"]:
            self.say(one_line(str(line), 1000))

    def _on_first_work(self, event: Mapping[str, Any]) -> None:
        line = f"first new work after {float(event['seconds']):.2f} s, {float(event['cpu_seconds']):.2f} s of computing"
        self.say(f"  {line}")

    def _on_run(self, event: Mapping[str, Any]) -> None:
        self._remember_thread(event)
        self._total, self._settled_before = int(event["total"]), int(event["done"])
        done = f", {self._settled_before} of them settled before" if self._settled_before else ""
        self.say(f"{one_line(self.name, 60)}: {count(self._total, 'document')}{done}")
        if self._live and self._settled_before < self._total:
            self._open()

    def _on_document(self, event: Mapping[str, Any]) -> None:
        self._done.add(int(event["ordinal"]))
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=min(self._settled_before + len(self._done), self._total))

    def _on_batch(self, event: Mapping[str, Any]) -> None:
        self._failed += int(event.get("failed") or 0)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, failed=f"{self._failed} failed" if self._failed else "")

    def _on_progress(self, event: Mapping[str, Any]) -> None:
        documents, eta = event["documents"], event["eta_seconds"]
        if self._bar is not None and self._task is not None:
            deferred = f"{documents['deferred']} put off" if documents["deferred"] else ""
            time_left = f"{duration(eta)} left" if eta else ""
            self._bar.update(self._task, pace=", ".join(filter(None, (deferred, time_left))))

    def _on_database(self, event: Mapping[str, Any]) -> None:
        self.say(f"  {event['said']}")

    def _on_slow_lane(self, event: Mapping[str, Any]) -> None:
        self._on_batch(event)

    def _on_step(self, event: Mapping[str, Any]) -> None:
        step, headline = str(event["step"]), one_line(str(event["headline"]), 300)
        if self._bar is not None and event.get("closed") is not None and step == "extract":
            return  # the bar shows it
        if step not in ("ingest", "extract"):
            self._close()
        self.say(f"  {step:<13} {headline.removeprefix(step).lstrip(': ')}  {duration(time.monotonic() - self._began)}")

    def _open(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("  extract"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("documents"),
            TextColumn("{task.fields[failed]}", style="red"),
            TextColumn("{task.fields[pace]}"),
            TextColumn("{task.fields[spent]}"),
            TimeElapsedColumn(),
        )
        self._bar = Bar(*columns, console=messages(), refresh_per_second=5, transient=True, expand=True)
        self._task = self._bar.add_task(
            "extract", total=self._total, completed=self._settled_before, failed="", pace="", spent=""
        )
        self._bar.start()
        self._spent_task = asyncio.create_task(self._update_spent(), name="spent")

    async def _update_spent(self) -> None:
        from nodes.domain.shared.errors import RepriseError

        while self._bar is not None and self._task is not None:
            # The bar is no reason to end a run: what the ledger cannot answer now is asked again.
            with contextlib.suppress(RepriseError):
                usd = await self._reprise.spent(self.thread_id)
                if usd and self._bar is not None:
                    self._bar.update(self._task, spent=f"${usd:,.2f}")
            await asyncio.sleep(SPENT_SECONDS)

    def _close(self) -> None:
        bar, self._bar = self._bar, None
        if bar is None:
            return
        bar.stop()
        done = self._settled_before + len(self._done)
        failed = f", {self._failed} failed" if self._failed else ""
        say(f"  {'extract':<13} {done} of {self._total} documents{failed}  {duration(time.monotonic() - self._began)}")
