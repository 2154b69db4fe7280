"""A French note is French: titles, reasons and why something was not read."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from paths import PLAYBOOKS
from sample_notes import CAP, CHANGE, DECIDED, make_document, make_finding, make_note, said

from graph.adapters.documents.document_text import warnings
from graph.drill.drill import _without_times
from nodes.domain.evidence.note_model import SupplierRating
from nodes.domain.playbook.prompt_injection import HIDDEN, INSTRUCTION, hostile_clause
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.playbook.titles import SHIPPED
from nodes.domain.report.render.html import ReportFacts, render_report
from nodes.domain.report.render.markdown import to_markdown
from nodes.domain.report.wording.reasons import reasons_in
from nodes.domain.report.wording.texts import note_title
from nodes.domain.shared.messages import REFUSALS, english, french

REASONS = (
    "55 Cap on liability, page 3: +20 limited; may be overridden by b.pdf, page 2",
    "50 Missing master agreement, section 1: +50 no master; what it changes is not among the documents",
    "40 Cap on liability: missing",
    "20 Missing annex, page 1: +20 not given; Annex A is said to be attached and is not there",
    "9 Cap on liability, page 1: +9 cap_on_liability is present",
)


def test_a_french_note_has_no_english_words_of_ours() -> None:
    waits = "not every page of the document was read; confidence 0.40 is below 0.50; risk is high; quote fuzzy in the "
    about = "no clause of type “Cap on liability” was found in the 1 of 2 pages that was read"
    findings = [
        make_finding("a1", CAP, reasons=("+20 limited", "overridden by b.pdf, section 2")),
        make_finding("a2", CHANGE, needs_review=True, review_reason=f"{waits}document"),
        make_finding("a3", "", clause_type="missing_clause", about="cap_on_liability", alignment="absent", page=None,
                     spans=(), reasons=("+40 no cap", about), needs_review=True, review_reason="a clause is missing"),
        *(make_finding(f"a{n}", CHANGE, clause_type=f"missing_{one}") for n, one in ((4, "master"), (5, "annex"))),
    ]  # fmt: skip
    note = make_note("fr", findings=findings, ratings=[SupplierRating("Acme SAS", "high", 62, REASONS)])
    assert note.standings[0].reasons == (
        "55 Plafond, page 3 : +20 limited ; peut-être remplacé par b.pdf, page 2",
        "50 Contrat principal absent, section 1 : +50 no master ; ce qu’il modifie n’est pas parmi les documents",
        "40 Plafond : absente",
        "20 Annexe absente, page 1 : +20 not given ; Annex A est dite jointe et n’y est pas",
        "9 Plafond, page 1 : +9 présence de la clause",
    )
    assert note.clause_title(findings[3]) == "Contrat principal absent"
    assert [text.rpartition(" : ")[2] for text in said(note, "waiting")] == [
        "une clause est absente",
        "toutes les pages du document n’ont pas été lues ; confiance de 0,40, inférieure à 0,50 ; "
        "le risque est élevé ; citation retrouvée de façon approchée",
    ]
    for shown in (to_markdown(note), render_report(note).replace("\u00a0", " ")):
        assert "remplacé par b.pdf, section 2" in shown and "overridden" not in shown
        assert "aucune clause « Plafond » n’a été trouvée dans ce qui a été lu : 1 page sur 2" in shown
    assert make_note(findings=findings, ratings=[SupplierRating("Acme SAS", "high", 62, REASONS)]).standings[
        0
    ].reasons == (REASONS)


def test_the_title_of_a_french_note_is_french_where_the_playbook_is_ours() -> None:
    assert note_title("Case law", "nuit", "fr") == "Jurisprudence : nuit"
    assert note_title("Case law", "night", "en") == "Case law: night"
    assert note_title("Our own checks", "", "fr") == "Our own checks"


def test_all_that_ships_and_gives_a_reason_gives_it_in_french_too() -> None:
    shipped = [parse_playbook((PLAYBOOKS / f"{name}.toml").read_text("utf-8"), name) for name in SHIPPED]
    clauses = [one for playbook in shipped for one in (*playbook.clauses, *playbook.across)]
    clauses += [one for one in map(hostile_clause, (INSTRUCTION, HIDDEN)) if one is not None]
    reasons = {reason for clause in clauses for reason in (clause.reason, clause.missing_reason) if reason}
    reasons |= {modifier.reason for clause in clauses for modifier in clause.modifiers}
    assert len(reasons) > 50
    assert [
        reason
        for reason in reasons
        if reasons_in("fr", reason) == reason or reasons_in("fr", f"+5 {reason}") == f"+5 {reason}"
    ] == []
    assert {reasons_in("en", reason) for reason in reasons} == reasons


@pytest.mark.parametrize(
    ("english", "french"),
    [
        ("Schedule 2 is named and is not there", "Schedule 2 est nommée et n’y est pas"),
        ("contradicts page 3: EUR 100,000 against unlimited", "contredit page 3 : EUR 100,000 et illimitée"),
        ("contradicts itself: Ireland against France", "se contredit : Ireland et France"),
        ("contradicts page 2: 50 % of the fees of 12 months against EUR 5",
         "contredit page 2 : 50 % des redevances de 12 mois et EUR 5"),
        (
            "“the customer may leave” is not counted: the quote says “not”",
            "« le client peut partir » n’est pas compté : la citation dit “not”",
        ),
        ("the engines differ: the local engine found it, gpt did not",
         "les moteurs divergent : trouvé par le moteur local, non par gpt"),
        ("the engines differ: the local engine found it, gpt quoted only a heading or a word",
         "les moteurs divergent : trouvé par le moteur local, mais gpt ne cite qu’un titre ou un mot"),
        ("2 reviewers must decide the same; a box in it is not ticked",
         "2 relecteurs doivent décider de même ; une case n’y est pas cochée"),
        ("+5 our own words; risk is low", "+5 our own words ; le risque est faible"),
    ],
)  # fmt: skip
def test_a_reason_is_said_in_french_and_words_of_another_playbook_stay(english: str, french: str) -> None:
    assert (reasons_in("fr", english), reasons_in("en", english)) == (french, english)


def test_why_a_document_was_not_read_is_said_in_french() -> None:
    for code in REFUSALS:
        sentence = english(code, document="a.pdf", detail="12", max_bytes=512)
        assert french(sentence) != sentence and french(sentence).startswith("a.pdf ")
    answer = {
        "repaired": True, "unit": "section",
        "pages": [{"number": n, "hidden": [("comment", "x"), ("white", "y")], "ocr_layer": True} for n in (1, 2)],
    }  # fmt: skip
    told = warnings(answer)
    assert len(told) == 5 and not {french(one) for one in told} & set(told)
    document = make_document(0, "a.pdf", "Acme SAS", warnings=tuple(told))
    assert all(f"a.pdf : {french(one)}" in said(make_note("fr", documents=[document]), "coverage") for one in told)
    assert all(f"a.pdf: {one}" in said(make_note(documents=[document]), "coverage") for one in told)


def test_a_french_note_parts_and_counts_as_french_does() -> None:
    accepted = make_finding("a2", CHANGE, decision={**DECIDED, "verdict": "accept"})
    note = make_note("fr", findings=[make_finding("a1", CAP), accepted, make_finding("b1", CAP, decision=DECIDED)])
    assert said(note, "about")[:2] == [
        "3 constats : 1 accepté à la relecture, 1 que le guide dispense de relecture, 0 en attente, 1 rejeté, "
        "0 introuvable dans son document.",
        "Relecture par A. Martin (2 décisions).",
    ]
    assert said(note, "rejected")[0].endswith("rejeté par A. Martin le 29 novembre 2026 à 03:12 UTC : a heading")
    shown = to_markdown(note)
    assert "- **Plafond** : « " in shown and "- Décision : accepté par" in shown
    assert not [line for line in shown.splitlines() if re.search(r"\w[;:] |\*\*: ", line)]
    begun = datetime(2026, 12, 1, 7, 5, tzinfo=UTC)
    page = render_report(note, ReportFacts("acme", engine="local", begun_at=begun))
    assert "Lancement\u00a0: 1er décembre 2026 à 07:05 UTC" in page and "confiance 90\u202f%" in page


def test_no_line_of_a_french_report_begins_with_a_mark_and_a_quote_keeps_its_spaces() -> None:
    quote = "Le Client paie : « 30 jours » ; rien de plus."
    page = render_report(make_note("fr", findings=[make_finding("a1", quote)]), ReportFacts("acme", engine="local"))
    assert "Moteur\u00a0: local" in page and "\u00a0; risque élevé" in page
    assert f">{quote}</blockquote>" in page
    text = re.sub(r"<(style|script|blockquote).*?</\1>", "", page, flags=re.DOTALL)
    assert not re.search(r"[^\s>] [:;»]", re.sub(r"<[^>]*>", ">", text))


def test_the_fire_drill_takes_no_moment_of_a_french_note_for_a_difference() -> None:
    def note(at: str) -> str:
        return to_markdown(make_note("fr", findings=[make_finding("b1", CAP, decision={**DECIDED, "at": at})]))

    one, other = note("2026-11-29T03:12:40+00:00"), note("2026-12-01T23:50:00+00:00")
    assert one != other and _without_times(one) == _without_times(other)


def test_a_document_that_was_read_in_part_has_its_pages_in_the_right_number() -> None:
    pages = ((1, "read", ""), (2, "failed", "time-out"))
    findings = [make_finding(f"a{n}", CAP, clause_type=f"type_{n}") for n in range(3)]
    document = make_document(0, "acme/master.pdf", "Acme SAS", pages=pages)
    (section,) = [section for section in make_note("fr", findings=findings, documents=[document]).sections
                  if section.kind == "supplier"]  # fmt: skip
    assert "acme/master.pdf (1 page lue sur 2)" in section.sentences[-1].text
