"""Clauses of one document that cannot both hold are told to a person; those that may both hold are not."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from carried_decisions import held
from paths import PLAYBOOKS
from sample_findings import finding, result

from graph.training.corpus import plain_text
from nodes.domain.clauses.local_engine import find_clauses
from nodes.domain.contracts.facts.contract_wide import APART
from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.scoring.contradictions import contradictions_of
from nodes.domain.scoring.risk import Scored, score

SHIPPED = PLAYBOOKS / "due-diligence.toml"
PLAYBOOK = parse_playbook(SHIPPED.read_text(encoding="utf-8"), "due-diligence")
LAW, CAP, FREE = "governing_law", "cap_on_liability", "uncapped_liability"
IRISH, NEW_YORK = (
    "2.1 This Agreement is governed by the laws of Ireland.",
    ("2.2 This Agreement shall be governed by the laws of the State of New York."),
)
SMALL, LARGE = (
    "1.1 The Supplier's liability shall not exceed EUR 100,000.",
    ("1.2 The Supplier's liability shall not exceed EUR 1,000,000."),
)
FEES = (
    "1.4 The Supplier's liability shall not exceed the fees paid by the Customer in the twelve (12) months before the "
    "claim."
)
UNLIMITED = "1.3 Notwithstanding the above, the Supplier's liability under this Agreement is unlimited."


def placed(*clauses: tuple[str, str], apart: int = 1_000) -> list[Finding]:
    """One finding a clause, each on a page of its own."""
    return [
        replace(
            finding(clause_type, quote),
            finding_id=f"f{at}",
            page=at + 1,
            spans=((at * apart, at * apart + len(quote)),),
        )
        for at, (clause_type, quote) in enumerate(clauses)
    ]


def rated(findings: list[Finding]) -> Scored:
    return score(findings, [result()], PLAYBOOK)


def test_two_governing_laws_contradict_each_other_and_cost_no_point() -> None:
    irish, other = rated(placed((LAW, IRISH), (LAW, NEW_YORK))).findings
    assert (irish.reasons, irish.score) == (("contradicts page 2: Ireland against New York",), 0)
    assert other.reasons[-1] == "contradicts page 1: New York against Ireland" and other.score == 25
    assert irish.needs_review and irish.review_reason == "contradicts page 2: Ireland against New York"


def test_one_quote_with_two_laws_contradicts_itself_and_the_one_outside_the_union_counts() -> None:
    (both,) = rated(placed((LAW, f"{IRISH} {NEW_YORK}"))).findings
    assert both.reasons[-1] == "contradicts itself: Ireland against New York" and both.score == 25


def test_two_caps_and_unlimited_liability_of_one_party_contradict_each_other() -> None:
    told = contradictions_of(placed((CAP, SMALL), (CAP, LARGE), (FREE, UNLIMITED)))
    assert told == {
        "f0": "contradicts page 2: EUR 100,000 against EUR 1,000,000; "
        "contradicts page 3: EUR 100,000 against unlimited",
        "f1": "contradicts page 1: EUR 1,000,000 against EUR 100,000; "
        "contradicts page 3: EUR 1,000,000 against unlimited",
        "f2": "contradicts page 1: unlimited against EUR 100,000; contradicts page 2: unlimited against EUR 1,000,000",
    }


def test_french_clauses_contradict_each_other_too() -> None:
    told = contradictions_of(
        placed(
            (CAP, "La responsabilité du Prestataire ne pourra excéder 100 000 euros."),
            (CAP, "La responsabilité du Prestataire est limitée à la somme d'un million d'euros (1 000 000 €)."),
            (FREE, "La responsabilité du Prestataire est illimitée."),
            (LAW, "Le présent contrat est soumis au droit français."),
            (LAW, "Le présent contrat est régi par le droit suisse."),
        )
    )
    assert told["f0"].startswith("contradicts page 2: EUR 100,000 against EUR 1,000,000; contradicts page 3: ")
    assert told["f3"] == "contradicts page 5: France against Switzerland" and len(told) == 5


@pytest.mark.parametrize(
    "clauses",
    [
        [(LAW, IRISH), (LAW, "9. This Agreement is construed under Irish law.")],
        [(LAW, IRISH), (LAW, "Annex 3 is governed by the laws of France.")],
        [(LAW, IRISH), (LAW, "If the Customer is in France, this Agreement is governed by the laws of France.")],
        [(LAW, IRISH), (LAW, "This Agreement is governed by French law as regards intellectual property.")],
        [(LAW, "This Agreement is governed by the laws of England."),
         (LAW, "This Agreement is governed by the laws of England and Wales.")],
        [(LAW, NEW_YORK), (LAW, "This Agreement is governed by the laws of the United States.")],
        [(LAW, IRISH), (LAW, "This Agreement shall not be governed by the laws of England.")],
        [(LAW, IRISH), (LAW, "This Agreement shall not be governed by English law but by the laws of Ireland.")],
        [(CAP, SMALL), (CAP, "The Customer's liability shall not exceed EUR 1,000,000.")],
        [(CAP, SMALL), (CAP, "The Supplier's total liability shall not exceed EUR 1,000,000.")],
        [(CAP, SMALL), (CAP, "The Supplier's liability shall not exceed EUR 1,000,000 in any contract year.")],
        [(CAP, SMALL), (CAP, "The Supplier's liability for data protection shall not exceed EUR 1,000,000.")],
        [(CAP, SMALL), (CAP, "Except for fraud, the Supplier's liability shall not exceed EUR 1,000,000.")],
        [(CAP, SMALL), (CAP, "The Supplier's liability shall not exceed one hundred thousand euros (EUR 100,000).")],
        [(CAP, SMALL), (CAP, "The Supplier's liability shall not exceed USD 120,000.")],
        [(CAP, SMALL), (CAP, "The Supplier's liability shall not exceed the fees paid for the defective services.")],
        [(CAP, SMALL), (CAP, "The Supplier's liability shall not exceed the greater of the fees paid and EUR 5.")],
        [(CAP, SMALL), (CAP, "The Customer's liability shall not exceed the fees paid in twelve (12) months.")],
        [(CAP, FEES), (CAP, "The Supplier's liability is limited to the fees paid during the last 12 months.")],
        [(CAP, SMALL), (FREE, "The Supplier's liability for fraud is unlimited.")],
        [(CAP, SMALL), (FREE, "The Customer's liability under this Agreement is unlimited.")],
        [(CAP, SMALL), (FREE, "The Supplier's liability is unlimited in the case of wilful misconduct.")],
        [(CAP, "La responsabilité du Prestataire ne pourra excéder 100 000 euros."),
         (FREE, "La responsabilité du Prestataire est illimitée en cas de dol.")],
    ],
)  # fmt: skip
def test_what_may_both_hold_is_no_contradiction(clauses: list[tuple[str, str]]) -> None:
    assert contradictions_of(placed(*clauses)) == {}


def test_a_sum_and_what_was_paid_are_two_caps_of_one_party() -> None:
    told = contradictions_of(placed((CAP, SMALL), (CAP, FEES), (FREE, UNLIMITED)))
    assert set(told["f0"].split("; ")) == {
        "contradicts page 2: EUR 100,000 against fees of 12 months",
        "contradicts page 3: EUR 100,000 against unlimited",
    }
    assert told["f1"].endswith("contradicts page 3: fees of 12 months against unlimited")
    half = FEES.replace("the fees paid", "50% of the fees paid")
    assert contradictions_of(placed((CAP, FEES), (CAP, half)))["f0"] == (
        "contradicts page 2: fees of 12 months against 50 % of the fees of 12 months"
    )
    french = placed(
        (CAP, "La responsabilité du Prestataire ne pourra excéder les sommes versées par le Client au cours des douze "
         "derniers mois."),
        (CAP, "La responsabilité du Prestataire est limitée à la somme de 100 000 euros."),
    )  # fmt: skip
    assert contradictions_of(french)["f1"] == "contradicts page 1: EUR 100,000 against fees of 12 months"


def test_a_law_below_the_heading_that_its_quote_begins_with_is_compared_too() -> None:
    quote = (
        "11.1 This Agreement is construed under the laws of Ireland.\n12. GOVERNING LAW\n12.1 This Agreement shall be "
    )
    (one,) = placed((LAW, f"{quote}governed by the laws of the State of New York."))
    assert contradictions_of([one]) == {"f0": "contradicts itself: Ireland against New York"}


def test_other_documents_other_agreements_and_what_no_longer_holds_contradict_nothing() -> None:
    first, second = placed((LAW, IRISH), (LAW, NEW_YORK))
    void = {"by": "b.pdf", "unit": "page", "page": 1, "action": "replace", "certain": True}
    assert contradictions_of([first, replace(second, document="b.pdf")]) == {}
    assert contradictions_of(placed((LAW, IRISH), (LAW, NEW_YORK), apart=APART + 1_000)) == {}
    assert contradictions_of([first, replace(second, overridden=void)]) == {}
    assert contradictions_of([first, replace(second, decision={"verdict": "reject"})]) == {}
    assert contradictions_of([first, replace(second, alignment="not_found", spans=())]) == {}
    assert len(contradictions_of([first, replace(second, decision={"verdict": "accept"})])) == 2


def test_the_order_of_the_findings_changes_nothing_and_scoring_twice_is_scoring_once() -> None:
    findings = placed((CAP, SMALL), (CAP, LARGE), (FREE, UNLIMITED), (LAW, IRISH))
    known = rated(findings)
    assert all(rated(list(order)) == known for order in permutations(findings))
    assert rated(list(known.findings)) == known
    assert Finding.from_json(known.findings[0].to_json()) == known.findings[0]


def test_once_one_of_two_is_rejected_nobody_is_asked_about_the_other() -> None:
    irish, other = rated(placed((LAW, IRISH), (LAW, NEW_YORK))).findings
    again, _ = rated([irish, replace(other, decision={"verdict": "reject"})]).findings
    assert irish.needs_review and not again.needs_review and again.reasons == ()


def test_a_decision_on_a_contradiction_holds_in_a_fork_by_the_same_playbook() -> None:
    irish, _ = rated(placed((LAW, IRISH), (LAW, NEW_YORK))).findings
    assert held(irish, PLAYBOOK) == 1


def test_from_the_text_of_a_contract_to_the_reasons() -> None:
    text = plain_text(
        "SUPPLY AGREEMENT\n\n1. Liability\n"
        f"{SMALL}\n{LARGE}\n{UNLIMITED}\n\n2. Law\n{IRISH}\n{NEW_YORK}\n"
    )  # fmt: skip
    found = [
        replace(
            finding(candidate.clause_type, candidate.quote),
            spans=((candidate.start or 0, (candidate.start or 0) + len(candidate.quote)),),
            finding_id=candidate.clause_type,
        )
        for candidate in find_clauses(text, [LAW, CAP, FREE]).candidates
    ]  # fmt: skip
    told = contradictions_of(found)
    assert set(told) == {LAW, CAP, FREE}
    assert told[LAW] == "contradicts itself: Ireland against New York"
    assert "EUR 100,000 against EUR 1,000,000" in told[CAP] and "unlimited against EUR 100,000" in told[FREE]
