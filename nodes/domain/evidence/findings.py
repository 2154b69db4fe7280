"""Candidates that an engine proposes, and findings that code has located."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Alignment = Literal["exact", "normalized", "fuzzy", "not_found", "absent"]
"""absent: of a clause that was looked for and not found; such a finding has no quote and no page."""
Risk = Literal["low", "medium", "high", "critical"]
RISKS: tuple[Risk, ...] = ("low", "medium", "high", "critical")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A clause as an engine proposes it; nothing in it is trusted before its quote is located."""

    clause_type: str
    """Slug of the playbook, for example cap_on_liability."""
    quote: str
    """The operative sentence, as the engine gives it."""
    confidence: float
    """0 to 1, the engine's own."""
    source: str
    """Engine that proposed it: local:rules@1, openai:gpt-4.1 …"""
    start: int | None = None
    """Offset where the engine read it, if known; a hint, not evidence."""
    disputed: str = ""
    """Which engine saw it and which did not; "" where they agree or only one looked."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in fractions of its width and height, origin top left."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Location:
    """The place of a quote in a document."""

    alignment: Alignment
    spans: tuple[tuple[int, int], ...] = ()
    """Half-open offsets in DocumentText.text; several when the quote was joined by an ellipsis."""
    page: int | None = None
    """1-based page of the first character; None when not found."""
    page_end: int | None = None
    boxes: tuple[Box, ...] = ()
    """One a line of print."""
    similarity: float = 0.0
    """0 to 1; 1 for exact and normalized."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A clause with its place; scored later, decided later still."""

    finding_id: str
    """Twelve hexadecimal digits of document, clause type and place: the same clause keeps its id over runs."""
    document: str
    document_sha256: str
    supplier: str
    """As the document names it; "" when it could not be told."""
    clause_type: str
    quote: str
    """The document's own words where located; else the engine's words, never stated as fact."""
    page: int | None
    page_end: int | None
    boxes: tuple[Box, ...]
    spans: tuple[tuple[int, int], ...]
    alignment: Alignment
    confidence: float
    source: str
    section: str = ""
    """The heading that it stands under; "" where none was seen."""
    risk: Risk = "low"
    score: int = 0
    """0 to 100."""
    reasons: tuple[str, ...] = ()
    """The chain of reasons behind the score, in order."""
    needs_review: bool = False
    review_reason: str = ""
    """Why a person must look; "" when nobody must."""
    decision: Mapping[str, Any] | None = field(default=None)
    """{verdict, reviewer, reason, at, packet} once decided."""
    about: str = ""
    """Of a missing clause: the clause type that was not found; "" for any other finding."""
    reviewers_needed: int = 1
    """Different people who must have decided the same before it counts as decided."""
    overridden: Mapping[str, Any] | None = field(default=None)
    """{by, unit, page, action, certain}: an amendment that takes its place, or, not certain, that may do so."""
    disputed: str = ""
    """Which engine saw it and which did not; "" where they agree or only one looked."""
    contradicts: str = ""
    """Which other clause of its document says otherwise, and what each says; "" for none."""
    unit: str = "page"
    """What `page` counts: "page", or "section" for formats without pages."""

    def to_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        boxes = ({name: getattr(box, name) for name in box.__slots__} for box in self.boxes)
        return {**plain, "boxes": tuple(boxes)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finding:
        return cls(
            **{
                **data,
                "boxes": tuple(Box(**box) for box in data["boxes"]),
                "spans": tuple((start, end) for start, end in data["spans"]),
                "reasons": tuple(data["reasons"]),
            }
        )

    def with_(self, **changes: Any) -> Finding:
        return replace(self, **changes)


def finding_id(document_sha256: str, clause_type: str, location: Location, quote: str) -> str:
    """Derive the id of a finding: from its place where it has one, else from the engine's words."""
    place = repr(location.spans) if location.spans else " ".join(quote.split()).casefold()
    return hashlib.sha256(f"{document_sha256}\n{clause_type}\n{place}".encode("utf-8", "replace")).hexdigest()[:12]
