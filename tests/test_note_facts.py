"""The lines of the note about terms: every statement on the quote of its fact, or not at all."""

from __future__ import annotations

from nodes.domain.facts import Fact
from nodes.domain.families import families, member
from nodes.domain.note import Note, Standing
from nodes.domain.note_facts import write_contract_note
from nodes.domain.note_writer import NoteInput, with_dropped
from nodes.domain.playbook import Clause, Playbook
from nodes.domain.run import DocumentResult

PLAYBOOK = Playbook(
    name="terms", version=1, title="Terms", clauses=(Clause(type="insurance", title={"en": "Insurance"}, question="?"),)
)
ROW = DocumentResult(0, "a.pdf", "0" * 64, "done", supplier="Acme Ltd", language="en", pages=((1, "read", ""),))


def fact(kind: str, value: str, quote: str, page: int | None = 1, **detail: str) -> Fact:
    found = "exact" if page else "not_found"
    return Fact(kind, value, quote, detail, page, page, ((0, len(quote)),) if page else (), (), found, "local:facts@1")  # type: ignore[arg-type]


def note_of(*facts: Fact, language: str = "en") -> Note:
    given = NoteInput("Note", (), [ROW], PLAYBOOK, [Standing("Acme Ltd", "low", 0)], language)
    known = families([member(ROW, facts)])
    return with_dropped(write_contract_note(given, {"a.pdf": facts}, known))


def terms(note: Note) -> list[str]:
    return [
        one.text
        for section in note.sections
        if section.kind == "supplier"
        for one in section.sentences
        if one.kind == "fact"
    ]


TERM = fact("initial_term", "3 years", "for a term of three (3) years", count="3", unit="year")


def test_a_line_of_terms_gives_each_value_with_its_page_in_the_language_of_the_note() -> None:
    cap = fact("cap_amount", "EUR 500000", "shall not exceed EUR 500,000", 7, amount="500000", currency="EUR")
    assert terms(note_of(TERM, cap)) == ["a.pdf: term 3 years (page 1); cap EUR 500,000 (page 7)."]
    assert terms(note_of(TERM, language="fr")) == ["a.pdf : durée 3 ans (page 1)."]


def test_no_borrowed_evidence_stays_in_the_note() -> None:
    note = note_of(TERM)
    assert note.findings == () and all(not one.finding_ids for section in note.sections for one in section.sentences)


def test_a_value_that_its_quote_does_not_cover_gives_way_to_the_quote() -> None:
    wrong = fact("initial_term", "5 years", "for a term of three (3) years", count="5", unit="year")
    assert terms(note_of(wrong)) == ["a.pdf: term “for a term of three (3) years” (page 1)."]
    turned = fact("renewal_term", "3 years", "it is not renewed for three years", count="3", unit="year")
    assert terms(note_of(turned)) == ["a.pdf: renewed for “it is not renewed for three years” (page 1)."]


def test_a_value_with_a_quote_that_is_too_long_to_give_is_left_out_and_counted() -> None:
    wrong = fact("initial_term", "5 years", "for a term of three years " + "and so on " * 40, count="5", unit="year")
    note = note_of(wrong)
    assert terms(note) == []
    assert [(one.text, one.problem) for one in note.dropped] == [
        ("term 5 years", "gives 5, which is not in its evidence")
    ]
    assert "1 sentence was dropped" in note.sections[-1].sentences[-1].text


def test_what_is_not_in_the_document_is_never_stated() -> None:
    assert terms(note_of(fact("governing_law", "France", "governed by French law", None), TERM)) == [
        "a.pdf: term 3 years (page 1)."
    ]
