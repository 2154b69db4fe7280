"""Locates proposals of an engine in the document: candidates become findings, proposals become facts."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Candidate, Finding, Location, finding_id
from nodes.domain.evidence.quote_locator import Locator
from nodes.domain.text.documents import DocumentText, SourceDocument
from nodes.domain.text.sentences import Sentence, sentences

LOCAL = "local:"
"""Prefix of sources that quote whole sentences, or less on purpose."""

_WORD = re.compile(r"[^\W_]{2,}")
_NUMBERED = re.compile(r"^\W*(?:(?:article|section|clause)\s+)?(?:\d[\d.]*|[ivxlc]+\b)?\W*", re.IGNORECASE)
_FIGURE_OR_COLON = re.compile(r"\d|\w\s?:\s*\w")
"""A figure or a colon: behind its number, a heading has neither."""
MIN_WORDS = 3
"""Least words of sentences, not of headings, in a quote that states something."""


def locate_candidates(
    text: DocumentText, source: SourceDocument, candidates: Sequence[Candidate], supplier: str
) -> list[Finding]:
    """Turn candidates into findings with their place, one for each clause type and place, in order of the text.

    A negation that a model's quote left out of its sentence is added again.
    """
    locator = Locator(text)
    by_id: dict[str, Finding] = {}
    for candidate in candidates:
        place = locator.locate(candidate.quote, candidate.start)
        place = place if candidate.source.startswith(LOCAL) else locator.with_negations(place)
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
        twin = _earlier_twin(by_id.values(), finding)
        if twin is None:
            by_id[finding.finding_id] = finding
        elif finding.confidence > twin.confidence:
            del by_id[twin.finding_id]
            by_id[finding.finding_id] = finding
    return sorted(by_id.values(), key=lambda finding: (finding.spans or ((1 << 60, 0),), finding.clause_type))


def lost_quotes(text: DocumentText, candidates: Iterable[Candidate]) -> frozenset[str]:
    """Collect the quotes of candidates that the document does not have."""
    locator = Locator(text)
    quotes = {candidate.quote for candidate in candidates}
    return frozenset(quote for quote in quotes if locator.locate(quote).alignment == "not_found")


def bare_quotes(text: DocumentText, candidates: Iterable[Candidate]) -> frozenset[str]:
    """Collect the quotes that stand in the document and state nothing: a heading alone, or a word or two.

    A line of a table of terms, such as "Cap: EUR 5,000", states something.
    """
    locator, split = Locator(text), sentences(text)
    starts = [sentence.start for sentence in split]
    bare = set()
    for candidate in candidates:
        if _FIGURE_OR_COLON.search(_NUMBERED.sub("", candidate.quote)):
            continue
        spans = locator.locate(candidate.quote, candidate.start).spans
        if spans and sum(_word_count(text.text, split, starts, span) for span in spans) < MIN_WORDS:
            bare.add(candidate.quote)
    return frozenset(bare)


def _word_count(text: str, split: Sequence[Sentence], starts: Sequence[int], span: tuple[int, int]) -> int:
    """Count the words of sentences in a span; letters that number them do not count."""
    within = split[max(bisect_right(starts, span[0]) - 1, 0) : bisect_left(starts, span[1])]
    return sum(
        len(_WORD.findall(text, max(sentence.start, span[0]), min(sentence.end, span[1]))) for sentence in within
    )


def states_name(text: DocumentText, name: str, quote: str) -> bool:
    """Does the document have this name, and the quote that gives it?"""
    locator = Locator(text)
    return all(locator.locate(words).alignment != "not_found" for words in (name, quote) if words)


def locate_facts(text: DocumentText, proposed: Iterable[Mapping[str, Any]]) -> list[Fact]:
    """Turn proposals of an engine, {kind, value, quote, detail, start, source}, into facts with their place.

    They keep their order; the same value of one kind at the same place is one fact. What is not in the document is
    kept as not_found, for a person to see, never to be stated.
    """
    locator = Locator(text)
    facts: dict[tuple[Any, ...], Fact] = {}
    for proposal in proposed:
        place = locator.locate(proposal["quote"], proposal.get("start"))
        fact = Fact(
            kind=proposal["kind"],
            value=proposal["value"],
            quote=_own_words(text, place, proposal["quote"]),
            detail=dict(proposal.get("detail") or {}),
            page=place.page,
            page_end=place.page_end,
            spans=place.spans,
            boxes=place.boxes,
            alignment=place.alignment,
            source=proposal["source"],
            unit=text.unit,
        )
        facts.setdefault((fact.kind, fact.value, fact.spans or fact.quote), fact)
    return list(facts.values())


def _own_words(text: DocumentText, place: Location, quote: str) -> str:
    """Quote the document's words where located, else the engine's."""
    return " … ".join(text.text[start:end] for start, end in place.spans) or quote


def _earlier_twin(earlier: Iterable[Finding], finding: Finding) -> Finding | None:
    """Find an earlier finding of the same clause: of the same type, one within the other."""
    for candidate in earlier:
        if candidate.clause_type == finding.clause_type and (
            candidate.finding_id == finding.finding_id
            or (candidate.spans and finding.spans and _within(candidate.spans[0], finding.spans[0]))
        ):
            return candidate
    return None


def _within(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return (first[0] <= second[0] and second[1] <= first[1]) or (second[0] <= first[0] and first[1] <= second[1])
