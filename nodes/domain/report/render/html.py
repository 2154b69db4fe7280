"""Renderer of the note as one HTML file: works offline, and links every claim to its evidence and back."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from nodes.domain.evidence.findings import RISKS, Finding
from nodes.domain.evidence.note_model import Note, Section, Sentence, SupplierRating, has_risk, is_stated, status_of
from nodes.domain.report.render.markdown import anchor, decision_text, mark
from nodes.domain.report.wording.reasons import reasons_of
from nodes.domain.report.wording.texts import texts
from nodes.domain.report.wording.verdicts import moment, reviewers_of
from nodes.domain.report.writers.note_writer import place
from nodes.domain.shared.formats import (
    NAME_LIMIT,
    alignment_label,
    clean,
    count,
    number,
    one_line,
    risk_label,
    source_label,
)

_FRENCH_SPACE = re.compile(r" (?=[:;?!»])|(?<=«) ")


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """Facts about the run that the report shows beside its note; empty ones are left out of the page."""

    run: str = ""
    """Name and id, as people know the run."""
    documents: tuple[int, int] | None = None
    """(read, all)."""
    pages: tuple[int, int] | None = None
    """(read, all)."""
    cost: str = ""
    """As nodes.domain.shared.formats.money shows it."""
    engine: str = ""
    begun_at: datetime | None = None
    """Of the run, aware: when the note was made would give another file each time."""
    unit: str = "page"
    """What `pages` are: page, section, or place for both."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A link from a sentence to its evidence."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class _Reason:
    """A reason of a supplier's risk: the linked part, the rest, and the link to its evidence, "" for none."""

    head: str
    tail: str
    href: str


@dataclass(frozen=True, slots=True)
class _PageSentence:
    """A sentence as the page shows it."""

    id: str
    sentence: Sentence
    marks: tuple[_Mark, ...]


def render_report(note: Note, facts: ReportFacts | None = None) -> str:
    """Render the page; the same note and facts give the same bytes. Text of documents is cleaned and escaped."""
    table = texts(note.language)
    sections = [
        (f"part-{place}", section, _page_sentences(place, section)) for place, section in enumerate(note.sections)
    ]
    cited: dict[str, list[str]] = defaultdict(list)
    for _, _, sentences in sections:
        for sentence in sentences:
            for finding_id in sentence.sentence.finding_ids:
                cited[finding_id].append(sentence.id)
    page = _environment(note.language).get_template("report.html")
    return page.render(
        note=note,
        t=table,
        facts=facts or ReportFacts(),
        coverage=next((page_sentences for _, section, page_sentences in sections if section.kind == "coverage"), ()),
        risks=next((page_sentences for _, section, page_sentences in sections if section.kind == "risk"), ()),
        standings={one_line(rating.name, NAME_LIMIT): rating for rating in note.standings},
        reasons={rating.name: _reasons(note, rating) for rating in note.standings},
        targets={
            section.title: at
            for at, section, page_sentences in sections
            if section.kind == "supplier" and page_sentences
        },
        reviewers=reviewers_of(note.findings, note.language),
        weighed=has_risk(note),
        sections=[
            (at, section, page_sentences)
            for at, section, page_sentences in sections
            if section.kind not in ("coverage", "risk") and page_sentences
        ],
        evidence=[_evidence(note, finding, cited[finding.finding_id]) for finding in note.findings],
        ruling_anchors=[
            at for at, section, page_sentences in sections if section.kind == "decision" and page_sentences
        ],
        by_risk=_by_risk(note),
        risk_choices=[(risk, risk_label(risk, note.language)) for risk in reversed(RISKS)],
    )


def _page_sentences(place: int, section: Section) -> tuple[_PageSentence, ...]:
    return tuple(
        _PageSentence(
            f"s-{place}-{index}",
            sentence,
            tuple(_Mark(mark(finding_id), f"#{anchor(finding_id)}") for finding_id in sentence.finding_ids),
        )
        for index, sentence in enumerate(section.sentences)
    )


def _reasons(note: Note, rating: SupplierRating) -> list[_Reason]:
    finding_ids = {finding.finding_id for finding in note.findings}
    reasons = []
    for reason, ground in zip_longest(rating.reasons, rating.grounds[: len(rating.reasons)], fillvalue=""):
        head, colon, tail = reason.partition(texts(note.language)["colon"])
        reasons.append(_Reason(head, colon + tail, f"#{anchor(ground)}" if ground in finding_ids else ""))
    return reasons


def _by_risk(note: Note) -> list[tuple[str, str, int]]:
    """Count the findings of each risk, with its label; rejected ones do not count."""
    counting = [finding.risk for finding in note.findings if status_of(finding) != "rejected"]
    return [(risk, risk_label(risk, note.language), counting.count(risk)) for risk in reversed(RISKS)]


def _evidence(note: Note, finding: Finding, cited: Iterable[str]) -> dict[str, Any]:
    language = note.language
    return {
        "id": anchor(finding.finding_id),
        "mark": mark(finding.finding_id),
        "title": note.clause_title(finding),
        "supplier": one_line(finding.supplier, NAME_LIMIT),
        "place": place(finding, language),
        "quote": Markup(escape(clean(finding.quote))),
        "risk": finding.risk if finding.risk in RISKS else "low",
        "risk_label": risk_label(finding.risk, language),
        "score": finding.score,
        "status": status_of(finding),
        "stated": is_stated(finding),
        "status_label": texts(language)[f"status_{status_of(finding)}"],
        "alignment": alignment_label(finding.alignment, language),
        "reasons": reasons_of(note, finding),
        "decision": decision_text(finding, language),
        "confidence": _percent(finding.confidence, language) if 0 <= finding.confidence <= 1 else "",
        "source": source_label(one_line(finding.source, 80), language),
        "cited": list(cited),
    }


def _percent(share: float, language: str) -> str:
    return f"{share:.0%}".replace("%", "\u202f%") if language == "fr" else f"{share:.0%}"


@lru_cache(maxsize=2)
def _environment(language: str) -> Environment:
    environment = Environment(
        loader=PackageLoader("nodes.domain.report.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_french if language == "fr" else _clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["csp"] = _csp
    environment.filters["risk_label"] = risk_label
    environment.filters["moment"] = moment
    environment.filters["number"] = number
    environment.filters["count"] = count
    return environment


def _clean(value: object) -> object:
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _french(value: object) -> object:
    """Clean a text, with no-break spaces before the punctuation that French sets apart."""
    cleaned = _clean(value)
    return (
        cleaned if isinstance(cleaned, Markup) or not isinstance(cleaned, str) else _FRENCH_SPACE.sub("\u00a0", cleaned)
    )


def _csp(text: str) -> str:
    """Return the content-security-policy hash that allows exactly this inline text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
