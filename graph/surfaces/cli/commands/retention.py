"""Commands that remove: prune takes old checkpoints, purge erases for good; and the list of what was purged."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.surfaces.cli import arguments as args
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import console, emit
from nodes.domain.shared.errors import UserError
from nodes.domain.shared.formats import count, one_line

if TYPE_CHECKING:
    from graph.app import Reprise

DAY = 86_400.0


def prune(
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="TIME", help="Ended so long ago: 30d, 12h (REPRISE_RETENTION_DAYS)."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how much it would be; remove nothing.")] = False,
    as_json: args.Json = False,
) -> int:
    """Keep the latest checkpoint alone of runs that ended long ago; what they found and decided stays."""
    seconds = args.parse_seconds(older_than, "--older-than")

    async def work(reprise: Reprise) -> int:
        pruned = await reprise.prune(None if seconds is None else seconds / DAY, dry_run=dry_run)
        if as_json:
            emit(pruned.to_json())
        elif not pruned.threads:
            console().print("No run has checkpoints that are old enough.")
        else:
            verb = "would be removed" if dry_run else "removed"
            console().print(f"{count(pruned.checkpoints, 'checkpoint')} of {count(pruned.threads, 'run')} {verb}")
        return 0

    return with_reprise(work)


def purge(
    thread: args.OptionalThread = None,
    matter: Annotated[str, typer.Option("--matter", metavar="ID", help="All runs and answers of a matter.")] = "",
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who purges. Left out: your login.")] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept in the tombstone.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; for scripts.")] = False,
    as_json: args.Json = False,
) -> int:
    """Erase a run, or a matter, for good: texts, answers, findings, decisions, notes; a tombstone is left."""
    if bool(thread) == bool(matter):
        raise UserError("Name one thread to purge, or a whole matter with --matter, not both.")
    must_confirm = not yes
    if must_confirm and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError("A purge cannot be undone and nobody can be asked here: add --yes to mean it.")

    async def work(reprise: Reprise) -> int:
        targets = await reprise.purgeable(thread or "", matter=matter)
        if must_confirm and not _agreed(targets, matter):
            raise UserError("Nothing was purged.")
        stones = await reprise.purge(thread or "", matter=matter, by=by, reason=reason)
        if as_json:
            emit({"tombstones": stones})
        else:
            _show_tombstones(stones)
        return 0

    return with_reprise(work)


def _agreed(targets: Sequence[Mapping[str, Any]], matter: str) -> bool:
    names = ", ".join(one_line(target["name"] or target["thread_id"], 60) for target in targets[:10])
    overflow = f" and {len(targets) - 10} more" if len(targets) > 10 else ""
    documents = count(sum(target["documents"] for target in targets), "document")
    scope = f"matter {one_line(matter, 60)} with " if matter else ""
    return typer.confirm(f"Erase {scope}{names or 'no run'}{overflow} ({documents}) for good?", err=True)


def tombstones(limit: int, as_json: bool) -> int:
    """Print what was purged, newest first; returns the exit code."""

    async def work(reprise: Reprise) -> int:
        stones = await reprise.tombstones(limit)
        for stone in stones if as_json else ():
            emit(stone)
        if not as_json:
            _show_tombstones(stones)
        return 0

    return with_reprise(work)


def _show_tombstones(stones: Sequence[Mapping[str, Any]]) -> None:
    from graph.surfaces.terminal.lists import show_tombstones

    show_tombstones(stones)
