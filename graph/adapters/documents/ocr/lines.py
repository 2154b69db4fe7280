"""Lines as either recogniser returns them, and how far they can be trusted. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

CONFIDENT = 0.85
"""Mean confidence above which the page is not tried in another way."""

OcrWord = tuple[str, float, float, float, float]
"""Text and its box in pixels: x0, y0, x1, y1."""


class OcrLine(NamedTuple):
    """One recognised line: its words, and the recogniser's confidence, 0 to 1."""

    words: list[OcrWord]
    confidence: float


def is_confident(lines: Sequence[OcrLine]) -> bool:
    return bool(lines) and statistics.fmean(line.confidence for line in lines) >= CONFIDENT


def amount_read(lines: Sequence[OcrLine]) -> float:
    """Count the characters read, each weighted by the fourth power of its line's confidence."""
    return sum(line.confidence**4 * sum(len(word[0]) for word in line.words) for line in lines)
