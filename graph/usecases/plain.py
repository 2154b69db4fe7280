"""Plain LangGraph: the services for a graph that you compile and invoke yourself, without the facade and its driver.

No read-ahead and no fence: nothing keeps two processes from running one thread at once. Findings, note and decisions
are the same, and what the journal holds is not paid again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from graph.composition import compose, compose_in_memory
from graph.runtime.postgres.checkpoints import postgres_saver
from graph.settings import operator_settings
from nodes.ports import Services


@asynccontextmanager
async def memory_services(**changes: Any) -> AsyncIterator[Services]:
    """Services that keep everything in this process, for LangGraph's InMemorySaver.

    `changes` are fields of graph.settings.Settings, as in Reprise.open.
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
        parts = await compose(operator_settings(**changes), stack, owner="")
        yield parts.outside.services, postgres_saver(parts.outside.saver_pool)
