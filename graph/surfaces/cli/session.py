"""What commands share: open Reprise for one piece of work, and drive a run under signals and progress."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from graph.surfaces.cli.exit_codes import BY_SIGNAL, NEXT, exit_code
from graph.surfaces.terminal.output import emit, say

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.surfaces.terminal.progress import Progress
    from graph.views.run_view import RunView

Begin = Callable[["Progress"], Awaitable["RunView"]]


def with_reprise(work: Callable[[Reprise], Awaitable[int]]) -> int:
    """Run one piece of work on an open Reprise; its result is the exit code."""

    async def opened() -> int:
        from graph.app import Reprise

        async with Reprise.open() as reprise:
            return await work(reprise)

    try:
        return asyncio.run(opened())
    except KeyboardInterrupt:  # typer would end without a word
        say("Stopped.")
        return BY_SIGNAL + signal.SIGINT


async def drive(reprise: Reprise, name: str, begin: Begin, *, as_json: bool, detailed: bool) -> int:
    """Drive a run under signals and progress, then show it as it is; returns the exit code."""
    from graph.surfaces.cli.signals import Signals
    from graph.surfaces.terminal.progress import Progress

    with Progress(reprise, name) as progress, Signals(reprise, progress.say) as signals:
        try:
            view = await begin(progress)
        except asyncio.CancelledError:
            if signals.number is None:
                raise
            return _stopped_at_once(progress, signals.number)
        except Exception as error:
            if progress.thread_id and await _is_resumable(reprise, progress.thread_id):
                error.add_note(_resume_line(progress))
            raise
    if signals.number is not None and view.status == "interrupted":
        say("Stopped; what is done is not done again.")
    if as_json:
        emit(view.to_json())
    else:
        await show_end(reprise, view)
    return exit_code(view.status, detailed, signals.number)


async def _is_resumable(reprise: Reprise, thread_id: str) -> bool:
    """Whether there is a thread to resume; True where it cannot be known."""
    from nodes.domain.shared.errors import UnknownThread

    if reprise.outage.away:
        return True
    try:
        await reprise.find(thread_id)
    except UnknownThread:
        return False
    except Exception:  # noqa: BLE001 - whatever it is, the error that is told is the one before it
        return True
    return True


async def show_end(reprise: Reprise, view: RunView) -> None:
    """Print what a person sees at the end of a drive: the run, its failures, its worst findings, the next command."""
    from graph.surfaces.terminal.lists import show_failures, show_releases
    from graph.surfaces.terminal.output import console
    from graph.surfaces.terminal.run import TOP_FINDINGS, TOP_FINDINGS_NARROW, show_findings, show_next, show_run
    from graph.surfaces.terminal.tables import WIDE

    data: dict[str, Any] = view.to_json()
    show_run(data, unit=view.unit)
    show_releases(await reprise.releases(view.thread_id))
    details = await reprise.show(view.thread_id) if data["documents"]["failed"] else None
    if details:
        show_failures(details["failures"], limit=5)
    if data["findings"]["total"] and sum(data["findings"]["by_risk"].values()):
        console().print()
        titles = await reprise.titles(view.thread_id)
        show_findings(
            await reprise.findings(view.thread_id),
            titles,
            TOP_FINDINGS if console().width >= WIDE else TOP_FINDINGS_NARROW,
        )
        console().print()
    show_next(view.next_action)


def _stopped_at_once(progress: Progress, number: int) -> int:
    from graph.surfaces.cli.signals import take_back_cancellation

    take_back_cancellation()
    if progress.thread_id:
        say(f"Stopped at once; what was committed is safe. {_resume_line(progress)}")
    else:
        say("Stopped before anything was begun.")
    return BY_SIGNAL + number


def _resume_line(progress: Progress) -> str:
    from graph.views.status import next_action

    return f"{NEXT}{next_action('interrupted', progress.name)}"
