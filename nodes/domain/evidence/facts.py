"""Facts that a document states about itself: parties, dates, amounts, its number; each with a quote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodes.domain.evidence.findings import Alignment, Box


@dataclass(frozen=True, slots=True)
class Proposal:
    """A fact as an engine proposes it; nothing in it is trusted before its quote is located."""

    kind: str
    value: str
    quote: str
    detail: Mapping[str, Any]
    start: int | None
    """Offset where the engine read it, if known; a hint, not evidence."""
    source: str

    def to_json(self) -> dict[str, Any]:
        return {**{name: getattr(self, name) for name in self.__slots__}, "detail": dict(self.detail)}


@dataclass(frozen=True, slots=True)
class Fact:
    """One statement of a document, with the place where it stands."""

    kind: str
    """Slug: party, effective_date, notice_period, cap_amount, ecli, chamber, solution, statute …"""
    value: str
    """The value for people: a name, 2024-05-01, 12 months, EUR 500000."""
    quote: str
    """The document's own words from which the value follows."""
    detail: Mapping[str, Any]
    """The value in parts, JSON-plain, keys by kind: {"amount": "500000", "currency": "EUR"}; {} where it has none."""
    page: int | None
    """1-based page of the quote; None when it was not found."""
    page_end: int | None
    spans: tuple[tuple[int, int], ...]
    """Half-open offsets in DocumentText.text."""
    boxes: tuple[Box, ...]
    alignment: Alignment
    source: str
    """Engine that proposed it: local:facts@1, openai:gpt-4.1 …"""
    unit: str = "page"
    """What `page` counts: "page", or "section" for formats without pages."""

    @property
    def computed(self) -> bool:
        """Does the document state only what the value follows from, not the value itself?"""
        return self.detail.get("computed") is True

    def to_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in self.__slots__}
        boxes = [{name: getattr(box, name) for name in box.__slots__} for box in self.boxes]
        return {**plain, "detail": dict(self.detail), "boxes": boxes}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Fact:
        boxes = tuple(Box(**box) for box in data["boxes"])
        return cls(**{**data, "boxes": boxes, "spans": tuple((start, end) for start, end in data["spans"])})


def of_kind(facts: Sequence[Fact], kind: str) -> list[Fact]:
    """The facts of one kind, in their order."""
    return [fact for fact in facts if fact.kind == kind]
