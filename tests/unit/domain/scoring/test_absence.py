"""A required clause that an agreement lacks is a finding: stable, reviewed, stated with what was read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sample_absences import CAP, PLAYBOOK, READ, TEXT, lacking, note_of, others, scored
from sample_findings import finding, result

from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import status_of
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.playbook.searched_types import local_types
from nodes.domain.report.render.html import render_report
from nodes.domain.report.render.markdown import to_markdown
from nodes.domain.scoring.absence import MISSING
from nodes.domain.scoring.risk import Scored, score


def absent_of(found: Scored) -> Finding:
    (one,) = [one for one in found.findings if one.about]
    return one


def test_a_required_clause_that_is_not_there_is_a_finding_without_a_quote() -> None:
    one = absent_of(scored(others(), [result(pages=READ)]))
    assert (one.clause_type, one.about, one.quote, one.page, one.alignment) == (
        MISSING, "cap_on_liability", "", None, "absent",
    )  # fmt: skip
    assert (one.score, one.risk, one.needs_review) == (40, "medium", False)
    assert one.reasons == ("+40 no limit", "no clause of type “Cap” was found in the 3 pages that were read")
    assert Finding.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_its_id_hangs_on_document_and_type_alone() -> None:
    (one,) = lacking(others())
    (other,) = lacking([each.with_(quote="Another quote.") for each in others()], [result("a.pdf", 7, pages=READ[:1])])
    assert one.finding_id == other.finding_id and len(one.finding_id) == 12
    (third,) = lacking(others(), [result(sha256="1" * 64, pages=READ)])
    assert third.finding_id != one.finding_id


def test_where_a_page_was_not_read_it_says_so_and_goes_to_a_person() -> None:
    one = absent_of(scored(others(), [result(pages=(*READ, (4, "failed", "no text")))]))
    assert one.reasons[-1] == "no clause of type “Cap” was found in the 3 of 4 pages that were read"
    assert (one.needs_review, one.review_reason) == (True, "not every page of the document was read")


def test_of_one_page_it_says_one() -> None:
    assert lacking(others(), [result(pages=READ[:1])])[0].reasons[-1].endswith("in the 1 page that was read")
    few = lacking(others(), [result(pages=(*READ[:1], (2, "failed", "no text")))])
    assert few[0].reasons[-1].endswith("in the 1 of 2 pages that was read")


def test_it_names_the_clause_by_whatever_name_the_playbook_has() -> None:
    clause = PLAYBOOK.clauses[0].model_copy(update={"title": {"fr": "Plafond"}})
    french = PLAYBOOK.model_copy(update={"clauses": (clause, *PLAYBOOK.clauses[1:])})
    assert "of type “Plafond” was" in lacking(others(), playbook=french)[0].reasons[-1]


def test_a_playbook_may_send_every_missing_clause_to_a_person() -> None:
    text = PLAYBOOK.model_copy(update={"review": PLAYBOOK.review.model_copy(update={"alignments": ("absent",)})})
    one = absent_of(scored(others(), [result(pages=READ)], playbook=text))
    assert one.review_reason == "a clause is missing"


@pytest.mark.parametrize(
    ("findings", "changes"),
    [
        ([*others(), finding("cap_on_liability")], {}),
        ([*others(), finding("cap_on_liability", alignment="not_found", spans=(), page=None)], {}),
        (others()[:2], {}),
        ([*others()[:2], finding("hidden_text"), finding("instruction_to_model")], {}),
        (others(), {"state": "failed"}),
        (others("Amendment No 2.pdf"), {"document": "Amendment No 2.pdf"}),
        (others("x/Avenant n° 1.pdf"), {"document": "x/Avenant n° 1.pdf"}),
        (others("Schedule 3.pdf"), {"document": "Schedule 3.pdf"}),
    ],
)
def test_nothing_is_missed_of_what_has_it_may_have_it_or_is_no_agreement(
    findings: list[Finding], changes: dict[str, Any]
) -> None:
    assert lacking(findings, [result(**{"pages": READ, **changes})]) == []


def test_an_agreement_with_its_schedules_is_an_agreement() -> None:
    name = "Services Agreement with Schedules.pdf"
    assert len(lacking(others(name), [result(name, pages=READ)])) == 1


def test_nothing_is_missed_where_another_document_of_the_supplier_has_it() -> None:
    documents = [result(pages=READ, supplier="ACME, Inc."), result("b.pdf", 1, pages=READ, supplier="Acme Inc")]
    assert lacking([*others(), finding("cap_on_liability", document="b.pdf")], documents) == []
    assert len(lacking(others(), documents)) == 1


def test_a_rejected_clause_is_missing_and_a_rejected_absence_is_not() -> None:
    documents = [result(pages=READ, supplier="S")]
    rejected = finding("cap_on_liability", decision={"verdict": "reject"})
    assert len(lacking([*others(), rejected], documents)) == 1
    assert scored(others(), documents).documents["a.pdf"].score == 40
    assert scored(others(), documents, "accept").documents["a.pdf"].score == 40
    there = scored(others(), documents, "reject")
    assert (there.documents["a.pdf"].score, there.suppliers["S"].score) == (0, 0)
    assert absent_of(there).score == 0 and status_of(absent_of(there)) == "rejected"


def test_what_nobody_looked_for_is_not_missing() -> None:
    text = TEXT.replace("insurance", "pets").replace(
        '"Insurance" }\nquestion = "?"\n', f'"Pets" }}\nquestion = "?"\n{CAP}'
    )
    playbook = parse_playbook(text, "test")
    findings = [finding("governing_law"), finding("cap_on_liability"), finding("exclusivity")]
    local, asked = result(pages=READ, engine="local", language="en"), result(pages=READ, engine="openai")
    assert lacking(findings, [local], playbook) == []
    assert [one.about for one in lacking(findings, [asked], playbook)] == ["pets"]
    assert score(findings, [local], playbook).documents["a.pdf"].score == 0
    markdown = to_markdown(note_of(score(findings, [local], playbook), [local], playbook))
    assert "Not looked for in 1 document: Pets." in markdown and "No clause on “Pets”" not in markdown


def test_what_the_classifier_knows_has_english_rules() -> None:
    from nodes.domain.clauses.classifier import load_model

    assert set(map(str, load_model().types)) <= local_types("en")


def test_the_note_states_an_absence_with_its_coverage_and_cites_the_finding() -> None:
    documents = [result(pages=READ)]
    found = scored(others(), documents)
    note = note_of(found, documents)
    (said,) = [sentence for section in note.sections for sentence in section.sentences if sentence.kind == "absence"]
    assert said.text == "No clause on “Cap” was found in a.pdf (all 3 pages read)."
    assert said.finding_ids == (absent_of(found).finding_id,)
    markdown = to_markdown(note)
    assert "**Missing clause: Cap**" in markdown
    assert "no such clause was found in what was read" in markdown
    page = render_report(note)
    assert "Missing clause: Cap" in page and "<blockquote" in page and '<blockquote class=""></blockquote>' not in page


def test_an_absence_that_waits_or_was_rejected_is_not_stated() -> None:
    unread = [result(pages=(*READ, (4, "failed", "no text")))]
    waiting = to_markdown(note_of(scored(others(), unread), unread))
    assert waiting.count("No clause on “Cap” was found in a.pdf (medium risk)") == 1
    assert "No clause on “Cap” was found in a.pdf (3 of 4 pages read)" not in waiting
    accepted = to_markdown(note_of(scored(others(), unread, "accept"), unread))
    assert "No clause on “Cap” was found in a.pdf (3 of 4 pages read)" in accepted
    documents = [result(pages=READ)]
    rejected = to_markdown(note_of(scored(others(), documents, "reject"), documents))
    assert "No clause on “Cap” was found in a.pdf, but A. Martin says that it is there: it is in clause 9" in rejected
    assert "No clause on “Cap” was found in a.pdf (all" not in rejected
