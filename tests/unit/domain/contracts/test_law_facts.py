"""The law and the court of a contract as facts: one law, or two where two sentences give two to the whole of it."""

from __future__ import annotations

import pytest

from nodes.domain.contracts.facts.contract_wide import APART
from nodes.domain.contracts.reader import read
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.documents import DocumentText, Page

DELAWARE = "12.1 This Agreement shall be governed by the laws of the State of Delaware."
NEW_YORK = "11.4 The validity and performance of this Agreement are governed by the laws of the State of New York."


def facts(text: str, kind: str, language: str = "en") -> list[Proposal]:
    document = DocumentText("0" * 64, text, (Page(1, "read", "", 0, len(text), 595, 842),), language)
    return [fact for fact in read(document, []) if fact.kind == kind]


def laws(text: str, language: str = "en") -> list[str]:
    return [fact.value for fact in facts(text, "governing_law", language)]


def test_a_second_law_of_the_whole_contract_is_a_fact_with_a_quote_of_its_own() -> None:
    text = f"{DELAWARE}\n\nNotices are in writing.\n\n{NEW_YORK}\n"
    found = facts(text, "governing_law")
    assert [fact.value for fact in found] == ["Delaware", "New York"]
    assert [fact.quote in text and fact.value in fact.quote for fact in found] == [True, True]
    french = "Le présent contrat est soumis au droit français.\n\nLe présent contrat est régi par la loi suisse.\n"
    assert laws(french, "fr") == ["France", "Switzerland"]


@pytest.mark.parametrize(
    "other",
    [
        DELAWARE,
        "The Data Protection Schedule is governed by the laws of Ireland.",
        "This Agreement is governed by the laws of Ireland as regards intellectual property.",
        "If the Customer is in France, this Agreement is governed by the laws of France.",
        "This Agreement shall not be governed by the laws of England.",
        "This Agreement is governed by the laws of the United States.",
        "The Notes are governed by the laws of England.",
    ],
)
def test_what_is_said_of_a_part_or_under_a_condition_gives_no_second_law(other: str) -> None:
    assert laws(f"{DELAWARE}\n\n{other}\n") == ["Delaware"]


def test_two_agreements_that_are_bound_together_have_one_law_each_and_the_second_is_not_the_first_ones() -> None:
    assert laws(f"{DELAWARE}\n{'Nothing is said here. ' * (APART // 20)}\n{NEW_YORK}\n") == ["Delaware"]


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("Any dispute shall be finally settled by arbitration under the LCIA Rules. The seat of arbitration shall be "
         "London. Notices are in writing.", "en", "arbitration in London"),
        ("Tout litige sera tranché par arbitrage selon le règlement de la CCI. Le siège de l'arbitrage est Paris.",
         "fr", "arbitration in Paris"),
        ("Any dispute shall be finally settled by arbitration under the LCIA Rules.", "en", "arbitration"),
    ],
)  # fmt: skip
def test_the_seat_of_an_arbitration_may_stand_in_a_sentence_of_its_own(text: str, language: str, value: str) -> None:
    (court,) = facts(f"9. Disputes\n{text}\n", "court", language)
    assert (court.value, court.detail["kind"]) == (value, "arbitration")
    assert str(court.detail.get("place", "")) in court.quote
