"""Retry of a failed call: whether and when another attempt is made, and which failures stop the run."""

from __future__ import annotations

import random

from graph.runtime.calls.rate_limit import LONGEST_SILENCE
from nodes.domain.shared.errors import AnswerInvalid, EndpointRefused, LimitReached, RepriseError, Transient
from nodes.ports import Timeouts, ToolRequest

INVALID_ATTEMPTS = 2
"""A second try shows the model what was wrong with its first answer."""

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds between attempts: doubled each time, jittered, unless the endpoint names a time."""


def abandoned_at_limit(question: ToolRequest, word: str) -> Transient:
    """The error for work that a limit cut off; `word` is the code of that limit."""
    subject = question.document or f"the step {question.step}"
    cause = "the deadline of the run came" if word == "run_deadline" else "its time was over"
    return Transient(f"The work on {subject} was left: {cause}.", word=word, unknown=True)


def is_last(error: RepriseError, number: int, attempts: int, invalid: int, timeouts: Timeouts) -> bool:
    """Whether no attempt follows: `number` of `attempts` were made, `invalid` of them with an unusable answer."""
    if isinstance(error, AnswerInvalid):
        # A cut answer is cut again; the caller asks about less instead.
        return error.cut or invalid >= INVALID_ATTEMPTS
    word = error.word if isinstance(error, Transient) else ""
    late = word in ("document_timeout", "run_deadline") or (word == "request_timeout" and not timeouts.insists)
    return late or number >= attempts or silenced(error)


def silenced(error: RepriseError) -> bool:
    """Whether the endpoint asks for a silence that no document can wait for, as when a day's quota is used up."""
    return isinstance(error, Transient) and (error.retry_after or 0) > LONGEST_SILENCE


def stops_the_run(error: RepriseError) -> RepriseError | None:
    """The error that stops the run, for a failure that concerns every document; None when only this call failed."""
    if isinstance(error, Transient) and error.word == "connection" and not error.unknown:
        return EndpointRefused(str(error))  # nobody listens there
    if silenced(error):
        return EndpointRefused(f"{str(error).rstrip('.')}: resume then, or now with another --model.")
    if isinstance(error, Transient) and error.word == "run_deadline":
        return LimitReached("deadline", "The deadline of this run is reached.")
    return None


def pause_before_next(error: RepriseError, number: int) -> float:
    """Seconds before the next attempt; jitter keeps callers that failed together from returning together."""
    if isinstance(error, AnswerInvalid):
        return 0.0
    if isinstance(error, Transient) and error.retry_after is not None:
        return min(LONGEST_PAUSE, error.retry_after) + random.uniform(0, 0.1)
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (number - 1)) * random.uniform(0.5, 1.0)
