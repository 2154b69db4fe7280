"""Entries of a document in the search index, and the parsing of search queries. Pure.

An entry is a run of whole paragraphs of one page. Its words are lower case with single blanks between; the database
brings them to their stems by the language of the document. Punctuation is no part of a word, neither here nor in a
question, so that "22-18.031", "500 000 €" and "l'employeur" are found however they are written.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import itemgetter

from nodes.domain.text.documents import DocumentText, Page
from nodes.domain.text.normalise import unaccented
from nodes.domain.text.paragraphs import paragraphs

ENTRY_CHARS = 900
"""Short paragraphs are joined up to this length: all words of a question must stand in one entry."""

QUOTE_CHARS = 320
"""Characters of an entry that are shown around the matches."""

_NO_WORD = re.compile(r"[\W_]+")
_HYPHENATED = re.compile(r"\b(\w+)[-\u00ad\u2010]\n\s*(\w+)")
_TERM = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
_SENTENCE_START = re.compile(r"(?<=[.;:!?])\s+(?=[^\W\d_a-zà-ÿ]|[(“«\"\d])|\n\s*\n\s*")
_CURLY = str.maketrans("“”„«»", '"""""')


@dataclass(frozen=True, slots=True)
class Entry:
    """A piece of a document that a search finds as one."""

    start: int
    """Offset of its first character in `DocumentText.text`."""
    end: int
    """Offset behind its last character."""
    page: int
    """1-based."""
    words: str
    """Normalised words, of which the database makes stems."""


def entries_of(text: DocumentText) -> list[Entry]:
    """List the entries of a document in order; a document without words has an empty one.

    Running headers and footers are left out.
    """
    entries = [
        Entry(start, end, page.number, words)
        for page in text.pages
        for start, end in _pieces(text, page)
        if (words := index_words(_without_furniture(text, start, end)))
    ]
    return entries or [Entry(0, 0, 1, "")]


def index_words(text: str) -> str:
    """Normalise the words of a text, and repeat them without accents where it has any: either spelling finds it."""
    words = _words(f"{text} " + " ".join(head + tail for head, tail in _HYPHENATED.findall(text)))
    bare = unaccented(words)
    return words if bare == words else f"{words} {bare}"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search query in the syntax of `websearch_to_tsquery`; its words are normalised as an entry's are."""

    required: str
    """Words, "phrases" and `or`; "" when the query names no word."""
    excluded: str
    """Unwanted terms, each behind a minus, with and without accents."""

    @property
    def bare(self) -> str:
        """The required part without accents."""
        return unaccented(self.required)


def parse_query(question: str) -> SearchQuery:
    """Parse a typed query: words that must all be there, "phrases", one or another (also OR, OU), -without.

    What is written without blanks, such as 22-18.031 or L.1221-1, is searched as a phrase.
    """
    terms = [term for term in map(_term, _TERM.finditer(question.translate(_CURLY))) if term]
    required = [term for term in terms if term[0] != "-"]
    excluded = [term for term in terms if term[0] == "-"]
    while required and required[-1] == "or":
        required.pop()
    first = next((index for index, term in enumerate(required) if term != "or"), len(required))
    excluded_spellings = dict.fromkeys([*excluded, *map(unaccented, excluded)])
    return SearchQuery(" ".join(required[first:]), " ".join(excluded_spellings))


def words_in_place(text: str) -> str:
    """Blank everything but words and lower their case; all offsets stay."""
    return "".join((char.lower() if len(char.lower()) == 1 else char) if char.isalnum() else " " for char in text)


def excerpt(text: str, marks: list[tuple[int, int]]) -> tuple[int, int]:
    """Choose the part of a text to show, at most QUOTE_CHARS: the one with most marks, from the start of a sentence."""
    if len(text) <= QUOTE_CHARS:
        return 0, len(text)
    mark_starts = [start for start, _ in marks] or [0]
    best = max(mark_starts, key=lambda begin: (sum(begin <= s and e <= begin + QUOTE_CHARS for s, e in marks), -begin))
    inside = [end for start, end in marks if best <= start and end <= best + QUOTE_CHARS]
    spare = QUOTE_CHARS - ((inside[-1] if inside else best) - best)
    start = max(0, best - spare // 3)
    end = min(len(text), start + QUOTE_CHARS)
    start = max(0, end - QUOTE_CHARS)
    sentence_starts = [match.end() for match in _SENTENCE_START.finditer(text, start, best)]
    if sentence_starts:
        start = sentence_starts[0]
    elif start and (blank := text.find(" ", start, best)) >= 0:
        start = blank + 1
    if end < len(text) and (blank := text.rfind(" ", max([best, *inside]), end)) >= 0:
        end = blank
    return start, end


def _words(text: str) -> str:
    return _NO_WORD.sub(" ", unicodedata.normalize("NFKC", text).lower()).strip()


def _term(match: re.Match[str]) -> str:
    minus, phrase, word = match.groups()
    if word in ("or", "OR", "OU"):
        return "or"
    words = _words(phrase if word is None else word)
    if not words:
        return ""
    return minus + (f'"{words}"' if " " in words or words == "or" else words)


def _pieces(text: DocumentText, page: Page) -> Iterator[tuple[int, int]]:
    """The paragraphs of a page, short ones joined to what follows."""
    piece: tuple[int, int] | None = None
    for start, end in paragraphs(text.text, page.start, page.end):
        if piece is not None and end - piece[0] > ENTRY_CHARS:
            yield piece
            piece = None
        piece = (start if piece is None else piece[0], end)
    if piece is not None:
        yield piece


def _without_furniture(text: DocumentText, start: int, end: int) -> str:
    """The text of a piece without running heads and feet."""
    parts = []
    first = bisect_right(text.furniture, start, key=itemgetter(1))
    for low, high in takewhile(lambda span: span[0] < end, islice(text.furniture, first, None)):
        parts.append(text.text[start : max(low, start)])
        start = max(start, min(high, end))
    return " ".join([*parts, text.text[start:end]])
