"""Why a supplier stands where it does: each reason leads to the quote that gives it, on a page of a named document."""

from __future__ import annotations

import json
import re

import pytest
from sample_absences import CAP, OTHERS, TEXT, note_of, scored
from sample_findings import finding, result

from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import Note
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.report.render.html import render_report
from nodes.domain.report.render.markdown import to_markdown

PAGES = ((1, "read", ""), (2, "read", ""))
WEIGHED = TEXT.replace(
    '"Law" }\nquestion = "?"\n', '"Law" }\nquestion = "?"\npoints = 30\nreason = "not ours"\n'
).replace('"Insurance" }\nquestion = "?"\n', '"Insurance" }\nquestion = "?"\npoints = 10\nreason = "costly"\n')
PLAYBOOK = parse_playbook(WEIGHED.replace('"Cap" }\nquestion = "?"\n', '"Cap" }\nquestion = "?"\n' + CAP), "test")


def note(documents: dict[str, list[Finding]], supplier: str = "Acme Ltd") -> Note:
    rows = [result(name, place, pages=PAGES, supplier=supplier) for place, name in enumerate(documents)]
    findings = [one for mine in documents.values() for one in mine]
    return note_of(scored(findings, rows, playbook=PLAYBOOK), rows, PLAYBOOK)


def found(name: str, document: str, page: int = 1) -> Finding:
    return finding(name, f"{name} of {document}", document, page=page, page_end=page)


def test_a_reason_names_its_document_where_a_supplier_has_several_and_leads_to_its_quote() -> None:
    law, insurance = found("governing_law", "acme/law.pdf", 2), found("insurance", "acme/order.pdf")
    made = note({"acme/order.pdf": [insurance], "acme/law.pdf": [law]})
    (standing,) = made.standings
    assert standing.reasons == ("30 Law, law.pdf, page 2: +30 not ours", "10 Insurance, order.pdf, page 1: +10 costly")
    assert standing.grounds == (law.finding_id, insurance.finding_id)
    links = re.findall(r'<li><a href="#(f-[^"]+)">([^<]+)</a>: \+', render_report(made))
    assert [name for _, name in links] == ["30 Law, law.pdf, page 2", "10 Insurance, order.pdf, page 1"]
    assert "30 Law, law.pdf, page 2: +30 not ours" in to_markdown(made)
    assert Note.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_the_only_document_of_a_supplier_is_not_named_in_each_reason_and_two_of_one_name_are_told_apart() -> None:
    (alone,) = note({"acme/a.pdf": [found("governing_law", "acme/a.pdf")]}).standings
    assert alone.reasons == ("30 Law, page 1: +30 not ours",)
    twice = {name: [found("governing_law", name, page)] for page, name in enumerate(("2024/a.pdf", "2025/a.pdf"), 1)}
    (same,) = note(twice).standings
    assert same.reasons == ("30 Law, 2024/a.pdf, page 1: +30 not ours",)


def test_a_clause_that_is_missing_leads_to_what_was_read_for_it() -> None:
    made = note({"a.pdf": [found(name, "a.pdf") for name in OTHERS]})
    (standing,) = made.standings
    (missing,) = [one.finding_id for one in made.findings if one.about]
    assert dict(zip(standing.reasons, standing.grounds, strict=True))["40 Cap: no limit"] == missing


def test_the_name_of_a_supplier_leads_to_its_section() -> None:
    page = render_report(note({"a.pdf": [found(name, "a.pdf") for name in OTHERS]}))
    target = re.search(r'scope="row"><a href="#(part-\d+)">Acme Ltd</a>', page)
    assert target is not None
    assert f'<section id="{target[1]}" class="supplier"' in page


def test_a_note_of_an_earlier_version_is_shown_without_links_from_its_reasons() -> None:
    data = json.loads(json.dumps(note({"a.pdf": [found(name, "a.pdf") for name in OTHERS]}).to_json()))
    del data["standings"][0]["grounds"]
    page = render_report(Note.from_json(data))
    assert "<li>30 Law, page 1: +30 not ours</li>" in page


@pytest.mark.parametrize("last", ["amendment 3.pdf", "amendment 4.pdf"])
def test_a_long_path_keeps_the_end_that_tells_it_apart(last: str) -> None:
    name = (
        f"Suppliers/2024/Lot 3 - Information systems/Signed contracts/{'Framework agreement on services ' * 2}- {last}"
    )
    assert len(name) > 120
    shown = to_markdown(note({name: [found(each, name) for each in OTHERS]}))
    assert f"{last}, page 1; medium risk" in shown
