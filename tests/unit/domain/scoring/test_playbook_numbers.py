"""A number in a clause counts whole: twenty-five days are no five, and a term to notify is no measure of the cap."""

from __future__ import annotations

import pytest
from paths import PLAYBOOKS

from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.scoring.risk import score_with_reasons

SHIPPED = PLAYBOOKS / "due-diligence.toml"
PLAYBOOK = parse_playbook(SHIPPED.read_text(encoding="utf-8"), "due-diligence")

LEAVING, CAP, WARRANTY = "termination_for_convenience", "cap_on_liability", "warranty_duration"
FORTNIGHT, MONTH = "the notice is at most 15 days", "the notice is a month"
QUARTER, HALF_YEAR = "the cap is at most three months of fees", "the cap is at most six months of fees"
SHORT, YEARS, INTEREST = (
    "the warranty lasts at most 90 days",
    "for two years or longer",
    "interest of 18 % a year or more",
)


def reasons(clause_type: str, quote: str) -> list[str]:
    """What the shipped playbook says about a quote, without the points."""
    found = Finding("f", "a.pdf", "0" * 64, "", clause_type, quote, 1, 1, (), ((0, 9),), "exact", 0.9, "x")
    return [one.split(" ", 1)[1] for one in score_with_reasons(found, PLAYBOOK)[1]]


@pytest.mark.parametrize(
    ("span", "short"),
    [
        ("five (5) days", True), ("ten days", True), ("10 days", True), ("5-10 days", True), ("huit jours", True),
        ("quinze (15) jours", True), ("8 jours", True),
        ("forty-five (45) days", False), ("forty five (45) days", False), ("twenty-five days", False),
        ("one hundred and five days", False), ("one hundred ten days", False), ("115 days", False),
        ("vingt-huit jours", False), ("vingt huit jours", False), ("dix-huit (18) jours", False),
        ("soixante-quinze jours", False), ("quatre-vingt-dix jours", False), ("cent dix jours", False),
    ],
)  # fmt: skip
def test_a_short_notice_is_one_of_the_whole_number(span: str, short: bool) -> None:
    for quote in ("Either party may terminate on {} notice.", "Le contrat prend fin moyennant un préavis de {}."):
        assert (FORTNIGHT in reasons(LEAVING, quote.format(span))) == short


@pytest.mark.parametrize(
    ("clause_type", "quote", "reason", "said"),
    [
        (LEAVING, "Le préavis est d'un mois.", MONTH, True),
        (LEAVING, "Le préavis est de vingt et un mois.", MONTH, False),
        (LEAVING, "The notice is thirty (30) days.", MONTH, True),
        (LEAVING, "The notice is one hundred and thirty days.", MONTH, False),
        (LEAVING, "Le préavis est de cent trente jours.", MONTH, False),
        (CAP, "limited to the fees paid in the three (3) months before the claim", QUARTER, True),
        (CAP, "limited to the fees paid in the twenty three (23) months before the claim", QUARTER, False),
        (CAP, "limitée aux sommes versées au cours des trois (3) mois précédents", QUARTER, True),
        (CAP, "limitée aux sommes versées au cours des vingt et un mois précédents", QUARTER, False),
        (
            CAP,
            "limited to the fees paid in the twelve (12) months preceding the claim, which must be notified within"
            " three (3) months",
            QUARTER,
            False,
        ),
        (CAP, "limited to the fees paid, and any claim must be notified within three months", QUARTER, False),
        (CAP, "limited to the fees paid in the six (6) months before the claim", HALF_YEAR, True),
        (CAP, "limitée au prix payé sur trente six mois", HALF_YEAR, False),
        (WARRANTY, "a warranty of two (2) months", SHORT, True),
        (WARRANTY, "a warranty of twenty-two months", SHORT, False),
        (WARRANTY, "a warranty of one hundred and ninety days", SHORT, False),
        (WARRANTY, "une garantie de vingt-deux mois", SHORT, False),
        (WARRANTY, "une garantie de trois mois", SHORT, True),
        ("non_compete", "pendant 1,5 ans", YEARS, False),
        ("non_compete", "pendant 5 ans", YEARS, True),
        ("renewal_term", "renewed for 1.5 years", YEARS, False),
        ("renewal_term", "renewed for five years", YEARS, True),
        ("payment_terms", "interest of 1.5 % per month", INTEREST, True),
        ("payment_terms", "des intérêts de 1,5 % par mois", INTEREST, True),
        ("payment_terms", "interest of 1.2 % per month", INTEREST, False),
        ("payment_terms", "interest of 1-1/2% per month", INTEREST, True),
        ("payment_terms", "interest of 1/2% per month", INTEREST, False),
    ],
)
def test_a_term_counts_by_its_whole_number_and_by_what_it_measures(
    clause_type: str, quote: str, reason: str, said: bool
) -> None:
    assert (reason in reasons(clause_type, quote)) == said
