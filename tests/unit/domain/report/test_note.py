from __future__ import annotations

import json
import re
from dataclasses import replace
from string import Formatter

import pytest
from markdown_it import MarkdownIt
from sample_notes import (
    CAP,
    CHANGE,
    DECIDED,
    EXCLUDED,
    HOSTILE,
    RUN_FINDINGS,
    make_document,
    make_finding,
    make_note,
    said,
)

from nodes.domain.evidence.note_check import check, drop_unsupported
from nodes.domain.evidence.note_model import Note, Section, Sentence, SupplierRating
from nodes.domain.report.render.markdown import to_markdown
from nodes.domain.report.wording.texts import ENGLISH, FRENCH
from nodes.domain.report.writers.note_writer import with_dropped

FINDINGS = {
    "cap": make_finding("cap", CAP),
    "change": make_finding("change", CHANGE, clause_type="termination_for_convenience"),
    "excluded": make_finding("excluded", EXCLUDED),
    "lost": make_finding("lost", "liability is unlimited", alignment="not_found", page=None, spans=()),
    "waiting": make_finding("waiting", CAP, needs_review=True),
    "rejected": make_finding("rejected", CAP, decision={"verdict": "reject", "reviewer": "A", "reason": "no"}),
    "lacking": make_finding(
        "lacking", "", clause_type="missing_clause", about="cap_on_liability", alignment="absent", page=None, spans=()
    ),
    "french": make_finding(
        "french",
        "La responsabilité du Prestataire ne pourra excéder 50 000 euros.",
        document="contrat.pdf",
        supplier="Bêta Conseil",
    ),
}


def fact(text: str, *ids: str) -> Sentence:
    return Sentence(text, ids or ("cap",), "fact")


GOOD = [
    fact("Acme SAS caps its liability at 100 000 EUR per twelve months."),
    fact("Liability is capped at EUR 100,000 (acme/master.pdf, page 3)."),
    fact(f"“{CAP}” (acme/master.pdf, page 3)"),
    fact("The contract says “shall not exceed EUR 100,000” of the liability."),
    fact("The Client may terminate on 30 days' notice from 2025-03-01.", "change"),
    fact("Either party is bound: termination needs thirty days' notice.", "change"),
    fact("The Supplier is not liable for loss of profit.", "excluded"),
    fact("The Supplier excludes loss of profit.", "excluded"),
    fact("La responsabilité du Prestataire est plafonnée à 50 000 €.", "french"),
    fact("Bêta Conseil plafonne sa responsabilité à 50 000 euros.", "french"),
    Sentence("24 documents were read by nobody but us.", (), "frame"),
    Sentence("No cap on liability was found in order.pdf.", (), "absence"),
]

BAD = [
    (fact("Liability is capped at EUR 200,000."), "gives 200000"),
    (fact("Liability is capped at 100,000 USD."), "gives 100000 USD"),
    (fact("Liability is capped at EUR 100,000 in any two months."), "gives 2"),
    (fact("Liability is capped at EUR 100,000, says page 4."), "gives 4"),
    (fact("Liability is capped at EUR 100,000 (pages 3 to 9)."), "which is not in its evidence"),
    (fact("Termination is possible from 2 March 2025.", "change"), "2025-03-02"),
    (fact("Globex Corporation caps its liability at EUR 100,000."), "names Globex"),
    (fact("Liability towards Globex is capped at EUR 100,000."), "names Globex"),
    (fact("Zenith pays."), "names Zenith"),
    (fact("The Supplier is liable for loss of profit.", "excluded"), "leaves out the negation"),
    (fact("The Client may not terminate this Agreement.", "change"), "denies something"),
    (fact("Liability of Acme SAS is “unlimited and uncapped in all cases”."), "quotes “unlimited"),
    (fact("“The Supplier shall … be liable for loss of profit.”", "excluded"), "leaves out the negation"),
    (Sentence("Acme SAS caps its liability.", (), "fact"), "without evidence"),
    (fact("Acme SAS caps its liability.", "f00"), "no finding of this run"),
    (fact("Liability is unlimited.", "lost"), "which is unlocated"),
    (fact("Acme SAS caps its liability.", "waiting"), "which is waiting"),
    (fact("Acme SAS caps its liability.", "cap", "rejected"), "which is rejected"),
    (fact("The contract goes on.", "lacking"), "a missing clause, which has no quote"),
    (fact("La responsabilité du Prestataire est plafonnée à 60 000 €.", "french"), "gives 60000"),
]


@pytest.mark.parametrize("sentence", GOOD, ids=lambda sentence: sentence.text[:40])
def test_a_sentence_that_its_quotes_cover_passes(sentence: Sentence) -> None:
    assert check(sentence, FINDINGS, ["Acme SAS", "Bêta Conseil"]) is None


@pytest.mark.parametrize(("sentence", "problem"), BAD, ids=lambda value: getattr(value, "text", "")[:40])
def test_a_sentence_that_says_more_than_its_quotes_is_a_problem(sentence: Sentence, problem: str) -> None:
    found = check(sentence, FINDINGS, ["Acme SAS", "Bêta Conseil"])
    assert found is not None and problem in found


def test_another_supplier_of_the_run_is_a_stranger_even_in_small_letters() -> None:
    assert check(fact("liability of bêta conseil is capped"), FINDINGS, ["Acme SAS", "Bêta Conseil"]) is not None
    assert check(fact("liability of acme sas is capped"), FINDINGS, ["Acme SAS", "Bêta Conseil"]) is None


def test_the_note_opens_with_what_was_not_read() -> None:
    note = make_note()
    assert note.with_failures and note.sections[0].kind == "coverage"
    assert said(note, "coverage")[:3] == [
        "Completed with failures: 2 of 3 documents were read. What follows does not cover the rest.",
        "broken.pdf was not read (failed): not a PDF.",
        "acme/annex.pdf: page 2 was not read (failed): time-out.",
    ]


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "a b.pdf was not read (failed): it is empty (0 bytes): fetch it again."),
        ("fr", "a b.pdf n’a pas été lu (échec) : il est vide (0 octet) : récupérez-le de nouveau."),
    ],
)
def test_a_document_that_was_not_read_is_named_once(language: str, told: str) -> None:
    reason = "a b.pdf is empty (0 bytes): fetch it again."
    lost = make_document(0, "a b.pdf", "", state="failed", reason=reason, pages=())
    assert told in said(make_note(language, documents=[lost]), "coverage")


def test_the_note_states_only_what_is_accepted_and_located() -> None:
    note = make_note()
    facts = [one for section in note.sections for one in section.sentences if one.kind == "fact"]
    assert [one.finding_ids for one in facts] == [("a1",), ("a3",), ("a2",)]
    assert facts[0].text == f"“{CAP}” (acme/master.pdf, page 3; high risk)" and facts[0].lead == "Cap on liability"
    assert "pages 3–4" in facts[1].text
    assert said(note, "waiting") == [f"“{EXCLUDED}” (acme/master.pdf, page 3; high risk): risk is high"]
    assert said(note, "rejected") == [
        "“Limitation of liability” (acme/master.pdf, page 3), rejected by A. Martin on 2026-11-29 03:12 UTC: a heading"
    ]
    assert said(note, "unlocated") == [
        "A model gave “Liability is unlimited.” for acme/master.pdf, where it is not found."
    ]


def test_a_missing_clause_is_said_with_the_pages_that_were_read() -> None:
    section = make_note().section("supplier")
    assert section is not None and section.title == "Acme SAS"
    absences = [one.text for one in section.sentences if one.kind == "absence"]
    assert absences == [
        "No clause on “Insurance” was found in acme/master.pdf (all 6 pages read).",
        "In acme/annex.pdf (1 of 2 pages read) fewer than 3 kinds of clause were found: "
        "what is missing there is not listed.",
    ]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_local_writer_passes_its_own_check(language: str) -> None:
    note, dropped = drop_unsupported(make_note(language))
    assert dropped == () and note == make_note(language)
    assert Note.from_json(json.loads(json.dumps(note.to_json()))) == note


def test_the_text_tables_of_both_languages_have_the_same_places_to_fill() -> None:
    def places(table: dict[str, str]) -> dict[str, list[str]]:
        return {key: sorted(name for _, name, _, _ in Formatter().parse(text) if name) for key, text in table.items()}

    assert places(ENGLISH) == places(FRENCH)


def test_sentences_of_a_model_are_checked_dropped_and_counted() -> None:
    written = {
        "Acme S.A.S.": [
            fact("Acme SAS caps its liability at EUR 100,000.", "a1"),
            fact("Acme SAS caps its liability at EUR 900,000.", "a1"),
        ]
    }
    note, dropped = drop_unsupported(make_note(model_sentences=written))
    assert [one.text for one in dropped] == ["Acme SAS caps its liability at EUR 900,000."]
    section = note.section("supplier")
    assert section is not None and section.sentences[0].text == "Acme SAS caps its liability at EUR 100,000."
    assert said(with_dropped(note), "about")[-1] == "1 sentence was dropped because the quotes do not cover them."


def test_a_fourth_claim_on_one_quote_is_dropped_however_it_is_cited() -> None:
    claims = [fact(f"Liability is capped{' really' * n}.", "cap" if n % 2 else "same") for n in range(5)]
    same = make_finding("same", CAP, clause_type="other")
    note = Note("t", "en", (Section("supplier", "Acme", tuple(claims)),), (FINDINGS["cap"], same))
    kept, dropped = drop_unsupported(note)
    assert len(kept.sections[0].sentences) == 3
    assert {one.problem for one in dropped} == {"is one more claim on a quote that carries 3 already"}


def test_claims_too_many_are_counted_apart_from_what_no_quote_covers() -> None:
    claims = [fact(f"Acme SAS caps its liability{' really' * n}.", "a1") for n in range(5)]
    note, dropped = drop_unsupported(
        make_note(model_sentences={"Acme SAS": [*claims, fact("Acme SAS owes EUR 900,000.", "a1")]})
    )
    assert len(dropped) == 3
    assert said(with_dropped(note), "about")[-2:] == [
        "1 sentence was dropped because the quotes do not cover them.",
        "2 sentences were dropped because a quote behind them already carries as many claims as one may.",
    ]


def test_a_long_quote_is_given_under_each_of_its_types_however_many_they_are() -> None:
    long = "The Seller keeps records of each batch and shows them. " * 30
    many = [make_finding(f"a{n}", long, clause_type=f"type_{n}") for n in range(6)]
    note, dropped = drop_unsupported(make_note(findings=many))
    section = note.section("supplier")
    assert section is not None and dropped == ()
    assert [one.finding_ids for one in section.sentences if one.kind == "fact"] == [(f"a{n}",) for n in range(6)]


def test_the_order_of_findings_does_not_change_the_note() -> None:
    assert make_note(findings=RUN_FINDINGS[::-1]) == make_note()


def test_hostile_text_has_no_meaning_in_the_markdown() -> None:
    findings = [
        make_finding("a1", HOSTILE, document=HOSTILE, supplier=HOSTILE, reasons=(HOSTILE,), clause_type=HOSTILE),
        make_finding("a2", HOSTILE, decision={**DECIDED, "reason": HOSTILE, "reviewer": HOSTILE}),
        make_finding("a3", HOSTILE, needs_review=True, review_reason=HOSTILE),
    ]
    documents = [make_document(0, HOSTILE, HOSTILE, warnings=(HOSTILE,), state="failed", reason=HOSTILE)]
    note = make_note(
        title=HOSTILE,
        findings=findings,
        documents=documents,
        ratings=[SupplierRating(HOSTILE, "high", 9, (HOSTILE,))],
    )
    text = to_markdown(note)
    text.encode()
    assert not any(bad in text for bad in ("<script", "\x1b", "\u202e", "\x00", "://"))
    shown = MarkdownIt().render(text)
    assert "<script" not in shown and "<img" not in shown and 'javascript:x"' not in shown and "<em>" not in shown
    assert all(link.startswith("#f-") for link in re.findall(r'href="([^"]*)"', shown))


def test_every_mark_in_the_markdown_leads_to_evidence() -> None:
    text = to_markdown(make_note())
    targets = set(re.findall(r"\]\(#(f-[^)]+)\)", text))
    assert targets and targets <= set(re.findall(r'<a id="(f-[^"]+)"></a>', text))
    assert "[F:a1](#f-a1)" in text
    assert "quote not in the document" in text and "rejected by A. Martin on 2026-11-29 03:12 UTC: a heading" in text


def test_a_note_of_2000_findings_is_written_and_loses_none() -> None:
    findings = [
        make_finding(f"{n:x}", f"{CAP} {n}", document=f"d{n % 120}.pdf", supplier=f"Supplier {n % 120}")
        for n in range(2000)
    ]
    documents = [make_document(n, f"d{n}.pdf", f"Supplier {n}") for n in range(120)]
    note, dropped = drop_unsupported(make_note(findings=findings, documents=documents, ratings=()))
    to_markdown(note)
    assert dropped == () and len(note.findings) == 2000


def test_a_supplier_of_whom_nothing_was_read_gets_no_risk() -> None:
    standings = [SupplierRating("Acme SAS", "high", 62), SupplierRating("broken.pdf", "low", 0)]
    note = make_note(ratings=standings)
    assert [one.name for one in note.standings] == ["Acme SAS"]
    assert said(note, "risk") == [
        "high risk, 62 of 100. It counts 1 finding that nobody has reviewed.",
        "not scored, because nothing of it was read.",
    ]


def test_a_long_quote_is_not_cut_before_its_negation() -> None:
    long = "The Seller keeps records of each batch. " * 30 + "The Buyer may not audit the Seller."
    note, dropped = drop_unsupported(make_note(findings=[make_finding("a1", long)]))
    assert dropped == ()
    assert any("may not audit" in one.text for section in note.sections for one in section.sentences)


def test_the_spellings_of_a_supplier_share_one_section_and_two_companies_do_not() -> None:
    names = ("DURAND INFORMATIQUE SAS", "société Durand Informatique, SAS", "Durand SA", "Durand Conseil SAS")
    documents = [make_document(place, f"{place}.pdf", name) for place, name in enumerate(names)]
    findings = [
        make_finding(f"a{place}", f"{CAP} {name}", document=f"{place}.pdf", supplier=name)
        for place, name in enumerate(names)
    ]
    standings = [SupplierRating(name, "low", 5) for name in names[1:]]
    note, dropped = drop_unsupported(make_note(documents=documents, findings=findings, ratings=standings))
    assert dropped == ()
    sections = {one.title: one.sentences for one in note.sections if one.kind == "supplier"}
    marks = {title: [one.finding_ids[0] for one in said if one.finding_ids] for title, said in sections.items()}
    assert marks == {names[1]: ["a0", "a1"], "Durand SA": ["a2"], "Durand Conseil SAS": ["a3"]}


def test_a_model_may_name_a_supplier_by_another_of_its_spellings() -> None:
    full = make_finding("full", EXCLUDED, supplier="Acme Software SAS", document="b.pdf")
    short = make_finding("short", CAP.replace("Acme SAS", "the Supplier"), supplier="Acme Software")
    section = Section("supplier", "Acme", (fact("Acme Software SAS caps its liability at EUR 100,000.", "short"),))
    assert drop_unsupported(Note("t", "en", (section,), (full, short)))[1] == ()
    section = Section("supplier", "Acme", (fact("Acme Conseil SAS caps its liability at EUR 100,000.", "short"),))
    other = replace(full, supplier="Acme Conseil SAS")
    assert len(drop_unsupported(Note("t", "en", (section,), (other, short)))[1]) == 1
