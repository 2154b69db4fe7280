"""Search the documents of a matter; each passage comes with its place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from graph.composition import Container
from graph.runtime.postgres.ledger import entry_values
from graph.views.frames import frame, table
from graph.views.threads import find
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.quote_locator import Locator
from nodes.domain.report.titles import title_of
from nodes.domain.shared.errors import ArtifactMissing, UserError
from nodes.domain.shared.formats import count, one_line, place_in, unit_of
from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import unaccented
from nodes.domain.text.search_entries import SearchQuery, entries_of, excerpt, parse_query, words_in_place

MAX_HITS = 1000
"""Hits that one search returns at the most."""

COLUMNS = {
    "document": "string",
    "title": "string",
    "supplier": "string",
    "page": "Int64",
    "unit": "string",
    "quote": "string",
    "rank": "float64",
    "thread_id": "string",
}

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that holds the words of the question."""

    document: str
    """Path below the source of the newest run that has it."""
    document_sha256: str
    title: str
    """What the document calls itself: court, date and number of a decision, title of a contract; "" if nothing."""
    supplier: str
    """As the document names it; "" when it could not be told."""
    page: int
    """1-based."""
    unit: str
    """What `page` counts: "page", or "section" for formats without pages."""
    quote: str
    """The document's own words around what was found."""
    marks: tuple[Span, ...]
    """Where the words that were asked for stand in `quote`, half-open."""
    boxes: tuple[Mapping[str, Any], ...]
    """Where the quote stands, as in a finding; () for formats without pages."""
    rank: float
    """By frequency and nearness of the words; comparable within one search alone."""
    thread_id: str
    """Of the newest run of the matter that has the document."""

    @property
    def printable(self) -> str:
        """The quote for a screen, of the same length: what moves a cursor or turns a line around is blank."""
        return "".join(char if char.isprintable() else " " for char in self.quote)

    def to_json(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in self.__slots__}
        return {**columns, "marks": [list(mark) for mark in self.marks], "boxes": list(self.boxes)}


class SearchView(list[Hit]):
    """Hits, the best first; a list in every respect."""

    def __init__(self, hits: Sequence[Hit], query: str, matter: str, thread_id: str, counts: Mapping[str, int]) -> None:
        super().__init__(hits)
        self.query, self.matter, self.thread_id = query, matter, thread_id
        self.total, self.documents = counts["total"], counts["documents"]
        """Passages and documents that hold what was asked, also those beyond the limit."""
        self.searched, self.not_searched = counts["searched"], counts["not_searched"]
        """Documents that were searched, and those of which no text was read."""

    def to_json(self) -> dict[str, Any]:
        names = ("query", "matter", "thread_id", "total", "documents", "searched", "not_searched")
        return {**{name: getattr(self, name) for name in names}, "hits": [hit.to_json() for hit in self]}

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame with one row a hit. Raises MissingPart without pandas."""
        return frame([hit.to_json() for hit in self], COLUMNS)

    def _repr_html_(self) -> str:
        head = unit_of(hit.unit for hit in self)
        title = f"{count(self.total, 'passage')} in {count(self.documents, 'document')}"
        return table(title, ("document", head, "passage", "title", "supplier"), [_cells(hit, head) for hit in self])


async def search(container: Container, text: str, *, matter: str, thread: str, limit: int) -> SearchView:
    """Find passages of a matter's documents that hold all words of `text`, or only those of one run.

    `text` may hold "phrases", one or another, and -without; words are compared by their stems, in French and
    English, with or without accents. A document is searched as soon as it is done. Raises UserError when the
    question names no word or the matter has no run, UnknownThread.
    """
    question = parse_query(text)
    if not question.required:
        raise UserError(f"“{one_line(text, 60)}” names no word to search for: give at least one.")
    if not 1 <= limit <= MAX_HITS:
        raise UserError(f"A search returns 1 to {MAX_HITS} passages, not {limit}.")
    thread_id = await find(container, thread) if thread else ""
    database = container.database
    if thread_id:
        row = await database.row("run_of_thread", thread_id=thread_id)
        matter = row["matter"] if row else matter
    scope = {"matter": matter, "thread_id": thread_id}
    searched = await _count_indexed(container, scope)
    queries = await _queries(container, question)
    rows = await database.rows("search", **scope, **queries, limit=limit)
    missing = await database.row("not_searchable", **scope) or {"n": 0}
    if not searched and not missing["n"]:
        raise UserError(await _nothing_to_search(container, matter))
    if not rows and await _lacks_stems(container, scope, question):
        raise UserError(f"“{one_line(text, 60)}” holds only words that stand everywhere: add one that says more.")
    first = rows[0] if rows else {"total": 0, "documents": 0}
    counts = {"total": first["total"], "documents": first["documents"]}
    counts |= {"searched": searched, "not_searched": missing["n"]}
    return SearchView(await _hits(container, rows, question), text, matter, thread_id, counts)


async def _count_indexed(container: Container, scope: Mapping[str, str]) -> int:
    """Count the texts that can be searched; those that an earlier version stored are taken into the index now."""
    database = container.database
    rows = await database.rows("searchable", **scope)
    lost = 0
    for row in rows:
        if row["indexed"]:
            continue
        text = await _text(container, row["text_ref"])
        if text is None:
            lost += 1
            continue
        key = {"matter": scope["matter"], "text_ref": row["text_ref"], "language": row["language"]}
        await database.execute("index_text", **key, **entry_values(entries_of(text)))
    return len(rows) - lost


async def _queries(container: Container, question: SearchQuery) -> dict[str, str]:
    """Translate the question into the stems of each language."""
    words = {"wanted": question.required, "bare": question.bare, "unwanted": question.excluded}
    rows = await container.database.rows("questions", **words)
    names = {"fr": "french", "en": "english", "": "other"}
    return {names[row["language"]]: row["query"] for row in rows}


async def _lacks_stems(container: Container, scope: Mapping[str, str], question: SearchQuery) -> bool:
    """True when no word of the question is one that the index holds, in any language of the documents."""
    languages = {row["language"] for row in await container.database.rows("searchable", **scope)}
    queries = await _queries(container, SearchQuery(question.required, ""))
    stems = {"fr": queries["french"], "en": queries["english"]}
    return bool(languages) and not any(stems.get(language, queries["other"]) for language in languages)


async def _hits(container: Container, rows: Sequence[Mapping[str, Any]], question: SearchQuery) -> list[Hit]:
    texts = {ref: await _text(container, ref) for ref in dict.fromkeys(row["text_ref"] for row in rows)}
    locators = {ref: Locator(text) for ref, text in texts.items() if text is not None}
    titles = {ref: await _title(container, ref) for ref in dict.fromkeys(row["facts_ref"] for row in rows)}
    pieces = [text.text[row["start"] : row["stop"]] if (text := texts[row["text_ref"]]) else "" for row in rows]
    plain = [words_in_place(piece) for piece in pieces]
    bare = ["".join(b if len(b := unaccented(char)) == 1 else char for char in piece) for piece in plain]
    languages = [row["language"] for row in rows] * 2
    words = {"wanted": question.required, "bare": question.bare}
    marked_rows = await container.database.rows("marks", **words, languages=languages, texts=[*plain, *bare])
    marks = [_marks(row["marked"]) for row in marked_rows]
    return [
        _hit(
            {**row, "title": titles[row["facts_ref"]]},
            locators.get(row["text_ref"]),
            piece,
            sorted({*marks[place], *marks[place + len(rows)]}),
        )
        for place, (row, piece) in enumerate(zip(rows, pieces, strict=True))
    ]


async def _text(container: Container, ref: str) -> DocumentText | None:
    """Read a document's text; None where it is gone, until a resume of its run makes it again."""
    try:
        return DocumentText.from_json(json.loads(await container.artifacts.get(ref)))
    except ArtifactMissing:
        return None


async def _title(container: Container, ref: str) -> str:
    try:
        stored = await container.artifacts.get(ref) if ref else b"[]"
    except ArtifactMissing:
        return ""
    return title_of([Fact.from_json(fact) for fact in json.loads(stored)])


async def _nothing_to_search(container: Container, matter: str) -> str:
    """Say why a matter has no document to search."""
    matters = [row["matter"] for row in await container.database.rows("matters")]
    if matter in matters or not matters:
        return f"No document of matter {matter} is read yet: python run.py start SOURCE begins a run."
    return f"Matter {matter} has no run: name one that has with --matter ({', '.join(sorted(matters))})."


def _hit(row: Mapping[str, Any], locator: Locator | None, piece: str, marks: list[Span]) -> Hit:
    start, end = excerpt(piece, marks)
    while start < end and piece[start].isspace():
        start += 1
    quote = piece[start:end].rstrip()
    quote_marks = [
        (first - start, last - start) for first, last in marks if start <= first and last <= start + len(quote)
    ]
    located = locator.locate(quote, row["start"] + start).boxes if locator is not None and quote else ()
    boxes = tuple({name: getattr(box, name) for name in box.__slots__} for box in located)
    columns = {name: row[name] for name in ("document", "title", "supplier", "page", "unit", "thread_id")}
    return Hit(
        **columns, document_sha256=row["sha256"], quote=quote, marks=tuple(quote_marks), boxes=boxes, rank=row["rank"]
    )


def _marks(marked: str) -> list[Span]:
    """Spans of the words that « and » enclose, in the text without these; neighbours are one."""
    spans: list[Span] = []
    place = 0
    for part in marked.split("«"):
        inside, closed, after = part.partition("»")
        if closed:
            start = place
            if spans and place - spans[-1][1] <= 1:
                start = spans.pop()[0]
            spans.append((start, place + len(inside)))
        place += len(inside) + len(after)
    return spans


def _cells(hit: Hit, head: str) -> tuple[str, ...]:
    parts: list[str] = []
    last = 0
    for start, end in hit.marks:
        parts += [escape(hit.printable[last:start]), f"<b>{escape(hit.printable[start:end])}</b>"]
        last = end
    passage = " ".join("".join([*parts, escape(hit.printable[last:])]).split())
    return (
        escape(one_line(hit.document, 60)),
        place_in(hit.page, hit.unit, head),
        f"“{passage}”",
        escape(one_line(hit.title, 80)),
        escape(one_line(hit.supplier, 40)),
    )
