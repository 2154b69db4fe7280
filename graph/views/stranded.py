"""Threads that stand nowhere: no step is next, yet nothing was published. LangGraph ends them without a word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import StateSnapshot

from graph.driver import Compiled
from nodes.domain.runs.state_validation import readable
from nodes.domain.shared.errors import StepUnknown
from nodes.domain.shared.shell_quote import as_typed

_EDGE = "branch:to:"
"""Begins the name of the channel by which LangGraph goes to a step."""


@dataclass(frozen=True, slots=True)
class Stranded:
    """Where such a thread was last."""

    after: str
    """The last step that was done and that this program has; from there it finds its way again."""
    wanted: str = ""
    """The step that was next and that this program does not have; "" when none was: choosing it failed."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """What that last step returned, when that is not in the checkpoint yet."""

    def sentence(self, thread: str) -> str:
        """What a person is told; nothing is lost."""
        what = f"its next step is {self.wanted}, which this program does not have"
        if not self.wanted:
            what = f"no step came after {self.after}"
        return (
            f"Run {thread} has not ended and stands at no step ({what}); nothing that is done is lost: "
            f"python run.py resume {as_typed(thread)} --accept-version goes on after {self.after}."
        )


def ended_nowhere(head: StateSnapshot) -> bool:
    """No step is next, yet the run was not published."""
    begun = bool(head.config.get("configurable", {}).get("checkpoint_id"))
    return begun and not head.next and not readable(head.values).get("published")


def require_a_place(head: StateSnapshot, thread: str) -> None:
    """Raise StepUnknown for a thread that LangGraph left without an end."""
    if ended_nowhere(head):
        raise StepUnknown(
            f"Run {thread} ended without its note and stands at no step: nothing that is done is lost, "
            f"see where with python run.py show {as_typed(thread)}."
        )


async def adrift(graph: Compiled, head: StateSnapshot) -> Stranded | None:
    """Where a thread that stands nowhere was last; None for any other."""
    if not ended_nowhere(head):
        return None
    for task in head.tasks:
        if task.name in graph.nodes and isinstance(task.result, Mapping):
            return Stranded(task.name, "", dict(task.result))
    saver: Any = graph.checkpointer
    stored = await saver.aget_tuple(head.config)
    channels = [name for name in stored.checkpoint["channel_values"] if name.startswith(_EDGE)]
    wanted = [name.removeprefix(_EDGE) for name in channels]
    lost = next((name for name in wanted if name not in graph.nodes), "")
    seen = {
        name: max(map(str, versions.values()))
        for name, versions in stored.checkpoint["versions_seen"].items()
        if versions and name in graph.nodes and not name.startswith("__")
    }
    # Whatever it was, extract finds what is open in the ledger, and score all else.
    after = max(seen, key=lambda name: seen[name]) if seen else "extract"
    return Stranded(after if lost or after != "publish" else "extract", lost)
