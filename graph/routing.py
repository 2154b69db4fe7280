"""Conditional edges: pure, total, typed. A router that raises would end a run in silence."""

from __future__ import annotations

from typing import Literal

from nodes.domain.runs.state_validation import more_batches
from state import RunState


def after_extract(state: RunState) -> Literal["extract", "hold", "score"]:
    """Go to the next batch, or to the hold, or to the score when every batch is closed."""
    if state.get("hold"):
        return "hold"
    return "extract" if more_batches(state) else "score"


def after_hold(state: RunState) -> Literal["extract", "hold", "summarize"]:
    """Go back to where the limit was met, once it is raised."""
    if state.get("hold"):
        return "hold"
    return "extract" if more_batches(state) else "summarize"


def after_score(state: RunState) -> Literal["needs_review", "summarize"]:
    """Go to the gate while it has something to ask."""
    return "needs_review" if state.get("gate") else "summarize"


def after_record_review(state: RunState) -> Literal["needs_review", "score", "summarize"]:
    """Go back to the gate after a refused reply, and to score when decisions change or lack something."""
    if state.get("reply_error"):
        return "needs_review"
    return "score" if state.get("rescore") else "summarize"


def after_summarize(state: RunState) -> Literal["publish", "hold"]:
    """Go to publish, unless the model that writes the note met a limit."""
    return "hold" if state.get("hold") else "publish"
