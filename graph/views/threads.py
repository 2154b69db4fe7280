"""Read one thread: its newest checkpoint, its run, its checkpoints so far, who drives it."""

from __future__ import annotations

from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.types import StateSnapshot

from graph.builder import build_graph
from graph.composition import Container
from graph.runtime.postgres.lease import busy, holds
from graph.runtime.postgres.ledger import run_from_row
from graph.runtime.postgres.threads import find_thread
from graph.views.frames import Diagram
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.shared.errors import KnownThread, ThreadBusy, UserError
from nodes.domain.shared.shell_quote import shell_word


class CheckpointRow(TypedDict):
    """One checkpoint of a thread."""

    checkpoint_id: str
    step: Any
    next: list[str]
    headline: str
    batch_index: int
    created_at: str | None


async def find(container: Container, thread: str) -> str:
    """Return the id of the thread that a name, UUID, unique prefix or `last` means. Raises UnknownThread."""
    return await find_thread(container.database, thread)


async def read_head(container: Container, thread_id: str) -> StateSnapshot:
    """Read the newest checkpoint; a snapshot without checkpoint_id where the thread has none."""
    return await container.graph.aget_state({"configurable": {"thread_id": thread_id}})


def has_begun(head: StateSnapshot) -> bool:
    """True when the thread has a checkpoint."""
    return bool(head.config["configurable"].get("checkpoint_id"))


async def read_run(container: Container, thread_id: str) -> Run | None:
    """Read the run of a thread; None while its inputs are not frozen."""
    row = await container.database.row("run_of_thread", thread_id=thread_id)
    return None if row is None else run_from_row(row)


async def find_run(container: Container, thread: str) -> Run:
    """Read the run that a name, UUID, unique prefix or `last` means. Raises UnknownThread, and UserError while its
    inputs are not frozen."""
    return await frozen_run(container, await find(container, thread))


async def frozen_run(container: Container, thread_id: str) -> Run:
    """Read the run of a thread. Raises UserError while its inputs are not frozen."""
    run = await read_run(container, thread_id)
    if run is None:
        raise UserError(f"Thread {thread_id} has not frozen its inputs yet: python run.py resume {thread_id}")
    return run


async def refuse_busy(container: Container, thread_id: str) -> None:
    """Raise ThreadBusy while a process drives the thread."""
    holder = await container.database.row("holder", thread_id=thread_id)
    if holder and holds(holder):
        raise ThreadBusy(busy(thread_id, holder["host"], holder["pid"], holder["taken_at"]))


async def refuse_begun(container: Container, thread_id: str, name: str) -> None:
    """Raise KnownThread, or ThreadBusy while it is driven, for a thread that has begun already."""
    if has_begun(await read_head(container, thread_id)):
        await refuse_busy(container, thread_id)
        label = name or thread_id
        raise KnownThread(f"Thread {label} has begun already: python run.py resume {shell_word(label)}")


async def read_history(container: Container, thread: str, limit: int) -> list[CheckpointRow]:
    """Read the checkpoints of a thread, the newest first."""
    config: RunnableConfig = {"configurable": {"thread_id": await find(container, thread)}}
    return [
        {
            "checkpoint_id": snapshot.config["configurable"]["checkpoint_id"],
            "step": (snapshot.metadata or {}).get("step"),
            "next": list(snapshot.next),
            "headline": snapshot.values.get("headline") or "",
            "batch_index": valid_part(snapshot.values).get("batch_index") or 0,
            "created_at": snapshot.created_at,
        }
        async for snapshot in container.graph.aget_state_history(config, limit=limit)
    ]


def draw_diagram(container: Container) -> Diagram:
    """Draw the graph as Mermaid text."""
    return Diagram(build_graph(container.services).compile().get_graph().draw_mermaid())
