"""What every drive begins with: its first event, and how many super-steps it may take."""

from __future__ import annotations

from graph.driver import STEPS_BEYOND_BATCHES, OnEvent


def begun(on_event: OnEvent | None, thread_id: str, name: str, total: int, done: int) -> None:
    """The first event of every drive: which thread, and how many of its documents are done."""
    if on_event is not None:
        on_event({"event": "run", "thread_id": thread_id, "name": name, "total": total, "done": done})


def steps_for(documents: int) -> int:
    """LangGraph's limit of super-steps: every batch might be of one document."""
    return documents + STEPS_BEYOND_BATCHES
