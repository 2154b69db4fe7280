"""Commands that drive or change a run: start, resume, review, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graph.surfaces.cli import arguments as args
from graph.surfaces.cli.exit_codes import exit_code
from graph.surfaces.cli.session import drive, show_end, with_reprise
from graph.surfaces.terminal.output import emit, say
from nodes.domain.shared.errors import ReplyError, UserError

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.surfaces.terminal.progress import Progress
    from graph.views.run_view import RunView
    from nodes.domain.runs.options import RunOptions


def start(
    source: args.Source,
    thread: args.ThreadName = None,
    job: args.Job = "",
    matter: args.Matter = "default",
    playbook: args.Playbook = "due-diligence",
    engine: args.Engine = "local",
    model: args.Model = None,
    batch_size: args.BatchSize = None,
    concurrency: args.Concurrency = None,
    budget_usd: args.Budget = None,
    deadline: args.Deadline = None,
    document_time: args.DocumentTime = None,
    batch_wait: args.BatchWait = None,
    review: args.Review = None,
    fresh: args.Fresh = False,
    passwords: args.Passwords = None,
    lang: args.Language = None,
    dry_run: args.DryRun = False,
    detailed: args.Detailed = False,
    as_json: args.Json = False,
) -> int:
    """Begin a run and drive it until it ends, waits for a review, or is stopped."""
    options: RunOptions = {
        "models": args.parse_models(model),
        "batch_size": batch_size,
        "concurrency": concurrency,
        "budget_usd": args.parse_budget(budget_usd),
        "deadline_seconds": args.parse_seconds(deadline),
        "document_seconds": args.parse_seconds(document_time, "--document-time"),
        "batch_wait_seconds": args.parse_seconds(batch_wait, "--batch-wait"),
        "review": review,
        "fresh": fresh or None,
        "language": lang,
    }
    identity: dict[str, Any] = {"thread": thread, "job": job, "matter": matter, "playbook": playbook, "engine": engine}
    document_passwords = args.read_passwords(passwords)

    if dry_run:
        inputs = {"matter": matter, "playbook": playbook, "engine": engine, "passwords": document_passwords}
        return with_reprise(lambda reprise: _estimate(reprise, source, {**inputs, **options}, as_json))

    async def work(reprise: Reprise) -> int:
        async def begin(progress: Progress) -> RunView:
            return await reprise.start(*source, **identity, passwords=document_passwords, on_event=progress, **options)

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
    thread: args.OptionalThread = None,
    all_runs: args.AllRuns = False,
    decisions: args.Decisions = None,
    accept_all: args.AcceptAll = False,
    reviewer: args.Reviewer = "",
    reason: args.Reason = "",
    budget_usd: args.Budget = None,
    deadline: args.Deadline = None,
    model: args.Model = None,
    retry_failed: args.RetryFailed = False,
    accept_version: args.AcceptVersion = False,
    passwords: args.Passwords = None,
    detailed: args.Detailed = False,
    as_json: args.Json = False,
) -> int:
    """Go on from the last safe step; nothing that is done is done again."""
    if all_runs or thread is None:
        return _resume_all(thread, all_runs, locals())
    reply = _merge_reply(decisions, accept_all, reviewer, reason)
    changes: RunOptions = {
        "models": args.parse_models(model),
        "budget_usd": args.parse_budget(budget_usd),
        "deadline_seconds": args.parse_seconds(deadline),
    }
    document_passwords = args.read_passwords(passwords)

    async def work(reprise: Reprise) -> int:
        await _refuse_other_packet(reprise, thread, reply)

        if retry_failed and not (await reprise.status(thread)).documents["failed"]:
            say("No document has failed: none is tried again.")

        async def begin(progress: Progress) -> RunView:
            return await reprise.resume(
                thread,
                **_reply_arguments(reply),
                retry_failed=retry_failed,
                accept_version=accept_version,
                surface="cli",
                passwords=document_passwords,
                on_event=progress,
                **changes,
            )

        return await drive(reprise, thread, begin, as_json=as_json, detailed=detailed)

    return with_reprise(work)


def _resume_all(thread: str | None, all_runs: bool, options: dict[str, Any]) -> int:
    from graph.surfaces.cli.commands.sweep import refuse_with_all, resume_all

    if not all_runs:
        raise UserError("Name a thread, or take up all that wait for no person: python run.py resume --all")
    option_names = {"detailed": "--detailed-exit-code"}
    unchanged = ("thread", "all_runs", "passwords", "as_json")
    changed = {
        option_names.get(name, f"--{name.replace('_', '-')}"): options[name]
        for name in options
        if name not in unchanged
    }
    refuse_with_all(thread, changed)
    return resume_all(args.read_passwords(options["passwords"]), options["as_json"])


def review(
    thread: args.Thread,
    decisions: args.Decisions = None,
    accept_all: args.AcceptAll = False,
    reviewer: args.Reviewer = "",
    reason: args.Reason = "",
    detailed: args.Detailed = False,
    as_json: args.Json = False,
) -> int:
    """Decide on the findings that wait, one a screen; with --decisions or --accept-all, store these and stop."""
    reply = _merge_reply(decisions, accept_all, reviewer, reason)

    async def stored(reprise: Reprise) -> int:
        await _refuse_other_packet(reprise, thread, reply)
        await reprise.decide(thread, **_reply_arguments(reply), surface="cli")
        view = await reprise.status(thread)
        if as_json:
            emit(view.to_json())
        else:
            await show_end(reprise, view)
        return exit_code(view.status, detailed)

    if reply.decisions is not None or reply.accept_all:
        return with_reprise(stored)
    from graph.surfaces.review.session import refuse_without_terminal

    refuse_without_terminal(thread, as_json)
    return with_reprise(lambda reprise: _review_on_terminal(reprise, thread, reviewer, detailed))


async def _review_on_terminal(reprise: Reprise, thread: str, reviewer: str, detailed: bool) -> int:
    from graph.surfaces.review.session import review_on_terminal

    view, go_on = await review_on_terminal(reprise, thread, reviewer)
    if not go_on:
        await show_end(reprise, view)
        return 0

    async def begin(progress: Progress) -> RunView:
        return await reprise.resume(view.thread_id, surface="cli", on_event=progress)

    return await drive(reprise, view.name or view.thread_id, begin, as_json=False, detailed=detailed)


def cancel(thread: args.Thread, as_json: args.Json = False) -> int:
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


def _merge_reply(file: Any, accept_all: bool, reviewer: str, reason: str) -> args.ReviewReply:
    """Merge the reply in the options with that in the file; an option wins over the file. Raises UserError."""
    reply = args.read_reply(file)
    if accept_all and file is not None:
        raise UserError("Give --decisions or --accept-all, not both.")
    if not (accept_all or file is not None) and reason:
        raise UserError("--reason goes with --accept-all: name the reason of each decision in the file of --decisions.")
    return args.ReviewReply(
        reply.decisions,
        reviewer or reply.reviewer,
        accept_all or reply.accept_all,
        reason or reply.reason,
        reply.packet,
    )


def _reply_arguments(reply: args.ReviewReply) -> dict[str, Any]:
    return {
        "decisions": reply.decisions,
        "accept_all": reply.accept_all,
        "reviewer": reply.reviewer,
        "reason": reply.reason,
    }


async def _refuse_other_packet(reprise: Reprise, thread: str, reply: args.ReviewReply) -> None:
    """Raise ReplyError when the decisions were made on another packet than the one that waits."""
    if not reply.packet:
        return
    review = (await reprise.status(thread)).review
    waiting = review["packet"] if review else ""
    if waiting and waiting != reply.packet:
        raise ReplyError(
            f"The decisions are for review packet {reply.packet[:12]}, but {waiting[:12]} is the one that waits now: "
            "look at it and decide again. The run still waits."
        )
