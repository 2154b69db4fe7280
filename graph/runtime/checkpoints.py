"""LangGraph's Postgres saver, on a pool that checks its connections, with a strict serializer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.runtime.boundaries import boundary
from graph.runtime.database import Pool

POOL_SIZE = 3
"""The saver runs one query at a time; a second connection reads while it writes, a third heals."""


def strict_serializer() -> JsonPlusSerializer:
    """Refuses every class that is not LangGraph's own: the state is JSON-plain."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


class BoundedSaver(AsyncPostgresSaver):
    """LangGraph's saver, within boundaries; nothing else is changed."""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        with boundary("saver.put"):
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        with boundary("saver.put_writes"):
            await super().aput_writes(config, writes, task_id, task_path)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with boundary("saver.get"):
            return await super().aget_tuple(config)


def postgres_saver(pool: Pool) -> BoundedSaver:
    """A saver on an open pool; build it inside the event loop that will use it."""
    return BoundedSaver(pool, serde=strict_serializer())
