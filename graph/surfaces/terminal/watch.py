"""`status --watch`: follows a run that another process drives."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from graph.surfaces.terminal.output import messages, say
from nodes.domain.shared.formats import count, duration, money, number, one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from graph.app import Reprise
    from graph.views.run_view import RunView

POLL_SECONDS = 1.0

SILENT_SECONDS = 15.0
"""Seconds without a heartbeat after which a driver counts as stuck or frozen, though its lease still holds."""


async def watch_run(reprise: Reprise, view: RunView) -> RunView:
    """Follow the run until nobody drives it any more; with a bar on a terminal, else a line for each change."""
    outage = reprise.outage
    if not sys.stderr.isatty():
        with outage.notifying(lambda notice: say(f"  {notice.sentence()}")):
            return await _watch_with_lines(reprise, view)
    bar = _bar(view)
    with outage.notifying(lambda notice: bar.console.print(notice.sentence(), soft_wrap=True)):
        return await _watch_with_bar(reprise, view, bar)


async def _watch_with_bar(reprise: Reprise, view: RunView, bar: Progress) -> RunView:
    task = bar.add_task("", total=None, about="")
    with bar:
        while True:
            progress = await reprise.progress(view.thread_id)
            documents = progress["documents"]
            about = " · ".join(progress_parts(view, progress))
            bar.update(task, total=documents["total"] or None, completed=documents["settled"], about=about)
            if view.status != "running":
                break
            await asyncio.sleep(POLL_SECONDS)
            view = await reprise.status(view.thread_id)
    _say_if_abandoned(view)
    return view


async def _watch_with_lines(reprise: Reprise, view: RunView) -> RunView:
    printed: tuple[Any, ...] = ()
    while True:
        progress = await reprise.progress(view.thread_id)
        documents = progress["documents"]
        current = (view.step, documents["settled"], documents["deferred"], progress["pages"]["total"])
        if current != printed:
            about = " · ".join(progress_parts(view, progress))
            say(f"  {view.step:<13} {documents['settled']} of {documents['total']} documents  {about}")
            printed = current
        if view.status != "running":
            _say_if_abandoned(view)
            return view
        await asyncio.sleep(POLL_SECONDS)
        view = await reprise.status(view.thread_id)


def _say_if_abandoned(view: RunView) -> None:
    """Tell the end of a watch from the end of the run: its process may have gone."""
    if view.status == "interrupted":
        say(f"Nobody drives {one_line(view.name or view.thread_id, 80)} any more; what is done is not done again.")


def _bar(view: RunView) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    name = one_line(view.name or view.thread_id, 24)
    return Progress(
        TextColumn(name),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("documents"),
        TextColumn("{task.fields[about]}"),
        console=messages(),
        refresh_per_second=4,
        transient=True,
        expand=True,
    )


def progress_parts(view: RunView, progress: Mapping[str, Any]) -> list[str]:
    """Texts for what changes while a run goes on: pages, rate, time left, failures, money, and what it waits for."""
    documents, oldest_call, silent_seconds = progress["documents"], progress["oldest_call"], progress["silent_seconds"]
    parts = [count(progress["pages"]["total"], view.unit)]
    if documents["a_minute"]:
        parts.append(f"{documents['a_minute']:.0f} documents a minute")
    if progress["eta_seconds"] and view.step == "extract":
        parts.append(f"{duration(progress['eta_seconds'])} left")
    if view.documents["failed"]:
        parts.append(f"{number(view.documents['failed'])} failed")
    if documents["deferred"]:
        parts.append(f"{number(documents['deferred'])} put off")
    cost = view.cost
    if cost["usd"] or cost["calls_unpriced"] or progress["budget_usd"] is not None:
        spent = money(Decimal(str(cost["usd"])), basis=cost["basis"], unpriced=cost["calls_unpriced"])
        limit = "" if progress["budget_usd"] is None else f" of {money(Decimal(str(progress['budget_usd'])))}"
        parts.append(spent + limit)
    if oldest_call:
        caller = one_line(oldest_call["model"] or oldest_call["tool"], 30)
        document = one_line(oldest_call["document"].rpartition("/")[2], 40)
        age = duration(oldest_call["seconds"])
        parts.append(f"{progress['in_flight']} in flight, the oldest {age} ({caller} {document})".rstrip())
    if (
        view.step == "extract"
        and view.status == "running"
        and silent_seconds is not None
        and silent_seconds > SILENT_SECONDS
    ):
        parts.append(f"no sign of life for {duration(silent_seconds)}")
    return parts
