"""The part of the facade that searches the documents of a matter, with the place of what it finds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from graph.composition import Container
from graph.runtime.postgres.ledger import entry_values
from graph.views.frames import frame, table
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.quote_locator import Locator
from nodes.domain.report.titles import title_of
from nodes.domain.shared.errors import ArtifactMissing, UserError
from nodes.domain.shared.formats import count, one_line, place_in, unit_of
from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import unaccented
from nodes.domain.text.search_entries import SearchQuery, entries_of, excerpt, parse_query, words_in_place

MOST = 1000
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
    """A passage that holds what was asked."""

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
    def shown(self) -> str:
        """The quote for a screen, of the same length: what moves a cursor or turns a line around is blank."""
        return "".join(char if char.isprintable() else " " for char in self.quote)

    def to_json(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in self.__slots__}
        return {**own, "marks": [list(mark) for mark in self.marks], "boxes": list(self.boxes)}


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
        """A pandas.DataFrame with one row a hit. Raises MissingPart without pandas."""
        return frame([hit.to_json() for hit in self], COLUMNS)

    def _repr_html_(self) -> str:
        head = unit_of(hit.unit for hit in self)
        title = f"{count(self.total, 'passage')} in {count(self.documents, 'document')}"
        return table(title, ("document", head, "passage", "title", "supplier"), [_cells(hit, head) for hit in self])


class Searching:
    """Satisfied by `Reprise`, which brings the stores."""

    parts: Container

    async def find(self, thread: str) -> str:
        raise NotImplementedError

    async def search(self, text: str, *, matter: str = "default", thread: str = "", limit: int = 20) -> SearchView:
        """Passages of a matter's documents that hold all words of `text`, or only those of one run.

        `text` may hold "phrases", one or another, and -without; words are compared by their stems, in French and
        English, with or without accents. A document is searched as soon as it is done. Raises UserError when the
        question names no word or the matter has no run, UnknownThread.
        """
        question = parse_query(text)
        if not question.required:
            raise UserError(f"“{one_line(text, 60)}” names no word to search for: give at least one.")
        if not 1 <= limit <= MOST:
            raise UserError(f"A search returns 1 to {MOST} passages, not {limit}.")
        thread_id = await self.find(thread) if thread else ""
        database = self.parts.outside.database
        if thread_id:
            row = await database.row("run_of_thread", thread_id=thread_id)
            matter = row["matter"] if row else matter
        where = {"matter": matter, "thread_id": thread_id}
        searched = await self._indexed(where)
        queries = await self._queries(question)
        rows = await database.rows("search", **where, **queries, limit=limit)
        missing = await database.row("not_searchable", **where) or {"n": 0}
        if not searched and not missing["n"]:
            raise UserError(await self._nothing(matter))
        if not rows and await self._says_nothing(where, question):
            raise UserError(f"“{one_line(text, 60)}” holds only words that stand everywhere: add one that says more.")
        first = rows[0] if rows else {"total": 0, "documents": 0}
        counts = {"total": first["total"], "documents": first["documents"]}
        counts |= {"searched": searched, "not_searched": missing["n"]}
        return SearchView(await self._hits(rows, question), text, matter, thread_id, counts)

    async def _indexed(self, where: Mapping[str, str]) -> int:
        """How many texts can be searched; those that an earlier version stored are taken into the index now."""
        database, rows = self.parts.outside.database, await self.parts.outside.database.rows("searchable", **where)
        lost = 0
        for row in rows:
            if row["indexed"]:
                continue
            text = await self._text(row["text_ref"])
            if text is None:
                lost += 1
                continue
            given = {"matter": where["matter"], "text_ref": row["text_ref"], "language": row["language"]}
            await database.execute("index_text", **given, **entry_values(entries_of(text)))
        return len(rows) - lost

    async def _queries(self, question: SearchQuery) -> dict[str, str]:
        """What is asked in the stems of each language."""
        given = {"wanted": question.required, "bare": question.bare, "unwanted": question.excluded}
        rows = await self.parts.outside.database.rows("questions", **given)
        names = {"fr": "french", "en": "english", "": "other"}
        return {names[row["language"]]: row["query"] for row in rows}

    async def _says_nothing(self, where: Mapping[str, str], question: SearchQuery) -> bool:
        """No word of the question is one that the index keeps, in any language of the documents."""
        spoken = {row["language"] for row in await self.parts.outside.database.rows("searchable", **where)}
        queries = await self._queries(SearchQuery(question.required, ""))
        kept = {"fr": queries["french"], "en": queries["english"]}
        return bool(spoken) and not any(kept.get(language, queries["other"]) for language in spoken)

    async def _hits(self, rows: Sequence[Mapping[str, Any]], question: SearchQuery) -> list[Hit]:
        texts = {ref: await self._text(ref) for ref in dict.fromkeys(row["text_ref"] for row in rows)}
        locators = {ref: Locator(text) for ref, text in texts.items() if text is not None}
        titles = {ref: await self._title(ref) for ref in dict.fromkeys(row["facts_ref"] for row in rows)}
        pieces = [text.text[row["start"] : row["stop"]] if (text := texts[row["text_ref"]]) else "" for row in rows]
        plain = [words_in_place(piece) for piece in pieces]
        bare = ["".join(b if len(b := unaccented(char)) == 1 else char for char in piece) for piece in plain]
        languages = [row["language"] for row in rows] * 2
        given = {"wanted": question.required, "bare": question.bare}
        found = await self.parts.outside.database.rows("marks", **given, languages=languages, texts=[*plain, *bare])
        marked = [_marks(row["marked"]) for row in found]
        return [
            _hit(
                {**row, "title": titles[row["facts_ref"]]},
                locators.get(row["text_ref"]),
                piece,
                sorted({*marked[place], *marked[place + len(rows)]}),
            )
            for place, (row, piece) in enumerate(zip(rows, pieces, strict=True))
        ]

    async def _text(self, ref: str) -> DocumentText | None:
        """None where the stored text is gone; a resume of its run makes it again."""
        try:
            return DocumentText.from_json(json.loads(await self.parts.outside.services.artifacts.get(ref)))
        except ArtifactMissing:
            return None

    async def _title(self, ref: str) -> str:
        try:
            stored = await self.parts.outside.services.artifacts.get(ref) if ref else b"[]"
        except ArtifactMissing:
            return ""
        return title_of([Fact.from_json(fact) for fact in json.loads(stored)])

    async def _nothing(self, matter: str) -> str:
        known = [row["matter"] for row in await self.parts.outside.database.rows("matters")]
        if matter in known or not known:
            return f"No document of matter {matter} is read yet: python run.py start SOURCE begins a run."
        return f"Matter {matter} has no run: name one that has with --matter ({', '.join(sorted(known))})."


def _hit(row: Mapping[str, Any], locator: Locator | None, piece: str, marks: list[Span]) -> Hit:
    start, end = excerpt(piece, marks)
    while start < end and piece[start].isspace():
        start += 1
    quote = piece[start:end].rstrip()
    inside = [(s - start, e - start) for s, e in marks if start <= s and e <= start + len(quote)]
    placed = locator.locate(quote, row["start"] + start).boxes if locator is not None and quote else ()
    boxes = tuple({name: getattr(box, name) for name in box.__slots__} for box in placed)
    own = {name: row[name] for name in ("document", "title", "supplier", "page", "unit", "thread_id")}
    return Hit(**own, document_sha256=row["sha256"], quote=quote, marks=tuple(inside), boxes=boxes, rank=row["rank"])


def _marks(marked: str) -> list[Span]:
    """Where the words stand that « and » enclose, in the text without these; neighbours are one."""
    found: list[Span] = []
    place = 0
    for part in marked.split("«"):
        inside, closed, after = part.partition("»")
        if closed:
            begun = place
            if found and place - found[-1][1] <= 1:
                begun = found.pop()[0]
            found.append((begun, place + len(inside)))
        place += len(inside) + len(after)
    return found


def _cells(hit: Hit, head: str) -> tuple[str, ...]:
    parts: list[str] = []
    last = 0
    for start, end in hit.marks:
        parts += [escape(hit.shown[last:start]), f"<b>{escape(hit.shown[start:end])}</b>"]
        last = end
    passage = " ".join("".join([*parts, escape(hit.shown[last:])]).split())
    return (
        escape(one_line(hit.document, 60)),
        place_in(hit.page, hit.unit, head),
        f"“{passage}”",
        escape(one_line(hit.title, 80)),
        escape(one_line(hit.supplier, 40)),
    )
