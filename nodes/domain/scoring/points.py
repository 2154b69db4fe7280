"""Points of a clause by the words of its quote: those of the playbook's modifiers, each with its reason."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import regex

from nodes.domain.playbook.model import Clause
from nodes.domain.shared.errors import PlaybookError
from nodes.domain.text.negation import denials, mask_denials

SEARCH_SECONDS = 5.0
"""Timeout of one pattern on one quote; a usual search takes a thousandth of it."""


def points_of(quote: str, clause: Clause) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Return the points of a clause with this quote, their reasons, and the modifiers that its negations cancel.

    Zero points give no reason.
    """
    points, reasons, denied = clause.points, [], []
    if clause.points:
        reasons.append(reason_of(clause.points, clause.reason or f"{clause.type} is present"))
    plain = " ".join(quote.split()).replace("’", "'")
    affirmed_text = mask_denials(plain)
    for modifier in clause.modifiers:
        if _pattern_matches(modifier.pattern, affirmed_text if modifier.unless_negated else plain, clause.type):
            points += modifier.points
            reasons.append(reason_of(modifier.points, modifier.reason))
        elif (
            affirmed_text != plain
            and modifier.unless_negated
            and _pattern_matches(modifier.pattern, plain, clause.type)
        ):
            denied.append(modifier.reason)
    words = ", ".join(dict.fromkeys(f"“{denial.word}”" for denial in denials(plain)))
    return points, tuple(reasons), tuple(f"“{reason}” is not counted: the quote says {words}" for reason in denied)


def reason_of(points: int, text: str) -> str:
    return f"{points:+d} {text}"


def _pattern_matches(pattern: str, quote: str, clause_type: str) -> bool:
    try:
        return _compiled(pattern).search(quote, timeout=SEARCH_SECONDS) is not None
    except TimeoutError:
        raise PlaybookError(
            f"The pattern {pattern} of clause {clause_type} takes more than {SEARCH_SECONDS:g} s on one quote: make it "
            "simpler and score this run by the mended playbook, with python run.py fork THREAD --playbook FILE."
        ) from None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    """Compile with `regex`, whose searches take a timeout; its patterns are those of `re`."""
    return regex.compile(pattern, regex.IGNORECASE)
