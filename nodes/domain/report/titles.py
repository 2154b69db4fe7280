"""Titles of documents, made of the facts that they state about themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date

from nodes.domain.case_law.groups import OWN
from nodes.domain.case_law.head.dates import french
from nodes.domain.evidence.facts import Fact

_SITTING = ("court", "chamber", "decision_date")


def title_of(facts: Sequence[Fact]) -> str:
    """Name a court decision by court, chamber, date and number, a contract by its title; "" where it states none.

    What was not located in the document is left out.
    """
    located = [fact for fact in facts if fact.alignment != "not_found"]
    number = _first(
        fact for fact in located if fact.kind == "case_number" and fact.detail.get("kind", "pourvoi") in OWN
    )
    if number:
        court, chamber, day = (_first(fact for fact in located if fact.kind == kind) for kind in _SITTING)
        spoken = french(date.fromisoformat(day)) if day else ""
        return ", ".join(filter(None, (court, chamber[:1].lower() + chamber[1:], spoken, f"n° {number}")))
    return _first(fact for fact in located if fact.kind == "title")


def _first(facts: Iterable[Fact]) -> str:
    return next((fact.value for fact in facts), "")
