"""For a server that runs LangGraph's own loop, as Agent Server does: the saver, and a thread's lease and place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from graph.builder import build_graph
from graph.composition import Container
from graph.runtime.postgres.checkpoints import postgres_saver
from graph.runtime.postgres.lease import Lease


def saver_of(container: Container) -> AsyncPostgresSaver:
    """A checkpoint saver on the container's own connections."""
    return postgres_saver(container.outside.saver_pool)


@asynccontextmanager
async def leased(container: Container, thread_id: str) -> AsyncIterator[None]:
    """Hold the thread's lease, so that its state may be changed. Raises ThreadBusy."""
    lease = Lease(container.outside.database, thread_id, ttl=container.outside.lease_seconds)
    await lease.take()
    try:
        yield
    finally:
        await asyncio.shield(lease.release())


async def next_drive(container: Container, thread_id: str) -> tuple[str, str]:
    """What a drive of the thread would be, "start" or "resume", and the step that it begins with."""
    reader = build_graph(container.outside.services).compile(checkpointer=saver_of(container))
    head = await reader.aget_state({"configurable": {"thread_id": thread_id}})
    kind = "resume" if head.config["configurable"].get("checkpoint_id") else "start"
    return kind, head.next[0] if head.next else "ingest"
