"""The door of LangGraph Studio and Agent Server, named in langgraph.json: the same graph, database and driver.

A run there goes through `drive`, so it holds the lease of its thread and shows in `runs`, `journal` and `show` like any
other. The server brings the loop and the threads; checkpoints go to our own tables.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast
from weakref import WeakKeyDictionary

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph_sdk.runtime import ServerRuntime

from graph.builder import build_graph
from graph.composition import Parts, compose
from graph.driver import Compiled, Driver, drive
from graph.runtime.checkpoints import postgres_saver
from graph.runtime.lease import Lease
from graph.settings import operator_settings
from nodes.ports import Services

STOPPED = ("UserInterrupt", "UserRollback")
"""What the server raises in a run that a person cancelled; its classes are not imported, since their library may be absent."""

_opened: WeakKeyDictionary[asyncio.AbstractEventLoop, Parts] = WeakKeyDictionary()


@asynccontextmanager
async def make_checkpointer() -> AsyncIterator[AsyncPostgresSaver]:
    """Our saver, for as long as the server lives; with it the pools and tools that its runs share.

    Raises DatabaseUnreachable, SchemaOutdated.
    """
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        parts = await compose(operator_settings(), stack)
        _opened[loop] = parts
        try:
            yield postgres_saver(parts.outside.saver_pool)
        finally:
            del _opened[loop]


@asynccontextmanager
async def make_graph(config: RunnableConfig, runtime: ServerRuntime[Any]) -> AsyncIterator[Compiled]:
    """The graph for one access: driven for a run, under the lease for an update of the state, bare for a look.

    Raises ThreadBusy when another process drives the thread.
    """
    thread_id = str((config.get("configurable") or {}).get("thread_id") or "")
    if runtime.access_context == "threads.create_run" and thread_id:
        async with _driven(thread_id) as graph:
            yield graph
    elif runtime.access_context == "threads.update" and thread_id:
        async with _leased(thread_id):
            yield _bare()
    else:
        yield _bare()


def _bare() -> Compiled:
    """Its shape alone: nothing is run, so the nodes need no services."""
    return build_graph(cast(Services, None)).compile(name="reprise")


@asynccontextmanager
async def _leased(thread_id: str) -> AsyncIterator[None]:
    """The fence lets nobody write to a thread that another process drove last, unless the lease is taken."""
    parts = _opened[asyncio.get_running_loop()]
    lease = Lease(parts.outside.database, thread_id, ttl=parts.outside.lease_seconds)
    await lease.take()
    try:
        yield
    finally:
        await asyncio.shield(lease.release())


@asynccontextmanager
async def _driven(thread_id: str) -> AsyncIterator[Compiled]:
    parts = _opened[asyncio.get_running_loop()]
    reader = build_graph(parts.outside.services).compile(checkpointer=postgres_saver(parts.outside.saver_pool))
    head = await reader.aget_state({"configurable": {"thread_id": thread_id}})
    kind = "resume" if head.config["configurable"].get("checkpoint_id") else "start"
    stopped: BaseException | None = None
    async with drive(
        thread_id, parts.driven({}), kind=kind, from_step=head.next[0] if head.next else "ingest"
    ) as driver:
        try:
            yield _served(driver)
        except Exception as error:
            if type(error).__name__ not in STOPPED:
                raise
            # A person stopped the run: that is no failure of it, and the driver is to say so in its record.
            driver.drain("stopped in LangGraph Studio or Agent Server")
            stopped = error
    if stopped is not None:
        raise stopped


def _served(driver: Driver) -> Compiled:
    """The driver's graph for the server's own loop: every step is on disk before the next, a drain ends it in peace."""

    class Served(CompiledStateGraph):  # type: ignore[type-arg]
        async def astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            kwargs |= {"durability": "sync", "control": driver.control}
            try:
                async for part in super().astream(*args, **kwargs):
                    yield part
            except GraphDrained:
                return

    graph = driver.graph
    graph.__class__ = Served
    return graph
