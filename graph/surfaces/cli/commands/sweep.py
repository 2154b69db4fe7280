"""`resume --all`: resumes every run that waits for no person, and prints a line for each."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from graph.surfaces.cli.exit_codes import BY_SIGNAL, FAILED, error_sentence
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import console, emit, say
from nodes.domain.shared.errors import UserError
from nodes.domain.shared.formats import count, duration, one_line
from nodes.domain.shared.shell_quote import shell_word

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.usecases.sweep import ResumeAllReport, ResumedRun

STATUS_WORDS = {
    "needs_review": "waits for a review",
    "paused": "is held at its limit",
    "completed_with_failures": "completed with failures",
}
COUNT_WORDS = {"needs_review": "waiting for a review", "paused": "held at a limit"}
"""Words for the status of several runs."""


def refuse_with_all(thread: str | None, options: dict[str, Any]) -> None:
    """Raise UserError for a thread or an option beside --all, which decides and changes nothing of a run."""
    if thread is not None:
        raise UserError(f"Give a thread or --all, not both: python run.py resume {shell_word(thread)}")
    if changed := [name for name, setting in options.items() if setting]:
        raise UserError(f"--all changes no run: give {changed[0]} with the thread that it is meant for.")


def resume_all(passwords: dict[str, str] | None, as_json: bool) -> int:
    """Resume the oldest first; a signal drains the run at work and begins no other. Returns the exit code."""

    async def work(reprise: Reprise) -> int:
        from graph.surfaces.cli.signals import Signals

        done: list[ResumedRun] = []

        def report_run(resumed: ResumedRun) -> None:
            done.append(resumed)
            say(_line(resumed))

        notices = reprise.outage.notifying(lambda notice: say(notice.sentence()))
        with notices, Signals(reprise, say) as signals:
            try:
                sweep = await reprise.resume_all(passwords=passwords, on_run=report_run)
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


def _line(resumed: ResumedRun) -> str:
    from graph.usecases.sweep import name_of

    name, view = one_line(name_of(resumed.view), 60), resumed.view
    if resumed.outcome == "skipped":
        return f"{name}  skipped: another process drives it"
    if resumed.outcome == "failed":
        reason = error_sentence(resumed.error) if resumed.error else one_line(view.error or "see show", 600)
        return f"{name}  failed: {reason}"
    documents = view.documents
    settled = documents["done"] + documents["failed"] + documents["skipped"]
    status = STATUS_WORDS.get(view.status, "stopped" if view.status == "interrupted" else view.status)
    return f"{name}  {status}: {settled} of {count(documents['total'], 'document')}  {duration(resumed.seconds)}"


def _show(sweep: ResumeAllReport) -> None:
    from graph.surfaces.terminal.run import show_next
    from graph.usecases.sweep import name_of
    from graph.views.status import next_action

    ends = Counter({**STATUS_WORDS, **COUNT_WORDS}.get(view.status, view.status) for view in sweep.runs)
    words = ", ".join(f"{number} {word}" for word, number in sorted(ends.items()))
    console().print(f"{count(len(sweep.runs), 'run')} taken up{f': {words}' if words else ''}")
    if untouched := ", ".join(
        f"{number} {COUNT_WORDS.get(status, status)}" for status, number in sorted(sweep.untouched.items())
    ):
        console().print(f"left alone: {untouched}")
    if sweep.pruned.threads:
        console().print(f"{count(sweep.pruned.checkpoints, 'old checkpoint')} removed")
    waiting = [view for view in sweep.runs if view.status == "needs_review"]
    if sweep.drain_reason:
        show_next("python run.py resume --all")
    elif sweep.failed:
        show_next(f"python run.py show {shell_word(name_of(sweep.failed[0].view))}")
    elif waiting:
        show_next(next_action("needs_review", name_of(waiting[0])))
    else:
        show_next("python run.py runs")


def _stopped_at_once(done: int, number: int) -> int:
    from graph.surfaces.cli.signals import take_back_cancellation

    take_back_cancellation()
    say(f"Stopped at once after {count(done, 'run')}; what was committed is safe. Next: python run.py resume --all")
    return BY_SIGNAL + number
