"""The composition root, and the facade `Reprise` through which scripts, notebooks and the command line work."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from graph.composition import Container, compose
from graph.driver import Driver, OnEvent, begun, drive, steps_for
from graph.inspection.inspection import Support
from graph.inspection.search import Searching
from graph.runtime.postgres.migrations import migrate
from graph.runtime.postgres.threads import checked_name, find_thread, thread_id_of
from graph.settings import Settings as OperatorSettings
from graph.settings import operator_settings as operator_settings
from graph.usecases.estimate import Estimator
from graph.usecases.fork import Forking
from graph.usecases.keeping import Keeping
from graph.usecases.request_args import absolute, check_engine, plain
from graph.usecases.resume.plan import ResumeRequest
from graph.usecases.resume.resume import decide, resume
from graph.views.facts import FactsView, facts_of
from graph.views.frames import Diagram, FindingsView, JournalView
from graph.views.run_view import RunView, Views
from graph.views.stranded import require_a_place
from nodes.domain.review.review import Decision
from nodes.domain.runs.options import apply
from nodes.domain.runs.settings import Run, Settings
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.shared.errors import KnownThread, UserError
from nodes.domain.shared.shell_quote import shell_word
from state import RunInput


class Reprise(Keeping, Forking, Searching):
    """Runs, by thread; make one with `Reprise.open`."""

    def __init__(self, parts: Container) -> None:
        self.parts = parts
        self._drivers = parts.work
        self._stack = AsyncExitStack()
        graph = parts.graph
        self.views = Views(parts.outside.database, parts.ledger, parts.outside.services.artifacts, graph)
        self.support = Support(parts, self.views)

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: OperatorSettings | None = None, **changes: Any) -> AsyncIterator[Reprise]:
        """Open the stores: the embedded Postgres unless REPRISE_DATABASE_URL or `database_url` says otherwise.

        `changes` are fields of graph.settings.Settings. Raises DatabaseUnreachable, SchemaOutdated.
        """
        chosen = settings or operator_settings(**changes)
        async with AsyncExitStack() as stack:
            yield cls(await compose(chosen, stack))

    @classmethod
    async def connect(cls, settings: OperatorSettings | None = None, **changes: Any) -> Reprise:
        """The same where no block can span the work, as in the cells of a notebook; end it with `aclose`."""
        async with AsyncExitStack() as stack:
            opened = cls(await compose(settings or operator_settings(**changes), stack))
            opened._stack = stack.pop_all()
        return opened

    async def aclose(self) -> None:
        """Close what `connect` opened."""
        await self._stack.aclose()

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
        **options: Any,
    ) -> RunView:
        """Begin a run and drive it until it ends or waits.

        `options` are fields of nodes.domain.runs.settings.Settings: models, batch_size, concurrency, budget_usd,
        deadline_seconds, document_seconds, batch_wait_seconds, review, fresh, language,
        model_writes_note. Raises SourceError, OptionError, PlaybookError, KnownThread, ThreadBusy, EndpointRefused.
        """
        name = checked_name(thread) if thread is not None else ""
        thread_id = thread_id_of(name) if name else thread_id_of(os.urandom(16).hex())
        source, playbook = await asyncio.to_thread(absolute, sources, playbook)
        wanted = apply(Settings(), options)
        documents = await self.parts.outside.services.sources.check(source)
        await self.parts.outside.services.playbooks.load(playbook)
        check_engine(self.parts, engine, wanted)
        if (await self.views.head(thread_id)).config["configurable"].get("checkpoint_id"):
            await self.views.refuse_busy(thread_id)
            known = name or thread_id
            raise KnownThread(f"Thread {known} has begun already: python run.py resume {shell_word(known)}")
        given: RunInput = {
            "source": source,
            "playbook": playbook,
            "engine": engine,
            "matter": matter,
            "options": {**plain(options), "name": "" if name == thread_id else name, "job": job},
        }
        async with self._drive(thread_id, "start", "ingest", passwords) as driver:
            begun(on_event, thread_id, name, documents, 0)
            require_a_place(await driver.run(given, on_event, steps=steps_for(documents)), name or thread_id)
        return await self.views.run(thread_id)

    async def estimate(
        self,
        *sources: str | os.PathLike[str],
        matter: str = "default",
        playbook: str = "due-diligence",
        engine: str = "local",
        passwords: Mapping[str, str] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """What a run would take: see graph.usecases.estimate. Reads the documents, which is free and kept; asks no model."""
        source, playbook = await asyncio.to_thread(absolute, sources, playbook)
        wanted = apply(Settings(), options)
        check_engine(self.parts, engine, wanted, key=False)
        return await Estimator(self.parts, passwords or {}).estimate(source, playbook, engine, matter, wanted)

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
        **changes: Any,
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
        return await resume(self.parts, thread, request, passwords=passwords, on_event=on_event)

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
        return await decide(self.parts, thread, request)

    async def cancel(self, thread: str) -> RunView:
        """Ask a run to stop for good; who drives it drains within seconds. Nothing that is done is lost."""
        thread_id = await self.find(thread)
        await self.parts.outside.database.execute("cancel", thread_id=thread_id)
        return await self.views.run(thread_id)

    async def status(self, thread: str) -> RunView:
        """The run object."""
        return await self.views.run(await self.find(thread))

    async def progress(self, thread: str) -> dict[str, Any]:
        """How far a run is, at what pace, and what it does now: see graph.runtime.execution.progress."""
        return await self.support.progress(await self.find(thread))

    async def findings(self, thread: str) -> FindingsView:
        """Every finding with its score and decision."""
        thread_id = await self.find(thread)
        run = await self._run(thread_id)
        return FindingsView(await self.views.findings(run, valid_part((await self.views.head(thread_id)).values)))

    async def facts(self, thread: str) -> FactsView:
        """What each document states about itself: parties, dates, amounts, law; with its place."""
        run = await self._run(await self.find(thread))
        return await facts_of(self.parts.ledger, self.parts.outside.services.artifacts, run)

    async def decisions(self, thread: str) -> list[Decision]:
        """Every decision, oldest first."""
        return await self.parts.ledger.decisions((await self._run(await self.find(thread))).run_id)

    async def journal(self, thread: str) -> JournalView:
        """Every call, oldest first."""
        run = await self._run(await self.find(thread))
        return JournalView(await self.parts.outside.database.rows("journal", run_id=run.run_id))

    async def runs(self, limit: int = 1000) -> list[RunView]:
        """The newest runs first."""
        rows = await self.parts.outside.database.rows("runs", limit=limit)
        return [await self.views.run(row["thread_id"]) for row in rows]

    async def history(self, thread: str, limit: int = 100) -> list[dict[str, Any]]:
        """Checkpoints, the newest first: id, step, node that comes next, headline, time."""
        return await self.views.history(await self.find(thread), limit)

    async def report(self, thread: str, kind: str = "md") -> str:
        """The note, as md or html. Raises UserError while it is not written."""
        run = await self._run(await self.find(thread))
        refs = {ref.name: ref.sha256 for ref in await self.parts.ledger.artifacts(run.run_id)}
        if f"note.{kind}" not in refs:
            name = run.name or run.thread_id
            raise UserError(f"The note of {name} is not written yet: see python run.py status {shell_word(name)}")
        return (await self.parts.outside.services.artifacts.get(refs[f"note.{kind}"])).decode("utf-8")

    def diagram(self) -> Diagram:
        """The graph as Mermaid text."""
        return self.views.diagram()

    async def find(self, thread: str) -> str:
        """The id of the thread that a name, UUID, unique prefix or `last` means."""
        return await find_thread(self.parts.outside.database, thread)

    async def migrate(self) -> list[str]:
        """Bring the database up to date; the steps that were applied."""
        return await migrate(self.parts.url)

    def drain(self, reason: str) -> int:
        """Let every run of this process stop at its next safe step; returns how many there are."""
        for driver in self._drivers:
            driver.drain(reason)
        return len(self._drivers)

    @asynccontextmanager
    async def _drive(
        self, thread_id: str, kind: str, step: str, passwords: Mapping[str, str] | None
    ) -> AsyncIterator[Driver]:
        outside = self.parts.driven(passwords or {})
        async with drive(thread_id, outside, kind=kind, from_step=step) as driver:
            self._drivers.add(driver)
            try:
                yield driver
            finally:
                self._drivers.discard(driver)

    async def _run(self, thread_id: str) -> Run:
        run = await self.views.run_of(thread_id)
        if run is None:
            raise UserError(f"Thread {thread_id} has not frozen its inputs yet: python run.py resume {thread_id}")
        return run
