"""The words of a page of a PDF with their boxes, by as few calls as there are ends of words. Runs in a child.

A page has thousands of characters: what is done once for each of them in Python is slower than PDFium itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.layout import BOX_UNIT, NOT_TEXT, Flags, Numbers, Word, clean
from graph.adapters.pdf_look import TINY_POINTS, Frame, Looks, address, quick

HYPHEN = "\ufffe"
"""PDFium's sign for a hyphen at the end of a line; it swallows the line end."""
VOWELS = [ord(vowel) - ord("a") for vowel in "aeiouy"]
SAMPLE = 64
"""Characters of a page that are looked up to tell whether its fonts say which letters they draw."""
LAST = 0xFFFF
"""Stands for all characters beyond it, none of which is white space or no text."""
SPACE = np.array([chr(code).isspace() for code in range(LAST + 1)])
NO_TEXT = [NOT_TEXT.match(chr(code)) is not None and chr(code) != HYPHEN for code in range(LAST)]
DIRT = np.array([*NO_TEXT, True]) & ~SPACE


char_box = quick(raw.FPDFText_GetLooseCharBox, ctypes.c_int, ctypes.c_void_p)
map_error = quick(raw.FPDFText_HasUnicodeMapError, ctypes.c_int)
unicode_of = quick(raw.FPDFText_GetUnicode, ctypes.c_int)


class Chars(NamedTuple):
    """The characters of a page, one for each of PDFium's indices."""

    handle: int
    text: str
    codes: Any
    """Of each character, none above LAST."""
    ink: Flags
    """Which of them are no white space."""

    def tokens(self) -> tuple[Numbers, Numbers, Flags]:
        """Start and end of each run without white space, and whether the source ends the line behind it."""
        hyphen = self.codes == ord(HYPHEN)
        edge = np.zeros(len(self.ink) + 1, np.bool_)
        joined = edge.copy()
        joined[1:-1] = self.ink[:-1] & self.ink[1:] & ~hyphen[:-1]
        starts = edge.copy()
        starts[:-1] = self.ink
        edge[1:] = self.ink
        first = np.flatnonzero(starts & ~joined)
        last = np.flatnonzero(edge & ~joined)
        line_ends = hyphen[last - 1]
        feeds = np.flatnonzero((self.codes == 10) | (self.codes == 13))
        line_ends[np.searchsorted(last, feeds, "right") - 1] = True
        return first, last, line_ends

    def unmapped_share(self) -> float:
        """Share of characters for which the font says no Unicode value."""
        places = np.flatnonzero(self.ink)
        if not len(places):
            return 0.0
        codes = self.codes[places]
        lost = (codes == 0xFFFD) | ((codes >= 0xE000) & (codes <= 0xF8FF))
        sample = slice(None, None, max(1, len(places) // SAMPLE))
        asked = places[sample].tolist()
        errors = np.fromiter(map(map_error, repeat(self.handle), asked), np.int64, len(asked)) == 1
        return float((errors | lost[sample]).mean())

    def garbled(self) -> bool:
        """Whether Latin letters come in an order that no language has: a text layer with shifted character codes."""
        counts = np.bincount(self.codes[self.codes < 128], minlength=128)
        counts = counts[97:123] + counts[65:91]
        letters = int(counts.sum())
        return letters >= 200 and int(counts[VOWELS].sum()) / letters < 0.15


def characters(textpage: pdfium.PdfTextPage) -> Chars:
    count = max(textpage.count_chars(), 0)
    handle = address(textpage.raw)
    text: str = textpage.get_text_range(0, count) if count else ""
    if len(text) != count:
        # Characters without Unicode value are left out of the range, those beyond U+FFFF counted otherwise.
        codes = map(unicode_of, repeat(handle), range(count))
        text = "".join(chr(code) if 0 < code < 0x110000 else "\ufffd" for code in codes)
    coded = np.minimum(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4"), LAST)
    return Chars(handle, text, coded, ~SPACE[coded])


class Found(NamedTuple):
    """Words of a page, a row each."""

    texts: list[str]
    boxes: Numbers
    line_ends: Flags

    def only(self, rows: Numbers) -> Found:
        return Found([self.texts[row] for row in rows.tolist()], self.boxes[rows], self.line_ends[rows])

    def words(self) -> list[Word]:
        rows = zip(self.texts, self.boxes.tolist(), self.line_ends.tolist(), strict=True)
        return [Word(text, *box, ends) for text, box, ends in rows]


def words_of(chars: Chars, frame: Frame, looks: Looks | None) -> tuple[Found, list[tuple[Word, str]]]:
    """Words in PDFium's order, and apart from them those that cannot be seen, with why."""
    starts, ends, line_ends = chars.tokens()
    whys: Sequence[str] = ()
    if looks and looks.marks.hidden:
        starts, ends, line_ends, whys = _split(starts, ends, line_ends, looks)
    texts = _texts(chars, starts, ends, bool(whys))
    places = boxes_of(chars.handle, starts, ends, frame)
    boxes = np.rint(places)
    np.maximum(boxes, 0, out=boxes)
    np.minimum(boxes, BOX_UNIT, out=boxes)
    found = Found(texts, boxes.astype(np.int64), line_ends)
    away, tiny = _off_page(places), _tiny(places, texts, frame)
    if looks is None and away is None and tiny is None and "" not in texts:
        return found, []
    reasons = list(whys) or [""] * len(texts)
    for flags, why in ((away, "off the page"), (tiny, "tiny")):
        for row in [] if flags is None else np.flatnonzero(flags).tolist():
            reasons[row] = reasons[row] or why
    if looks:
        looks.confirm(reasons, places, starts)
    return _parted(found, reasons)


def _parted(found: Found, reasons: Sequence[str]) -> tuple[Found, list[tuple[Word, str]]]:
    """What is seen, and what is not with why; words of which nothing is left belong to neither."""
    if not any(reasons) and "" not in found.texts:
        return found, []
    apart = np.array([bool(text and why) for text, why in zip(found.texts, reasons, strict=True)], np.bool_)
    shown = np.array([bool(text and not why) for text, why in zip(found.texts, reasons, strict=True)], np.bool_)
    rows = np.flatnonzero(apart)
    kept = [(word, reasons[row]) for word, row in zip(found.only(rows).words(), rows.tolist(), strict=True)]
    return found.only(np.flatnonzero(shown)), kept


def _split(
    starts: Numbers, ends: Numbers, line_ends: Flags, looks: Looks
) -> tuple[Numbers, Numbers, Flags, list[str]]:
    """Tokens cut where the look of their characters changes."""
    rows: list[tuple[int, int, bool]] = []
    whys: list[str] = []
    for start, end, feed in zip(starts.tolist(), ends.tolist(), line_ends.tolist(), strict=True):
        for first, last, why in looks.split(start, end):
            rows.append((first, last, feed and last == end))
            whys.append(why)
    cut = np.array(rows, np.int64).reshape(-1, 3)
    return cut[:, 0], cut[:, 1], cut[:, 2].astype(np.bool_), whys


def _texts(chars: Chars, starts: Numbers, ends: Numbers, cut: bool) -> list[str]:
    """The tokens as text; those that have been cut are no longer what white space parts."""
    if cut:
        text = chars.text.replace(HYPHEN, "-")
        texts = [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    else:
        texts = chars.text.replace(HYPHEN, "-\n").split()
    return list(map(clean, texts)) if DIRT[chars.codes].any() else texts


def boxes_of(handle: int, starts: Numbers, ends: Numbers, frame: Frame) -> Any:
    """A row for each word: its box in BOX_UNIT, not cut off at the page's edge, from its first and last character."""
    count = 2 * len(starts)
    asked = np.empty(count, np.int64)
    asked[0::2], asked[1::2] = starts, ends - 1
    edges = np.zeros((count, 4), np.float32)
    base = edges.ctypes.data
    calls = map(char_box, repeat(handle), asked.tolist(), range(base, base + 16 * count, 16))
    there = np.fromiter(calls, np.bool_, count)
    placed = frame.spread(edges)
    one, two = placed[0::2], placed[1::2]
    lost = ~there.reshape(-1, 2)
    if lost.any():
        one[lost[:, 0]] = two[lost[:, 0]]
        two[lost[:, 1]] = one[lost[:, 1]]
        one[lost.all(axis=1)] = two[lost.all(axis=1)] = 0
    boxes = np.minimum(one, two)
    np.maximum(one[:, 2:], two[:, 2:], out=boxes[:, 2:])
    return boxes


def _off_page(places: Any) -> Flags | None:
    """Words beyond the page's edge; None for none."""
    if places.size == 0 or (places.min() > 0 and places.max() < BOX_UNIT):
        return None
    return np.asarray((places[:, 2:] <= 0).any(axis=1) | (places[:, :2] >= BOX_UNIT).any(axis=1))


def _tiny(places: Any, texts: Sequence[str], frame: Frame) -> Flags | None:
    """Words whose letters are too small to be read, None for none; a box without extent says nothing."""
    high = (places[:, 3] - places[:, 1]) * (frame.shown_height / BOX_UNIT)
    if high.size == 0 or high.min() >= TINY_POINTS:
        return None
    letters = np.maximum(np.fromiter(map(len, texts), np.int64, len(places)), 1)
    wide = (places[:, 2] - places[:, 0]) * frame.shown_width / BOX_UNIT / letters
    size = np.maximum(wide, high)
    return np.asarray((size > 0) & (size < TINY_POINTS))
