"""The summary that a model writes of a decision, and the note of a case-law run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from markdown_it import MarkdownIt
from sample_rulings import APPEAL, EXHIBITS, social, text_of

from nodes.domain.answers.summary_answer import read_summary, summary_passages
from nodes.domain.case_law.reader import clauses, read
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.locate_findings import locate_candidates, locate_facts
from nodes.domain.evidence.note_model import Note
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.report.render.html import render_report
from nodes.domain.report.render.markdown import to_markdown
from nodes.domain.report.writers.note_writer import NoteInput
from nodes.domain.report.writers.rulings_note import write_ruling_note
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.text.documents import DocumentText, SourceDocument

PLAYBOOK = parse_playbook(
    'name = "law"\nversion = 1\ntitle = "Case law"\nkind = "decisions"\n'
    + "".join(
        f'[[clauses]]\ntype = "{name}"\ntitle = {{ en = "{name}", fr = "{name}" }}\nquestion = "?"\n'
        for name in ("case_number", "decision_date", "solution", "applied_text", "holding", "amount_ordered", "costs")
    ),
    "law.toml",
)


def stated(text: DocumentText) -> list[Fact]:
    return locate_facts(text, [fact.to_json() for fact in read(text)])


def summarised(*sentences: dict[str, Any]) -> tuple[list[Fact], int]:
    """What is kept of an answer whose sentences cite passages by a word that stands in them."""
    text = text_of(social())
    facts = stated(text)
    passages = summary_passages(text, facts, 12_000)

    def number(word: str) -> int:
        return next(place for place, one in enumerate(passages, 1) if word in text.text[one.start : one.end])

    rows = [{**sentence, "passages": [number(word) for word in sentence["passages"]]} for sentence in sentences]
    return read_summary({"sentences": rows}, text, passages, facts, "openai:m")


def test_a_sentence_that_its_passage_bears_out_is_kept_with_its_place() -> None:
    found, dropped = summarised(
        {"part": "facts", "text": "M. [R] a été engagé le 7 janvier 2014 comme cuiseur.", "passages": ["cuiseur"]}
    )
    assert dropped == 0 and [one.kind for one in found] == ["summary_facts"]
    assert found[0].value == "M. [R] a été engagé le 7 janvier 2014 comme cuiseur."
    assert "cuiseur" in found[0].quote and found[0].page == 1 and found[0].source == "openai:m"


@pytest.mark.parametrize(
    "text",
    [
        "M. [R] a été engagé le 8 janvier 2014 comme cuiseur.",
        "Il percevait une prime de 1 500 euros.",
        "M. Dupont a été engagé le 7 janvier 2014 comme cuiseur.",
        "M. [R] n'a pas été engagé le 7 janvier 2014.",
    ],
)
def test_a_date_a_sum_a_name_or_a_denial_that_the_passage_does_not_have_takes_the_sentence_out(text: str) -> None:
    found, dropped = summarised({"part": "facts", "text": text, "passages": ["cuiseur"]})
    assert (found, dropped) == ([], 1)


def test_a_true_sentence_that_cites_another_passage_or_none_is_taken_out() -> None:
    found, dropped = summarised(
        {"part": "facts", "text": "M. [R] a été engagé le 7 janvier 2014.", "passages": ["CASSE ET ANNULE"]},
        {"part": "facts", "text": "M. [R] a été engagé le 7 janvier 2014.", "passages": []},
    )
    assert (found, dropped) == ([], 2)


@pytest.mark.parametrize("raw", [{}, {"sentences": None}, {"sentences": [3, {"part": "x"}, {"text": "a"}]}])
def test_an_answer_in_no_form_gives_no_sentence_and_no_error(raw: dict[str, Any]) -> None:
    text = text_of(social())
    found, _ = read_summary(raw, text, summary_passages(text, [], 9_000), [], "openai:m")
    assert found == []


def test_a_model_is_shown_the_orders_the_reasons_and_the_facts_within_its_budget() -> None:
    text = text_of(social())
    for budget in (2_000, 6_000):
        passages = summary_passages(text, stated(text), budget)
        shown = " ".join(text.text[passage.start : passage.end] for passage in passages)
        assert sum(passage.chars for passage in passages) <= budget
        assert "CASSE ET ANNULE" in shown and "L. 9999-1" not in shown
        assert [passage.start for passage in passages] == sorted(passage.start for passage in passages)


def written(*texts: tuple[str, str], decisions: dict[str, dict[str, Any]] | None = None, **more: Any) -> Note:
    """The note about these (document, text); `decisions` and what else changes findings by clause type."""
    findings: list[Finding] = []
    rows: list[DocumentResult] = []
    facts: dict[str, list[Fact]] = {}
    for place, (name, words) in enumerate(texts):
        text = text_of(words)
        source = SourceDocument(name, f"{place:064d}", 1, 0, f"/{name}")
        found = locate_candidates(text, source, clauses(read(text), PLAYBOOK.types), "")
        findings += [finding.with_(**(decisions or {}).get(finding.clause_type, {})) for finding in found]
        facts[name] = [*stated(text), *more.get("facts", ())]
        state = "ocr" if name in more.get("scanned", ()) else "read"
        rows.append(DocumentResult(place, name, source.sha256, "done", language="fr", pages=((1, state, ""),)))
    given = NoteInput("Case law", findings, rows, PLAYBOOK, [], "fr")
    return write_ruling_note(given, facts)


def test_the_note_opens_with_a_table_of_the_decisions_the_newest_first_each_row_leading_to_its_section() -> None:
    note = written(("a.pdf", social()), ("b.pdf", APPEAL))
    markdown = to_markdown(note)
    rows = [line for line in markdown.splitlines() if line.startswith("| [")]
    assert [("21/01987" in rows[0], "Confirmation partielle" in rows[0]), "18.442" in rows[1]] == [(True, True), True]
    assert "(#d-1)" in rows[0] and '## <a id="d-1"></a>Cour d\'appel de Nantua' in markdown
    assert markdown.index("| [") < markdown.index("**Faits**")
    html = render_report(note)
    assert html.count('class="decision"') == 2 and "Risque par fournisseur" not in html


def test_every_sentence_of_a_summary_quotes_the_decision_and_names_the_page() -> None:
    note = written(("a.pdf", social()))
    section = note.section("decision")
    assert section is not None and note.dropped == ()
    said = [
        sentence
        for sentence in section.sentences
        if sentence.lead in ("Faits", "Procédure", "Question", "Réponse", "Portée")
    ]
    assert len(said) >= 6
    flat = " ".join(social().split())
    for one in said:
        quote = one.text[one.text.index("«") + 2 : one.text.rindex("»") - 1]
        assert quote in flat and one.text.endswith("(page 1)")


def test_a_number_that_waits_for_a_person_is_marked_and_a_rejected_one_is_not_stated() -> None:
    waiting = {"case_number": {"needs_review": True, "review_reason": "unsure"}}
    assert "21-18.442 (à vérifier)" in str(written(("a.pdf", social()), decisions=waiting).section("index"))
    rejected = {"case_number": {"decision": {"verdict": "reject", "reviewer": "A", "reason": "no", "at": "?"}}}
    note = written(("a.pdf", social()), decisions=rejected)
    assert "18.442" not in str(note.section("index")) and "18.442" not in str(note.section("decision"))
    assert "18.442" in str(note.section("rejected"))


def test_what_is_attached_to_a_decision_stands_in_its_section_and_is_no_decision_of_the_table() -> None:
    note = written(("a.pdf", social()), ("a.pdf#annexe.txt", "Plan du four."))
    index, section = note.section("index"), note.section("decision")
    assert index is not None and len(index.sentences) == 1
    assert section is not None and [
        sentence.text for sentence in section.sentences if sentence.lead == "Pièces jointes"
    ] == ["annexe.txt, 1 page"]


def rows_of(note: Note) -> list[str]:
    index = note.section("index")
    assert index is not None
    return [f"{sentence.lead} · {sentence.text}" for sentence in index.sentences]


def said(note: Note, lead: str) -> list[str]:
    return [sentence.text for section in note.sections for sentence in section.sentences if sentence.lead == lead]


def test_a_list_of_exhibits_beside_a_decision_stands_under_it_and_nothing_is_missed_in_it() -> None:
    note = written(("arret.pdf", APPEAL), ("pieces/bordereau.txt", EXHIBITS))
    assert [row.split(" · ")[0] for row in rows_of(note)] == ["21/01987"]
    assert said(note, "Pièces jointes") == ["pieces/bordereau.txt, 1 page, 21/01987"]


@pytest.mark.parametrize(
    "words",
    [EXHIBITS.replace("21/01987", "21/01988"), EXHIBITS.replace("NANTUA", "BELLEY"), EXHIBITS.replace("N° RG", "")],
)
def test_a_list_of_exhibits_of_another_case_or_another_court_or_of_none_stands_alone(words: str) -> None:
    note = written(("arret.pdf", APPEAL), ("bordereau.txt", words))
    assert len(rows_of(note)) == 2 and said(note, "Pièces jointes") == []


RECTIFIED = APPEAL.replace("21 MARS 2023", "5 MAI 2023").replace("21 mars 2023", "5 mai 2023")
RECTIFIED = RECTIFIED[: RECTIFIED.index("CONFIRME le")] + (
    "RECTIFIE l'arrêt du 21 mars 2023 ;\n\nDIT que la somme est de 12.600 euros ;\n\nPrononcé par mise à disposition "
    "au greffe le 5 mai 2023.\n"
)


def test_a_later_decision_in_the_same_case_is_a_decision_and_the_exhibits_are_those_of_the_first() -> None:
    note = written(
        ("b.pdf", RECTIFIED), ("a.pdf", APPEAL), ("annexe 3 rectification.pdf", RECTIFIED), ("c.txt", EXHIBITS)
    )
    assert [row.split(" · ")[1] for row in rows_of(note)] == ["5 mai 2023", "21 mars 2023"]
    section = next(
        section for section in note.sections if section.kind == "decision" and "21 mars 2023" in section.title
    )
    assert [sentence.text for sentence in section.sentences if sentence.lead == "Pièces jointes"] == [
        "c.txt, 1 page, 21/01987"
    ]


def test_a_text_and_a_scan_of_one_decision_are_one_row_that_names_both() -> None:
    scan = ("arret_scan.pdf", social().replace("Arrêt n° 311 FS-B", "Arret n° 311"))
    note = written(scan, ("arret.txt", social()), ("other.pdf", social("21-18.500")), scanned=("arret_scan.pdf",))
    assert [row.rpartition(" · ")[2] for row in rows_of(note)] == [
        "arret.txt (la même décision : arret_scan.pdf)",
        "other.pdf",
    ]
    assert said(note, "Autre exemplaire") == ["arret_scan.pdf, 1 page (mêmes numéro et date)"]
    assert to_markdown(note).count("\n| [") == 2 and render_report(note).count('class="decision"') == 2


@pytest.mark.parametrize(
    "other",
    [
        social(day=21),
        social(solution="Rejet", orders="REJETTE le pourvoi ;"),
        social("21-18.443"),
        APPEAL.replace("NANTUA", "LYON").replace("21/01987", "21/01999"),
    ],
)
def test_another_date_another_solution_or_another_number_is_another_decision(other: str) -> None:
    first = APPEAL.replace("21/01987", "21/01999") if "LYON" in other else social()
    assert len(rows_of(written(("a.pdf", first), ("b.pdf", other)))) == 2


def test_the_note_names_every_case_that_was_joined() -> None:
    joined = social().replace(
        "Pourvoi n° F 21-18.442", "Pourvois n° F 21-18.442\nB 21-18.500\net C 21-18.501 JONCTION", 1
    )
    note = written(("a.pdf", joined))
    assert rows_of(note)[0].startswith("21-18.442, 21-18.500, 21-18.501 · ")
    assert said(note, "Numéro") == ["21-18.442, 21-18.500, 21-18.501 (page 1)"]
    many = joined.replace("C 21-18.501 JONCTION", " ".join(f"C 21-18.50{n}" for n in range(1, 8)) + " JONCTION", 1)
    assert rows_of(written(("a.pdf", many)))[0].startswith("21-18.442, 21-18.500, 21-18.501 et 6 de plus · ")


def test_a_document_that_is_no_decision_is_listed_as_such() -> None:
    note = written(("letter.pdf", "Bonjour, veuillez trouver ci-joint le dossier."))
    assert "aucune décision reconnue · letter.pdf" in str(note.section("index"))


def test_a_model_summary_takes_the_place_of_the_quotes_of_its_part_and_is_checked_once_more() -> None:
    good, _ = summarised({"part": "facts", "text": "M. [R] percevait 150 euros par mois.", "passages": ["cuiseur"]})
    note = written(("a.pdf", social()), facts=good)
    section = note.section("decision")
    assert section is not None
    assert [sentence.text for sentence in section.sentences if sentence.lead == "Faits"] == [
        "M. [R] percevait 150 euros par mois. (page 1)"
    ]
    assert any(sentence.lead == "Réponse" and "«" in sentence.text for sentence in section.sentences)


def test_a_note_of_decisions_speaks_of_no_risk_unless_a_finding_has_points() -> None:
    note = written(("a.pdf", social()))
    shown = (to_markdown(note), render_report(note))
    assert not [word for word in ("risque", "sur 100", "faible") for text in shown if word in text]
    weighed = replace(note, findings=(note.findings[0].with_(score=30, risk="medium"), *note.findings[1:]))
    assert "risque moyen, 30 sur 100" in to_markdown(weighed) and "moyen" in render_report(weighed)


def test_a_row_of_the_table_keeps_every_cell_under_its_head() -> None:
    note = written(("a | b · c.pdf", social()), ("letter | x.pdf", "Bonjour, veuillez trouver ci-joint le dossier."))
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(to_markdown(note))
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL)[1:]]
    assert [len(row) for row in rows] == [5, 5]
    assert [row[4] for row in rows] == ["a | b · c.pdf", "letter | x.pdf"]
    assert rows[1][1:4] == ["aucune décision reconnue", "", ""]
