"""Commands that only look at runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from graph.surfaces.cli import arguments as given
from graph.surfaces.cli.commands import retention as cli_keep
from graph.surfaces.cli.exit_codes import code_of
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import emit, say
from nodes.domain.shared.errors import UserError

if TYPE_CHECKING:
    from graph.app import Reprise
    from nodes.domain.evidence.findings import Finding

RISK = Literal["low", "medium", "high", "critical"]


def status(
    thread: given.Thread,
    watch: Annotated[
        bool, typer.Option("--watch", help="Follow it until it ends or waits, from any terminal.")
    ] = False,
    detailed: given.Detailed = False,
    as_json: given.Json = False,
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
            show_releases(await reprise.support.releases(view.thread_id))
            show_next(view.next_action)
        return code_of(view.status, detailed)

    return with_reprise(work)


def show(thread: given.Thread, as_json: given.Json = False) -> int:
    """Say where a run stopped, what is still valid, and what a resume would do, from storage alone."""

    async def work(reprise: Reprise) -> int:
        shown = await reprise.support.show(await reprise.find(thread))
        if as_json:
            emit(shown)
        else:
            from graph.surfaces.terminal.show import show_support

            show_support(shown)
        return 0

    return with_reprise(work)


def findings(
    thread: given.Thread,
    document: Annotated[str, typer.Option("--document", metavar="TEXT", help="Part of the document's path.")] = "",
    clause_type: Annotated[str, typer.Option("--type", metavar="SLUG", help="Clause type, cap_on_liability.")] = "",
    risk: Annotated[RISK | None, typer.Option("--risk", help="Of this risk or more.")] = None,
    to_review: Annotated[bool, typer.Option("--to-review", help="Those that wait for a decision.")] = False,
    as_json: given.JsonLines = False,
) -> int:
    """List the findings, most serious first, each with its quote, document and page."""

    async def work(reprise: Reprise) -> int:
        from nodes.domain.review.review import most_serious_first

        titles = await reprise.support.titles(await reprise.find(thread))
        if clause_type and clause_type not in titles:
            known = ", ".join(sorted(titles))
            raise UserError(f"The playbook of this run has no clause type {clause_type}: it has {known}.")
        found = await reprise.findings(thread)
        kept = sorted(_kept(found, document, clause_type, risk, to_review), key=most_serious_first)
        if as_json:
            for one in kept:
                emit(one.to_json())
        else:
            _show_findings(kept, len(found), titles)
        return 0

    return with_reprise(work)


def _kept(found: list[Finding], document: str, clause_type: str, risk: str | None, to_review: bool) -> list[Finding]:
    from nodes.domain.evidence.findings import RISKS

    order = list(map(str, RISKS))
    return [
        one
        for one in found
        if document.casefold() in one.document.casefold()
        and (not clause_type or one.clause_type == clause_type)
        and (risk is None or order.index(one.risk) >= order.index(risk))
        and (not to_review or (one.needs_review and one.decision is None))
    ]


def _show_findings(kept: list[Finding], total: int, titles: Mapping[str, str]) -> None:
    from graph.surfaces.terminal.run import show_findings
    from nodes.domain.shared.formats import count

    show_findings(kept, titles)
    of = f" of {total}" if len(kept) != total else ""
    say(count(len(kept), "finding") + of)


def journal(
    thread: given.Thread,
    failed: Annotated[bool, typer.Option("--failed", help="Calls without a usable answer, and why.")] = False,
    as_json: given.JsonLines = False,
) -> int:
    """List every call that was made or reused, with its state, attempt and price."""

    async def rows(reprise: Reprise) -> list[dict[str, Any]]:
        wanted = ("failed", "lost_answer", "abandoned")
        return [row for row in await reprise.journal(thread) if not failed or row["state"] in wanted]

    return _list(rows, "show_journal", as_json)


def decisions(thread: given.Thread, as_json: given.JsonLines = False) -> int:
    """List every decision with who made it, when and why, oldest first."""
    return _list(lambda reprise: reprise.decisions(thread), "show_decisions", as_json, plain=asdict)


def runs(
    limit: given.Limit = 20,
    purged: Annotated[bool, typer.Option("--purged", help="Those that were purged: when, by whom, why.")] = False,
    as_json: given.JsonLines = False,
) -> int:
    """List the runs, newest first."""
    if purged:
        return cli_keep.tombstones(limit, as_json)

    async def rows(reprise: Reprise) -> list[dict[str, Any]]:
        return [view.to_json() for view in await reprise.runs(limit)]

    return _list(rows, "show_runs", as_json)


def resumes(
    thread: given.OneThread = None,
    summed: Annotated[bool, typer.Option("--summary", help="Only what they add up to, with --json as one object.")] = (
        False
    ),
    as_json: given.JsonLines = False,
) -> int:
    """List every start and resume, of a run or of all: at which step, how it ended, what it kept, what was lost."""

    async def work(reprise: Reprise) -> int:
        from graph.views.resumes import summary

        rows = await reprise.support.resumes(None if thread is None else await reprise.find(thread))
        if as_json:
            for row in [summary(rows)] if summed else rows:
                emit(row)
        else:
            from graph.surfaces.terminal.resumes import show_resumes

            show_resumes([] if summed else rows, summary(rows), named=thread is None)
        return 0

    return with_reprise(work)


def history(
    thread: given.Thread,
    limit: given.Limit = 20,
    as_json: given.JsonLines = False,
) -> int:
    """List the checkpoints, newest first."""
    return _list(lambda reprise: reprise.history(thread, limit), "show_history", as_json)


def cost(
    thread: given.Thread,
    models: Annotated[
        bool, typer.Option("--models", help="With latency, success rate and calls a second of each model.")
    ] = False,
    as_json: given.Json = False,
) -> int:
    """Say what a run has cost, by step, model and document, what it did not pay again, and what was estimated."""

    async def work(reprise: Reprise) -> int:
        found = await reprise.support.cost(await reprise.find(thread))
        if as_json:
            emit(found)
        else:
            from graph.surfaces.terminal.money import show_cost

            show_cost(found, models)
        return 0

    return with_reprise(work)


def coverage(thread: given.Thread, as_json: given.Json = False) -> int:
    """Say what became of every document and page, and why one was not read."""

    async def one(reprise: Reprise) -> dict[str, Any]:
        return await reprise.support.coverage(await reprise.find(thread))

    return _one(one, "show_coverage", as_json)


def report(
    thread: given.Thread,
    kind: Annotated[Literal["md", "html"], typer.Option("--format", help="Markdown, or one self-contained page.")] = (
        "md"
    ),
    output: Annotated[Path | None, typer.Option("--output", metavar="FILE", help="Write it there.")] = None,
    as_json: given.Json = False,
) -> int:
    """Show the note, or write it to a file."""

    async def work(reprise: Reprise) -> int:
        text = await reprise.report(thread, kind)
        if output is not None:
            _write(output, text)
        if as_json:
            where = None if output is None else str(output.absolute())
            emit({"format": kind, "output": where, "text": text if output is None else None})
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
    from graph.surfaces.terminal.note import show_note

    show_note(text)


def _list(
    rows: Callable[[Reprise], Awaitable[Iterable[Any]]],
    shown_by: str,
    as_json: bool,
    plain: Callable[[Any], Mapping[str, Any]] = dict,
) -> int:
    async def work(reprise: Reprise) -> int:
        found = list(await rows(reprise))
        if as_json:
            for row in found:
                emit(plain(row))
        else:
            from graph.surfaces.terminal import lists as terminal_lists

            getattr(terminal_lists, shown_by)(found)
        return 0

    return with_reprise(work)


def _one(one: Callable[[Reprise], Awaitable[Mapping[str, Any]]], shown_by: str, as_json: bool) -> int:
    async def work(reprise: Reprise) -> int:
        found = await one(reprise)
        if as_json:
            emit(found)
        else:
            from graph.surfaces.terminal import lists as terminal_lists

            getattr(terminal_lists, shown_by)(found)
        return 0

    return with_reprise(work)
