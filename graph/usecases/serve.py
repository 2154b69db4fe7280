"""For a server that runs LangGraph's own loop, as Agent Server does: a thread's lease, and where it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.composition import Container
from graph.runtime.postgres.lease import Lease
from graph.views.threads import has_begun, read_head


@asynccontextmanager
async def leased(container: Container, thread_id: str) -> AsyncIterator[None]:
    """Hold the thread's lease, so that its state may be changed. Raises ThreadBusy."""
    lease = Lease(container.database, thread_id, ttl=container.lease_seconds)
    await lease.take()
    try:
        yield
    finally:
        await asyncio.shield(lease.release())


async def next_drive(container: Container, thread_id: str) -> tuple[str, str]:
    """What a drive of the thread would be, "start" or "resume", and the step that it begins with."""
    head = await read_head(container, thread_id)
    kind = "resume" if has_begun(head) else "start"
    return kind, head.next[0] if head.next else "ingest"
