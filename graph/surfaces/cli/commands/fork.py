"""Commands for a second opinion: fork, compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.surfaces.cli import arguments as args
from graph.surfaces.cli.session import drive, with_reprise
from graph.surfaces.terminal.output import emit, say

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.surfaces.terminal.progress import Progress
    from graph.views.run_view import RunView

OtherPlaybook = Annotated[
    str, typer.Option("--playbook", metavar="NAME|FILE", help="How the findings count this time.")
]


def fork(
    thread: args.Thread,
    playbook: OtherPlaybook,
    name: args.ThreadName = None,
    review: args.Review = None,
    detailed: args.Detailed = False,
    as_json: args.Json = False,
) -> int:
    """Score a run anew by another playbook, as a run of its own; reads no document and asks no model."""

    async def work(reprise: Reprise) -> int:
        thread_id = ""

        async def begin(progress: Progress) -> RunView:
            nonlocal thread_id
            view = await reprise.fork(thread, playbook=playbook, name=name, on_event=progress, review=review)
            thread_id = view.thread_id
            return view

        code = await drive(reprise, name or "", begin, as_json=as_json, detailed=detailed)
        for sentence in await reprise.unsearched(thread_id) if thread_id else []:
            say(f"note: {sentence}")
        return code

    return with_reprise(work)


def compare(
    first: args.Thread,
    second: Annotated[str, typer.Argument(metavar="THREAD", help="The run to compare it with.")],
    as_json: args.Json = False,
) -> int:
    """Show where two runs differ: findings by score, risk and decision, documents, suppliers."""

    async def work(reprise: Reprise) -> int:
        comparison: dict[str, Any] = (await reprise.compare(first, second)).to_json()
        if as_json:
            emit(comparison)
        else:
            from graph.surfaces.terminal.comparison import show_comparison

            show_comparison(comparison)
        return 0

    return with_reprise(work)
