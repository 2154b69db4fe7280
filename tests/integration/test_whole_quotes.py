"""A quote of a model proves a clause only when it states something, and with the "no" that its sentence says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_question import document

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.clauses.engine_comparison import compare_engines
from nodes.domain.evidence.findings import Candidate, Finding
from nodes.domain.evidence.locate_findings import bare_quotes, locate_candidates, states_name
from nodes.domain.evidence.quote_locator import locate
from nodes.domain.text.documents import SourceDocument

MODEL, LOCAL = "openai:x", "local:model@3"
TEXT = """MASTER AGREEMENT

This Agreement is made between Acme Tools Ltd (the "Supplier") and Borden Retail Inc. (the "Customer").

2. LIABILITY

2.1 Neither party shall be liable for indirect loss. The total liability of the Supplier shall not exceed
USD 500,000 in any contract year, unless it acted with gross negligence. The Supplier cannot limit it further.

3. LICENCE

3.1 The Supplier grants the Customer a non-exclusive right to use the Software. It is not un-
reasonably withheld. In the cases of Section 9 the fee is due at once.

4. Droit

La licence est non exclusive. Le présent contrat est régi par le droit français.

Cap: EUR 5,000

Governing law: France
"""
SOURCE = SourceDocument("a.txt", "d" * 64, 1, 0, "/a.txt")


def found(quote: str, source: str = MODEL) -> Finding:
    (one,) = locate_candidates(document(TEXT), SOURCE, [Candidate("cap_on_liability", quote, 0.9, source)], "")
    return one


@pytest.mark.parametrize(
    "quote",
    [
        "either party shall be liable for indirect loss",
        "Either party shall be liable for indirect loss.",
        "exclusive right to use the Software",
        "reasonably withheld. In the cases of Section 9 the fee is due at once.",
        "unless it acted with gross negligence. The Supplier can",
    ],
)
def test_no_word_is_parted_from_what_makes_it_its_opposite(quote: str) -> None:
    assert locate(quote, document(TEXT)).alignment == "not_found"


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("party shall be liable for indirect loss.", "2.1 Neither party shall be liable for indirect loss."),
        ("exceed\nUSD 500,000 in any contract year, unless it acted", "The total liability of the Supplier shall not"),
        ("The total liability of the Supplier", "unless it acted with gross negligence."),
        ("exclusive. Le présent contrat est régi par le droit français.", "La licence est non exclusive."),
    ],
)
def test_a_negation_that_a_model_left_out_of_its_sentence_is_put_back(quote: str, shown: str) -> None:
    one = found(quote)
    assert one.alignment == "exact" and shown in one.quote and quote in one.quote
    assert one.quote == TEXT[one.spans[0][0] : one.spans[0][1]]
    assert found(quote, LOCAL).quote == quote, "the local engine says whole sentences, or less on purpose"


def test_a_quote_whose_sentence_says_no_nowhere_else_stays_as_it_is() -> None:
    for quote in ("the fee is due at once", "Neither party shall be liable", "régi par le droit français"):
        assert found(quote).quote == quote


def test_what_an_elided_quote_left_out_at_its_ends_is_put_back_too() -> None:
    one = found("party shall be liable for indirect loss. … The Supplier cannot limit it further.")
    assert one.quote == "2.1 Neither party shall be liable for indirect loss. … The Supplier cannot limit it further."


def quoted(quote: str, clause_type: str = "cap", source: str = MODEL, confidence: float = 0.9) -> Candidate:
    return Candidate(clause_type, quote, confidence, source)


@pytest.mark.parametrize("quote", ["LIABILITY", "2. LIABILITY", "MASTER AGREEMENT", "Supplier", "contract year", "3.1"])
def test_a_heading_or_a_word_states_nothing(quote: str) -> None:
    assert bare_quotes(document(TEXT), [quoted(quote)]) == {quote}


@pytest.mark.parametrize(
    "quote",
    [
        "indirect loss. The total",
        "Cap: EUR 5,000",
        "Governing law: France",
        "2. LIABILITY\n\n2.1 Neither party shall be",
        "nowhere said",
    ],
)
def test_a_part_of_a_sentence_states_something_and_what_is_not_there_is_another_matter(quote: str) -> None:
    assert not bare_quotes(document(TEXT), [quoted(quote)])


def test_a_heading_gives_way_to_the_sentence_whoever_quotes_it() -> None:
    heading, sentence = quoted("LIABILITY"), quoted("Neither party shall be liable")
    (proved,) = compare_engines([heading, sentence], [], {"cap"}, bare={"LIABILITY"})
    assert proved == replace(sentence, disputed=f"{MODEL} found it, the local engine did not")
    unsure = quoted("Neither party shall be liable", source=LOCAL, confidence=0.3)
    (kept,) = compare_engines([heading], [unsure], {"cap"}, bare={"LIABILITY"})
    assert (kept.source, kept.disputed) == (LOCAL, f"{LOCAL} found it, {MODEL} quoted only a heading or a word")


def test_a_heading_that_nobody_says_more_about_is_kept_for_a_person() -> None:
    (kept,) = compare_engines([quoted("LIABILITY")], [], {"cap"}, bare={"LIABILITY"})
    assert kept.disputed == f"{MODEL} found it, the local engine did not"


def test_a_supplier_is_named_by_the_document_and_not_by_the_model_alone() -> None:
    text = document(TEXT)
    assert states_name(text, "Acme Tools Ltd", 'Acme Tools Ltd (the "Supplier")')
    assert states_name(text, "ACME TOOLS LTD", "")
    assert not states_name(text, "Globex Corporation", 'Acme Tools Ltd (the "Supplier")')
    assert not states_name(text, "Acme Tools Ltd", 'Globex Corporation (the "Supplier")')


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint() as started:
        yield started


@pytest.fixture
async def asking(database: str, home: Path, endpoint: ScriptedEndpoint) -> AsyncIterator[Reprise]:
    endpoint.reset()
    settings: dict[str, Any] = {"openai_base_url": endpoint.base_url, "openai_api_key": "key"}
    async with Reprise.open(database_url=database, home=home, **settings) as opened:
        yield opened


async def test_a_model_that_quotes_headings_and_names_a_supplier_of_its_own_hides_nothing(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "contract.txt").write_text(
        'This Agreement is made between Acme Tools Ltd (the "Supplier") and Borden Retail Inc. (the "Customer").\n\n'
        "GOVERNING LAW\n\nThis Agreement is governed by the laws of France.\n\n"
        "LIABILITY\n\nNothing in this Agreement means that the liability of the Supplier shall be unlimited.\n"
    )
    clauses = [
        {"clause_type": "governing_law", "passage_id": 1, "quote": "GOVERNING LAW", "confidence": 0.95},
        {
            "clause_type": "uncapped_liability",
            "passage_id": 1,
            "quote": "the liability of the Supplier shall be unlimited.",
            "confidence": 0.95,
        },
    ]
    supplier = {"name": "Globex Corporation", "quote": "Acme Tools Ltd"}
    endpoint.script([{"match": "clause_type", "respond": {"clauses": clauses, "supplier": supplier}}])
    models = {"extract": "scripted-1", "summarize": "scripted-1"}
    await asking.start(room, thread="t", engine="openai", models=models, review="always")
    findings = await asking.findings("t")
    (law,) = [finding for finding in findings if finding.clause_type == "governing_law"]
    assert "laws of France" in law.quote and "quoted only a heading or a word" in law.review_reason
    (uncapped,) = [finding for finding in findings if finding.clause_type == "uncapped_liability"]
    assert uncapped.quote.startswith("Nothing in this Agreement means that")
    assert {finding.supplier for finding in findings} == {"Acme Tools Ltd"}
