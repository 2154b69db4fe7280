"""The work behind graph/surfaces/studio/factory.py, in a module that is imported once.

The server loads the factory anew for each name in it, so the open stores are kept here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast
from weakref import WeakKeyDictionary

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph

from graph.builder import build_graph
from graph.composition import Container, compose
from graph.driver import Compiled, Driver, drive
from graph.settings import operator_settings
from graph.usecases.serve import leased, next_drive
from nodes.domain.shared.errors import OperatorError
from nodes.ports import Services

CANCELLATIONS = ("UserInterrupt", "UserRollback")
"""Exceptions of the server for a run that a person cancelled, by name: its own library need not be installed."""

_containers: WeakKeyDictionary[asyncio.AbstractEventLoop, Container] = WeakKeyDictionary()


@asynccontextmanager
async def serving() -> AsyncIterator[AsyncPostgresSaver]:
    """Open pools and tools for this event loop, for as long as its server lives; yields the saver.

    Raises DatabaseUnreachable, SchemaOutdated.
    """
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        container = await compose(await asyncio.to_thread(operator_settings), stack)
        _containers[loop] = container
        try:
            yield container.saver
        finally:
            del _containers[loop]


def _container() -> Container:
    container = _containers.get(asyncio.get_running_loop())
    if container is None:
        raise OperatorError(
            "This server has no database: let langgraph.json name graph/surfaces/studio/factory.py:make_checkpointer."
        )
    return container


def bare_graph() -> Compiled:
    """The shape of the graph alone: nothing is run, so the nodes need no services."""
    return build_graph(cast(Services, None)).compile(name="reprise")


@asynccontextmanager
async def leased_graph(thread_id: str) -> AsyncIterator[Compiled]:
    """The graph for a change of the state: the fence lets nobody write beside the last driver but under the lease.

    Raises ThreadBusy.
    """
    async with leased(_container(), thread_id):
        yield bare_graph()


@asynccontextmanager
async def driven_graph(thread_id: str) -> AsyncIterator[Compiled]:
    """The graph for a run: under the lease, with the read-ahead; both are left however the run ends.

    Raises ThreadBusy.
    """
    container = _container()
    kind, step = await next_drive(container, thread_id)
    cancellation: BaseException | None = None
    async with drive(thread_id, container.context_for_drive({}), kind=kind, from_step=step) as driver:
        try:
            yield _served_graph(driver)
        except Exception as error:
            if type(error).__name__ not in CANCELLATIONS:
                raise
            # A person stopped the run: that is no failure of it, and the driver is to say so in its record.
            driver.drain("stopped in LangGraph Studio or Agent Server")
            cancellation = error
    if cancellation is not None:
        raise cancellation


def _served_graph(driver: Driver) -> Compiled:
    """The driver's graph for the server's own loop: every step is on disk before the next, and a drain is no error."""

    class ServedGraph(CompiledStateGraph):  # type: ignore[type-arg]
        async def astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            kwargs |= {"durability": "sync", "control": driver.control}
            try:
                async for part in super().astream(*args, **kwargs):
                    yield part
            except GraphDrained:
                return

    graph = driver.graph
    graph.__class__ = cast(Any, ServedGraph)
    return graph
