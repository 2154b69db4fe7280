"""Commands that move a run: start, resume, review, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graph.surfaces.cli import arguments as given
from graph.surfaces.cli.exit_codes import code_of
from graph.surfaces.cli.session import drive, show_end, with_reprise
from graph.surfaces.terminal.output import emit, say
from nodes.domain.shared.errors import ReplyError, UserError

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.surfaces.terminal.progress import Progress
    from graph.views.run_view import RunView


def start(
    source: given.Source,
    thread: given.ThreadName = None,
    job: given.Job = "",
    matter: given.Matter = "default",
    playbook: given.Playbook = "due-diligence",
    engine: given.Engine = "local",
    model: given.Model = None,
    batch_size: given.BatchSize = None,
    concurrency: given.Concurrency = None,
    budget_usd: given.Budget = None,
    deadline: given.Deadline = None,
    document_time: given.DocumentTime = None,
    batch_wait: given.BatchWait = None,
    review: given.Review = None,
    fresh: given.Fresh = False,
    passwords: given.Passwords = None,
    lang: given.Language = None,
    dry_run: given.DryRun = False,
    detailed: given.Detailed = False,
    as_json: given.Json = False,
) -> int:
    """Begin a run and drive it until it ends, waits for a review, or is stopped."""
    options: dict[str, Any] = {
        "models": given.models(model),
        "batch_size": batch_size,
        "concurrency": concurrency,
        "budget_usd": budget_usd,
        "deadline_seconds": given.seconds(deadline),
        "document_seconds": given.seconds(document_time, "--document-time"),
        "batch_wait_seconds": given.seconds(batch_wait, "--batch-wait"),
        "review": review,
        "fresh": fresh or None,
        "language": lang,
    }
    named: dict[str, Any] = {"thread": thread, "job": job, "matter": matter, "playbook": playbook, "engine": engine}
    words = given.passwords(passwords)

    if dry_run:
        inputs = {"matter": matter, "playbook": playbook, "engine": engine, "passwords": words}
        return with_reprise(lambda reprise: _estimate(reprise, source, {**inputs, **options}, as_json))

    async def work(reprise: Reprise) -> int:
        async def begin(progress: Progress) -> RunView:
            return await reprise.start(*source, **named, passwords=words, on_event=progress, **options)

        return await drive(reprise, thread or "", begin, as_json=as_json, detailed=detailed)

    return with_reprise(work)


async def _estimate(reprise: Reprise, source: list[str], inputs: dict[str, Any], as_json: bool) -> int:
    estimate = await reprise.estimate(*source, **inputs)
    if as_json:
        emit(estimate)
    else:
        from graph.surfaces.terminal.money import show_estimate

        show_estimate(estimate)
    return 0


def resume(
    thread: given.OneThread = None,
    every: given.All = False,
    decisions: given.Decisions = None,
    accept_all: given.AcceptAll = False,
    reviewer: given.Reviewer = "",
    reason: given.Reason = "",
    budget_usd: given.Budget = None,
    deadline: given.Deadline = None,
    model: given.Model = None,
    retry_failed: given.RetryFailed = False,
    accept_version: given.AcceptVersion = False,
    passwords: given.Passwords = None,
    detailed: given.Detailed = False,
    as_json: given.Json = False,
) -> int:
    """Go on from the last safe step; nothing that is done is done again."""
    if every or thread is None:
        return _every(thread, every, locals())
    said = _verdicts(decisions, accept_all, reviewer, reason)
    changes: dict[str, Any] = {
        "models": given.models(model),
        "budget_usd": budget_usd,
        "deadline_seconds": given.seconds(deadline),
    }
    words = given.passwords(passwords)

    async def work(reprise: Reprise) -> int:
        await _same_packet(reprise, thread, said)

        if retry_failed and not (await reprise.status(thread)).documents["failed"]:
            say("No document has failed: none is tried again.")

        async def begin(progress: Progress) -> RunView:
            return await reprise.resume(
                thread,
                **_reply(said),
                retry_failed=retry_failed,
                accept_version=accept_version,
                surface="cli",
                passwords=words,
                on_event=progress,
                **changes,
            )

        return await drive(reprise, thread, begin, as_json=as_json, detailed=detailed)

    return with_reprise(work)


def _every(thread: str | None, every: bool, options: dict[str, Any]) -> int:
    from graph.surfaces.cli.commands.sweep import refuse_with_all, resume_every

    if not every:
        raise UserError("Name a thread, or take up all that wait for no person: python run.py resume --all")
    named = {"detailed": "--detailed-exit-code"}
    unchanged = ("thread", "every", "passwords", "as_json")
    changed = {named.get(one, f"--{one.replace('_', '-')}"): options[one] for one in options if one not in unchanged}
    refuse_with_all(thread, changed)
    return resume_every(given.passwords(options["passwords"]), options["as_json"])


def review(
    thread: given.Thread,
    decisions: given.Decisions = None,
    accept_all: given.AcceptAll = False,
    reviewer: given.Reviewer = "",
    reason: given.Reason = "",
    detailed: given.Detailed = False,
    as_json: given.Json = False,
) -> int:
    """Decide on the findings that wait, one a screen; with --decisions or --accept-all, store these and stop."""
    said = _verdicts(decisions, accept_all, reviewer, reason)

    async def stored(reprise: Reprise) -> int:
        await _same_packet(reprise, thread, said)
        await reprise.decide(thread, **_reply(said), surface="cli")
        view = await reprise.status(thread)
        if as_json:
            emit(view.to_json())
        else:
            await show_end(reprise, view)
        return code_of(view.status, detailed)

    if said.decisions is not None or said.accept_all:
        return with_reprise(stored)
    from graph.surfaces.review.session import refuse_without_terminal, review_on_terminal

    refuse_without_terminal(thread, as_json)
    return with_reprise(lambda reprise: review_on_terminal(reprise, thread, reviewer, detailed))


def cancel(thread: given.Thread, as_json: given.Json = False) -> int:
    """Stop a run for good, wherever it is driven; what is done stays."""

    async def work(reprise: Reprise) -> int:
        view = await reprise.cancel(thread)
        if view.status == "running":
            say("It is driven still: the process that drives it was told, and stops within seconds.")
        if as_json:
            emit(view.to_json())
        else:
            await show_end(reprise, view)
        return 0

    return with_reprise(work)


def _verdicts(file: Any, accept_all: bool, reviewer: str, reason: str) -> given.Verdicts:
    """What the options and the file say together; an option wins over the file. Raises UserError."""
    said = given.verdicts(file)
    if accept_all and file is not None:
        raise UserError("Give --decisions or --accept-all, not both.")
    if not (accept_all or file is not None) and reason:
        raise UserError("--reason goes with --accept-all: name the reason of each decision in the file of --decisions.")
    return given.Verdicts(
        said.decisions, reviewer or said.reviewer, accept_all or said.accept_all, reason or said.reason, said.packet
    )


def _reply(said: given.Verdicts) -> dict[str, Any]:
    return {
        "decisions": said.decisions,
        "accept_all": said.accept_all,
        "reviewer": said.reviewer,
        "reason": said.reason,
    }


async def _same_packet(reprise: Reprise, thread: str, said: given.Verdicts) -> None:
    """Decisions made on another packet are not taken for this one. Raises ReplyError."""
    if not said.packet:
        return
    waiting = ((await reprise.status(thread)).review or {}).get("packet")
    if waiting and waiting != said.packet:
        raise ReplyError(
            f"The decisions are for review packet {said.packet[:12]}, but {waiting[:12]} is the one that waits now: "
            "look at it and decide again. The run still waits."
        )
