"""The composition root: makes stores, tools and services once, and closes them in turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from graph.adapters.clock import SystemClock
from graph.adapters.documents.reader import DocumentReader, ReaderLimits, reader_version
from graph.adapters.embedded_postgres import revive
from graph.adapters.embedded_postgres import start as start_server
from graph.adapters.local_engine import ClauseRules
from graph.adapters.processes.worker_pool import WorkerPool
from graph.adapters.storage.folder_artifacts import FolderArtifacts, MemoryArtifacts
from graph.adapters.storage.folder_releases import FolderReleases, MemoryReleases
from graph.adapters.storage.folder_sources import FolderSources
from graph.adapters.storage.playbook_files import FilePlaybooks
from graph.driver import Compiled, Driver, DriverContext, compile_graph, drive
from graph.runtime.calls.budget import Budget
from graph.runtime.calls.journal import JournalledCalls
from graph.runtime.calls.pricing import Prices
from graph.runtime.calls.rate_limit import RateLimited, Rates, rate_limit_of
from graph.runtime.execution.progress import MemoryHeartbeat, PostgresHeartbeat
from graph.runtime.execution.read_ahead import PlainPool
from graph.runtime.fault_points import dying_at, listening, tracing_into
from graph.runtime.instrumented_ports import (
    InstrumentedArtifacts,
    InstrumentedReleases,
    InstrumentedSources,
    InstrumentedTool,
    InstrumentedWebhook,
)
from graph.runtime.memory.journal import MemoryJournal
from graph.runtime.memory.ledger import MemoryLedger
from graph.runtime.postgres.checkpoints import POOL_SIZE, InstrumentedSaver, postgres_saver
from graph.runtime.postgres.database import Database, connected_pool
from graph.runtime.postgres.journal import PostgresJournal
from graph.runtime.postgres.lease import OWNER
from graph.runtime.postgres.ledger import PostgresLedger
from graph.runtime.postgres.migrations import migrate, require_current
from graph.runtime.postgres.reconnect import Outage
from graph.settings import Settings, operator_settings
from nodes.domain.clauses.engine_files import local_sha256
from nodes.domain.shared.errors import StoreUnwritable
from nodes.ports import Artifacts, Calls, Heartbeat, Ledger, Releases, Services, Sources, Tool, Webhook

if TYPE_CHECKING:
    from graph.adapters.openai.model import OpenAIModel

LEDGER_CONNECTIONS = 8
"""Of our own tables; the saver has a pool of its own, so that neither starves the other."""


class Drainable(Protocol):
    """Work of this process that can be asked to stop at its next safe step."""

    def drain(self, reason: str) -> object: ...


@dataclass(frozen=True)
class Container:
    """Open stores, tools and services, which use cases and views work with; made by `compose`."""

    settings: Settings
    url: str
    """Address of the database in use."""
    driver_context: DriverContext
    ledger: PostgresLedger
    prices: Prices
    tools: Mapping[str, Tool]
    has_key: bool
    work: set[Drainable] = field(default_factory=set, compare=False)
    """What this process drives now."""

    @property
    def services(self) -> Services:
        """Services of the nodes, for reading; a drive has its own."""
        return self.driver_context.services

    @property
    def artifacts(self) -> Artifacts:
        return self.driver_context.services.artifacts

    @property
    def database(self) -> Database:
        return self.driver_context.database

    @property
    def lease_seconds(self) -> float:
        """Silence after which the driver of a thread may be overtaken."""
        return self.driver_context.lease_seconds

    @cached_property
    def saver(self) -> InstrumentedSaver:
        """The checkpoint saver, on a pool of its own; ask for it within the event loop that will use it."""
        return postgres_saver(self.driver_context.saver_pool)

    @cached_property
    def graph(self) -> Compiled:
        """The graph over the checkpoints, for reading states; a drive compiles its own."""
        return compile_graph(self.services, self.saver)

    def context_for_drive(self, passwords: Mapping[str, str]) -> DriverContext:
        """Make the services of one drive: its claims hang on its lease, its spend is read anew."""
        journal = PostgresJournal(self.database, leased=True)
        calls = JournalledCalls(journal, self.tools, self.prices, Budget(self.services.clock))
        return replace(self.driver_context, services=replace(self.services, calls=calls, passwords=passwords))

    @asynccontextmanager
    async def drive(
        self, thread_id: str, kind: str, from_step: str, passwords: Mapping[str, str] | None = None
    ) -> AsyncIterator[Driver]:
        """Drive a thread as graph.driver.drive does, so that `drain` reaches it. `kind`: start or resume."""
        async with drive(thread_id, self.context_for_drive(passwords or {}), kind=kind, from_step=from_step) as driver:
            with self.drainable(driver):
                yield driver

    @contextmanager
    def drainable(self, work: Drainable) -> Iterator[None]:
        """Let `drain` reach the work while this block runs."""
        self.work.add(work)
        try:
            yield
        finally:
            self.work.discard(work)

    def drain(self, reason: str) -> int:
        """Let all work of this process stop at its next safe step; returns how much there is."""
        for work in tuple(self.work):
            work.drain(reason)
        return len(self.work)


async def database_url(settings: Settings) -> str:
    """Return the address of the database: the operator's, else that of the embedded server, which is started."""
    if settings.database_url:
        return settings.database_url
    await asyncio.to_thread(_make_home, settings.home)
    return await start_server(settings.home)


def _make_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable(
            f"The folder {home} cannot be made ({error.strerror}): set REPRISE_HOME to a folder that can be written to."
        ) from error


async def compose(settings: Settings, stack: AsyncExitStack, owner: str = OWNER) -> Container:
    """Open everything; the stack closes it. `owner` is who writes, as the fence sees it; "" for nobody's lease.

    Raises DatabaseUnreachable, and SchemaOutdated for a server that is not ours to migrate.
    """
    _drill(settings, stack)
    url = await database_url(settings)
    await (migrate(url) if settings.own_server else require_current(url))
    outage = Outage(
        url, settings.database_wait_seconds, partial(revive, settings.home) if settings.own_server else None
    )
    ledger_pool = await connected_pool(url, owner, size=LEDGER_CONNECTIONS, outage=outage)
    stack.push_async_callback(ledger_pool.close)
    saver_pool = await connected_pool(url, owner, size=POOL_SIZE, prepare_threshold=0, outage=outage)
    stack.push_async_callback(saver_pool.close)
    await stack.enter_async_context(outage.closing())
    database = Database(ledger_pool)
    artifacts = InstrumentedArtifacts(FolderArtifacts(settings.home / "artifacts"))
    children = WorkerPool(settings.children or None, settings.child_memory_mb)
    stack.push_async_callback(children.aclose)
    prices = await asyncio.to_thread(Prices, settings.prices)
    tools = await _tools(settings, artifacts, children, stack)
    ledger = PostgresLedger(database)
    releases = InstrumentedReleases(FolderReleases(settings.home / "notes"))
    calls = JournalledCalls(PostgresJournal(database), tools, prices, Budget(SystemClock()))
    sources = FolderSources(children)
    services = await _services(settings, sources, artifacts, ledger, calls, releases, PostgresHeartbeat(database))
    driver_context = DriverContext(services, database, saver_pool, settings.lease_seconds, settings.grace_seconds)
    return Container(settings, url, driver_context, ledger, prices, tools, _has_key(settings))


async def compose_in_memory(settings: Settings, stack: AsyncExitStack) -> Services:
    """Open services that keep everything in this process; what they read and whom they ask is real."""
    artifacts, journal = MemoryArtifacts(), MemoryJournal()
    children = WorkerPool(settings.children or None, settings.child_memory_mb)
    stack.push_async_callback(children.aclose)
    prices = await asyncio.to_thread(Prices, settings.prices)
    tools = await _tools(settings, artifacts, children, stack)
    calls = JournalledCalls(journal, tools, prices, Budget(SystemClock()))
    ledger = MemoryLedger(journal)
    sources = FolderSources(children)
    return await _services(settings, sources, artifacts, ledger, calls, MemoryReleases(), MemoryHeartbeat(ledger))


@asynccontextmanager
async def memory_services(**changes: Any) -> AsyncIterator[Services]:
    """Services that keep everything in this process, for LangGraph's InMemorySaver.

    `changes` are fields of graph.settings.Settings, as in Reprise.open. With these services and those of
    `postgres_services` you compile and invoke the graph yourself, without the facade and its driver: there is no
    read-ahead and no fence, so nothing keeps two processes from running one thread at once. Findings, note and
    decisions are the same, and what the journal holds is not paid again.
    """
    async with AsyncExitStack() as stack:
        yield await compose_in_memory(operator_settings(**changes), stack)


@asynccontextmanager
async def postgres_services(**changes: Any) -> AsyncIterator[tuple[Services, AsyncPostgresSaver]]:
    """Services and a saver on the database of Reprise, so that the command line sees the run.

    A thread that another process drives is refused (LeaseLost, or what the saver makes of it).
    Raises DatabaseUnreachable, SchemaOutdated.
    """
    async with AsyncExitStack() as stack:
        # Without an owner: the fence then stops only who would write beside a living driver.
        container = await compose(operator_settings(**changes), stack, owner="")
        yield container.services, container.saver


def _drill(settings: Settings, stack: AsyncExitStack) -> None:
    """Let a drill hear which fault points this process passes, or have it die at one."""
    if settings.trace is not None:
        stack.enter_context(listening(tracing_into(settings.trace)))
    if settings.die_at:
        stack.enter_context(listening(dying_at(settings.die_at)))


async def _services(
    settings: Settings,
    sources: Sources,
    artifacts: Artifacts,
    ledger: Ledger,
    calls: Calls,
    releases: Releases,
    heartbeat: Heartbeat,
) -> Services:
    return Services(
        clock=SystemClock(),
        sources=InstrumentedSources(sources),
        artifacts=artifacts,
        ledger=ledger,
        calls=calls,
        pool=PlainPool(),
        heartbeat=heartbeat,
        playbooks=FilePlaybooks(),
        releases=releases,
        rules_sha256=await asyncio.to_thread(local_sha256),
        reader_version=reader_version(ocr=settings.ocr),
        models={"extract": settings.model, "summarize": settings.model},
        webhook=await asyncio.to_thread(_webhook, settings),
    )


def _webhook(settings: Settings) -> Webhook | None:
    """Make the webhook; its client is imported late, as the model is."""
    url = settings.webhook_url.get_secret_value()
    if not url:
        return None
    from graph.adapters.webhook import HttpWebhook

    return InstrumentedWebhook(HttpWebhook(url, seconds=settings.webhook_seconds))


def _has_key(settings: Settings) -> bool:
    """True when models can be asked: an endpoint of one's own may do without a key, OpenAI's cannot."""
    return bool(settings.openai_api_key.get_secret_value() or settings.openai_base_url)


async def _tools(
    settings: Settings, artifacts: Artifacts, children: WorkerPool, stack: AsyncExitStack
) -> dict[str, Tool]:
    reader = DocumentReader(children, artifacts, ReaderLimits(seconds=settings.parsing_seconds), ocr=settings.ocr)
    local: tuple[Tool, ...] = (reader, ClauseRules(artifacts, children))
    tools: dict[str, Tool] = {tool.name: InstrumentedTool(tool) for tool in local}
    if _has_key(settings) and not settings.endpoint_problem:
        model = await asyncio.to_thread(_model, settings)
        stack.push_async_callback(model.aclose)
        rates = Rates(settings.endpoint_concurrency, settings.requests_per_minute, settings.tokens_per_minute)
        tools[model.name] = RateLimited(InstrumentedTool(model), rate_limit_of(settings.openai_base_url, rates))
    return tools


def _model(settings: Settings) -> OpenAIModel:
    """Make the client of models; imported late: it takes a third of the start-up time, and not every run needs it."""
    from graph.adapters.openai.model import OpenAIModel

    return OpenAIModel(
        api_key=settings.openai_api_key.get_secret_value() or "none",
        base_url=settings.openai_base_url,
        timeout=settings.request_seconds,
        attempts=settings.attempts,
    )
