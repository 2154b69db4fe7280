"""`resume --all`: every run that waits for no person, one line each."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from graph.surfaces.cli.exit_codes import BY_SIGNAL, FAILED, sentence_of
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import console, emit, say
from nodes.domain.shared.errors import UserError
from nodes.domain.shared.formats import count, duration, one_line
from nodes.domain.shared.shell_quote import as_typed

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.usecases.sweep import ResumeAll, ResumedRun

WORDS = {
    "needs_review": "waits for a review",
    "paused": "is held at its limit",
    "completed_with_failures": "completed with failures",
}
LEFT = {"needs_review": "waiting for a review", "paused": "held at a limit"}
"""Words for a number of runs."""


def refuse_with_all(thread: str | None, given: dict[str, Any]) -> None:
    """`--all` decides and changes nothing of a run. Raises UserError."""
    if thread is not None:
        raise UserError(f"Give a thread or --all, not both: python run.py resume {as_typed(thread)}")
    if named := [name for name, value in given.items() if value]:
        raise UserError(f"--all changes no run: give {named[0]} with the thread that it is meant for.")


def resume_every(passwords: dict[str, str] | None, as_json: bool) -> int:
    """Take up what was left, the oldest first; a signal drains the run at work and begins no other."""

    async def work(reprise: Reprise) -> int:
        from graph.surfaces.cli.signals import Signals

        done: list[ResumedRun] = []

        def told(one: ResumedRun) -> None:
            done.append(one)
            say(_line(one))

        telling = reprise.parts.outside.database.outage.telling(lambda word: say(word.sentence()))
        with telling, Signals(reprise, say) as signals:
            try:
                sweep = await reprise.resume_all(passwords=passwords, on_run=told)
            except asyncio.CancelledError:
                if signals.number is None:
                    raise
                return _stopped_at_once(len(done), signals.number)
        if as_json:
            emit(sweep.to_json())
        else:
            _show(sweep)
        if signals.number is not None and sweep.drain_reason:
            return BY_SIGNAL + signals.number
        return FAILED if sweep.failed else 0

    return with_reprise(work)


def _line(one: ResumedRun) -> str:
    from graph.usecases.sweep import name_of

    name, view = one_line(name_of(one.view), 60), one.view
    if one.outcome == "skipped":
        return f"{name}  skipped: another process drives it"
    if one.outcome == "failed":
        return f"{name}  failed: {sentence_of(one.error) if one.error else one_line(view.error or 'see show', 600)}"
    documents = view.documents
    settled = documents["done"] + documents["failed"] + documents["skipped"]
    status = WORDS.get(view.status, "stopped" if view.status == "interrupted" else view.status)
    return f"{name}  {status}: {settled} of {count(documents['total'], 'document')}  {duration(one.seconds)}"


def _show(sweep: ResumeAll) -> None:
    from graph.surfaces.terminal.run import show_next
    from graph.usecases.sweep import name_of
    from graph.views.status import next_action

    ends = Counter({**WORDS, **LEFT}.get(view.status, view.status) for view in sweep.runs)
    words = ", ".join(f"{number} {word}" for word, number in sorted(ends.items()))
    console().print(f"{count(len(sweep.runs), 'run')} taken up{f': {words}' if words else ''}")
    if left := ", ".join(f"{number} {LEFT.get(one, one)}" for one, number in sorted(sweep.left.items())):
        console().print(f"left alone: {left}")
    if sweep.pruned.threads:
        console().print(f"{count(sweep.pruned.checkpoints, 'old checkpoint')} removed")
    waiting = [view for view in sweep.runs if view.status == "needs_review"]
    if sweep.drain_reason:
        show_next("python run.py resume --all")
    elif sweep.failed:
        show_next(f"python run.py show {as_typed(name_of(sweep.failed[0].view))}")
    elif waiting:
        show_next(next_action("needs_review", name_of(waiting[0])))
    else:
        show_next("python run.py runs")


def _stopped_at_once(done: int, number: int) -> int:
    # The cancellation is taken back: closing the stores awaits, and would be cut off as well.
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
    say(f"Stopped at once after {count(done, 'run')}; what was committed is safe. Next: python run.py resume --all")
    return BY_SIGNAL + number
