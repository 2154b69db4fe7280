"""Words with boxes to running text: lines, blank lines, exact offsets. Runs in the children."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from graph.adapters.furniture import Edge, edge_lines
from nodes.domain.documents import BOX_UNIT

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
NOT_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\ufff9-\ufffb\u200b\u2060]+")
PACKED = np.dtype([("start", "<u4"), ("end", "<u4"), ("box", "<u2", (4,))])
"""As nodes.domain.words unpacks it."""


class Word(NamedTuple):
    """One word as the page shows it; the box in BOX_UNIT, origin top left."""

    text: str
    x0: int
    y0: int
    x1: int
    y1: int
    line_ends: bool
    """Whether the source ends the line behind it."""


class Laid(NamedTuple):
    """Running text, and for each of its words `text[start:end]` and its box."""

    text: str
    starts: Numbers
    ends: Numbers
    boxes: Numbers
    """One row a word: x0, y0, x1, y1."""
    edges: list[Edge]
    """Lines at the page's upper and lower edge, which may be furniture."""

    @property
    def words(self) -> str:
        """The words as a DocumentText holds them."""
        rows = np.empty(len(self.starts), PACKED)
        rows["start"], rows["end"], rows["box"] = self.starts, self.ends, self.boxes
        return base64.b64encode(rows.tobytes()).decode()


def clean(text: str) -> str:
    """Without what is no text: control characters, lone surrogates, non-characters, zero-width spaces."""
    return NOT_TEXT.sub("", text)


def lay_out(words: Iterable[Word]) -> Laid:
    """`compose` for words one by one."""
    words = list(words)
    boxes = np.array([word[1:5] for word in words], np.int64).reshape(-1, 4)
    return compose([word.text for word in words], boxes, np.array([word.line_ends for word in words], np.bool_))


def compose(texts: Sequence[str], boxes: Numbers, line_ends: Flags) -> Laid:
    """The text of words in reading order, cut into lines where the source ends one or the place jumps.

    A line ends with a line feed, as in the source: a word hyphenated at the line's end stays hyphenated. An empty line
    stands where the gap between two lines is clearly larger than is usual on this page.
    """
    if not texts:
        none = np.zeros(0, np.int64)
        return Laid("", none, none, boxes, [])
    firsts = _line_starts(boxes, line_ends)
    lasts = np.append(firsts[1:], len(texts)) - 1
    heights = np.maximum.reduceat(boxes[:, 3] - boxes[:, 1], firsts)
    steps = np.diff(_bottoms(boxes, firsts))
    pitch = _pitch(steps, heights[1:])
    wide = steps > np.maximum(1.35 * pitch, 1.15 * heights[1:]) if pitch else np.zeros(len(steps), np.bool_)
    gaps = [" "] * len(texts)
    widths = np.ones(len(texts), np.int64)
    widths[lasts[:-1]] += wide
    for last, empty in zip(lasts.tolist(), [*wide.tolist(), False], strict=True):
        gaps[last] = "\n\n" if empty else "\n"
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.cumsum(lengths + widths) - widths
    text = "".join(chain.from_iterable(zip(texts, gaps, strict=True)))
    starts = ends - lengths
    spans = np.column_stack((starts[firsts], ends[lasts], boxes[firsts, 1], boxes[firsts, 3]))
    return Laid(text, starts, ends, boxes, edge_lines(text, spans.tolist()))


def _line_starts(boxes: Numbers, line_ends: Flags) -> Numbers:
    """Index of the first word of each line."""
    height = boxes[:, 3] - boxes[:, 1]
    middle = (boxes[:, 1] + boxes[:, 3]) / 2
    apart = np.abs(np.diff(middle)) > 0.8 * np.maximum(height[:-1], height[1:])
    back = boxes[1:, 2] < boxes[:-1, 0]
    return np.flatnonzero(np.concatenate(([True], line_ends[:-1] | apart | back)))


def _bottoms(boxes: Numbers, firsts: Numbers) -> Numbers:
    """The lower median of the words' bottoms, line by line."""
    counts = np.diff(np.append(firsts, len(boxes)))
    line = np.repeat(np.arange(len(firsts)), counts)
    order = np.lexsort((boxes[:, 3], line))
    return np.asarray(boxes[order[firsts + (counts - 1) // 2], 3])


def _pitch(steps: Numbers, heights: Numbers) -> int:
    """The usual distance from line to line, 0 when there are too few lines to tell."""
    usual = np.sort(steps[(steps > 0.5 * heights) & (steps < 4 * heights)])
    return int(usual[(len(usual) - 1) // 2]) if len(usual) >= 3 else 0


def lay_out_plain(text: str) -> str:
    """A text without boxes: its own lines, cleaned, runs of empty lines as one."""
    lines = [clean(line.replace("\t", " ")).rstrip() for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n" if any(lines) else ""


__all__ = ["BOX_UNIT", "Laid", "Word", "clean", "compose", "lay_out", "lay_out_plain"]
