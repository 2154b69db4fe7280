"""Lays out words with boxes as running text: lines, blank lines, exact offsets. Runs in worker processes."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from graph.adapters.documents.layout.running_headers import Edge, edge_lines
from nodes.domain.text.documents import BOX_UNIT

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\ufff9-\ufffb\u200b\u2060]+")
EMPTY = np.zeros(0, np.int64)
PACKED = np.dtype([("start", "<u4"), ("end", "<u4"), ("box", "<u2", (4,))])
"""As nodes.domain.text.word_boxes unpacks it."""


class Word(NamedTuple):
    """One word as the page shows it; the box in BOX_UNIT, origin top left."""

    text: str
    x0: int
    y0: int
    x1: int
    y1: int
    line_ends: bool
    """Whether the source ends the line behind it."""


class RunningText(NamedTuple):
    """Running text, and for each of its words `text[start:end]` and its box."""

    text: str
    starts: Numbers
    ends: Numbers
    boxes: Numbers
    """One row a word: x0, y0, x1, y1."""
    edges: list[Edge]
    """Lines at the page's upper and lower edge, which may be running headers or footers."""

    @property
    def words(self) -> str:
        """The words as a DocumentText holds them."""
        rows = np.empty(len(self.starts), PACKED)
        rows["start"], rows["end"], rows["box"] = self.starts, self.ends, self.boxes
        return base64.b64encode(rows.tobytes()).decode()


def clean(text: str) -> str:
    """Remove control characters, lone surrogates, non-characters and zero-width spaces."""
    return NOT_TEXT.sub("", text)


def lay_out(words: Iterable[Word]) -> RunningText:
    """`compose` for the words of one page, one by one."""
    words = list(words)
    boxes = np.array([word[1:5] for word in words], np.int64).reshape(-1, 4)
    ends = np.array([word.line_ends for word in words], np.bool_)
    return compose([word.text for word in words], boxes, ends, [len(words)])[0]


def compose(texts: Sequence[str], boxes: Numbers, line_ends: Flags, counts: Sequence[int]) -> list[RunningText]:
    """Compose the text of each page: words in reading order, lines ended where the source ends one or the place jumps.

    `counts` says how many of the words each page has, page after page. A line ends with a line feed, as in the source:
    a word hyphenated at the line's end stays hyphenated. An empty line stands where the gap between two lines is
    clearly larger than is usual on this page.
    """
    borders = np.cumsum([0, *counts])
    if not texts:
        return [RunningText("", EMPTY, EMPTY, boxes, []) for _ in counts]
    firsts = _line_starts(boxes, line_ends, borders)
    lasts = np.append(firsts[1:], len(texts)) - 1
    lines = np.searchsorted(firsts, borders)
    blank_follows = _wide(boxes, firsts, lines)
    gaps = [" "] * len(texts)
    widths = np.ones(len(texts), np.int64)
    widths[lasts] += blank_follows
    for last, is_blank in zip(lasts.tolist(), blank_follows.tolist(), strict=True):
        gaps[last] = "\n\n" if is_blank else "\n"
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.cumsum(lengths + widths) - widths
    starts = ends - lengths
    text = "".join(chain.from_iterable(zip(texts, gaps, strict=True)))
    edges = _edges(text, starts, ends, boxes, firsts, lasts)
    return [_page(text, starts, ends, boxes, edges, first, after) for first, after in pairwise(borders.tolist())]


def _page(
    text: str, starts: Numbers, ends: Numbers, boxes: Numbers, edges: Sequence[Edge], first: int, after: int
) -> RunningText:
    """One page of what was composed together, its offsets from its own beginning."""
    if first == after:
        return RunningText("", EMPTY, EMPTY, boxes[:0], [])
    begin, end = int(starts[first]), int(ends[after - 1])
    own = [(upper, key, low - begin, high - begin) for upper, key, low, high in edges if begin <= low < end]
    return RunningText(
        text[begin:end] + "\n", starts[first:after] - begin, ends[first:after] - begin, boxes[first:after], own
    )


def _edges(text: str, starts: Numbers, ends: Numbers, boxes: Numbers, firsts: Numbers, lasts: Numbers) -> list[Edge]:
    y0, y1 = boxes[firsts, 1], boxes[firsts, 3]
    rows = np.flatnonzero((y1 < BOX_UNIT / 8) | (y0 > BOX_UNIT * 7 / 8))
    spans = np.column_stack((starts[firsts[rows]], ends[lasts[rows]], y0[rows], y1[rows]))
    return edge_lines(text, spans.tolist())


def _line_starts(boxes: Numbers, line_ends: Flags, borders: Numbers) -> Numbers:
    """Index of the first word of each line; a page begins one."""
    height = boxes[:, 3] - boxes[:, 1]
    middle = boxes[:, 1] + boxes[:, 3]
    opens = np.empty(len(boxes) + 1, np.bool_)
    apart = np.abs(np.diff(middle)) > 1.6 * np.maximum(height[:-1], height[1:])
    opens[1:-1] = line_ends[:-1] | apart | (boxes[1:, 2] < boxes[:-1, 0])
    opens[borders] = True
    return np.flatnonzero(opens[:-1])


def _wide(boxes: Numbers, firsts: Numbers, lines: Numbers) -> Flags:
    """Whether a blank line follows each line; `lines` are the borders of the pages among the lines."""
    heights = np.maximum.reduceat(boxes[:, 3] - boxes[:, 1], firsts)
    steps = np.zeros(len(firsts), np.int64)
    steps[:-1] = np.diff(_bottoms(boxes, firsts))
    below = np.append(heights[1:], 0)
    usual = (steps > 0.5 * below) & (steps < 4 * below)
    usual[lines[1:] - 1] = False
    blank_follows = steps > 1.15 * below
    for first, after in pairwise(lines.tolist()):
        if after > first:
            pitch = _pitch(steps[first : after - 1][usual[first : after - 1]])
            blank_follows[first:after] &= (steps[first:after] > 1.35 * pitch) & (pitch > 0)
            blank_follows[after - 1] = False
    return blank_follows


def _bottoms(boxes: Numbers, firsts: Numbers) -> Numbers:
    """The lower median of the words' bottoms, line by line."""
    counts = np.diff(np.append(firsts, len(boxes)))
    line = np.repeat(np.arange(len(firsts)), counts)
    order = np.lexsort((boxes[:, 3], line))
    return np.asarray(boxes[order[firsts + (counts - 1) // 2], 3])


def _pitch(steps: Numbers) -> int:
    """The usual distance from line to line, 0 when there are too few lines to tell."""
    return int(np.sort(steps)[(len(steps) - 1) // 2]) if len(steps) >= 3 else 0


def lay_out_plain(text: str) -> str:
    """A text without boxes: its own lines, cleaned, runs of empty lines as one."""
    lines = [clean(line.replace("\t", " ")).rstrip() for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n" if any(lines) else ""


__all__ = ["BOX_UNIT", "RunningText", "Word", "clean", "compose", "lay_out", "lay_out_plain"]
