"""eval: what counts as found, which traps were stepped into, and that no stored answer flatters the figures."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.domain.evaluation.evaluation import ReadDocument, Scores, combine_scores, evaluate, meets
from nodes.domain.evaluation.golden_set import Gold, GoldError, matches, read_gold
from nodes.domain.evidence.findings import Finding
from nodes.domain.text.normalise import LetterIndex

TEXT = "1. The liability of the Supplier shall not exceed EUR 5,000.\n2. This is governed by the laws of Fra-\nnce. End"
CAP, LAW = "The liability of the Supplier shall not exceed EUR 5,000.", "This is governed by the laws of France."


def finding(clause_type: str, start: int, end: int, page: int | None = 1, alignment: Any = "exact") -> Finding:
    spans = ((start, end),) if alignment != "not_found" else ()
    quote = TEXT[start:end]
    return Finding(
        "f" * 12, "a/One.pdf", "0" * 64, "", clause_type, quote, page, page, (), spans, alignment, 0.9, "local"
    )


def at(quote: str) -> tuple[int, int]:
    return LetterIndex(TEXT).spans(quote)[0]


def scored(gold: list[Gold], *findings: Finding) -> Scores:
    return evaluate(gold, [ReadDocument("a/One.pdf", TEXT, findings)])


def test_a_clause_that_was_found_on_its_page_is_right_in_every_way() -> None:
    rates = scored([Gold("One", "cap", CAP, 1)], finding("cap", *at(CAP))).types["cap"].rates()
    assert {rates[name] for name in rates if name not in ("documents_with", "unlocated")} == {1.0}
    assert (rates["documents_with"], rates["unlocated"]) == (1, 0)


def test_a_gold_quote_is_found_across_a_hyphen_and_a_line_end() -> None:
    assert TEXT[slice(*at(LAW))] == "This is governed by the laws of Fra-\nnce"


def test_a_missed_clause_a_false_one_and_a_wrong_page_are_counted_apart() -> None:
    gold = [Gold("One.pdf", "cap", CAP, 2), Gold("One.pdf", "law", LAW, 1), Gold("other.pdf", "audit", CAP)]
    found = scored(gold, finding("cap", *at(CAP)), finding("audit", *at(LAW)), finding("cap", 0, 5, None, "not_found"))
    cap, law, audit = (found.types[name].rates() for name in ("cap", "law", "audit"))
    assert (cap["doc_f1"], cap["page_accuracy"], cap["unlocated"]) == (1.0, 0.0, 1)
    assert (law["doc_recall"], law["span_recall"], law["doc_precision"]) == (0.0, 0.0, None)
    assert (audit["doc_precision"], audit["span_precision"]) == (0.0, 0.0)
    assert found.unread == ["other.pdf"]


def test_a_whole_page_around_a_clause_is_not_the_clause() -> None:
    assert meets((100, 200), (90, 480)) and meets((100, 130), (0, 800))
    assert not meets((100, 200), (0, 900)) and not meets((100, 200), (180, 400))


def test_a_quote_that_the_text_does_not_hold_counts_as_missed() -> None:
    found = scored([Gold("One", "cap", "Liability is capped at one million.")], finding("cap", *at(CAP)))
    assert found.lost == 1 and found.types["cap"].rates()["span_recall"] == 0.0


def test_what_people_disagree_about_is_neither_right_nor_wrong() -> None:
    gold = [Gold("One", "cap", CAP, 1, uncertain=True)]
    rates = scored(gold, finding("cap", *at(CAP))).types["cap"].rates()
    assert (rates["documents_with"], rates["doc_f1"], rates["span_precision"]) == (0, None, None)


def test_a_trap_is_stepped_into_by_its_own_type_at_its_own_place_only() -> None:
    trap = [Gold("One", "cap", LAW, must_not_find=True), Gold("One", "audit", "", must_not_find=True)]
    harmless = scored(trap, finding("cap", *at(CAP)), finding("law", *at(LAW)))
    assert (harmless.traps, list(harmless.fallen)) == (2, [])
    fallen = scored(trap, finding("cap", *at(LAW)), finding("audit", *at(CAP))).fallen
    assert [(one.document, one.clause_type, one.page) for one in fallen] == [
        ("a/One.pdf", "cap", 1),
        ("a/One.pdf", "audit", 1),
    ]


def test_a_trap_that_nothing_can_step_into_is_not_counted_and_is_named() -> None:
    trap = [
        Gold("Gone", "cap", "", must_not_find=True, where="gold.jsonl, line 1"),
        Gold("One", "cap", "Words of another contract.", must_not_find=True),
        Gold("One", "pets", "", must_not_find=True),
        Gold("Blank", "cap", "", must_not_find=True),
        Gold("One", "cap", LAW, must_not_find=True),
    ]
    known = frozenset({"cap"})
    seen = [
        ReadDocument("a/One.pdf", TEXT, [finding("cap", *at(CAP))], known),
        ReadDocument("Blank.pdf", "", (), known),
    ]
    found = evaluate(trap, seen)
    assert (found.traps, list(found.fallen), found.matched, found.unread) == (1, [], 1, ["Blank", "Gone"])
    assert [(trap.document, trap.why) for trap in found.untested] == [
        ("Gone", "no document of this name was there"),
        ("One", "its words are not in a/One.pdf"),
        ("One", "pets was not looked for in a/One.pdf"),
        ("Blank", "no text of its document could be read"),
    ]
    assert str(found.untested[0]) == "gold.jsonl, line 1 (no document of this name was there)"


def test_a_document_of_which_the_set_says_nothing_is_counted_and_said_to_be() -> None:
    gold, silent = [Gold("One", "cap", CAP)], ReadDocument("Two.pdf", TEXT, [finding("cap", *at(CAP))])
    found = evaluate(gold, [ReadDocument("a/One.pdf", TEXT, [finding("cap", *at(CAP))]), silent])
    assert (found.silent, found.documents, found.types["cap"].rates()["doc_precision"]) == (1, 2, 0.5)
    assert found.to_json()["documents_not_in_gold"] == 1


def test_scores_of_two_sets_add_up_and_neither_judges_the_documents_of_the_other() -> None:
    one, other = [Gold("One", "cap", CAP, 1)], [Gold("One", "law", LAW, 1), Gold("One", "law", CAP, must_not_find=True)]
    both = [finding("cap", *at(CAP)), finding("law", *at(LAW))]
    whole = combine_scores([evaluate(set_, [ReadDocument("a/One.pdf", TEXT, both)]) for set_ in (one, other)])
    assert list(whole.types) == ["cap", "law"] and whole.mean()["doc_f1"] == whole.mean()["span_precision"] == 1.0
    assert (whole.documents, whole.traps, whole.matched, list(whole.fallen)) == (2, 1, 2, [])


def test_a_missing_clause_that_was_noted_is_not_a_clause_that_was_found() -> None:
    absent = finding("cap", 0, 5, None, "absent").with_(spans=())
    assert scored([Gold("One", "cap", CAP)], absent).types["cap"].rates()["doc_recall"] == 0.0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1 is no JSON"),
        ("[]", "no JSON object"),
        ('{"document": "a"}', "lacks document or clause_type"),
        ('{"document": "a", "clause_type": "cap"}', "lacks text"),
        ('{"document": "a", "clause_type": "cap", "text": "x", "page": 0}', "pages count from 1"),
        ("", "has no line"),
    ],
)
def test_a_golden_set_that_cannot_be_read_is_refused_with_its_line(line: str, said: str) -> None:
    with pytest.raises(GoldError, match=said):
        read_gold([line], "gold.jsonl")


def test_documents_go_by_path_name_or_stem_and_types_by_their_slug() -> None:
    assert all(matches(name, "a/One.pdf") for name in ("a/One.pdf", "One.pdf", "One"))
    assert not matches("ne", "a/One.pdf") and not matches("b/One.pdf", "a/One.pdf")
    (one,) = read_gold(['{"doc": "One", "clause_type": "Cap On Liability", "quote": "x"}'], "gold")
    assert (one.clause_type, one.text) == ("cap_on_liability", "x")
