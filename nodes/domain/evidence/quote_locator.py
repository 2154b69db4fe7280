"""Locates quotes in a document, or finds that they are not there."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from nodes.domain.evidence.ellipsis import EllipsisCheck
from nodes.domain.evidence.findings import Alignment, Box, Location
from nodes.domain.evidence.fuzzy_match import (
    MAX_FUZZY_CHARS,
    MIN_FUZZY_CHARS,
    NEGATIVE_PREFIXES,
    SEEDS,
    align,
    cuts_nothing,
    diagonals,
    nearest,
)
from nodes.domain.text.documents import BOX_UNIT, DocumentText, Page
from nodes.domain.text.normalise import Folded, Span, fold
from nodes.domain.text.quantities import negations, numbers_in
from nodes.domain.text.sentences import sentences

NOT_FOUND = Location("not_found")

ELLIPSIS_REACH, ELLIPSIS_MIN_CHARS = 2_000, 20
"""Greatest distance between spans of a quote with an ellipsis, and the letters of each from which it is not held."""

HINT_REACH = 100
"""Characters around a hint that count as its place."""

_ELLIPSIS = re.compile(r"\s*(?:[\[(]\s*(?:\.{3,}|…)\s*[\])]|\.{3,}|…|(?:\. ){2,}\.)\s*")
_EDGE_PUNCTUATION = ".,;:!?()[]"
_PIVOT_WORDS = (
    "may shall must should can peut doit devra pourra peuvent doivent limited unlimited limité limitée illimité"
    " illimitée before after avant après less more moins plus minimum maximum least most including excluding except"
    " excepté hormis exclusive nonexclusive supplier vendor provider contractor licensor licensee customer client buyer"
    " seller purchaser lessor lessee prestataire fournisseur titulaire acheteur vendeur bailleur preneur employer"
    " employee"
)
"""Words that reverse the sense of a sentence; a quote that differs in one of them is another sentence."""
_PIVOTS = frozenset(_PIVOT_WORDS.split())


@dataclass(frozen=True, slots=True)
class _QuotePlace:
    alignment: Alignment
    span: Span
    similarity: float = 1.0


class Locator:
    """Locates many quotes in one document; folds its text once."""

    def __init__(self, text: DocumentText) -> None:
        self._document = text
        self._text = text.text
        self._furniture = text.furniture

    def locate(self, quote: str, hint: int | None = None) -> Location:
        """Locate a quote; of several places the one nearest to `hint`, else the first.

        exact: character by character. normalized: but for white space, hyphenation, ligatures, accents, case,
        quotation marks, dashes, and page headers or footers in between. fuzzy: a slip of a few letters, never in a
        number, a date or a negation, never an invented part. A quote with an ellipsis is found when all its parts
        are, in order; it is fuzzy at best when they may say together what the text does not.
        """
        quote = quote.strip()
        if not quote:
            return NOT_FOUND
        letter_match = self._letters(quote, 0, hint)
        if letter_match is not None:
            return self._location([letter_match])
        parts = [part for part in _ELLIPSIS.split(quote) if fold(part).text.strip(_EDGE_PUNCTUATION)]
        if parts and (len(parts) > 1 or parts[0] != quote):
            return self._joined(parts, hint)
        slip = self._fuzzy(quote, 0, hint)
        return NOT_FOUND if slip is None else self._location([slip])

    def with_negations(self, place: Location) -> Location:
        """Extend a place by the negation of its sentence, where the quote left that out."""
        if not place.spans:
            return place
        spans = self._ellipses.with_negations(place.spans)
        if tuple(spans) == place.spans:
            return place
        return self._location([_QuotePlace(place.alignment, span, place.similarity) for span in spans])

    def _letters(self, quote: str, start: int, hint: int | None) -> _QuotePlace | None:
        """Match exactly, else normalized, from `start` on; normalized beside the hint wins over exact elsewhere."""
        exact = nearest(self._text, quote, start, hint, lambda at: (at, at + len(quote)), self._text)
        if exact is not None and (hint is None or abs(exact[0] - hint) <= HINT_REACH):
            return _QuotePlace("exact", exact)
        needle = fold(quote).text.strip(_EDGE_PUNCTUATION)
        for hay in self._folds() if needle else ():
            span = self._in_fold(hay, needle, start, hint)
            if span is not None and (exact is None or _is_nearer(span, exact, hint)):
                return _QuotePlace("normalized", span)
        return None if exact is None else _QuotePlace("exact", exact)

    def _in_fold(self, hay: Folded, needle: str, start: int, hint: int | None) -> Span | None:
        at = None if hint is None else bisect_left(hay.offsets, hint)
        first = bisect_left(hay.offsets, start)
        return nearest(hay.text, needle, first, at, lambda i: hay.raw(i, i + len(needle)), self._text)

    def _joined(self, parts: list[str], hint: int | None) -> Location:
        """Locate the parts of a quote with an ellipsis: in order, near one another unless long, and not misleading."""
        start, tries = 0, 0
        begin, doubtful = self._place(parts[0], 0, hint), NOT_FOUND
        while begin is not None and tries < SEEDS:
            places = self._chain(begin, parts)
            if places and not self._misleads([place.span for place in places]):
                return self._location(places)
            if places and not doubtful.spans:
                doubtful = replace(self._location(places), alignment="fuzzy")
            # The next place where the quote may begin, in the order of the text.
            start, tries = (begin.span[0] + 1 if tries else 0), tries + 1
            begin = self._letters(parts[0], start, None)
        return doubtful

    def _misleads(self, spans: list[Span]) -> bool:
        return any(self._ellipses.misleads(a, b, self._without_furniture((a[1], b[0]))) for a, b in pairwise(spans))

    def _chain(self, begin: _QuotePlace, parts: list[str]) -> list[_QuotePlace]:
        places = [begin]
        for part in parts[1:]:
            last = places[-1].span[1]
            place = self._place(part, last, last)
            if place is None:
                return []
            short = min(len(fold(part).text), len(fold(parts[0]).text)) < ELLIPSIS_MIN_CHARS
            if short and place.span[0] - last > ELLIPSIS_REACH:
                return []
            places.append(place)
        return places

    def _place(self, quote: str, start: int, hint: int | None) -> _QuotePlace | None:
        return self._letters(quote, start, hint) or self._fuzzy(quote, start, hint)

    def _fuzzy(self, quote: str, start: int, hint: int | None) -> _QuotePlace | None:
        hay, needle = self._lean, fold(quote).text
        if not MIN_FUZZY_CHARS <= len(needle) <= MAX_FUZZY_CHARS:
            return None
        first = bisect_left(hay.offsets, start)
        at = None if hint is None else bisect_left(hay.offsets, hint)
        for diagonal in diagonals(needle, hay.text, first, at):
            aligned = align(needle, hay.text, max(first, diagonal))
            if aligned is None:
                continue
            begin, end, similarity = aligned
            span = self._whole_words(hay.raw(begin, end))
            if self._has_same_sense(quote, span):
                return _QuotePlace("fuzzy", span, similarity)
        return None

    def _has_same_sense(self, quote: str, span: Span) -> bool:
        source = self._without_furniture(span)
        return (
            cuts_nothing(self._text, span)
            and numbers_in(quote) <= numbers_in(source)
            and not _reverses_sense(quote, source)
        )

    def _whole_words(self, span: Span) -> Span:
        start, end = span
        while start > 0 and self._text[start].isalnum() and self._text[start - 1].isalnum():
            start -= 1
        while end < len(self._text) and self._text[end - 1].isalnum() and self._text[end].isalnum():
            end += 1
        return start, end

    def _without_furniture(self, span: Span) -> str:
        pieces, position = [], span[0]
        for start, end in self._furniture:
            if span[0] <= start and end <= span[1]:
                pieces.append(self._text[position:start])
                position = end
        return "".join((*pieces, self._text[position : span[1]]))

    def _location(self, places: list[_QuotePlace]) -> Location:
        spans = tuple(place.span for place in places)
        order: tuple[Alignment, ...] = ("exact", "normalized", "fuzzy")
        worst = max((place.alignment for place in places), key=order.index)
        similarity = min(place.similarity for place in places)
        if not self._document.pages:
            return Location(worst, spans, similarity=similarity)
        first, last = self._document.page_at(spans[0][0]), self._document.page_at(spans[-1][1] - 1)
        boxes = tuple(box for span in spans for box in self._boxes(span))
        return Location(worst, spans, first.number, last.number, boxes, similarity)

    def _boxes(self, span: Span) -> Iterator[Box]:
        for page in self._document.pages_between(*span):
            first = bisect_right(self._word_starts(page), span[0]) - 1
            words = []
            for word in page.words[max(first, 0) :]:
                if word[0] >= span[1]:
                    break
                if word[1] > span[0] and not self._is_furniture(word[0], span):
                    words.append(word)
            yield from _lines(page.number, words)

    def _is_furniture(self, offset: int, span: Span) -> bool:
        index = bisect_right(self._furniture, (offset, len(self._text))) - 1
        if index < 0:
            return False
        start, end = self._furniture[index]
        return start <= offset < end and span[0] < start and end < span[1]

    def _word_starts(self, page: Page) -> list[int]:
        starts = self._starts.get(page.number)
        if starts is None:
            starts = self._starts[page.number] = [word[0] for word in page.words]
        return starts

    def _folds(self) -> Iterator[Folded]:
        yield self._full
        if self._furniture:
            yield self._lean

    @cached_property
    def _starts(self) -> dict[int, list[int]]:
        return {}

    @cached_property
    def _ellipses(self) -> EllipsisCheck:
        return EllipsisCheck(self._text, sentences(self._document))

    @cached_property
    def _full(self) -> Folded:
        return fold(self._text)

    @cached_property
    def _lean(self) -> Folded:
        return fold(self._text, self._furniture) if self._furniture else self._full


def locate(quote: str, text: DocumentText, hint: int | None = None) -> Location:
    """Locate one quote; for many quotes of a document keep a Locator."""
    return Locator(text).locate(quote, hint)


def _is_nearer(span: Span, reference: Span, hint: int | None) -> bool:
    return hint is not None and abs(span[0] - hint) + HINT_REACH < abs(reference[0] - hint)


def _reverses_sense(quote: str, source: str) -> bool:
    """Does the quote differ from the source in a word that reverses the sense, or by a negating prefix?

    A slip of the pen within such a word is none: "Custmer" stands for "Customer".
    """
    if Counter(negations(quote)) != Counter(negations(source)):
        return True
    quote_words, source_words = (Counter(re.findall(r"[^\W\d_]+", text.casefold())) for text in (quote, source))
    only_quote, only_source = quote_words - source_words, source_words - quote_words
    for words, counterpart in ((only_quote, only_source), (only_source, only_quote)):
        if any(word in _PIVOTS and not _is_slip(word, counterpart) for word in words):
            return True
        if any(prefix + word in counterpart for word in words for prefix in NEGATIVE_PREFIXES):
            return True
    return False


def _is_slip(word: str, counterpart: Iterable[str]) -> bool:
    return len(word) > 4 and any(
        candidate not in _PIVOTS and Levenshtein.distance(word, candidate, score_cutoff=2) <= 2
        for candidate in counterpart
    )


def _lines(page: int, words: list[tuple[int, int, int, int, int, int]]) -> Iterator[Box]:
    """Yield one box for each line of print: words in reading order that share their height on the page."""
    line: list[tuple[int, int, int, int, int, int]] = []
    for word in words:
        if line and not _same_line(line[-1], word):
            yield _box(page, line)
            line = []
        line.append(word)
    if line:
        yield _box(page, line)


def _same_line(last: tuple[int, int, int, int, int, int], word: tuple[int, int, int, int, int, int]) -> bool:
    shared = min(last[5], word[5]) - max(last[3], word[3])
    return shared * 2 >= min(last[5] - last[3], word[5] - word[3]) and word[2] >= last[2]


def _box(page: int, words: list[tuple[int, int, int, int, int, int]]) -> Box:
    return Box(
        page,
        min(word[2] for word in words) / BOX_UNIT,
        min(word[3] for word in words) / BOX_UNIT,
        max(word[4] for word in words) / BOX_UNIT,
        max(word[5] for word in words) / BOX_UNIT,
    )
