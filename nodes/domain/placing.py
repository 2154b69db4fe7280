"""Gives what an engine proposes its place in the document: clauses become findings, statements become facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nodes.domain.clauses import Candidate, Finding, Location, finding_id
from nodes.domain.documents import DocumentText, SourceDocument
from nodes.domain.evidence import Locator
from nodes.domain.facts import Fact


def located(
    text: DocumentText, source: SourceDocument, candidates: Sequence[Candidate], supplier: str
) -> list[Finding]:
    """Candidates as findings with their place, one for each clause type and place, in order of the text."""
    locator = Locator(text)
    found: dict[str, Finding] = {}
    for candidate in candidates:
        place = locator.locate(candidate.quote, candidate.start)
        finding = Finding(
            finding_id=finding_id(source.sha256, candidate.clause_type, place, candidate.quote),
            document=source.document,
            document_sha256=source.sha256,
            supplier=supplier,
            clause_type=candidate.clause_type,
            quote=_own_words(text, place, candidate.quote),
            page=place.page,
            page_end=place.page_end,
            boxes=place.boxes,
            spans=place.spans,
            alignment=place.alignment,
            confidence=round(candidate.confidence, 4),
            source=candidate.source,
            disputed=candidate.disputed,
            unit=text.unit,
        )
        twin = _twin(found.values(), finding)
        if twin is None:
            found[finding.finding_id] = finding
        elif finding.confidence > twin.confidence:
            del found[twin.finding_id]
            found[finding.finding_id] = finding
    return sorted(found.values(), key=lambda finding: (finding.spans or ((1 << 60, 0),), finding.clause_type))


def lost_quotes(text: DocumentText, candidates: Iterable[Candidate]) -> frozenset[str]:
    """Quotes of these that the document does not have."""
    locator = Locator(text)
    quotes = {candidate.quote for candidate in candidates}
    return frozenset(quote for quote in quotes if locator.locate(quote).alignment == "not_found")


def located_facts(text: DocumentText, proposed: Iterable[Mapping[str, Any]]) -> list[Fact]:
    """Statements of an engine, {kind, value, quote, detail, start, source}, as facts with their place.

    They keep their order; the same value of one kind at the same place is one fact. What is not in the document is
    kept as not_found, for a person to see, never to be stated.
    """
    locator = Locator(text)
    found: dict[tuple[Any, ...], Fact] = {}
    for one in proposed:
        place = locator.locate(one["quote"], one.get("start"))
        fact = Fact(
            kind=one["kind"],
            value=one["value"],
            quote=_own_words(text, place, one["quote"]),
            detail=dict(one.get("detail") or {}),
            page=place.page,
            page_end=place.page_end,
            spans=place.spans,
            boxes=place.boxes,
            alignment=place.alignment,
            source=one["source"],
            unit=text.unit,
        )
        found.setdefault((fact.kind, fact.value, fact.spans or fact.quote), fact)
    return list(found.values())


def _own_words(text: DocumentText, place: Location, quote: str) -> str:
    """The document's words where located, else the engine's."""
    return " … ".join(text.text[start:end] for start, end in place.spans) or quote


def _twin(found: Iterable[Finding], finding: Finding) -> Finding | None:
    """A finding of the same type of which one lies within the other: the same clause, seen twice."""
    for other in found:
        if other.clause_type == finding.clause_type and (
            other.finding_id == finding.finding_id
            or (other.spans and finding.spans and _within(other.spans[0], finding.spans[0]))
        ):
            return other
    return None


def _within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return (one[0] <= other[0] and other[1] <= one[1]) or (other[0] <= one[0] and one[1] <= other[1])
