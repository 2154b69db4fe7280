"""The entry point for LangGraph Studio and Agent Server, named in langgraph.json: the same graph, database, driver.

A run there goes through `drive`, so it holds the lease of its thread and shows in `runs`, `journal` and `show` like any
other. The server brings the loop and the threads; checkpoints go to our own tables.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph_sdk.runtime import ServerRuntime

from graph.driver import Compiled
from graph.surfaces.studio.runtime import bare_graph, driven_graph, leased_graph, serving


@asynccontextmanager
async def make_checkpointer() -> AsyncIterator[AsyncPostgresSaver]:
    """Open the saver, and with it everything that the runs share, for as long as the server lives."""
    async with serving() as saver:
        yield saver


@asynccontextmanager
async def make_graph(config: RunnableConfig, runtime: ServerRuntime[Any]) -> AsyncIterator[Compiled]:
    """The graph for one access: driven for a run, under the lease for a change of the state, bare for a look.

    Raises ThreadBusy when another process drives the thread.
    """
    thread_id = str((config.get("configurable") or {}).get("thread_id") or "")
    if thread_id and runtime.access_context == "threads.create_run":
        async with driven_graph(thread_id) as graph:
            yield graph
    elif thread_id and runtime.access_context == "threads.update":
        async with leased_graph(thread_id) as graph:
            yield graph
    else:
        yield bare_graph()
