"""A court decision as facts, and the clauses of a case-law playbook that follow from them; rules, no model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from nodes.domain.case_law.body.amounts import amounts
from nodes.domain.case_law.body.orders import COSTS, Order, orders, solution
from nodes.domain.case_law.body.statutes import statutes
from nodes.domain.case_law.body.summary import summary
from nodes.domain.case_law.groups import OWN, heading
from nodes.domain.case_law.head.court import chamber, court, formation
from nodes.domain.case_law.head.number import AGREED, decided_on, numbers
from nodes.domain.case_law.head.parties import attacked, parties
from nodes.domain.case_law.ruling_text import RulingText
from nodes.domain.evidence.facts import Proposal
from nodes.domain.evidence.findings import Candidate
from nodes.domain.text.documents import DocumentText

TYPES = frozenset({"case_number", "decision_date", "solution", "applied_text", "holding", "amount_ordered", "costs"})
"""Clause types that are read from a decision, whatever a playbook makes of them."""
MOST_TEXTS, MOST_HOLDINGS = 12, 3
"""Findings of one decision."""
VERSION = "3"
SOURCE = f"local:decisions@{VERSION}"
Stated = tuple[str, str, int, int, Mapping[str, Any]]
"""Kind, value ("" for the quote itself), the half-open range of the quote, detail."""


def read(text: DocumentText) -> list[Proposal]:
    """Number, court, date and the rest, each with a quote that is a slice of the text, then the summary."""
    decision = RulingText(text)
    found = []
    for kind, value, start, end, detail in _stated(decision):
        place, quote = decision.slice(start, end)
        if quote:
            found.append(Proposal(kind, value or " ".join(quote.split()), quote, detail, place, SOURCE))
    return found


def _stated(decision: RulingText) -> Iterator[Stated]:
    seen = court(decision)
    jurisdiction = seen.detail["jurisdiction"] if seen else ""
    ordered = orders(decision)
    solved = solution(decision, jurisdiction, ordered)
    for number in sorted(numbers(decision, jurisdiction), key=lambda one: one.kind not in OWN):
        detail = {"kind": number.kind, "confidence": number.confidence}
        yield "case_number", number.value, number.start, number.end, detail
    sitting = (
        ("court", seen),
        ("chamber", chamber(decision, jurisdiction)),
        ("formation", formation(decision, jurisdiction)),
    )
    for kind, one in sitting:
        if one:
            yield kind, one.value, one.start, one.end, one.detail
    if day := decided_on(decision, jurisdiction):
        yield "decision_date", day.value, day.start, day.end, {"stated": day.kind, "confidence": day.confidence}
    if solved:
        detail = {"category": solved.category, "confidence": solved.confidence}
        yield "solution", solved.value, solved.start, solved.end, detail
    elif headed := heading(decision):
        yield "attachment", "", *headed, {}
    if below := attacked(decision):
        yield "attacked_decision", below.value, below.start, below.end, {}
    for party in parties(decision, jurisdiction):
        yield "party", party.value, party.start, party.end, {"role": party.role}
    yield from _law_and_money(decision, ordered)
    for said in summary(decision, solved, ordered):
        yield f"summary_{said.part}", "", said.start, said.end, {}


def _law_and_money(decision: RulingText, ordered: Sequence[Order]) -> Iterator[Stated]:
    for law in statutes(decision):
        detail = {"article": law.article, "text": law.source, "role": law.role, "zone": law.zone}
        yield "statute", law.value, law.start, law.end, detail
    for one in amounts(decision, ordered):
        whole = one.amount == one.amount.to_integral_value()
        shown = format(one.amount.quantize(Decimal(1) if whole else Decimal("0.01")), "f")
        money = {
            "amount": shown,
            "currency": one.currency,
            "ordered": one.ordered,
            "costs": one.costs,
            "zone": one.zone,
        }
        yield "amount", f"{one.currency} {shown}", one.start, one.end, money
    for order in ordered:
        if COSTS.search(order.words):
            yield "costs", "", order.start, order.end, {}


def clauses(stated: Sequence[Proposal], types: Sequence[str]) -> list[Candidate]:
    """What a person reviews and a note evidences, of the clause types of a playbook that decisions have."""
    return [one for one in _clauses(stated) if one.clause_type in types]


def _clauses(stated: Sequence[Proposal]) -> Iterator[Candidate]:
    own = next((one for one in stated if one.kind == "case_number" and one.detail["kind"] in OWN), None)
    if own:
        yield _candidate("case_number", own)
    for kind in ("decision_date", "solution"):
        yield from (_candidate(kind, one) for one in stated if one.kind == kind)
    laws = [one for one in stated if one.kind == "statute" and one.detail["role"] == "visa"]
    yield from (_candidate("applied_text", one) for one in laws[:MOST_TEXTS])
    holdings = [one for one in stated if one.kind == "summary_answer"]
    yield from (_candidate("holding", one) for one in holdings[:MOST_HOLDINGS])
    for one in stated:
        if one.kind == "amount" and one.detail["ordered"] and not one.detail["costs"]:
            yield _candidate("amount_ordered", one)
        elif one.kind == "costs":
            yield _candidate("costs", one)


def _candidate(clause_type: str, one: Proposal) -> Candidate:
    return Candidate(clause_type, one.quote, float(one.detail.get("confidence", AGREED)), one.source, one.start)
