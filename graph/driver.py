"""One driver a thread: takes the lease, opens the read-ahead, compiles the graph over both, and leaves on any exit."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import Command, StateSnapshot

from graph.builder import build_graph
from graph.runtime.cancel import ended
from graph.runtime.execution.read_ahead import GRACE_SECONDS, ReadAhead
from graph.runtime.postgres.checkpoints import postgres_saver
from graph.runtime.postgres.database import Database, Pool
from graph.runtime.postgres.lease import OWNER, Lease
from graph.runtime.postgres.reconnect import OutageNotice
from nodes.domain.runs.settings import WORKFLOW_VERSION
from nodes.domain.shared.errors import DatabaseUnreachable, LeaseLost, ReplyError
from nodes.ports import Services
from state import RunContext, RunInput, RunOutput, RunState

Compiled = CompiledStateGraph[RunState, RunContext, RunInput, RunOutput]
OnEvent = Callable[[Mapping[str, Any]], None]

STEPS_BEYOND_BATCHES = 1_000
"""Room in LangGraph's limit of super-steps for review rounds and holds."""


@dataclass(frozen=True, slots=True)
class DriverContext:
    """What a driver needs besides the services of the nodes."""

    services: Services
    database: Database
    saver_pool: Pool
    lease_seconds: float = 30.0
    grace_seconds: float = GRACE_SECONDS


@dataclass(eq=False)
class Driver:
    """A thread under the lease of this process, with its graph; made by `drive`."""

    thread_id: str
    graph: Compiled
    lease: Lease
    database: Database
    resume_id: str
    drain_reason: str = ""
    _control: RunControl = field(default_factory=RunControl)
    _task: asyncio.Task[None] | None = None

    @property
    def config(self) -> RunnableConfig:
        return {"configurable": {"thread_id": self.thread_id}}

    @property
    def control(self) -> RunControl:
        """What a drain speaks to, for a loop that is not `run`."""
        return self._control

    async def head(self) -> StateSnapshot:
        """The newest checkpoint of the thread."""
        return await self.graph.aget_state(self.config)

    async def run(
        self,
        graph_input: RunInput | Command[Any] | None,
        on_event: OnEvent | None = None,
        steps: int = STEPS_BEYOND_BATCHES,
    ) -> StateSnapshot:
        """Run until the graph ends, waits, or was drained; returns the head. `steps`: the limit of super-steps.

        Raises what the nodes raise, and LeaseLost when another process has taken the thread.
        """
        self._control = RunControl()
        if self.drain_reason:
            return await self.head()
        emit = on_event or _ignore
        self._task = asyncio.create_task(self._stream(graph_input, emit, steps), name=f"run {self.thread_id}")
        try:
            with self.database.outage.notifying(lambda notice: emit(_outage_event(notice))):
                await self._task
        except GraphDrained:
            pass
        except asyncio.CancelledError:
            if self.lease.lost.is_set():
                raise LeaseLost(
                    f"Another process took thread {self.thread_id} over while this one was silent; "
                    "nothing more was written here."
                ) from None
            # No call may outlive the one who asked for it.
            await ended([self._task])
            raise
        finally:
            self._task = None
        return await self.head()

    def drain(self, reason: str) -> None:
        """Begin no new call, let those in flight end, stop at the next checkpoint."""
        self.drain_reason = reason
        self._control.request_drain(reason)

    def lost(self) -> None:
        """The lease is another's: stop at once, commit nothing."""
        if self._task is not None:
            self._task.cancel()

    async def _stream(self, graph_input: Any, on_event: OnEvent, steps: int) -> None:
        config: RunnableConfig = {**self.config, "recursion_limit": steps}
        async for mode, chunk in self.graph.astream(
            graph_input,
            config,
            stream_mode=["custom", "updates"],
            durability="sync",
            control=self._control,
        ):
            if mode == "custom" and isinstance(chunk, Mapping):
                on_event(chunk)
            elif mode == "updates" and isinstance(chunk, Mapping):
                for node, changes in chunk.items():
                    if isinstance(changes, Mapping) and "headline" in changes:
                        # A step that closes a batch says so by the number of batches that are closed.
                        closed = changes.get("batch_index")
                        on_event({"event": "step", "step": node, "headline": changes["headline"], "closed": closed})


def compile_graph(services: Services, saver: BaseCheckpointSaver[str]) -> Compiled:
    """Compile the graph over these services and checkpoints."""
    return build_graph(services).compile(checkpointer=saver, name="reprise")


def announce_run(on_event: OnEvent | None, thread_id: str, name: str, total: int, done: int) -> None:
    """Emit the first event of every drive: which thread, and how many of its documents are done."""
    if on_event is not None:
        on_event({"event": "run", "thread_id": thread_id, "name": name, "total": total, "done": done})


def steps_for(documents: int) -> int:
    """LangGraph's limit of super-steps: every batch might be of one document."""
    return documents + STEPS_BEYOND_BATCHES


@asynccontextmanager
async def drive(
    thread_id: str, context: DriverContext, *, kind: str = "resume", from_step: str = ""
) -> AsyncIterator[Driver]:
    """Drive a thread: nobody else can while this block runs.

    Raises ThreadBusy when another process drives it. Whatever ends the block, the read-ahead is left, then the lease.
    """
    database = context.database
    lease = Lease(database, thread_id, ttl=context.lease_seconds)
    await lease.take()
    pool = ReadAhead(context.grace_seconds, lambda: database.outage.away)
    resume_id = str(uuid.uuid4())
    outcome, error = "failed", ""
    try:
        await database.execute(
            "begin_resume",
            resume_id=resume_id,
            thread_id=thread_id,
            kind=kind,
            owner=OWNER,
            host=socket.gethostname(),
            pid=os.getpid(),
            workflow_version=WORKFLOW_VERSION,
            from_step=from_step,
        )
        graph = compile_graph(replace(context.services, pool=pool), postgres_saver(context.saver_pool))
        driver = Driver(thread_id, graph, lease, database, resume_id)
        lease.keep(lambda: driver.drain("cancelled"), driver.lost)
        yield driver
        if driver.drain_reason:
            # A batch may have closed just as the signal came: what was begun ahead of it has its grace here.
            await pool.drain()
        outcome = driver.drain_reason or "ended"
    except asyncio.CancelledError:
        outcome = "cancelled"
        raise
    except ReplyError as refused:
        outcome, error = "refused", str(refused)
        raise
    except LeaseLost as lost:
        lease.lost.set()
        outcome, error = "lost", str(lost)
        raise
    except BaseException as failure:
        error = f"{failure}" or type(failure).__name__
        raise
    finally:
        await asyncio.shield(_leave(pool, lease, resume_id, outcome, error, database))


async def _leave(pool: ReadAhead, lease: Lease, resume_id: str, outcome: str, error: str, database: Database) -> None:
    await pool.aclose()
    # Where the database stays away the lease runs out by itself, and the next resume settles what was in flight.
    with suppress(DatabaseUnreachable):
        try:
            # A row of this process alone, which no fence need guard: an overtaken driver says there why it stopped.
            await database.execute("end_resume", resume_id=resume_id, outcome=outcome, error=error[:2000])
        finally:
            await lease.release()


def _outage_event(notice: OutageNotice) -> Mapping[str, Any]:
    """The event that tells of an outage, or of its end."""
    return {
        "event": "database",
        "away": notice.away,
        "since": notice.since.isoformat(),
        "seconds": round(notice.seconds, 1),
        "said": notice.sentence(),
    }


def _ignore(event: Mapping[str, Any]) -> None:
    return None
