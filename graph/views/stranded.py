"""Stranded threads: no step is next, yet nothing was published. LangGraph ends them without a word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langgraph.types import StateSnapshot

from nodes.domain.runs.state_validation import valid_part
from nodes.domain.shared.errors import StepUnknown
from nodes.domain.shared.shell_quote import shell_word

if TYPE_CHECKING:
    from graph.driver import Compiled

_EDGE = "branch:to:"
"""Begins the name of the channel by which LangGraph goes to a step."""


@dataclass(frozen=True, slots=True)
class Stranded:
    """Where a stranded thread was last."""

    after: str
    """The last step that was done and that this program has; from there it finds its way again."""
    wanted: str = ""
    """The step that was next and that this program does not have; "" when none was: choosing it failed."""
    result: Mapping[str, Any] = field(default_factory=dict)
    """What that last step returned, when that is not in the checkpoint yet."""

    def sentence(self, thread: str) -> str:
        """For people: where it stands, that nothing is lost, and the command that goes on."""
        where = f"its next step is {self.wanted}, which this program does not have"
        if not self.wanted:
            where = f"no step came after {self.after}"
        return (
            f"Run {thread} has not ended and stands at no step ({where}); nothing that is done is lost: "
            f"python run.py resume {shell_word(thread)} --accept-version goes on after {self.after}."
        )


def ended_nowhere(head: StateSnapshot) -> bool:
    """Whether no step is next although the run was not published."""
    begun = bool(head.config.get("configurable", {}).get("checkpoint_id"))
    return begun and not head.next and not valid_part(head.values).get("published")


def require_a_place(head: StateSnapshot, thread: str) -> None:
    """Raise StepUnknown for a thread that LangGraph left without an end."""
    if ended_nowhere(head):
        raise StepUnknown(
            f"Run {thread} ended without its note and stands at no step: nothing that is done is lost, "
            f"see where with python run.py show {shell_word(thread)}."
        )


async def find_stranded(graph: Compiled, head: StateSnapshot) -> Stranded | None:
    """Where a stranded thread was last; None for any other thread."""
    if not ended_nowhere(head):
        return None
    for task in head.tasks:
        if task.name in graph.nodes and isinstance(task.result, Mapping):
            return Stranded(task.name, "", dict(task.result))
    saver: Any = graph.checkpointer
    checkpoint = (await saver.aget_tuple(head.config)).checkpoint
    steps = [name.removeprefix(_EDGE) for name in checkpoint["channel_values"] if name.startswith(_EDGE)]
    unknown_step = next((name for name in steps if name not in graph.nodes), "")
    newest_versions = {
        name: max(map(str, versions.values()))
        for name, versions in checkpoint["versions_seen"].items()
        if versions and name in graph.nodes and not name.startswith("__")
    }
    # Whatever it was, extract finds what is open in the ledger, and score all else.
    after = max(newest_versions, key=lambda name: newest_versions[name]) if newest_versions else "extract"
    return Stranded(after if unknown_step or after != "publish" else "extract", unknown_step)
