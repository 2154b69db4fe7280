"""LangGraph's Postgres saver, on a pool that checks its connections, with a strict serializer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from graph.runtime.fault_points import fault_point
from graph.runtime.postgres.database import Pool, translated
from graph.runtime.postgres.reconnect import Outage, Retries

T = TypeVar("T")

POOL_SIZE = 3
"""The saver runs one query at a time; a second connection reads while it writes, a third heals."""


def strict_serializer() -> JsonPlusSerializer:
    """Refuses every class that is not LangGraph's own: the state is JSON-plain."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


class InstrumentedSaver(AsyncPostgresSaver):
    """LangGraph's saver within fault points and through outages: it writes upserts, which can be repeated."""

    outage: Outage

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        put = super().aput
        return await self._through("saver.put", lambda: put(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        put = super().aput_writes
        await self._through("saver.put_writes", lambda: put(config, writes, task_id, task_path))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        get = super().aget_tuple
        return await self._through("saver.get", lambda: get(config))

    async def tuple_of(self, row: dict[str, Any]) -> CheckpointTuple:
        """Read a row of the query `run_records` as `aget_tuple` reads a row of its own."""
        if row["checkpoint"]["v"] < 4 and row["parent_checkpoint_id"]:  # its pending sends are elsewhere
            config: RunnableConfig = {"configurable": {"thread_id": row["thread_id"]}}
            return await self.aget_tuple(config) or await self._load_checkpoint_tuple(row)
        return await self._load_checkpoint_tuple(row)

    async def _through(self, name: str, work: Callable[[], Awaitable[T]]) -> T:
        retries = Retries(self.outage)
        while True:
            await retries.ready()
            try:
                with fault_point(name):
                    return await work()
            except psycopg.Error as error:
                if not await retries.may_retry(error):
                    raise translated(error) from error


class LoadedCheckpoints(BaseCheckpointSaver[str]):
    """A saver of checkpoints that are loaded already, by thread; for a graph that only reads states."""

    def __init__(self, tuples: Mapping[str, CheckpointTuple]) -> None:
        super().__init__()
        self._tuples = tuples

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._tuples.get(config["configurable"]["thread_id"])


def postgres_saver(pool: Pool) -> InstrumentedSaver:
    """A saver on an open pool; build it inside the event loop that will use it."""
    saver = InstrumentedSaver(pool, serde=strict_serializer())
    saver.outage = pool.outage
    return saver
