"""The words of a page of a PDF with their boxes, by as few calls as there are ends of words. Runs in a worker process.

A page has thousands of characters: what is done once for each of them in Python is slower than PDFium itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
import pypdfium2.raw as raw

from graph.adapters.documents.layout.running_text import BOX_UNIT, NOT_TEXT, Flags, Numbers, Word, clean
from graph.adapters.documents.pdf.appearance import TINY_POINTS, Frame, TextVisibility
from graph.adapters.documents.pdf.pdfium_calls import bind_by_address, bind_by_reference, char_boxes, reference

HYPHEN = "\ufffe"
"""PDFium's sign for a hyphen at the end of a line; it swallows the line end."""
VOWELS = [ord(vowel) - ord("a") for vowel in "aeiouy"]
GARBLED_SAMPLE = 1_500
"""Characters that tell whether a page is garbled."""
UNMAPPED_SAMPLE = 64
"""Characters of a page that are looked up to tell whether its fonts say which letters they draw."""
LAST_CODE = 0xFFFF
"""Stands for all characters beyond it, none of which is white space or no text."""
PAGE_FEED = np.array([10], "<u2")
"""Parts the pages of a batch."""
SPACE = np.array([chr(code).isspace() for code in range(LAST_CODE + 1)])
NO_TEXT = [NOT_TEXT.match(chr(code)) is not None and chr(code) != HYPHEN for code in range(LAST_CODE)]
UNPRINTABLE = np.array([*NO_TEXT, True]) & ~SPACE


map_error = bind_by_reference(raw.FPDFText_HasUnicodeMapError)
count_of = bind_by_address(raw.FPDFText_CountChars)
text_of = bind_by_address(raw.FPDFText_GetText, ctypes.c_int, ctypes.c_int, ctypes.c_void_p)
unicode_of = bind_by_address(raw.FPDFText_GetUnicode, ctypes.c_int)


class PageChars(NamedTuple):
    """The characters of a page, one for each of PDFium's indices."""

    handle: int
    text: str
    codes: Any
    """Of each character, none above LAST."""

    def unmapped_share(self) -> float:
        """Share of characters for which the font says no Unicode value, by a sample of the page."""
        sample = self.codes[:: max(1, len(self.codes) // UNMAPPED_SAMPLE)]
        places = np.flatnonzero(~SPACE[sample])
        if not len(places):
            return 0.0
        codes = sample[places]
        unmapped = (codes == 0xFFFD) | ((codes >= 0xE000) & (codes <= 0xF8FF))
        indices = (places * max(1, len(self.codes) // UNMAPPED_SAMPLE)).tolist()
        errors = np.fromiter(map(map_error, repeat(reference(self.handle)), indices), np.int64, len(indices)) == 1
        return float(np.count_nonzero(errors | unmapped) / len(indices))

    def garbled(self) -> bool:
        """Whether Latin letters come in an order that no language has: a text layer with shifted character codes."""
        counts = np.bincount(np.minimum(self.codes[:GARBLED_SAMPLE], 128), minlength=129)
        counts = counts[97:123] + counts[65:91]
        letters = int(counts.sum())
        return letters >= 200 and int(counts[VOWELS].sum()) / letters < 0.15


def load_characters(handle: int) -> PageChars:
    """Load the characters of the page whose text was loaded at this address."""
    count = max(count_of(handle), 0)
    buffer = np.empty(2 * count + 2, "<u2")  # a letter beyond U+FFFF takes two places
    written = text_of(handle, 0, count, buffer.ctypes.data) if count else 1
    codes = buffer[:count]
    if written == count + 1 and not ((codes >= 0xD800) & (codes <= 0xDFFF)).any():
        return PageChars(handle, codes.tobytes().decode("utf-16-le"), codes)
    # Characters without Unicode value are left out of the text, those beyond U+FFFF counted otherwise.
    single = map(unicode_of, repeat(handle), range(count))
    text = "".join(chr(code) if 0 < code < 0x110000 else "\ufffd" for code in single)
    coded = np.minimum(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4"), LAST_CODE)
    return PageChars(handle, text, coded.astype("<u2"))


class WordTable(NamedTuple):
    """Words of a page, a row each."""

    texts: list[str]
    boxes: Numbers
    line_ends: Flags

    def select(self, rows: Numbers) -> WordTable:
        return WordTable([self.texts[row] for row in rows.tolist()], self.boxes[rows], self.line_ends[rows])

    def words(self) -> list[Word]:
        rows = zip(self.texts, self.boxes.tolist(), self.line_ends.tolist(), strict=True)
        return [Word(text, x0, y0, x1, y1, ends) for text, (x0, y0, x1, y1), ends in rows]


class SourcePage(NamedTuple):
    """A page to read words from."""

    chars: PageChars
    frame: Frame
    visibility: TextVisibility | None
    """For a page on which some text may be hidden; such a page is read by itself."""


def read_words(pages: Sequence[SourcePage]) -> tuple[WordTable, list[int], list[list[tuple[Word, str]]]]:
    """Read words in PDFium's order, their count by page, and, page by page, hidden words with the reason."""
    tokens = _tokens(pages)
    visibility = pages[0].visibility
    token_reasons: Sequence[str] = ()
    if visibility and visibility.survey.hidden:
        tokens, token_reasons = _split_by_reason(tokens, visibility)
    texts = _texts(pages, tokens, cut=bool(token_reasons))
    places = _boxes(pages, tokens)
    boxes = np.rint(places)
    np.maximum(boxes, 0, out=boxes)
    np.minimum(boxes, BOX_UNIT, out=boxes)
    words = WordTable(texts, boxes.astype(np.int64), tokens.line_ends)
    counts = np.bincount(tokens.pages, minlength=len(pages))
    if visibility is None and "" not in texts and not _any_misplaced(places, pages):
        return words, counts.tolist(), [[] for _ in pages]
    reasons = list(token_reasons) or [""] * len(texts)
    _add_place_reasons(reasons, places, texts, tokens, pages)
    if visibility:
        visibility.confirm(reasons, places, tokens.starts)
    shown_rows = np.array([bool(text and not reason) for text, reason in zip(texts, reasons, strict=True)], np.bool_)
    hidden_rows = np.array(
        [bool(text and reason) for text, reason in zip(texts, reasons, strict=True)], np.bool_
    ).nonzero()[0]
    hidden: list[list[tuple[Word, str]]] = [[] for _ in pages]
    for word, row in zip(words.select(hidden_rows).words(), hidden_rows.tolist(), strict=True):
        hidden[tokens.pages[row]].append((word, reasons[row]))
    counts = np.bincount(tokens.pages[shown_rows], minlength=len(pages))
    return words.select(np.flatnonzero(shown_rows)), counts.tolist(), hidden


class Tokens(NamedTuple):
    """Runs of characters without white space, page after page."""

    pages: Numbers
    starts: Numbers
    """Index on its page of the first character."""
    ends: Numbers
    line_ends: Flags
    """Whether the source ends the line behind it."""


def _tokens(pages: Sequence[SourcePage]) -> Tokens:
    codes = np.concatenate([part for page in pages for part in (page.chars.codes, PAGE_FEED)])
    sizes = [len(page.chars.codes) + 1 for page in pages]
    offsets = np.cumsum([0, *sizes[:-1]])
    printed = np.zeros(len(codes) + 1, np.bool_)
    np.logical_not(SPACE[codes], out=printed[1:])
    hyphen = codes == ord(HYPHEN)
    before = printed[:-1] & printed[1:]
    before[1:] &= ~hyphen[:-1]
    first = np.flatnonzero(printed[1:] & ~before)
    # A run ends where the next character belongs to no run or begins another; the last one is a feed.
    last = np.flatnonzero(printed[1:-1] & ~before[1:]) + 1
    line_ends = hyphen[last - 1]
    feeds = np.flatnonzero((codes == 10) | (codes == 13))
    if len(last):
        line_ends[np.searchsorted(last, feeds, "right") - 1] = True
    number = np.searchsorted(offsets, first, "right") - 1
    shift = offsets[number]
    return Tokens(number, first - shift, last - shift, line_ends)


def _split_by_reason(tokens: Tokens, visibility: TextVisibility) -> tuple[Tokens, list[str]]:
    """Split the tokens of one page where the reason for hiding changes."""
    rows: list[tuple[int, int, bool]] = []
    token_reasons: list[str] = []
    for start, end, ends_line in zip(
        tokens.starts.tolist(), tokens.ends.tolist(), tokens.line_ends.tolist(), strict=True
    ):
        for first, last, reason in visibility.split(start, end):
            rows.append((first, last, ends_line and last == end))
            token_reasons.append(reason)
    table = np.array(rows, np.int64).reshape(-1, 3)
    return Tokens(np.zeros(len(table), np.int64), table[:, 0], table[:, 1], table[:, 2].astype(np.bool_)), token_reasons


def _texts(pages: Sequence[SourcePage], tokens: Tokens, *, cut: bool) -> list[str]:
    """The tokens as text; those that have been cut are no longer what white space parts."""
    text = "\n".join(page.chars.text for page in pages)
    if cut:
        text = text.replace(HYPHEN, "-")
        texts = [text[start:end] for start, end in zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)]
    else:
        texts = text.replace(HYPHEN, "-\n").split()
    return list(map(clean, texts)) if any(UNPRINTABLE[page.chars.codes].any() for page in pages) else texts


def _boxes(pages: Sequence[SourcePage], tokens: Tokens) -> Any:
    """A row for each token: its box in BOX_UNIT, not cut off at the page's edge, from its first and last character."""
    size = 2 * len(tokens.starts)
    indices = np.empty(size, np.int64)
    indices[0::2], indices[1::2] = tokens.starts, tokens.ends - 1
    counts = np.bincount(tokens.pages, minlength=len(pages)).tolist()
    handles = (repeat(reference(page.chars.handle), 2 * count) for page, count in zip(pages, counts, strict=True))
    edges = char_boxes(chain.from_iterable(handles), indices.tolist())
    placed = _placed(pages, tokens, edges)
    first, last = placed[0::2], placed[1::2]
    missing = np.isnan(edges[:, 0]).reshape(-1, 2)
    if missing.any():
        first[missing[:, 0]] = last[missing[:, 0]]
        last[missing[:, 1]] = first[missing[:, 1]]
        first[missing.all(axis=1)] = last[missing.all(axis=1)] = 0
    boxes = np.minimum(first, last)
    np.maximum(first[:, 2:], last[:, 2:], out=boxes[:, 2:])
    return boxes


def _placed(pages: Sequence[SourcePage], tokens: Tokens, edges: Any) -> Any:
    first = pages[0].frame
    if all(page.frame.same_as(first) for page in pages):
        return first.spread(edges)
    borders = 2 * np.searchsorted(tokens.pages, np.arange(len(pages) + 1))
    parts = pairwise(borders.tolist())
    return np.concatenate([page.frame.spread(edges[a:b]) for page, (a, b) in zip(pages, parts, strict=True)])


def _any_misplaced(places: Any, pages: Sequence[SourcePage]) -> bool:
    """Whether any word may lie off its page or be too small to be read."""
    if not places.size:
        return False
    least = TINY_POINTS * BOX_UNIT / min(page.frame.shown_height for page in pages)
    any_tiny = (places[:, 3] - places[:, 1]).min() < least
    return bool(any_tiny or places.min() <= 0 or places.max() >= BOX_UNIT)


def _add_place_reasons(
    reasons: list[str], places: Any, texts: Sequence[str], tokens: Tokens, pages: Sequence[SourcePage]
) -> None:
    """Give words without a reason that of their place: off the page, or tiny; a box without extent has none."""
    off_page = (places[:, 2:] <= 0).any(axis=1) | (places[:, :2] >= BOX_UNIT).any(axis=1)
    sizes = np.array([(page.frame.shown_width, page.frame.shown_height) for page in pages]) / BOX_UNIT
    wide, high = ((places[:, 2:] - places[:, :2]) * sizes[tokens.pages]).T
    letters = np.maximum(np.fromiter(map(len, texts), np.int64, len(texts)), 1)
    size = np.maximum(wide / letters, high)
    for flags, reason in ((off_page, "off the page"), ((size > 0) & (size < TINY_POINTS), "tiny")):
        for row in np.flatnonzero(flags).tolist():
            reasons[row] = reasons[row] or reason
