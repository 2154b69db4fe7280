"""The lines of the note about terms: every statement on the quote of its fact, or not at all."""

from __future__ import annotations

import pytest

from nodes.domain.contracts.families.families import families
from nodes.domain.contracts.families.members import member
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import Note, SupplierRating
from nodes.domain.playbook.model import Clause, Playbook
from nodes.domain.report.writers.contract_terms import write_contract_note
from nodes.domain.report.writers.note_writer import NoteInput, with_dropped
from nodes.domain.runs.settings import DocumentResult

PLAYBOOK = Playbook(
    name="terms", version=1, title="Terms", clauses=(Clause(type="insurance", title={"en": "Insurance"}, question="?"),)
)
ROW = DocumentResult(0, "a.pdf", "0" * 64, "done", supplier="Acme Ltd", language="en", pages=((1, "read", ""),))


def fact(kind: str, value: str, quote: str, page: int | None = 1, **detail: str | bool) -> Fact:
    found = "exact" if page else "not_found"
    return Fact(kind, value, quote, detail, page, page, ((0, len(quote)),) if page else (), (), found, "local:facts@1")  # type: ignore[arg-type]


def note_of(*facts: Fact, language: str = "en") -> Note:
    given = NoteInput("Note", (), [ROW], PLAYBOOK, [SupplierRating("Acme Ltd", "low", 0)], language)
    known = families([member(ROW, facts)])
    return with_dropped(write_contract_note(given, {"a.pdf": facts}, known))


def terms(note: Note) -> list[str]:
    return [
        sentence.text
        for section in note.sections
        if section.kind == "supplier"
        for sentence in section.sentences
        if sentence.kind == "fact"
    ]


TERM = fact("initial_term", "3 years", "for a term of three (3) years", count="3", unit="year")


def test_a_line_of_terms_gives_each_value_with_its_page_in_the_language_of_the_note() -> None:
    cap = fact("cap_amount", "EUR 500000", "shall not exceed EUR 500,000", 7, amount="500000", currency="EUR")
    assert terms(note_of(TERM, cap)) == ["a.pdf: term 3 years (page 1); cap EUR 500,000 (page 7)."]
    assert terms(note_of(TERM, language="fr")) == ["a.pdf : durée 3 ans (page 1)."]


def test_no_borrowed_evidence_stays_in_the_note() -> None:
    note = note_of(TERM)
    assert note.findings == () and all(
        not sentence.finding_ids for section in note.sections for sentence in section.sentences
    )


def test_a_value_that_its_quote_does_not_cover_gives_way_to_the_quote() -> None:
    wrong = fact("initial_term", "5 years", "for a term of three (3) years", count="5", unit="year")
    assert terms(note_of(wrong)) == ["a.pdf: term “for a term of three (3) years” (page 1)."]
    turned = fact("renewal_term", "3 years", "it is not renewed for three years", count="3", unit="year")
    assert terms(note_of(turned)) == ["a.pdf: renewal “it is not renewed for three years” (page 1)."]


def test_a_value_with_a_quote_that_is_too_long_to_give_is_left_out_and_counted() -> None:
    wrong = fact("initial_term", "5 years", "for a term of three years " + "and so on " * 40, count="5", unit="year")
    note = note_of(wrong)
    assert terms(note) == []
    assert [(sentence.text, sentence.problem) for sentence in note.dropped] == [
        ("term 5 years", "gives 5, which is not in its evidence")
    ]
    assert "1 sentence was dropped" in note.sections[-1].sentences[-1].text


def test_the_note_states_a_named_end_and_leaves_a_computed_one_to_the_dates_that_it_follows_from() -> None:
    named = fact("expiration_date", "2024-05-31", "ends on 31 May 2024", 2, date="2024-05-31", written="31 May 2024")
    assert terms(note_of(TERM, named)) == ["a.pdf: term 3 years (page 1); ends on 2024-05-31 (page 2)."]
    computed = fact("expiration_date", "2024-05-31", "three (3) years from 31 May 2021", 2, computed=True)
    note = note_of(TERM, computed)
    assert terms(note) == ["a.pdf: term 3 years (page 1)."] and note.dropped == ()


def test_what_is_not_in_the_document_is_never_stated() -> None:
    assert terms(note_of(fact("governing_law", "France", "governed by French law", None), TERM)) == [
        "a.pdf: term 3 years (page 1)."
    ]


AMENDMENT = DocumentResult(
    1, "Amendment.pdf", "1" * 64, "done", supplier="Acme Limited", language="en", pages=((1, "read", ""),)
)
CLAUSES = (
    "4.1 The Supplier's liability shall not exceed the fees of three (3) months.",
    "5.1 This Agreement is governed by the laws of England.",
    "6.1 The Supplier may terminate on ten (10) days' notice.",
    "7.1 Invoices are payable within forty-five (45) days.",
    "8.1 The Supplier shall be insured for EUR 2,000,000 per claim.",
)
NEW = "1. Clauses 4.1, 5.1, 6.1, 7.1 and 8.1 are replaced as follows."


def overridden(place: int, quote: str, *, certain: bool) -> Finding:
    over = {"by": "Amendment.pdf", "unit": "page", "page": 1, "action": "replace", "certain": certain}
    return Finding(
        finding_id=f"c{place}", document="a.pdf", document_sha256="0" * 64, supplier="Acme Ltd",
        clause_type="insurance", quote=quote, page=1, page_end=1, boxes=(), spans=((100 * place, 100 * place + 99),),
        alignment="exact", confidence=0.9, source="local:rules@1", overridden=over,
    )  # fmt: skip


def amended(*stated: Fact, certain: bool = True, language: str = "en") -> Note:
    """An agreement with five clauses, all of which one amendment replaces; `stated` are facts of the agreement."""
    findings = [overridden(place, quote, certain=certain) for place, quote in enumerate(CLAUSES)]
    mine = findings[0].with_(
        finding_id="new", document="Amendment.pdf", document_sha256="1" * 64, quote=NEW, overridden=None
    )
    articles = ["4.1", "5.1", "6.1", "7.1", "8.1"]
    changes = fact("replaces", "4.1", NEW, articles=articles, action="replace", whole=True)  # type: ignore[arg-type]
    facts = {"a.pdf": stated, "Amendment.pdf": (fact("agreement_date", "2022-05-10", "on 10 May 2022"), changes)}
    standings = [SupplierRating("Acme Limited", "low", 0)]
    given = NoteInput("Note", (*findings, mine), [ROW, AMENDMENT], PLAYBOOK, standings, language)
    known = families([member(ROW, stated), member(AMENDMENT, facts["Amendment.pdf"])])
    return with_dropped(write_contract_note(given, facts, known))


@pytest.mark.parametrize("certain", [True, False])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_an_amendment_that_overrides_five_clauses_takes_none_of_them_out_of_the_note(
    certain: bool, language: str
) -> None:
    note = amended(certain=certain, language=language)
    assert note.dropped == ()
    said = {
        ("en", True): "): overridden by Amendment.pdf, page 1.",
        ("en", False): "): may be overridden by Amendment.pdf, page 1.",
        ("fr", True): ") : remplacé par Amendment.pdf, page 1.",
        ("fr", False): ") : peut-être remplacé par Amendment.pdf, page 1.",
    }
    for quote in CLAUSES:
        (one,) = [text for text in terms(note) if quote in text]
        assert one.endswith(said[language, certain])


def test_what_overrides_a_clause_is_linked_to_the_finding_that_says_so() -> None:
    section = amended().section("supplier")
    assert section is not None
    marks = {
        sentence.finding_ids[0]: sentence.finding_ids[1:]
        for sentence in section.sentences
        if "overridden" in sentence.text
    }
    assert marks == {f"c{place}": ("new",) for place in range(5)}
    assert [finding.finding_id for finding in amended().findings] == ["new", "c0", "c1", "c2", "c3", "c4"]


def test_an_override_on_a_page_of_which_no_fact_is_known_is_said_all_the_same() -> None:
    finding = overridden(0, CLAUSES[0], certain=False)
    given = NoteInput("Note", (finding,), [ROW, AMENDMENT], PLAYBOOK, [SupplierRating("Acme Ltd", "low", 0)])
    note = write_contract_note(given, {}, families([member(ROW, ()), member(AMENDMENT, ())]))
    assert note.dropped == () and "may be overridden by Amendment.pdf, page 1." in terms(note)[0]


def test_a_term_says_whether_its_clause_is_replaced_or_may_be() -> None:
    months = fact("cap_base", "fees of 3 months", CLAUSES[0], of="fees", months="3")
    (line,) = [text for text in terms(amended(months)) if "reckoned" in text]
    assert line == "a.pdf: cap reckoned on the fees of 3 months (page 1; overridden by Amendment.pdf, page 1)."
    (line,) = [text for text in terms(amended(months, certain=False)) if "reckoned" in text]
    assert line == "a.pdf: cap reckoned on the fees of 3 months (page 1; may be overridden by Amendment.pdf, page 1)."


def test_terms_of_an_amendment_stand_with_its_agreement_whatever_the_spelling_of_the_supplier() -> None:
    titles = [section.title for section in amended(TERM).sections if section.kind == "supplier"]
    assert titles == ["Acme Limited"]


def test_a_change_that_its_quote_does_not_cover_gives_way_to_the_quote() -> None:
    said = "Clause 9 is not to apply any longer and is deleted."
    one = fact("replaces", "9", said, articles=["9"], action="delete", whole=True)  # type: ignore[arg-type]
    two = fact("replaces", "10", "Clause 10 is deleted.", articles=["10"], action="delete", whole=True)  # type: ignore[arg-type]
    note = note_of(one, two)
    assert note.dropped == () and terms(note) == [f"a.pdf: “{said}” (page 1); 10 deleted (page 1)."]
