"""Words with boxes to running text: lines, blank lines, exact offsets. Runs in the children; light."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

BOX_UNIT = 10_000
SPACE, LINE = " ", "\n"
NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\ufff9-\ufffb\u200b\u2060]+")
LETTERLESS = re.compile(r"\W*")
PAGE_NUMBER = re.compile(r"(page|p\.?|seite)?\W*#\W*((of|sur|de|/)?\W*#)?\W*", re.IGNORECASE)
DIGITS = re.compile(r"\d+|\b[ivxlc]{1,6}\b", re.IGNORECASE)


class Word(NamedTuple):
    """One word as the page shows it; the box in BOX_UNIT, origin top left."""

    text: str
    x0: int
    y0: int
    x1: int
    y1: int
    line_ends: bool
    """Whether the source ends the line behind it."""


def clean(text: str) -> str:
    """Without what is no text: control characters, lone surrogates, non-characters, zero-width spaces."""
    return NOT_TEXT.sub("", text)


def lines_of(words: Iterable[Word]) -> list[list[Word]]:
    """Words in reading order, cut where the source ends a line or the place jumps."""
    lines: list[list[Word]] = []
    for word in words:
        if lines and not lines[-1][-1].line_ends and not _jumps(lines[-1][-1], word):
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _jumps(before: Word, word: Word) -> bool:
    height = max(before.y1 - before.y0, word.y1 - word.y0)
    apart = abs((before.y0 + before.y1) - (word.y0 + word.y1)) / 2
    return apart > 0.8 * height or word.x1 < before.x0


def lay_out(words: Iterable[Word]) -> tuple[str, list[list[int]]]:
    """The text, and (start, end, x0, y0, x1, y1) for each word: `text[start:end]` is that word.

    A line ends with a line feed, as in the source: a word hyphenated at the line's end stays hyphenated. An empty line
    stands where the gap between two lines is clearly larger than is usual on this page.
    """
    lines = lines_of(words)
    pitch = _pitch(lines)
    pieces: list[str] = []
    places: list[list[int]] = []
    at = 0
    bottom: int | None = None
    for line in lines:
        here = _bottom(line)
        if bottom is not None:
            height = max(word.y1 - word.y0 for word in line)
            gap = "\n\n" if pitch and here - bottom > max(1.35 * pitch, 1.15 * height) else "\n"
            pieces.append(gap)
            at += len(gap)
        for number, word in enumerate(line):
            if number:
                pieces.append(" ")
                at += 1
            pieces.append(word.text)
            places.append([at, at + len(word.text), word.x0, word.y0, word.x1, word.y1])
            at += len(word.text)
        bottom = here
    if pieces:
        pieces.append("\n")
    return "".join(pieces), places


def _bottom(line: Sequence[Word]) -> int:
    return int(statistics.median_low(word.y1 for word in line))


def _pitch(lines: Sequence[Sequence[Word]]) -> float:
    """The usual distance from line to line, 0 when there are too few lines to tell."""
    bottoms = [_bottom(line) for line in lines]
    heights = [max(word.y1 - word.y0 for word in line) for line in lines]
    steps = [
        below - above
        for above, below, height in zip(bottoms, bottoms[1:], heights[1:], strict=False)
        if 0.5 * height < below - above < 4 * height
    ]
    return statistics.median_low(steps) if len(steps) >= 3 else 0.0


def furniture(pages: Sequence[dict[str, Any]]) -> list[list[tuple[int, int]]]:
    """Per page the spans of running headers, footers and page numbers, relative to the page's text.

    A line is one when it stands in the upper or lower eighth of its page and returns there, digits aside, on at least
    three pages and a quarter of them; a page number needs two.
    """
    edges = [_edge_lines(page["text"], page["words"]) for page in pages]
    seen: dict[tuple[bool, str], int] = {}
    for edge in edges:
        for key in {key for key, _, _ in edge}:
            seen[key] = seen.get(key, 0) + 1
    written = sum(1 for page in pages if page["text"])
    enough = max(3, written / 4)
    return [
        [(start, end) for key, start, end in edge if seen[key] >= (2 if PAGE_NUMBER.fullmatch(key[1]) else enough)]
        for edge in edges
    ]


def _edge_lines(text: str, words: Sequence[Sequence[int]]) -> list[tuple[tuple[bool, str], int, int]]:
    found = []
    at = 0
    while at < len(words):
        line_end = text.find("\n", words[at][0])
        after = at
        while after < len(words) and words[after][0] < line_end:
            after += 1
        y0, y1 = words[at][3], words[at][5]
        if y1 < BOX_UNIT / 8 or y0 > BOX_UNIT * 7 / 8:
            start, end = words[at][0], words[after - 1][1]
            key = DIGITS.sub("#", " ".join(text[start:end].casefold().split()))
            if not LETTERLESS.fullmatch(key) or "#" in key:
                found.append(((y1 < BOX_UNIT / 8, key), start, end))
        at = max(after, at + 1)
    return found


def lay_out_plain(text: str) -> str:
    """A text without boxes: its own lines, cleaned, runs of empty lines as one."""
    lines = [clean(line.replace("\t", " ")).rstrip() for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n" if any(lines) else ""
