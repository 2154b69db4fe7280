"""LangGraph's Postgres saver, on a pool that checks its connections, with a strict serializer."""

from __future__ import annotations

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.runtime.database import Pool

POOL_SIZE = 3
"""The saver runs one query at a time; a second connection reads while it writes, a third heals."""


def strict_serializer() -> JsonPlusSerializer:
    """Refuses every class that is not LangGraph's own: the state is JSON-plain."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


def postgres_saver(pool: Pool) -> AsyncPostgresSaver:
    """A saver on an open pool; build it inside the event loop that will use it."""
    return AsyncPostgresSaver(pool, serde=strict_serializer())
