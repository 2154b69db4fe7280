"""Quotes are found where they stand, and invented or altered ones are not found at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import DATA
from shared_data import needs_shared

from nodes.domain.evidence.findings import Location
from nodes.domain.evidence.quote_locator import Locator, locate
from nodes.domain.text.documents import DocumentText, Page

CONTRACT = (
    "MASTER SERVICES AGREEMENT\n\n12.3 Limitation of Liability. Except for its obligations under Section 9, the\n"
    "Supplier shall not be liable for indirect damages, and its total lia-\nbility shall not exceed the fees paid in "
    "the twelve (12) months preceding the claim,\nor 150 000 € in any case.\n\n"
    "13. Term. The Customer may terminate this Agreement at any time upon thirty (30) days’ written notice\f"
    "to the Supplier. The indemniﬁcation of Article 9 survives. L’œuvre reste la propriété du Client.\n"
    "The Supplier was unable to limit its liability. Signed on June 21, 1999."
)


def document(text: str, furniture: tuple[tuple[int, int], ...] = (), words: bool = False) -> DocumentText:
    pages, at = [], 0
    for number, page in enumerate(text.split("\f"), 1):
        pages.append(Page(number, "read", "", at, at + len(page), 595, 842, boxes(page, at) if words else ()))
        at += len(page) + 1
    return DocumentText("0" * 64, text, tuple(pages), "en", (), furniture)


def boxes(page: str, at: int) -> tuple[tuple[int, int, int, int, int, int], ...]:
    """A box a word: lines 200 high, characters 100 wide."""
    found = []
    for row, line in enumerate(page.split("\n")):
        column = 0
        for word in line.split(" "):
            if word:
                x0, y0 = 100 * column, 200 * row
                found.append((at + column, at + column + len(word), x0, y0, x0 + 100 * len(word), y0 + 150))
            column += len(word) + 1
        at += len(line) + 1
    return tuple(found)


def said(location: Location, text: str = CONTRACT) -> list[str]:
    return [text[start:end] for start, end in location.spans]


@given(st.data())
@settings(max_examples=200)
def test_any_run_of_whole_words_of_the_text_is_found_exactly(data: st.DataObject) -> None:
    # Runs that would part "150 000" are another matter: see the changed numbers below.
    words = [(i, i + len(word)) for i, word in _words(CONTRACT) if word not in ("150", "000")]
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    start, end = words[first][0], words[last][1]
    found = locate(CONTRACT[start:end], document(CONTRACT), hint=start)
    assert (found.alignment, found.spans, found.similarity) == ("exact", ((start, end),), 1.0)


def _words(text: str) -> list[tuple[int, str]]:
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        found.append((at, word))
        at += len(word)
    return found


@given(st.text(max_size=80))
@settings(max_examples=200)
def test_whatever_is_asked_the_answer_is_a_location_whose_spans_lie_in_the_text(quote: str) -> None:
    found = locate(quote, document(CONTRACT))
    assert all(0 <= start < end <= len(CONTRACT) for start, end in found.spans)
    assert bool(found.spans) == (found.alignment != "not_found")


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("its total liability shall not exceed the fees paid", "its total lia-\nbility shall not exceed the fees paid"),
        ("THIRTY (30) DAYS' WRITTEN NOTICE", "thirty (30) days’ written notice"),
        ("indemnification of article 9", "indemniﬁcation of Article 9"),
        ("L'oeuvre reste la propriete du client", "L’œuvre reste la propriété du Client"),
        ("“total liability  shall\tnot exceed”", "total lia-\nbility shall not exceed"),
        ("written notice to the Supplier.", "written notice\fto the Supplier."),
        ("indemni\x00fication", "indemniﬁcation"),
    ],
)
def test_print_differences_are_normalized(quote: str, source: str) -> None:
    found = locate(quote, document(CONTRACT))
    assert found.alignment == "normalized"
    assert [part.rstrip(".") for part in said(found)] == [source.rstrip(".")]


@pytest.mark.parametrize("quote", ["", "   ", "\n\t", "\x00", "…", "[...]", "\ud800"])
def test_a_quote_without_a_word_is_not_found(quote: str) -> None:
    assert locate(quote, document(CONTRACT)) == Location("not_found")


def test_a_slip_of_letters_is_fuzzy_and_never_more() -> None:
    found = locate("The Custmer may terminate this Agrement at any time upon thirty (30) days", document(CONTRACT))
    assert found.alignment == "fuzzy"
    assert 0.9 <= found.similarity < 1
    assert said(found) == ["The Customer may terminate this Agreement at any time upon thirty (30) days"]


@pytest.mark.parametrize(
    "quote",
    [
        "shall not exceed the fees paid in the twenty-four (24) months preceding the claim",
        "shall not exceed the fees paid in the twelve (12) weeks preceding the claim",
        "the fees paid in the twelve (12) months preceding the claim, or 250 000 € in any case",
        "the fees paid in the twelve (12) months preceding the claim, or 150 000 $ in any case",
        "the Supplier shall be liable for indirect damages, and its total liability shall not exceed the fees paid",
        "its total liability shall exceed the fees paid in the twelve (12) months preceding the claim",
        "The Customer must terminate this Agreement at any time upon thirty (30) days’ written notice",
        "The Supplier may terminate this Agreement at any time upon thirty (30) days’ written notice",
        "The Customer may not terminate this Agreement at any time upon thirty (30) days’ written notice",
        "The Supplier was able to limit its liability. Signed on June 21, 1999.",
        "The Supplier was unable to limit its liability. Signed on June 22, 1999.",
        "2) months preceding the claim",
        "50 000 € in any case",
        "000 € in any case",
        "able to limit its liability",
    ],
)
def test_a_changed_number_party_modal_or_negation_is_not_found(quote: str) -> None:
    assert locate(quote, document(CONTRACT)).alignment == "not_found"


def test_a_true_beginning_with_an_invented_end_is_not_found() -> None:
    true = "The Customer may terminate this Agreement at any time upon "
    assert len(true) > 55
    invented = "payment of a fee equal to all remaining"
    assert locate(true + invented, document(CONTRACT)).alignment == "not_found"
    long_true = CONTRACT[CONTRACT.index("12.3") : CONTRACT.index("13. Term") + 8]
    assert locate(long_true + " " + invented, document(CONTRACT)).alignment == "not_found"
    assert locate(invented + " " + long_true, document(CONTRACT)).alignment == "not_found"
    assert locate(long_true, document(CONTRACT)).alignment == "exact"


def test_an_invented_middle_of_a_long_quote_is_not_found() -> None:
    middle = CONTRACT.index(", and its")
    first, second = CONTRACT[CONTRACT.index("12.3") : middle], CONTRACT[middle : CONTRACT.index("13. Term")]
    quote = f"{first} and any renewal fee of the affiliates {second}"
    assert locate(quote, document(CONTRACT)).alignment == "not_found"


def test_a_quote_of_another_document_and_a_section_that_does_not_exist_are_not_found() -> None:
    other = "Neither party may assign this Agreement without the prior written consent of the other party."
    assert locate(other, document(CONTRACT)).alignment == "not_found"
    assert locate("Section 12.9 Limitation of Liability", document(CONTRACT)).alignment == "not_found"


def test_parts_joined_by_an_ellipsis_must_all_be_found_in_order() -> None:
    text = document(CONTRACT)
    found = locate("Except for its obligations under Section 9 [...] shall not exceed the fees paid", text)
    assert said(found) == ["Except for its obligations under Section 9", "shall not exceed the fees paid"]
    whole = locate("13. Term … The Customer may terminate ... upon thirty (30) days’ written notice", text)
    assert (whole.alignment, len(whole.spans)) == ("exact", 3)
    assert locate("13. Term … at any time … subject to a fee", text).alignment == "not_found"
    assert locate("written notice … 13. Term.", text).alignment == "not_found"
    assert said(locate("… written notice …", text)) == ["written notice"]


def test_short_parts_that_stand_far_apart_are_no_quote() -> None:
    between = "Nothing else is agreed between the parties here. "
    near, far = (f"The fees are due. {between * times}All is returned." for times in (10, 50))
    quote = "The fees are due. … All is returned."
    assert locate(quote, document(near)).alignment == "exact"
    assert locate(quote, document(far)).alignment == "not_found"


def test_an_ellipsis_that_swallows_a_negation_goes_to_a_person() -> None:
    found = locate("the Supplier shall … be liable for indirect damages", document(CONTRACT.replace("the\n", "the ")))
    assert found.alignment == "fuzzy"


def test_of_several_places_the_hint_decides_and_else_the_first() -> None:
    text = document("The fee is due. " * 5)
    assert locate("The fee is due.", text).spans == ((0, 15),)
    assert locate("The fee is due.", text, hint=48).spans == ((48, 63),)
    assert locate("The fee is due.", text, hint=45).spans == ((48, 63),)
    assert locate("the FEE is due.", text, hint=33).spans == ((32, 46),)


def test_a_place_by_the_hint_wins_over_the_same_words_in_better_print_elsewhere() -> None:
    text = document("The total\nfee is due." + " x" * 200 + " The total fee is due.")
    assert locate("The total fee is due.", text).spans == ((422, 443),)
    assert locate("The total fee is due.", text, hint=3).spans == ((0, 20),)


def test_a_whole_word_is_preferred_to_a_part_of_one() -> None:
    assert locate("term", document("determined terms; the term ends")).spans == ((22, 26),)


def test_a_clause_goes_on_behind_header_and_footer_of_a_page() -> None:
    text = "The Supplier shall maintain\nACME 1\fCONFIDENTIAL\ninsurance of five million euros."
    marks = ((28, 34), (35, 47))
    assert [text[start:end] for start, end in marks] == ["ACME 1", "CONFIDENTIAL"]
    quote = "The Supplier shall maintain insurance of five million euros."
    found = locate(quote, document(text, marks, words=True))
    assert (found.alignment, found.page, found.page_end) == ("normalized", 1, 2)
    assert [box.page for box in found.boxes] == [1, 2]
    assert locate(quote, document(text)).alignment == "not_found"


def test_boxes_are_one_a_line_in_fractions_of_the_page() -> None:
    found = locate("gamma delta epsilon", document("alpha beta gamma\ndelta epsilon zeta", words=True))
    first, second = found.boxes
    assert (first.page, first.x0, first.y0, first.x1, first.y1) == (1, 0.11, 0.0, 0.16, 0.015)
    assert (second.x0, second.y0, second.x1) == (0.0, 0.02, 0.13)


def test_page_is_where_the_quote_begins_whatever_else_is_claimed() -> None:
    found = locate("The indemniﬁcation of Article 9 survives.", document(CONTRACT))
    assert (found.page, found.page_end) == (2, 2)


def test_a_document_without_pages_still_locates() -> None:
    found = Locator(DocumentText("0" * 64, "Some text", (), "en")).locate("text")
    assert (found.alignment, found.page, found.boxes) == ("exact", None, ())


def test_a_hundred_quotes_in_a_long_contract_are_each_told_for_what_they_are() -> None:
    """How long it takes is measured by tests/benchmarks/evidence.py: a clock says nothing on a machine that is busy."""
    paragraphs = [
        f"{n}.1 The party of item {n} shall pay {n * 17} euros to the other within {n} days." for n in range(6000)
    ]
    text = document("\n".join(paragraphs))
    assert len(text.text) > 400_000
    quotes = [paragraphs[n * 59] for n in range(25)]
    quotes += [paragraphs[n * 59].upper() for n in range(25)]
    quotes += [paragraphs[n * 59].replace("party", "partie") for n in range(25)]
    quotes += [paragraphs[n * 59] + " and renounces whatever else was promised before" for n in range(25)]
    locator = Locator(text)
    found = [locator.locate(quote).alignment for quote in quotes]
    assert found[:50] == ["exact"] * 25 + ["normalized"] * 25
    assert found[75:] == ["not_found"] * 25


@needs_shared(DATA / "contracts")
def test_labelled_clauses_of_real_contracts_are_found_and_altered_ones_are_not() -> None:
    rows = [json.loads(line) for line in (DATA / "contracts" / "gold.jsonl").read_text().splitlines()]
    wanted = [row for row in rows if row["clause_type"] == "Cap On Liability" and len(row["text"]) > 150]
    wanted = [row for row in wanted if row["text"][-1] == "." and row["text"][-2].isalpha()][:60]
    locators: dict[str, Locator] = {}
    for row in wanted:
        if row["doc"] not in locators:
            path = DATA / "contracts" / "txt" / f"{row['doc']}.txt"
            locators[row["doc"]] = Locator(document(path.read_text(encoding="utf-8")))
        locator, quote = locators[row["doc"]], row["text"]
        assert locator.locate(quote, row["start"]).spans == ((row["start"], row["end"]),)
        assert locator.locate(" ".join(quote.upper().split())).alignment in ("exact", "normalized")
        assert locator.locate(quote[:90] + " for a total of nine times the yearly fees").alignment == "not_found"
        for negation in (" not ", " NOT "):
            if negation in quote:
                assert locator.locate(quote.replace(negation, " ", 1)).alignment == "not_found"
