"""Facts as temporary evidence of a note: added while its sentences are checked, removed afterwards."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding, Location, finding_id
from nodes.domain.evidence.note_model import Note, Sentence
from nodes.domain.runs.settings import DocumentResult


def fact_as_finding(fact: Fact, row: DocumentResult) -> Finding:
    """Convert a fact to a finding, the form of evidence that the check of sentences takes."""
    place = Location(fact.alignment, fact.spans, fact.page, fact.page_end)
    return Finding(
        finding_id="fact " + finding_id(row.sha256, fact.kind, place, fact.quote),
        document=row.document,
        document_sha256=row.sha256,
        supplier=row.supplier,
        clause_type=fact.kind,
        quote=fact.quote,
        page=fact.page,
        page_end=fact.page_end,
        boxes=(),
        spans=fact.spans,
        alignment=fact.alignment,
        confidence=1.0,
        source=fact.source,
        unit=fact.unit,
    )


def override_as_finding(finding: Finding) -> Finding:
    """Convert the place where an amendment touches a clause to a finding; it has no quote, since code found it."""
    override = finding.overridden or {}
    return Finding(
        finding_id=f"over {finding.finding_id}",
        document=override["by"],
        document_sha256="",
        supplier="",
        clause_type=finding.clause_type,
        quote="",
        page=int(override["page"]),
        page_end=int(override["page"]),
        boxes=(),
        spans=(),
        alignment="exact",
        confidence=1.0,
        source=finding.source,
        unit=override.get("unit", "page"),
    )


def without_evidence(note: Note, borrowed: Collection[str], links: Mapping[str, str]) -> Note:
    """Remove temporary evidence from a note; its marks become those of findings at the same place, if any."""
    sections = tuple(
        replace(section, sentences=tuple(_linked(sentence, borrowed, links) for sentence in section.sentences))
        for section in note.sections
    )
    return replace(
        note,
        sections=sections,
        findings=tuple(finding for finding in note.findings if finding.finding_id not in borrowed),
    )


def _linked(sentence: Sentence, borrowed: Collection[str], links: Mapping[str, str]) -> Sentence:
    marks = (links.get(mark, "") if mark in borrowed else mark for mark in sentence.finding_ids)
    return replace(sentence, finding_ids=tuple(dict.fromkeys(filter(None, marks))))
