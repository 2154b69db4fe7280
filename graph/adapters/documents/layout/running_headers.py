"""Running headers, footers and page numbers: lines at the edge of a page that return on others. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nodes.domain.text.documents import BOX_UNIT

LETTERLESS = re.compile(r"\W*")
PAGE_NUMBER = re.compile(r"(page|p\.?|seite)?\W*#\W*((of|sur|de|/)?\W*#)?\W*", re.IGNORECASE)
DIGITS = re.compile(r"\d+|\b[ivxlc]{1,6}\b", re.IGNORECASE)

Edge = tuple[bool, str, int, int]
"""Whether it stands at the upper edge, its words without digits, its span in the page's text."""


def edge_lines(text: str, lines: Iterable[Sequence[int]]) -> list[Edge]:
    """Select lines (start, end, y0, y1) with letters or digits in the upper or lower eighth of the page."""
    edges = []
    for start, end, y0, y1 in lines:
        upper = y1 < BOX_UNIT / 8
        if upper or y0 > BOX_UNIT * 7 / 8:
            key = DIGITS.sub("#", " ".join(text[start:end].casefold().split()))
            if not LETTERLESS.fullmatch(key) or "#" in key:
                edges.append((upper, key, start, end))
    return edges


def find_running_headers(pages: Sequence[Mapping[str, Any]]) -> list[list[tuple[int, int]]]:
    """Find the spans of running headers and footers of each page, from its `text` and `edges`.

    A line is one when it returns at the same edge, digits aside, on at least three pages and a quarter of them; a page
    number needs two.
    """
    counts: dict[tuple[bool, str], int] = {}
    for page in pages:
        for key in {(upper, key) for upper, key, _, _ in page["edges"]}:
            counts[key] = counts.get(key, 0) + 1
    min_pages = max(3, sum(1 for page in pages if page["text"]) / 4)
    return [
        [
            (start, end)
            for upper, key, start, end in page["edges"]
            if counts[upper, key] >= (2 if PAGE_NUMBER.fullmatch(key) else min_pages)
        ]
        for page in pages
    ]
