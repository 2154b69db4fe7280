"""The status of a run: derived from head checkpoint, lease, decisions and facts of the ledger; never stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nodes.domain.shared.shell_quote import shell_word

Status = Literal[
    "running",
    "interrupted",
    "needs_review",
    "paused",
    "completed",
    "completed_with_failures",
    "failed",
    "cancelled",
]


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Facts of a run from which its status follows."""

    next: tuple[str, ...]
    """Nodes that the head checkpoint would run next; () at the end."""
    published: bool
    live: bool
    """A process drives the thread now."""
    answered: bool
    """The waiting packet has findings and each is decided: the gate needs no person any more."""
    cancelled: bool
    failures: int
    """Documents that failed or were left out, and pages that were not read."""
    last: Mapping[str, Any] | None
    """The newest row of resumes."""
    waiting: bool = False
    """Documents that the thread has passed are to be tried again: it is not at its end after all."""


def derive(facts: StatusFacts) -> Status:
    """Derive the status. A run whose graph has ended without publishing has failed, whatever LangGraph says."""
    if facts.live:
        return "running"
    if facts.published and not facts.next and facts.waiting:
        return "interrupted"
    if facts.published and not facts.next:
        return "completed_with_failures" if facts.failures else "completed"
    if facts.cancelled:
        return "cancelled"
    if facts.next == ("needs_review",):
        return "interrupted" if facts.answered else "needs_review"
    if facts.next == ("hold",):
        return "paused"
    if not facts.next or (facts.last is not None and facts.last["outcome"] == "failed"):
        return "failed"
    return "interrupted"


def next_action(status: Status, thread: str, held_by: str = "") -> str:
    """Return the command that a person would type next; `held_by` is budget or deadline while a run is held."""
    name = shell_word(thread)
    match status:
        case "running":
            return f"python run.py status {name} --watch"
        case "needs_review":
            return f"python run.py review {name}"
        case "paused":
            return f"python run.py resume {name} {'--deadline 8h' if held_by == 'deadline' else '--budget-usd N'}"
        case "completed" | "completed_with_failures":
            return f"python run.py report {name}"
        case _:
            return f"python run.py resume {name}"
