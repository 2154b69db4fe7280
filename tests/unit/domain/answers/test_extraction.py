from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_question import document

from nodes.domain.answers.extraction import DEFAULT_CONFIDENCE, MOST_CLAUSES, Supplier, complaint, read_answer
from nodes.domain.answers.passages import Passage
from nodes.domain.evidence.findings import Candidate
from nodes.domain.evidence.quote_locator import locate

PASSAGES = [Passage(0, 100, 1), Passage(300, 400, 2)]
TYPES = ("cap_on_liability", "governing_law")


def read(*clauses: Any, supplier: Any = None) -> tuple[list[Candidate], Supplier | None, list[str]]:
    return read_answer({"clauses": list(clauses), "supplier": supplier}, PASSAGES, TYPES, "openai:m")


def clause(**changes: Any) -> dict[str, Any]:
    return {"clause_type": "governing_law", "passage_id": 2, "quote": "French law.", "confidence": 0.9, **changes}


def test_a_clause_becomes_a_candidate_with_the_place_of_its_passage() -> None:
    found, supplier, notes = read(clause())
    assert found == [Candidate("governing_law", "French law.", 0.9, "openai:m", 350)]
    assert supplier is None and notes == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (0.9, 0.9),
        ("0.9", 0.9),
        ("0,9", 0.9),
        (90, 0.9),
        ("90 %", 0.9),
        ("0.5%", 0.005),
        (9, 0.9),
        ("HIGH ", 0.9),
        ("élevée", 0.9),
        ("moyenne", DEFAULT_CONFIDENCE),
        ("low", 0.3),
        (1, 1.0),
        (0, 0.0),
        (-3, 0.0),
        (1e9, 1.0),
        (None, DEFAULT_CONFIDENCE),
        (True, DEFAULT_CONFIDENCE),
        ("who knows", DEFAULT_CONFIDENCE),
        ([], DEFAULT_CONFIDENCE),
        (float("nan"), DEFAULT_CONFIDENCE),
        (float("inf"), DEFAULT_CONFIDENCE),
    ],
)
def test_confidence_is_read_however_it_is_said(said: object, meant: float) -> None:
    assert read(clause(confidence=said))[0][0].confidence == pytest.approx(meant)


@pytest.mark.parametrize(
    ("said", "start"),
    [
        ("2", 350),
        ("passage 1", 50),
        (2.0, 350),
        (None, None),
        (0, None),
        (3, None),
        (-1, None),
        (True, None),
        ({}, None),
    ],
)
def test_a_passage_that_does_not_exist_is_no_place(said: object, start: int | None) -> None:
    assert read(clause(passage_id=said))[0][0].start == start


@pytest.mark.parametrize("said", ["Governing Law", "governing-law", " GOVERNING_LAW ", "governing_law:"])
def test_a_clause_type_is_known_by_its_letters(said: str) -> None:
    assert read(clause(clause_type=said))[0][0].clause_type == "governing_law"


def test_unknown_types_are_left_out_and_counted() -> None:
    found, _, notes = read(clause(), clause(clause_type="weather"), clause(clause_type=None))
    assert len(found) == 1
    assert notes == ["2 clauses of an unknown type left out."]


@pytest.mark.parametrize("said", ["", "  ", "N/A", "Not found.", "aucune", "...", '"None"', None])
def test_a_quote_that_quotes_nothing_is_left_out(said: str | None) -> None:
    found, _, notes = read(clause(quote=said))
    assert found == [] and notes == ["1 clause without a quote left out."]


def test_a_model_that_repeats_itself_reports_once() -> None:
    found, _, notes = read(*[clause(quote="French  law.") for _ in range(400)], clause(quote="french law."))
    assert len(found) == 1 and notes == ["400 clauses reported twice left out."]


def test_the_same_words_in_two_passages_are_two_places_and_each_is_found_in_its_own() -> None:
    law = "This order is governed by French law."
    text = document(f"{law} {'Fees are due. ' * 5}Order two. {'Goods are new. ' * 30}{law}")
    passages = [Passage(0, 110, 1), Passage(110, len(text.text), 1)]
    twice = {"clauses": [clause(quote=law, passage_id=number) for number in (2, 1, 2)]}
    found, _, notes = read_answer(twice, passages, TYPES, "openai:m")
    places = [locate(one.quote, text, one.start).spans[0][0] for one in found]
    assert places == [len(text.text) - len(law), 0]
    assert notes == ["1 clause reported twice left out."]


def test_a_runaway_answer_is_capped() -> None:
    found, _, notes = read(*[clause(quote=f"Law number {number}.") for number in range(1000)])
    assert len(found) == MOST_CLAUSES and notes == [f"800 clauses beyond the first {MOST_CLAUSES} left out."]


def test_one_bad_row_does_not_take_the_others_along() -> None:
    found, _, notes = read("nonsense", clause(), {"quote": ["x"]}, None)
    assert len(found) == 1 and notes == ["3 clauses in no readable form left out."]


def test_a_supplier_has_a_name_and_a_quote() -> None:
    assert read(supplier={"name": " Acme \n Ltd ", "quote": "Acme Ltd"})[1] == Supplier("Acme Ltd", "Acme Ltd")
    assert read(supplier={"name": "Acme Ltd"})[1] == Supplier("Acme Ltd", "")


@pytest.mark.parametrize("said", [None, "Acme", {}, {"name": None}, {"name": "N/A"}, {"name": "The Supplier"},
    {"name": "Service Provider"}, {"name": "le Prestataire"}, {"name": "\"Licensor\""}, [1]])  # fmt: skip
def test_what_names_no_supplier_is_none(said: object) -> None:
    assert read(supplier=said)[1] is None


@pytest.mark.parametrize(
    "quote", ['Meridian SA (the "Client")', "Meridian SA, ci-après « l’Acheteur »", "Meridian (Customer)"]
)
def test_a_party_that_the_document_calls_the_customer_is_no_supplier(quote: str) -> None:
    assert read(supplier={"name": "Meridian SA", "quote": quote})[1] is None
    both = f'{quote} and Acme Ltd (the "Supplier")'
    assert read(supplier={"name": "Acme Ltd", "quote": both})[1] == Supplier("Acme Ltd", both)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"clauses": [], "supplier": None}, ""),
        ({"clauses": []}, ""),
        ({"clauses": [clause(confidence="HIGH", passage_id=None)], "supplier": None, "note": "x"}, ""),
        ({"results": []}, "clauses: Field required"),
        ({"clauses": "none"}, "clauses: Input should be a valid list"),
        ({"clauses": [{"quote": "x"}]}, "clauses.0.clause_type: Field required"),
        ([], "answer: Input should be a valid dictionary"),
        (None, "answer: Input should be a valid dictionary"),
    ],
)
def test_a_complaint_names_the_place_and_the_fault(value: object, expected: str) -> None:
    said = complaint("ClauseAnswers", value)
    assert said.startswith(expected) and bool(said) == bool(expected)


def test_a_complaint_stays_short() -> None:
    said = complaint("ClauseAnswers", {"clauses": [{} for _ in range(100)]})
    assert said.endswith("and 195 more") and len(said) < 500


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda part: (
        st.lists(part, max_size=3)
        | st.dictionaries(
            st.sampled_from(["clauses", "supplier", "name", "quote", "clause_type", "passage_id", "confidence"]),
            part,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["clauses", "supplier", "x"]), JSON))
def test_any_mapping_gives_a_result(raw: dict[str, Any]) -> None:
    found, _, _ = read_answer(raw, PASSAGES, TYPES, "openai:m")
    assert all(candidate.quote and 0 <= candidate.confidence <= 1 for candidate in found)
