from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from html.parser import HTMLParser

import pytest
from sample_notes import DECIDED, HOSTILE, make_document, make_finding, make_note

from nodes.domain.evidence.note_model import SupplierRating
from nodes.domain.report.render.html import ReportFacts, render_report
from nodes.domain.shared.formats import money

FACTS = ReportFacts(
    "acme-suppliers · 6f1c2d3e",
    (2, 3),
    (13, 14),
    money(Decimal("0")),
    "local",
    datetime(2026, 11, 29, 3, 12, tzinfo=UTC),
)


class Page(HTMLParser):
    """Every tag with its attributes, and how often each id stands."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def values(self, name: str) -> list[str]:
        return [value for _, attrs in self.tags if (value := attrs.get(name)) is not None]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_link_of_the_report_has_its_target_and_no_id_stands_twice(language: str) -> None:
    page = Page(render_report(make_note(language), FACTS))
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.values("href")} <= set(ids)
    assert "f-a1" in ids and page.values("lang") == [language]


def test_the_report_asks_nothing_of_a_network_and_runs_only_its_own_script() -> None:
    html = render_report(make_note(), FACTS)
    page = Page(html)
    assert all(link.startswith("#") for link in page.values("href"))
    assert not page.values("src") and "url(" not in html and "@import" not in html
    policy = page.values("content")[0]
    assert "default-src 'none'" in policy and policy.count("'sha256-") == 2
    assert not page.values("style") and not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]


def test_claims_lead_to_their_evidence_and_back() -> None:
    html = render_report(make_note(), FACTS)
    sentence = re.search(r'<li id="(s-\d+-\d+)" class="fact">(.*?)</li>', html, re.DOTALL)
    assert sentence is not None and 'href="#f-a1"' in sentence.group(2)
    card = html[html.index('<article id="f-a1"') :]
    assert f'href="#{sentence.group(1)}"' in card[: card.index("</article>")]


def test_the_report_shows_what_was_not_read_before_anything_else() -> None:
    html = render_report(make_note(), FACTS)
    main = html[html.index("<main") :]
    assert main.index("Completed with failures: 2 of 3 documents were read.") < main.index("<table")
    assert "broken.pdf was not read (failed): not a PDF." in main and 'class="banner incomplete"' in main
    assert "2026-11-29 03:12 UTC" in html and "$0.00" in html


def test_the_report_has_landmarks_one_first_heading_and_labels() -> None:
    tags = [tag for tag, _ in Page(render_report(make_note(), FACTS)).tags]
    assert tags.count("h1") == 1 and tags.count("main") == 1 and tags.count("nav") == 1
    assert tags.count("label") == tags.count("input") + tags.count("select")


def test_hostile_text_has_no_meaning_in_the_report() -> None:
    hostile = HOSTILE + "\"' onload=x </style></script>{{ 7*7 }}"
    findings = [
        make_finding("a1", hostile, document=hostile, supplier=hostile, reasons=(hostile,), clause_type=hostile),
        make_finding("a2", hostile, decision={**DECIDED, "reason": hostile, "reviewer": hostile}, source=hostile),
        make_finding('"><b>', hostile, needs_review=True, review_reason=hostile, risk='"><b>'),
    ]
    documents = [make_document(0, hostile, hostile, warnings=(hostile,), state="failed", reason=hostile)]
    standings = [SupplierRating(hostile, "high", 9, (hostile,))]
    note = make_note(title=hostile, findings=findings, documents=documents, ratings=standings)
    html = render_report(note, ReportFacts(hostile, cost=hostile, engine=hostile))
    html.encode()
    page = Page(html)
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 1 and tags.count("style") == 1 and "b" not in tags[: tags.index("dl")]
    assert "img" not in tags and "onload" not in {name for _, attrs in page.tags for name in attrs}
    assert not any(bad in html for bad in ("\x1b", "\u202e", "\x00", "<script>alert", ">49<"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html


def test_the_same_note_gives_the_same_bytes() -> None:
    assert render_report(make_note(), FACTS) == render_report(make_note(), FACTS)


def test_a_report_without_findings_says_so_without_an_empty_table() -> None:
    html = render_report(make_note(findings=(), documents=(), ratings=()))
    assert "No document was read." in html and "No supplier was scored." in html and "<table" not in html


def test_the_report_says_at_its_head_who_decided_and_how_often() -> None:
    again = make_finding("a9", "A quote.", decision={**DECIDED, "verdict": "accept", "reviewer": "B. Roy"})
    findings = [make_finding("b1", "Limitation of liability", decision=DECIDED), again, replace(again, finding_id="a8")]
    html = render_report(make_note(findings=findings), FACTS)
    assert "<span>Decided by B. Roy (2 decisions), A. Martin (1 decision)</span>" in html
    assert "Decided by" not in render_report(make_note(findings=[make_finding("a1", "A quote.")]), FACTS)


def test_what_is_folded_on_the_screen_is_opened_for_the_printer() -> None:
    standings = [SupplierRating("Acme SAS", "high", 62, tuple(f"{n} Clause {n}: +{n} reason" for n in range(9, 0, -1)))]
    html = render_report(make_note(ratings=standings), FACTS)
    assert "<summary>and 3 more</summary>" in html
    script = html[html.rindex("<script>") :]
    assert re.search(r'"beforeprint".*querySelectorAll\("details"\).*open = true', script, re.DOTALL)


def test_how_the_note_was_made_is_in_the_contents() -> None:
    html = render_report(make_note(), FACTS)
    contents = html[html.index("<nav") : html.index("</nav>")]
    assert "How this note was made" in contents and "Acme SAS" not in contents
