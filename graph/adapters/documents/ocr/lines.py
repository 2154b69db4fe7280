"""A line as OCR sees it, whichever recogniser looked. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

CONFIDENT = 0.85
"""Mean confidence above which the page is not tried in another way."""

OcrWord = tuple[str, float, float, float, float]
"""Text and its box in pixels: x0, y0, x1, y1."""


class OcrLine(NamedTuple):
    """One line: its words, and how sure the recogniser is."""

    words: list[OcrWord]
    confidence: float


def is_confident(lines: Sequence[OcrLine]) -> bool:
    return bool(lines) and statistics.fmean(line.confidence for line in lines) >= CONFIDENT


def amount_read(lines: Sequence[OcrLine]) -> float:
    """How much was read, unsure lines counting little."""
    return sum(line.confidence**4 * sum(len(word[0]) for word in line.words) for line in lines)
