"""Source documents as frozen at ingest, and document texts with the place of every word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nodes.domain.text.word_boxes import WordPlace, to_text
from nodes.domain.text.word_boxes import from_json as words_from_json

PageState = Literal["read", "ocr", "empty", "failed", "skipped"]
PAGE_STATES: tuple[PageState, ...] = ("read", "ocr", "empty", "failed", "skipped")

PAGE_BREAK = "\f"
"""Stands between two pages in `DocumentText.text` and belongs to neither."""

TICKED, UNTICKED = "☒", "☐"
"""Characters in the text for a ticked and an unticked box of a form."""

BOX_UNIT = 10_000
"""Word boxes are whole numbers of 1/10,000 of the page's width and height, origin top left."""


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One input file as it was when the run began."""

    document: str
    """Path below the source, with forward slashes: the name that people see."""
    sha256: str
    """Of its bytes, lower-case hexadecimal."""
    bytes: int
    """Size at ingest."""
    modified_ns: int
    """Modification time at ingest, nanoseconds since 1970."""
    path: str
    """Absolute path; for an embedded file, that of the outermost container."""
    container: str = ""
    """Name of the document that carries it; "" for a file of its own."""
    inside: tuple[int, ...] = ()
    """Its place in the file at `path`, from the outermost container inwards; () for the file itself."""
    skipped: str = ""
    """Why it is listed and not read; "" for a document that is read."""

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SourceDocument:
        return cls(**{**data, "inside": tuple(data.get("inside", ()))})


def passwords_for(document: str, passwords: Mapping[str, str]) -> list[str]:
    """Passwords that may open a document or a container of it: its own, its containers', the one for all."""
    names = [document]
    while "#" in names[-1]:
        names.append(names[-1].rpartition("#")[0])
    return list(dict.fromkeys(passwords[name] for name in (*names, "*") if name in passwords))


@dataclass(frozen=True, slots=True)
class Page:
    """One page (or section, for formats without pages) in exactly one state."""

    number: int
    """1-based."""
    state: PageState
    reason: str
    """Why, when the state is empty, failed or skipped, or why OCR was used; else ""."""
    start: int
    """Offset of its first character in `DocumentText.text`."""
    end: int
    """Offset behind its last character (half-open)."""
    width: float
    """Points, as the page is shown (after rotation)."""
    height: float
    words: Sequence[WordPlace] = ()
    """In reading order; empty for formats without pages."""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of one document: its pages in order, joined by PAGE_BREAK."""

    sha256: str
    """Of the document's bytes."""
    text: str
    pages: tuple[Page, ...]
    language: str
    """"en", "fr" or "" when it cannot be told."""
    warnings: tuple[str, ...] = ()
    """Sentences for the note: wrong extension, repaired, hidden text, attachments not read …"""
    furniture: tuple[tuple[int, int], ...] = ()
    """Spans of `text`, in order: running headers, footers and page numbers, no part of the clause around them."""
    hidden: tuple[tuple[int, str, str], ...] = ()
    """(page number, why, text) of what a person does not see on the page; it is not in `text`."""
    unit: str = "page"
    """What `pages` are: "page", or "section" for formats without pages."""
    instructions: tuple[tuple[int, int], ...] = ()
    """Spans of `text` that address whoever reads it by machine; they are evidence, and are never sent to a model."""

    def page_at(self, offset: int) -> Page:
        """Find the page that holds this offset; a page break counts to the page before it."""
        low, high = 0, len(self.pages) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self.pages[middle].start <= offset:
                low = middle
            else:
                high = middle - 1
        return self.pages[low]

    def pages_between(self, start: int, end: int) -> Iterator[Page]:
        """Yield the pages that share a character with [start, end)."""
        for page in self.pages:
            if page.start < end and start < page.end:
                yield page

    def to_json(self) -> dict[str, Any]:
        pages = [
            [p.number, p.state, p.reason, p.start, p.end, p.width, p.height, to_text(p.words, p.start)]
            for p in self.pages
        ]
        return {
            "sha256": self.sha256,
            "language": self.language,
            "warnings": list(self.warnings),
            "pages": pages,
            "furniture": self.furniture,
            "hidden": self.hidden,
            "unit": self.unit,
            "text": self.text,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DocumentText:
        pages = tuple(
            Page(number, state, reason, start, end, width, height, words_from_json(words, start))
            for number, state, reason, start, end, width, height, words in data["pages"]
        )
        furniture = tuple((start, end) for start, end in data.get("furniture", ()))
        hidden = tuple((number, why, text) for number, why, text in data.get("hidden", ()))
        warnings, unit = tuple(data["warnings"]), data.get("unit", "page")
        return cls(data["sha256"], data["text"], pages, data["language"], warnings, furniture, hidden, unit)
