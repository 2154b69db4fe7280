"""`status --watch`: follow a run that another process drives."""

from __future__ import annotations

import asyncio
import sys
from decimal import Decimal
from typing import TYPE_CHECKING

from graph.surfaces.output import messages, say
from nodes.domain.format import count, money, number, one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from graph.app import Reprise
    from graph.views import RunView

LOOK_SECONDS = 1.0


async def watch_run(reprise: Reprise, view: RunView) -> RunView:
    """Look each second until nobody drives the run any more; a bar on a terminal, else a line for each change."""
    if not sys.stderr.isatty():
        return await _lines(reprise, view)
    bar = _bar(view)
    task = bar.add_task("", total=None, about="")
    with bar:
        while True:
            documents = view.documents
            bar.update(
                task,
                total=documents["total"] or None,
                completed=documents["done"] + documents["failed"] + documents["skipped"],
                about=_about(view),
            )
            if view.status != "running":
                return view
            await asyncio.sleep(LOOK_SECONDS)
            view = await reprise.status(view.thread_id)


async def _lines(reprise: Reprise, view: RunView) -> RunView:
    said = ""
    while True:
        documents = view.documents
        done = documents["done"] + documents["failed"] + documents["skipped"]
        line = f"  {view.step:<13} {done} of {documents['total']} documents  {_about(view)}"
        if line != said:
            say(line)
            said = line
        if view.status != "running":
            return view
        await asyncio.sleep(LOOK_SECONDS)
        view = await reprise.status(view.thread_id)


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


def _about(view: RunView) -> str:
    """Pages, failures, money: what changes while a run goes on."""
    parts = [count(view.pages["total"], "page")]
    if view.documents["failed"]:
        parts.append(f"{number(view.documents['failed'])} failed")
    cost = view.cost
    if cost["usd"] or cost["calls_unpriced"]:
        parts.append(money(Decimal(str(cost["usd"])), basis=cost["basis"], unpriced=cost["calls_unpriced"]))
    return " · ".join(parts)
