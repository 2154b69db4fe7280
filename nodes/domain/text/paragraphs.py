"""Splits a text into paragraphs, and long paragraphs at their best breaks."""

from __future__ import annotations

import re

from nodes.domain.text.documents import PAGE_BREAK

BLOCK_CHARS = 1_000
"""Longest paragraph; a longer one is cut, since some readers give a whole page as one paragraph."""

_GAP = re.compile(rf"\n[ \t]*(?:\n\s*)+|{PAGE_BREAK}\s*")
_ENDS = (re.compile(r"\n"), re.compile(r"(?<=[.;:!?])\s+"), re.compile(r"\s+"))


def paragraphs(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Paragraphs of [start, end) as (start, end), none longer than BLOCK_CHARS, blank ones left out."""
    blocks: list[tuple[int, int]] = []
    for stop, after in [*((gap.start(), gap.end()) for gap in _GAP.finditer(text, start, end)), (end, end)]:
        blocks += [(s, e) for s, e in cut(text, start, stop, BLOCK_CHARS) if text[s:e].strip()]
        start = after
    return blocks


def cut(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Cut [start, end) into pieces of at most `limit` characters, at the best break before each limit."""
    pieces = []
    while end - start > limit:
        middle = nearest_break(text, start, start + limit, start + limit)
        pieces.append((start, middle))
        start = middle
    return [*pieces, (start, end)] if end > start else pieces


def nearest_break(text: str, start: int, end: int, near: int) -> int:
    """Find the end of a line, else of a sentence, else of a word, nearest to `near`; `near` itself if there is none."""
    reach = max((end - start) // 3, 1)
    low, high = max(start + 1, near - reach), min(end, near + reach)
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, low, high) if low <= match.end() <= high]
        if ends:
            return min(ends, key=lambda offset: abs(offset - near))
    return min(max(near, start + 1), end)
