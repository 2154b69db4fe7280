"""The facade `Reprise`, through which scripts, notebooks and the command line work."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Unpack

from graph.composition import Container, compose
from graph.driver import OnEvent
from graph.inspection.inspection import (
    Coverage,
    RunCost,
    RunInspection,
    inspect_run,
    read_context,
    read_cost,
    read_coverage,
    read_decisions,
    read_journal,
    read_packet,
    read_progress,
    read_releases,
    read_report,
    read_resumes,
    read_spent,
    read_titles,
)
from graph.inspection.search import SearchView, search
from graph.runtime.execution.progress import Progress
from graph.runtime.postgres.migrations import migrate
from graph.runtime.postgres.reconnect import Outage
from graph.settings import Settings as OperatorSettings
from graph.settings import operator_settings as operator_settings
from graph.usecases.cancel import cancel
from graph.usecases.estimate import Estimate, estimate
from graph.usecases.evaluate import GoldenSet, Measurement, Side, check_measurable, measure
from graph.usecases.fork import describe_unsearched, fork
from graph.usecases.purge import PurgeableThread, Tombstone, purge, read_purgeable, read_tombstones
from graph.usecases.resume.plan import ResumeRequest
from graph.usecases.resume.resume import decide, resume
from graph.usecases.retention import Pruned, prune
from graph.usecases.start import start
from graph.usecases.sweep import ResumeAllReport, ResumedRun, resume_all
from graph.views.comparison import Comparison, compare_runs
from graph.views.facts import FactsView, read_facts
from graph.views.findings import read_findings
from graph.views.frames import Diagram, FindingsView, JournalView
from graph.views.resumes import ResumeRow
from graph.views.run_view import RunView, read_run_view, read_run_views
from graph.views.threads import CheckpointRow, draw_diagram, find, read_history
from nodes.domain.review.review import Decision
from nodes.domain.runs.options import RunOptions


class Reprise:
    """Runs, by thread; make one with `Reprise.open`.

    A thread is named by its name, its UUID, a unique beginning of either, or `last`.
    """

    def __init__(self, container: Container) -> None:
        self.container = container
        self._stack = AsyncExitStack()

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: OperatorSettings | None = None, **changes: Any) -> AsyncIterator[Reprise]:
        """Open the stores: the embedded Postgres unless REPRISE_DATABASE_URL or `database_url` says otherwise.

        `changes` are fields of graph.settings.Settings. Raises DatabaseUnreachable, SchemaOutdated.
        """
        async with AsyncExitStack() as stack:
            yield cls(await compose(settings or operator_settings(**changes), stack))

    @classmethod
    async def connect(cls, settings: OperatorSettings | None = None, **changes: Any) -> Reprise:
        """Open the stores where no block can span the work, as in the cells of a notebook; end it with `aclose`."""
        async with AsyncExitStack() as stack:
            opened = cls(await compose(settings or operator_settings(**changes), stack))
            opened._stack = stack.pop_all()
        return opened

    async def aclose(self) -> None:
        """Close what `connect` opened."""
        await self._stack.aclose()

    # What drives a run.

    async def start(
        self,
        *sources: str | os.PathLike[str],
        thread: str | None = None,
        job: str = "",
        matter: str = "default",
        playbook: str = "due-diligence",
        engine: str = "local",
        passwords: Mapping[str, str] | None = None,
        on_event: OnEvent | None = None,
        **options: Unpack[RunOptions],
    ) -> RunView:
        """Begin a run and drive it until it ends or waits.

        `options`: see nodes.domain.runs.options.RunOptions; what they mean, see nodes.domain.runs.settings.Settings.
        Raises SourceError, OptionError, PlaybookError, KnownThread, ThreadBusy, EndpointRefused.
        """
        return await start(
            self.container,
            sources,
            thread=thread,
            job=job,
            matter=matter,
            playbook=playbook,
            engine=engine,
            passwords=passwords,
            on_event=on_event,
            options=options,
        )

    async def estimate(
        self,
        *sources: str | os.PathLike[str],
        matter: str = "default",
        playbook: str = "due-diligence",
        engine: str = "local",
        passwords: Mapping[str, str] | None = None,
        **options: Unpack[RunOptions],
    ) -> Estimate:
        """Estimate what a run would take: see graph.usecases.estimate.

        Reads the documents, which is free, and what is read is kept; asks no model.
        """
        return await estimate(
            self.container,
            sources,
            matter=matter,
            playbook=playbook,
            engine=engine,
            passwords=passwords,
            options=options,
        )

    async def resume(
        self,
        thread: str,
        *,
        decisions: Sequence[Mapping[str, Any]] | None = None,
        accept_all: bool = False,
        reviewer: str = "",
        reason: str = "",
        retry_failed: bool = False,
        accept_version: bool = False,
        passwords: Mapping[str, str] | None = None,
        on_event: OnEvent | None = None,
        surface: str = "api",
        **changes: Unpack[RunOptions],
    ) -> RunView:
        """Go on from the last safe step until the run ends or waits again.

        `decisions` ({finding_id, verdict, reason}) or `accept_all` answer the gate when it is reached; `changes` are
        settings to change: models, budget_usd, deadline_seconds. `retry_failed` does the documents that failed once
        more, also of a finished run, which is else left as it is but for a webhook that was not taken.
        `accept_version` agrees to do what is left with another reader, other rules or prompts than the run began with.
        Raises UnknownThread, ThreadBusy, ReplyError (the run still waits), OptionError, VersionChanged, SourceError.
        """
        request = ResumeRequest(
            decisions, accept_all, reviewer, reason, retry_failed, accept_version, surface=surface, settings=changes
        )
        return await resume(self.container, thread, request, passwords=passwords, on_event=on_event)

    async def resume_all(
        self, *, passwords: Mapping[str, str] | None = None, on_run: Callable[[ResumedRun], None] | None = None
    ) -> ResumeAllReport:
        """Take up every run that nobody drives and that waits for no person, one after another.

        Then purges that were cut off are finished and old checkpoints are pruned (REPRISE_RETENTION_DAYS). `on_run` is
        told of each run when it is done with. A run that fails is named in the report and keeps no other from its turn.
        """
        return await resume_all(self.container, passwords or {}, on_run)

    async def fork(
        self,
        thread: str,
        *,
        playbook: str,
        name: str | None = None,
        on_event: OnEvent | None = None,
        **options: Unpack[RunOptions],
    ) -> RunView:
        """Score the documents of a run by another playbook, as a new thread of the same matter, and drive it.

        No document is read and no model asked; what this playbook looks for and the run did not is named in the note
        as not looked for. Decisions hold where a finding has the same score and reasons as before. `options` are
        settings that may differ: review. Raises UnknownThread, PlaybookError, KnownThread, NotForkable, OptionError.
        """
        return await fork(self.container, thread, playbook=playbook, name=name, on_event=on_event, options=options)

    async def measure(self, side: Side, sets: Sequence[GoldenSet], **options: Any) -> Measurement:
        """Run an engine over the documents of golden sets and compare: see graph.usecases.evaluate.measure."""
        return await measure(self.container, side, sets, **options)

    async def check_measurable(self, sides: Sequence[Side], sets: Sequence[GoldenSet], **options: Any) -> list[str]:
        """Refuse what `measure` cannot measure: see graph.usecases.evaluate.check_measurable."""
        return await check_measurable(self.container, sides, sets, **options)

    def drain(self, reason: str) -> int:
        """Let every run of this process stop at its next safe step; returns how many there are."""
        return self.container.drain(reason)

    # What changes a run without driving it.

    async def decide(
        self,
        thread: str,
        decisions: Sequence[Mapping[str, Any]] | None = None,
        *,
        accept_all: bool = False,
        reviewer: str = "",
        reason: str = "",
        surface: str = "api",
    ) -> int:
        """Store decisions on the waiting packet without going on; returns how many were new. Raises ReplyError."""
        request = ResumeRequest(decisions, accept_all, reviewer, reason, surface=surface)
        return await decide(self.container, thread, request)

    async def cancel(self, thread: str) -> RunView:
        """Ask a run to stop for good; who drives it drains within seconds. Nothing that is done is lost."""
        return await cancel(self.container, thread)

    async def prune(self, days: float | None = None, *, dry_run: bool = False) -> Pruned:
        """Keep the latest checkpoint alone of threads that ended so many days ago; by default as the setting says."""
        return await prune(self.container, days, dry_run=dry_run)

    async def purge(self, thread: str = "", *, matter: str = "", by: str = "", reason: str = "") -> list[Tombstone]:
        """Erase a thread, or a matter with all its threads, for good: see graph.usecases.purge."""
        return await purge(self.container, thread, matter, by, reason)

    async def migrate(self) -> list[str]:
        """Bring the database up to date; returns the steps that were applied."""
        return await migrate(self.container.url)

    # What is known of runs.

    async def find(self, thread: str) -> str:
        """Return the id of the thread that a name, UUID, unique prefix or `last` means."""
        return await find(self.container, thread)

    async def status(self, thread: str) -> RunView:
        """Return the run object."""
        return await read_run_view(self.container, await self.find(thread))

    async def runs(self, limit: int = 1000) -> list[RunView]:
        """List the runs, the newest first."""
        return await read_run_views(self.container, limit)

    async def progress(self, thread: str) -> Progress:
        """Say how far a run is, at what pace, and what it does now: see graph.runtime.execution.progress."""
        return await read_progress(self.container, thread)

    async def show(self, thread: str) -> RunInspection:
        """Say where a run stopped and why, and what a resume would do: see graph.inspection."""
        return await inspect_run(self.container, thread)

    async def findings(self, thread: str) -> FindingsView:
        """List every finding with its score and decision."""
        return await read_findings(self.container, thread)

    async def facts(self, thread: str) -> FactsView:
        """List what each document states about itself: parties, dates, amounts, law; with its place."""
        return await read_facts(self.container, thread)

    async def search(self, text: str, *, matter: str = "default", thread: str = "", limit: int = 20) -> SearchView:
        """Find passages of a matter's documents that hold all words of `text`: see graph.inspection.search."""
        return await search(self.container, text, matter=matter, thread=thread, limit=limit)

    async def compare(self, first: str, second: str) -> Comparison:
        """Compare two runs: documents, findings, suppliers. Raises UnknownThread."""
        return await compare_runs(self.container, first, second)

    async def unsearched(self, thread: str) -> list[str]:
        """Say, a sentence each, what the playbook of a run asks for and its documents were not read for."""
        return await describe_unsearched(self.container, thread)

    async def packet(self, thread: str) -> dict[str, Any]:
        """Return the review packet that waits. Raises UserError when none does."""
        return await read_packet(self.container, thread)

    async def context(self, thread: str, document: str, spans: Sequence[Sequence[int]], reach: int) -> tuple[str, str]:
        """Return at most `reach` characters of the document before and after a quote; empty where there are none."""
        return await read_context(self.container, thread, document, spans, reach)

    async def titles(self, thread: str, language: str = "en") -> dict[str, str]:
        """Map each clause type to its title, by the playbook that the run froze."""
        return await read_titles(self.container, thread, language)

    async def decisions(self, thread: str) -> list[Decision]:
        """List every decision, oldest first."""
        return await read_decisions(self.container, thread)

    async def journal(self, thread: str) -> JournalView:
        """List every call, oldest first."""
        return await read_journal(self.container, thread)

    async def resumes(self, thread: str | None = None) -> list[ResumeRow]:
        """List every start and resume of a run, or of all, oldest first: see graph.views.resumes."""
        return await read_resumes(self.container, thread)

    async def cost(self, thread: str) -> RunCost:
        """Say what a run has cost, by step, model and document, and what a dry run estimated."""
        return await read_cost(self.container, thread)

    async def spent(self, thread: str) -> float:
        """Return the US dollars spent so far; 0 while nothing is frozen."""
        return await read_spent(self.container, thread)

    async def coverage(self, thread: str) -> Coverage:
        """Say what became of every document and page."""
        return await read_coverage(self.container, thread)

    async def releases(self, thread: str) -> list[str]:
        """List where the released files of a run are."""
        return await read_releases(self.container, thread)

    async def history(self, thread: str, limit: int = 100) -> list[CheckpointRow]:
        """List the checkpoints, the newest first."""
        return await read_history(self.container, thread, limit)

    async def report(self, thread: str, kind: str = "md") -> str:
        """Return the note, as md or html. Raises UserError while it is not written."""
        return await read_report(self.container, thread, kind)

    async def purgeable(self, thread: str = "", *, matter: str = "") -> list[PurgeableThread]:
        """List the threads that `purge` would erase."""
        return await read_purgeable(self.container, thread, matter)

    async def tombstones(self, limit: int = 1000) -> list[Tombstone]:
        """List what was purged, newest first."""
        return await read_tombstones(self.container, limit)

    def diagram(self) -> Diagram:
        """Draw the graph as Mermaid text."""
        return draw_diagram(self.container)

    @property
    def outage(self) -> Outage:
        """How an outage of the database is waited for; `telling` hears of it, `away` is true while it lasts."""
        return self.container.database.outage
