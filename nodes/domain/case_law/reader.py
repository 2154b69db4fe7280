"""Facts of a court ruling, and the clauses that a case-law playbook makes of them; rules, no model."""

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
"""Clause types that are read from a ruling, whichever of them a playbook has."""
MOST_TEXTS, MOST_HOLDINGS = 12, 3
"""Findings of one ruling at most: applied texts, holdings."""
VERSION = "3"
SOURCE = f"local:decisions@{VERSION}"
RawFact = tuple[str, str, int, int, Mapping[str, Any]]
"""Kind, value ("" for the quote itself), the half-open range of the quote, detail."""


def read(text: DocumentText) -> list[Proposal]:
    """Read number, court, date and the rest, each quote a slice of the text, then the summary."""
    ruling = RulingText(text)
    proposals = []
    for kind, value, start, end, detail in _raw_facts(ruling):
        place, quote = ruling.slice(start, end)
        if quote:
            proposals.append(Proposal(kind, value or " ".join(quote.split()), quote, detail, place, SOURCE))
    return proposals


def _raw_facts(ruling: RulingText) -> Iterator[RawFact]:
    sitting_court = court(ruling)
    jurisdiction = sitting_court.detail["jurisdiction"] if sitting_court else ""
    ordered = orders(ruling)
    solved = solution(ruling, jurisdiction, ordered)
    for number in sorted(numbers(ruling, jurisdiction), key=lambda number: number.kind not in OWN):
        detail = {"kind": number.kind, "confidence": number.confidence}
        yield "case_number", number.value, number.start, number.end, detail
    sitting = (
        ("court", sitting_court),
        ("chamber", chamber(ruling, jurisdiction)),
        ("formation", formation(ruling, jurisdiction)),
    )
    for kind, head_value in sitting:
        if head_value:
            yield kind, head_value.value, head_value.start, head_value.end, head_value.detail
    if day := decided_on(ruling, jurisdiction):
        yield "decision_date", day.value, day.start, day.end, {"stated": day.kind, "confidence": day.confidence}
    if solved:
        detail = {"category": solved.category, "confidence": solved.confidence}
        yield "solution", solved.value, solved.start, solved.end, detail
    elif headed := heading(ruling):
        yield "attachment", "", *headed, {}
    if below := attacked(ruling):
        yield "attacked_decision", below.value, below.start, below.end, {}
    for party in parties(ruling, jurisdiction):
        yield "party", party.value, party.start, party.end, {"role": party.role}
    yield from _law_and_money(ruling, ordered)
    for sentence in summary(ruling, solved, ordered):
        yield f"summary_{sentence.part}", "", sentence.start, sentence.end, {}


def _law_and_money(ruling: RulingText, ordered: Sequence[Order]) -> Iterator[RawFact]:
    for law in statutes(ruling):
        detail = {"article": law.article, "text": law.source, "role": law.role, "zone": law.zone}
        yield "statute", law.value, law.start, law.end, detail
    for amount in amounts(ruling, ordered):
        is_integral = amount.amount == amount.amount.to_integral_value()
        figure = format(amount.amount.quantize(Decimal(1) if is_integral else Decimal("0.01")), "f")
        money = {
            "amount": figure,
            "currency": amount.currency,
            "ordered": amount.ordered,
            "costs": amount.costs,
            "zone": amount.zone,
        }
        yield "amount", f"{amount.currency} {figure}", amount.start, amount.end, money
    for order in ordered:
        if COSTS.search(order.words):
            yield "costs", "", order.start, order.end, {}


def clauses(stated: Sequence[Proposal], types: Sequence[str]) -> list[Candidate]:
    """Make candidates of those clause types that the playbook has."""
    return [candidate for candidate in _all_candidates(stated) if candidate.clause_type in types]


def _all_candidates(stated: Sequence[Proposal]) -> Iterator[Candidate]:
    own = next((fact for fact in stated if fact.kind == "case_number" and fact.detail["kind"] in OWN), None)
    if own:
        yield _candidate("case_number", own)
    for kind in ("decision_date", "solution"):
        yield from (_candidate(kind, fact) for fact in stated if fact.kind == kind)
    laws = [fact for fact in stated if fact.kind == "statute" and fact.detail["role"] == "visa"]
    yield from (_candidate("applied_text", fact) for fact in laws[:MOST_TEXTS])
    holdings = [fact for fact in stated if fact.kind == "summary_answer"]
    yield from (_candidate("holding", fact) for fact in holdings[:MOST_HOLDINGS])
    for fact in stated:
        if fact.kind == "amount" and fact.detail["ordered"] and not fact.detail["costs"]:
            yield _candidate("amount_ordered", fact)
        elif fact.kind == "costs":
            yield _candidate("costs", fact)


def _candidate(clause_type: str, fact: Proposal) -> Candidate:
    return Candidate(clause_type, fact.quote, float(fact.detail.get("confidence", AGREED)), fact.source, fact.start)
