"""The graph as LangGraph's own users compile it, without a driver; over the memory or over Postgres."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from graph import Services, build_graph, memory_services, postgres_services


@dataclass
class PlainGraph:
    """A compiled graph with what it was compiled over."""

    graph: Any
    services: Services


@asynccontextmanager
async def plain_graph(kind: str, database: str, home: Path, **changes: Any) -> AsyncIterator[PlainGraph]:
    """Compile it over the memory, or over these tables and artifacts."""
    if kind == "memory":
        async with memory_services(**changes) as services:
            yield PlainGraph(build_graph(services).compile(checkpointer=InMemorySaver()), services)
    else:
        async with postgres_services(database_url=database, home=home, **changes) as (services, saver):
            yield PlainGraph(build_graph(services).compile(checkpointer=saver), services)


async def edit_state(
    database: str, home: Path, thread_id: str, changes: Mapping[str, Any], as_node: str | None = None
) -> dict[str, Any]:
    """Write these keys into the state of a thread, as an operator does with LangGraph alone; return the old values."""
    config: Any = {"configurable": {"thread_id": thread_id}}
    async with plain_graph("postgres", database, home) as plain:
        before = dict((await plain.graph.aget_state(config)).values)
        if changes or as_node:
            await plain.graph.aupdate_state(config, dict(changes), as_node=as_node)
    return before
