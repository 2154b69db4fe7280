"""Same facts, same score; what was rejected, unlocated or decided counts as the playbook says."""

from __future__ import annotations

import random

import pytest
from paths import PLAYBOOKS
from sample_findings import PLAYBOOK, finding, result

from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.scoring.risk import Scored, risk_of, score

SHIPPED = PLAYBOOKS / "due-diligence.toml"


def scored(*findings: Finding, playbook: Playbook = PLAYBOOK) -> Scored:
    return score(findings, [result()], playbook)


def test_points_and_modifiers_add_up_with_their_reasons() -> None:
    (found,) = scored(finding("cap_on_liability", "Fees of THREE\n  months.")).findings
    assert (found.score, found.risk) == (80, "critical")
    assert found.reasons == ("+30 limited", "+50 three months only")


def test_a_negative_modifier_lowers_and_typographic_apostrophes_are_seen() -> None:
    (found,) = scored(finding("cap_on_liability", "fees of three months, l’œuvre")).findings
    assert (found.score, found.risk, found.reasons[-1]) == (60, "high", "-20 but not so bad")


def test_a_score_stays_between_0_and_100() -> None:
    text = SHIPPED.read_text(encoding="utf-8").replace("points = 20\n", "points = 95\n")
    playbook = parse_playbook(text, "x")
    quote = "In no event shall the supplier's liability exceed the fees of one month; data loss is excluded."
    (high,) = scored(finding("cap_on_liability", quote), playbook=playbook).findings
    assert (high.score, high.risk) == (100, "critical")
    low = finding("personal_data", "The GDPR applies.")
    assert scored(low, playbook=playbook).findings[0].score == 0


@pytest.mark.parametrize(("points", "risk"), [(0, "low"), (19, "low"), (20, "medium"), (45, "high"), (75, "critical")])
def test_thresholds_are_inclusive(points: int, risk: str) -> None:
    assert risk_of(points, PLAYBOOK.thresholds) == risk


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"quote": "three months"}, "risk is critical"),
        ({"confidence": 0.49}, "confidence 0.49 is below 0.50"),
        ({"confidence": 0.5}, ""),
        ({"alignment": "fuzzy"}, "quote fuzzy in the document"),
        ({"alignment": "normalized"}, ""),
        ({"alignment": "not_found", "spans": (), "page": None}, "quote not found in the document"),
        ({"quote": "three months", "decision": {"verdict": "accept"}}, ""),
        ({"quote": "three months", "decision": {"verdict": "reject"}}, ""),
    ],
)
def test_a_person_must_look_when_the_playbook_says_so(changes: dict[str, object], reason: str) -> None:
    (found,) = scored(finding("cap_on_liability", **changes)).findings  # type: ignore[arg-type]
    assert (found.review_reason, found.needs_review) == (reason, bool(reason))


def test_a_rejected_finding_counts_for_nothing() -> None:
    rejected = finding("cap_on_liability", "three months", decision={"verdict": "reject"})
    found = scored(rejected)
    assert (found.findings[0].score, found.findings[0].risk) == (0, "low")
    assert "rejected" in found.findings[0].reasons[-1]
    assert found.documents["a.pdf"].score == 0


def test_an_agreement_misses_a_clause_and_another_document_does_not() -> None:
    others = [finding("governing_law"), finding("insurance"), finding("exclusivity")]
    agreement = scored(*others).documents["a.pdf"]
    assert (agreement.score, agreement.risk) == (45, "high")
    assert agreement.reasons[0] == "40 Cap: no limit at all"
    assert scored(*others[:2]).documents["a.pdf"].score == 0
    failed = score(others, [result(state="failed")], PLAYBOOK).documents["a.pdf"]
    assert failed.score == 20


def test_an_unlocated_finding_neither_counts_nor_misses_until_it_is_accepted() -> None:
    others = [finding("governing_law"), finding("insurance"), finding("exclusivity")]
    lost = finding("cap_on_liability", "three months", alignment="not_found", spans=(), page=None)
    assert scored(*others, lost).documents["a.pdf"].score == 20
    accepted = lost.with_(decision={"verdict": "accept"})
    assert scored(*others, accepted).documents["a.pdf"].score == 85
    rejected = lost.with_(decision={"verdict": "reject"})
    assert scored(*others, rejected).documents["a.pdf"].score == 45


def test_the_gravest_item_counts_in_full_and_the_others_in_part() -> None:
    two = scored(finding("cap_on_liability", "three months"), finding("exclusivity"))
    assert two.documents["a.pdf"].score == 80 + 20 // 4
    same = scored(finding("exclusivity", "one"), finding("exclusivity", "other one"))
    assert same.documents["a.pdf"].score == 20


def test_a_clause_is_missing_for_a_supplier_only_when_none_of_its_documents_has_it() -> None:
    others = [finding("governing_law"), finding("insurance"), finding("exclusivity")]
    cap = finding("cap_on_liability", "A limit.", document="b.pdf")
    documents = [result(supplier="ACME, Inc."), result("b.pdf", 1, supplier="Acme Inc")]
    found = score([*others, cap], documents, PLAYBOOK)
    assert found.documents["a.pdf"].score == 45
    assert list(found.suppliers) == ["ACME, Inc."]
    assert found.suppliers["ACME, Inc."].score == 30 + 20 // 4


def test_a_clause_whose_quote_nobody_has_placed_yet_is_not_missing_for_its_supplier() -> None:
    others = [finding("governing_law"), finding("insurance"), finding("exclusivity")]
    doubtful = finding("cap_on_liability", "A limit.", document="b.pdf", alignment="not_found", page=None, spans=())
    documents = [result(supplier="Acme"), result("b.pdf", 1, supplier="Acme")]
    found = score([*others, doubtful], documents, PLAYBOOK)
    assert (found.documents["a.pdf"].score, found.suppliers["Acme"].score) == (45, 20)


def test_documents_of_unknown_suppliers_are_not_thrown_together() -> None:
    found = score([], [result(), result("b.pdf", 1)], PLAYBOOK)
    assert list(found.suppliers) == ["a.pdf", "b.pdf"]


def test_the_order_of_the_input_changes_nothing() -> None:
    findings = [
        finding(name, quote, document, spans=((at, at + 3),), page=at % 3 + 1)
        for document in ("a.pdf", "b.pdf", "c.pdf")
        for at, (name, quote) in enumerate(
            [("exclusivity", "x"), ("cap_on_liability", "three months"), ("insurance", "yy")]
        )
    ]
    documents = [result("c.pdf", 0), result("a.pdf", 1, supplier="S"), result("b.pdf", 2, supplier="S")]
    first = score(findings, documents, PLAYBOOK)
    shuffler = random.Random(1)
    for _ in range(20):
        shuffler.shuffle(findings)
        shuffler.shuffle(documents)
        again = score(findings, documents, PLAYBOOK)
        assert again == first
        assert list(again.documents) == list(first.documents) == ["c.pdf", "a.pdf", "b.pdf"]
    places = [(found.document, found.page) for found in first.findings]
    assert places == [(name, page) for name in ("c.pdf", "a.pdf", "b.pdf") for page in (1, 2, 3)]


def test_scoring_twice_is_scoring_once() -> None:
    found = scored(finding("cap_on_liability", "three months"))
    assert score(found.findings, [result()], PLAYBOOK) == found


def test_a_type_that_the_playbook_does_not_know_scores_nothing() -> None:
    (found,) = scored(finding("unheard_of")).findings
    assert (found.score, found.risk, found.reasons) == (0, "low", ())


SHIPPED_CASES = [
    ("cap_on_liability", "Its liability is limited to fees paid in the last three (3) months.", "high"),
    ("cap_on_liability", "Neither party's liability exceeds two times the yearly fees.", "low"),
    ("cap_on_liability", "La responsabilité est limitée aux sommes payées en trois (3) mois.", "high"),
    ("governing_law", "This Agreement is governed by the laws of the State of New York.", "medium"),
    ("governing_law", "This Agreement is governed by the laws of France.", "low"),
    ("governing_law", "Le contrat est soumis au droit suisse.", "medium"),
    ("governing_law", "Le contrat est soumis au droit français.", "low"),
    ("renewal_term", "It renews automatically for successive periods of three (3) years.", "high"),
    ("renewal_term", "Le contrat est renouvelé par tacite reconduction pour une durée d'un an.", "medium"),
    ("payment_terms", "Invoices are payable within 90 days.", "medium"),
    ("payment_terms", "Les factures sont payables à 30 jours.", "low"),
    ("termination_for_convenience", "The Supplier may terminate at any time upon thirty (30) days notice.", "high"),
    ("termination_for_convenience", "The Customer may terminate at any time upon 90 days notice.", "low"),
    ("uncapped_liability", "The Customer's liability shall be unlimited.", "critical"),
    ("indemnification", "Customer shall indemnify the Supplier against all claims.", "medium"),
    ("indemnification", "Supplier shall indemnify the Customer against all claims.", "low"),
]


@pytest.mark.parametrize(("clause_type", "quote", "risk"), SHIPPED_CASES)
def test_the_shipped_playbook_judges_for_the_customer(clause_type: str, quote: str, risk: str) -> None:
    playbook = parse_playbook(SHIPPED.read_text(encoding="utf-8"), "due-diligence")
    (found,) = scored(finding(clause_type, quote), playbook=playbook).findings
    assert found.risk == risk, found.reasons


def test_one_supplier_is_rated_once_under_its_fullest_name_and_two_companies_twice() -> None:
    names = ["DURAND INFORMATIQUE SAS", "Durand Informatique, SAS", "Durand SA", "société Durand Informatique SAS"]
    documents = [result(f"{place}.pdf", place, supplier=name) for place, name in enumerate(names)]
    findings = [finding("exclusivity", document=f"{place}.pdf") for place in range(4)]
    rated = score(findings, documents, PLAYBOOK)
    assert list(rated.suppliers) == ["société Durand Informatique SAS", "Durand SA"]
    random.Random(3).shuffle(documents)
    assert score(findings[::-1], documents, PLAYBOOK) == rated


def test_a_clause_without_an_english_name_is_called_by_the_name_it_has() -> None:
    clause = PLAYBOOK.clauses[0].model_copy(update={"title": {"fr": "Plafond de responsabilité"}})
    french = PLAYBOOK.model_copy(update={"clauses": (clause, *PLAYBOOK.clauses[1:])})
    rated = score([finding("cap_on_liability")], [result()], french)
    assert rated.documents["a.pdf"].reasons[0].startswith("30 Plafond de responsabilité, page 1: ")


DENIED = [
    (
        "termination_for_convenience", "The Supplier may not terminate this Agreement for convenience.",
        "+15 the contract can be ended without cause", "the supplier may leave without cause", "may not",
    ),
    (
        "termination_for_convenience", "Le Prestataire ne peut résilier le contrat sans motif.",
        "+15 the contract can be ended without cause", "the supplier may leave without cause", "ne peut",
    ),
    (
        "liquidated_damages", "The Customer shall not pay any penalty for late payment.",
        "+15 a fixed sum is due", "the customer pays it", "shall not",
    ),
    (
        "exclusivity", "The Customer shall not be obliged to purchase exclusively. This Agreement is non-exclusive.",
        "+25 a party is bound exclusively", "the customer may not buy elsewhere", "shall not",
    ),
    (
        "indemnification", "The Customer shall not indemnify, defend or hold harmless the Supplier.",
        "+10 a party must indemnify the other", "the customer indemnifies the supplier", "shall not",
    ),
    (
        "renewal_term", "It does not renew automatically for successive years.",
        "+5 the contract is renewed after its term", "without anybody's doing", "does not",
    ),
    (
        "renewal_term", "Il n’est pas renouvelable par tacite reconduction.",
        "+5 the contract is renewed after its term", "without anybody's doing", "n'est pas",
    ),
    (
        "change_of_control", "A change of control does not entitle the Supplier to terminate this Agreement.",
        "+20 a change of control has consequences", "the contract can be ended because of it", "does not",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("clause_type", "quote", "counted", "denied", "word"), DENIED)
def test_what_a_quote_denies_is_not_counted_and_a_person_decides(
    clause_type: str, quote: str, counted: str, denied: str, word: str
) -> None:
    """As a model may quote it: the local engine takes no such sentence for a clause."""
    playbook = parse_playbook(SHIPPED.read_text(encoding="utf-8"), "due-diligence")
    (found,) = scored(finding(clause_type, quote), playbook=playbook).findings
    assert found.reasons == (counted,)
    assert found.needs_review and found.review_reason == f"“{denied}” is not counted: the quote says “{word}”"


@pytest.mark.parametrize(
    ("clause_type", "quote", "reason"),
    [
        (
            "termination_for_convenience",
            "The Supplier may terminate without cause, and the Customer may not terminate before the end.",
            "+30 the supplier may leave without cause",
        ),
        (
            "termination_for_convenience",
            "If the Customer does not pay, the Supplier may terminate immediately.",
            "+30 the supplier may leave without cause",
        ),
        ("renewal_term", "If neither party objects, it renews automatically.", "+15 without anybody's doing"),
        (
            "renewal_term",
            "It renews automatically unless a party says that it does not wish so.",
            "+15 without anybody's doing",
        ),
        (
            "cap_on_liability",
            "In no event shall the Supplier be liable for more than the fees of three months.",
            "+30 the cap is at most three months of fees",
        ),
        ("non_compete", "The Customer shall not compete with the Supplier.", "+25 the customer is restricted"),
        ("anti_assignment", "The Customer may not assign it.", "+15 the restriction binds the customer"),
        (
            "indemnification",
            "Nothing prevents it: the Customer shall, without limit, indemnify the Supplier.",
            "+25 the customer indemnifies the supplier",
        ),
        (
            "change_of_control",
            "It shall not undergo a change of control without the consent of the Customer.",
            "+10 it needs consent",
        ),
        (
            "liquidated_damages",
            "Le Client devra une pénalité, sans qu'aucune mise en demeure ne soit requise.",
            "+30 the customer pays it",
        ),
    ],
)
def test_a_negation_of_something_else_denies_nothing(clause_type: str, quote: str, reason: str) -> None:
    playbook = parse_playbook(SHIPPED.read_text(encoding="utf-8"), "due-diligence")
    (found,) = scored(finding(clause_type, quote), playbook=playbook).findings
    assert reason in found.reasons and f"“{reason.partition(' ')[2]}”" not in found.review_reason


@pytest.mark.parametrize(
    ("quote", "points"),
    [
        ("This Agreement is governed by the laws of Ireland.", 0),
        ("2.1 It is governed by the laws of Ireland. 2.2 It is governed by the laws of the State of New York.", 25),
        ("It is governed by the laws of Ireland. The conflict of laws rules shall not apply.", 0),
        ("It shall not be governed by the laws of England but by the laws of France.", 0),
        ("It shall be governed by the laws of New York and not by the laws of Ireland.", 25),
        ("Le contrat n’est pas soumis au droit suisse mais au droit français.", 0),
        ("It is governed by German law; any notice shall be in writing.", 0),
    ],
)
def test_the_law_is_judged_sentence_by_sentence(quote: str, points: int) -> None:
    playbook = parse_playbook(SHIPPED.read_text(encoding="utf-8"), "due-diligence")
    assert scored(finding("governing_law", quote), playbook=playbook).findings[0].score == points
