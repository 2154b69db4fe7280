"""Files without pages are read in sections, and every surface says so; a PDF keeps its pages."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import docx
import pytest
from cli_runs import CLAUSES, objects, room, run_here
from processes import environment
from rich.console import Console

from graph import Reprise
from graph.surfaces.terminal.run import show_findings
from graph.views.frames import FindingsView
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_check import check
from nodes.domain.evidence.note_model import Sentence
from nodes.domain.review.review_request import gate_payload
from nodes.domain.shared.formats import place_in, unit_of

UNITS = {"contract 0.pdf": "page", "terms.docx": "section"}
HEADINGS = ("Parties", "Term", "Damages", "Law")


ENGLISH = (CLAUSES[0], " ".join(CLAUSES[1:3]), " ".join(CLAUSES[3:5]), CLAUSES[5])
FRENCH = (
    "Le présent contrat est conclu entre Firm {number} SAS (le « Prestataire ») et Meridian Foods SA (le « Client »).",
    "Le contrat est conclu pour une durée de trois ans.",
    "La responsabilité du Prestataire au titre du contrat est plafonnée à la somme de 100 000 euros.",
    "Le présent contrat est régi par le droit français.",
)


def word(folder: Path, parts: Sequence[str] = ENGLISH) -> Path:
    """The same clauses as in `room`, each under a heading of its own, as a Word document."""
    folder.mkdir(parents=True, exist_ok=True)
    document = docx.Document()
    for heading, clause in zip(HEADINGS, parts, strict=True):
        document.add_heading(heading, 1)
        document.add_paragraph(clause.format(number=7))
    document.save(str(folder / "terms.docx"))
    return folder


def accepted(reprise: Reprise, **more: Any) -> Mapping[str, Any]:
    return {"accept_all": True, "reviewer": "A. Martin", "reason": "read", **more}


async def test_the_note_of_a_word_document_names_sections_in_text_and_html(reprise: Reprise, tmp_path: Path) -> None:
    view = await reprise.start(word(tmp_path / "room"), thread="t")
    assert (view.status, view.unit, view.pages["total"]) == ("needs_review", "section", 4)
    found = await reprise.findings("t")
    assert {one.unit for one in found} == {"section"}
    places = {one.clause_type: one.page for one in found}
    assert (places["renewal_term"], places["liquidated_damages"], places["governing_law"]) == (2, 3, 4)
    packet = json.loads(await reprise.container.services.artifacts.get(view.review["packet"]))
    shown = gate_payload(packet, view.review["packet"])
    assert "terms.docx, section 3" in shown["description"] and "page" not in shown["description"]
    assert {one["unit"] for one in shown["top"] if one["page"]} == {"section"}  # type: ignore[typeddict-item]

    ended = await reprise.resume("t", **accepted(reprise))
    assert ended.status == "completed"
    note, html = await reprise.report("t"), await reprise.report("t", "html")
    assert "The one document (4 sections) was read." in note
    assert "terms.docx, section 3" in note and "terms.docx, section 3" in html
    assert "(section 4)" in note
    assert " page" not in note.replace("has no pages", "") and "<dt>sections</dt>" in html


async def test_a_french_note_says_section_too(reprise: Reprise, tmp_path: Path) -> None:
    view = await reprise.start(word(tmp_path / "room", FRENCH), thread="t")
    if view.status == "needs_review":
        await reprise.resume("t", **accepted(reprise))
    note = await reprise.report("t")
    assert "Le seul document (4 sections) a été lu." in note and "terms.docx, section 3" in note
    assert " page" not in note.replace("n’a pas de pages", "")


def table(findings: Sequence[Finding], width: int = 200) -> list[str]:
    out = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    show_findings(findings, {}, out=out)
    return str(out.file.getvalue()).splitlines()  # type: ignore[attr-defined]


def test_tables_of_one_kind_of_file_have_one_head_and_of_both_name_each_place(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    word(tmp_path / "words")
    word(room(tmp_path / "both", 1))
    for name in ("words", "both"):
        started = run_here(["start", tmp_path / name, "--thread", name, "--review", "never", "--json"], env, capsys)
        assert started.returncode == 0, started.stderr
    assert "unit" not in json.loads(started.stdout)

    listed = {name: objects(run_here(["findings", name, "--json"], env, capsys)) for name in ("words", "both")}
    assert {document["document"]: document["unit"] for document in listed["both"]} == UNITS
    words, both = (table([Finding.from_json(one) for one in found]) for found in listed.values())
    assert " section " in words[0] and not any("page" in line for line in words)
    assert " place " in both[0] and any("section 3" in line for line in both) and any("page 1" in line for line in both)
    narrow = table([Finding.from_json(document) for document in listed["both"]], 80)
    assert any("terms.docx section 3" in line for line in narrow) and any("0.pdf p. 1" in line for line in narrow)
    for command in ("coverage", "status"):
        said = run_here([command, "words"], env, capsys).stdout
        assert "sections" in said and "pages" not in said.replace("has no pages", ""), command
    assert "places" in run_here(["status", "both"], env, capsys).stdout
    assert "4 sections" in run_here(["coverage", "both"], env, capsys).stdout
    covered = json.loads(run_here(["coverage", "both", "--json"], env, capsys).stdout)["listed"]
    assert {one["document"]: one["unit"] for one in covered} == UNITS
    facts = run_here(["facts", "words"], env, capsys).stdout
    assert " section" in facts.splitlines()[0]
    note = run_here(["report", "both"], env, capsys).stdout
    assert "All of 2 documents (1 page and 4 sections) were read." in note


def finding(**changes: Any) -> Finding:
    made = Finding("f" * 12, "a.docx", "0" * 64, "", "cap", "The cap applies.", 3, 4, (), ((0, 16),), "exact", 0.9, "x")
    return replace(made, **changes)


def test_a_sentence_may_name_the_section_of_its_evidence_and_no_other_and_no_page_of_it() -> None:
    ours = {"f" * 12: finding(unit="section")}

    def problem(text: str) -> str | None:
        return check(Sentence(text, ("f" * 12,), "fact"), ours)

    assert problem("The cap applies (a.docx, section 3).") is None
    assert problem("The cap applies (sections 3–4).") is None
    assert "gives 5" in str(problem("The cap applies (section 5)."))
    assert "gives 3" in str(problem("The cap applies (page 3)."))
    assert problem("The cap applies (section 3.2).") is not None
    paged = {"f" * 12: finding()}
    assert check(Sentence("The cap applies (page 3).", ("f" * 12,), "fact"), paged) is None
    assert check(Sentence("The cap applies (section 3).", ("f" * 12,), "fact"), paged) is not None


def test_what_an_older_program_stored_without_a_unit_counts_in_pages() -> None:
    stored = {name: value for name, value in finding().to_json().items() if name != "unit"}
    assert Finding.from_json(stored) == finding() and Finding.from_json(stored).unit == "page"
    fact = Fact("party", "A", "A", {}, 1, 1, ((0, 1),), (), "exact", "x")
    assert Fact.from_json({name: value for name, value in fact.to_json().items() if name != "unit"}) == fact


def test_a_notebook_shows_the_unit_in_its_table_and_in_its_frame() -> None:
    view = FindingsView([finding(unit="section"), finding(finding_id="e" * 12)])
    assert "section 3" in view._repr_html_() and "page 3" in view._repr_html_()
    assert list(view.to_frame()["unit"]) == ["section", "page"]


def test_places_are_named_in_one_way() -> None:
    assert [unit_of([]), unit_of(["page"]), unit_of(["page", "section"])] == ["page", "page", "place"]
    assert [place_in(3, "section", "section"), place_in(3, "section", "place"), place_in(None, "page")] == [
        "3",
        "section 3",
        "",
    ]
