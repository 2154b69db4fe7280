"""Commands that only look at runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graph.surfaces.cli import arguments as args
from graph.surfaces.cli.commands import retention as retention_commands
from graph.surfaces.cli.exit_codes import exit_code
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import emit, say
from nodes.domain.shared.errors import UserError

if TYPE_CHECKING:
    from graph.app import Reprise
    from nodes.domain.evidence.findings import Finding

RiskName = Literal["low", "medium", "high", "critical"]


def status(
    thread: args.Thread,
    watch: Annotated[
        bool, typer.Option("--watch", help="Follow it until it ends or waits, from any terminal.")
    ] = False,
    detailed: args.Detailed = False,
    as_json: args.Json = False,
) -> int:
    """Say how a run stands, what it waits for, and the command that comes next."""

    async def work(reprise: Reprise) -> int:
        view = await reprise.status(thread)
        if watch and view.status == "running":
            from graph.surfaces.terminal.watch import watch_run

            view = await watch_run(reprise, view)
        if as_json:
            emit(view.to_json())
        else:
            from graph.surfaces.terminal.lists import show_releases
            from graph.surfaces.terminal.run import show_next, show_run

            show_run(view.to_json(), unit=view.unit)
            show_releases(await reprise.releases(view.thread_id))
            show_next(view.next_action)
        return exit_code(view.status, detailed)

    return with_reprise(work)


def show(thread: args.Thread, as_json: args.Json = False) -> int:
    """Say where a run stopped, what is still valid, and what a resume would do, from storage alone."""

    async def work(reprise: Reprise) -> int:
        details = await reprise.show(thread)
        if as_json:
            emit(details)
        else:
            from graph.surfaces.terminal.show import show_details

            show_details(details)
        return 0

    return with_reprise(work)


def findings(
    thread: args.Thread,
    document: Annotated[str, typer.Option("--document", metavar="TEXT", help="Part of the document's path.")] = "",
    clause_type: Annotated[str, typer.Option("--type", metavar="SLUG", help="Clause type, cap_on_liability.")] = "",
    risk: Annotated[RiskName | None, typer.Option("--risk", help="Of this risk or more.")] = None,
    to_review: Annotated[bool, typer.Option("--to-review", help="Those that wait for a decision.")] = False,
    as_json: args.JsonLines = False,
) -> int:
    """List the findings, most serious first, each with its quote, document and page."""

    async def work(reprise: Reprise) -> int:
        from nodes.domain.review.review import most_serious_first

        titles = await reprise.titles(thread)
        if clause_type and clause_type not in titles:
            type_names = ", ".join(sorted(titles))
            raise UserError(f"The playbook of this run has no clause type {clause_type}: it has {type_names}.")
        all_findings = await reprise.findings(thread)
        selected = sorted(_select(all_findings, document, clause_type, risk, to_review), key=most_serious_first)
        if as_json:
            for finding in selected:
                emit(finding.to_json())
        else:
            _show_findings(selected, len(all_findings), titles)
        return 0

    return with_reprise(work)


def _select(
    all_findings: list[Finding], document: str, clause_type: str, risk: str | None, to_review: bool
) -> list[Finding]:
    from nodes.domain.evidence.findings import RISKS

    risks = list(map(str, RISKS))
    return [
        finding
        for finding in all_findings
        if document.casefold() in finding.document.casefold()
        and (not clause_type or finding.clause_type == clause_type)
        and (risk is None or risks.index(finding.risk) >= risks.index(risk))
        and (not to_review or (finding.needs_review and finding.decision is None))
    ]


def _show_findings(selected: list[Finding], total: int, titles: Mapping[str, str]) -> None:
    from graph.surfaces.terminal.run import show_findings
    from nodes.domain.shared.formats import count

    show_findings(selected, titles)
    share = f" of {total}" if len(selected) != total else ""
    say(count(len(selected), "finding") + share)


def journal(
    thread: args.Thread,
    failed: Annotated[bool, typer.Option("--failed", help="Calls without a usable answer, and why.")] = False,
    as_json: args.JsonLines = False,
) -> int:
    """List every call that was made or reused, with its state, attempt and price."""

    async def rows(reprise: Reprise) -> list[dict[str, Any]]:
        states = ("failed", "lost_answer", "abandoned")
        return [row for row in await reprise.journal(thread) if not failed or row["state"] in states]

    return _show_rows(rows, "show_journal", as_json)


def decisions(thread: args.Thread, as_json: args.JsonLines = False) -> int:
    """List every decision with who made it, when and why, oldest first."""
    return _show_rows(lambda reprise: reprise.decisions(thread), "show_decisions", as_json, plain=asdict)


def runs(
    limit: args.Limit = 20,
    purged: Annotated[bool, typer.Option("--purged", help="Those that were purged: when, by whom, why.")] = False,
    as_json: args.JsonLines = False,
) -> int:
    """List the runs, newest first."""
    if purged:
        return retention_commands.tombstones(limit, as_json)

    async def rows(reprise: Reprise) -> list[dict[str, Any]]:
        return [view.to_json() for view in await reprise.runs(limit)]

    return _show_rows(rows, "show_runs", as_json)


def resumes(
    thread: args.OptionalThread = None,
    summary_only: Annotated[
        bool, typer.Option("--summary", help="Only what they add up to, with --json as one object.")
    ] = (False),
    as_json: args.JsonLines = False,
) -> int:
    """List every start and resume, of a run or of all: at which step, how it ended, what it kept, what was lost."""

    async def work(reprise: Reprise) -> int:
        from graph.views.resumes import summary

        rows = await reprise.resumes(thread)
        if as_json:
            for row in [summary(rows)] if summary_only else rows:
                emit(row)
        else:
            from graph.surfaces.terminal.lists import show_resumes

            show_resumes([] if summary_only else rows, summary(rows), with_run_names=thread is None)
        return 0

    return with_reprise(work)


def history(
    thread: args.Thread,
    limit: args.Limit = 20,
    as_json: args.JsonLines = False,
) -> int:
    """List the checkpoints, newest first."""
    return _show_rows(lambda reprise: reprise.history(thread, limit), "show_history", as_json)


def cost(
    thread: args.Thread,
    models: Annotated[
        bool, typer.Option("--models", help="With latency, success rate and calls a second of each model.")
    ] = False,
    as_json: args.Json = False,
) -> int:
    """Say what a run has cost, by step, model and document, what it did not pay again, and what was estimated."""

    async def work(reprise: Reprise) -> int:
        details = await reprise.cost(thread)
        if as_json:
            emit(details)
        else:
            from graph.surfaces.terminal.money import show_cost

            show_cost(details, models)
        return 0

    return with_reprise(work)


def coverage(thread: args.Thread, as_json: args.Json = False) -> int:
    """Say what became of every document and page, and why one was not read."""

    async def load(reprise: Reprise) -> Mapping[str, Any]:
        return await reprise.coverage(thread)

    return _show_document(load, "show_coverage", as_json)


def report(
    thread: args.Thread,
    kind: Annotated[Literal["md", "html"], typer.Option("--format", help="Markdown, or one self-contained page.")] = (
        "md"
    ),
    output: Annotated[Path | None, typer.Option("--output", metavar="FILE", help="Write it there.")] = None,
    as_json: args.Json = False,
) -> int:
    """Show the note, or write it to a file."""

    async def work(reprise: Reprise) -> int:
        text = await reprise.report(thread, kind)
        if output is not None:
            _write(output, text)
        if as_json:
            path = None if output is None else str(output.absolute())
            emit({"format": kind, "output": path, "text": text if output is None else None})
        elif output is not None:
            say(f"Written: {output}")
        else:
            _show_note(text, kind)
        return 0

    return with_reprise(work)


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UserError(f"The file {file} cannot be written ({error.strerror}): name another place.") from None


def _show_note(text: str, kind: str) -> None:
    import sys

    if kind == "html" or not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    from graph.surfaces.terminal.run import show_note

    show_note(text)


def _show_rows(
    load: Callable[[Reprise], Awaitable[Iterable[Any]]],
    renderer: str,
    as_json: bool,
    plain: Callable[[Any], Mapping[str, Any]] = dict,
) -> int:
    async def work(reprise: Reprise) -> int:
        rows = list(await load(reprise))
        if as_json:
            for row in rows:
                emit(plain(row))
        else:
            from graph.surfaces.terminal import lists as terminal_lists

            getattr(terminal_lists, renderer)(rows)
        return 0

    return with_reprise(work)


def _show_document(load: Callable[[Reprise], Awaitable[Mapping[str, Any]]], renderer: str, as_json: bool) -> int:
    async def work(reprise: Reprise) -> int:
        document = await load(reprise)
        if as_json:
            emit(document)
        else:
            from graph.surfaces.terminal import lists as terminal_lists

            getattr(terminal_lists, renderer)(document)
        return 0

    return with_reprise(work)
