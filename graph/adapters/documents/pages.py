"""The form in which all readers answer: pages or sections, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class Refused(Exception):
    """Raised when a file gives no text: `kind`, and a detail for the sentence."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


def bare_page(number: int, state: str, reason: str, text: str = "") -> dict[str, Any]:
    """A page or section without boxes, in the form in which all readers answer."""
    return {
        "number": number,
        "state": state,
        "reason": reason,
        "width": 0.0,
        "height": 0.0,
        "text": text,
        "words": "",
        "edges": [],
        "hidden": [],
        "ocr_layer": False,
    }


def sections(parts: Sequence[tuple[str, list[list[str]]]], max_chars: int) -> list[dict[str, Any]]:
    """Number texts, with what is hidden in them, as sections; those beyond the limit of characters are skipped."""
    pages = []
    chars = 0
    for number, (text, hidden) in enumerate(parts, 1):
        if chars >= max_chars:
            pages.append(bare_page(number, "skipped", f"over the limit of {max_chars:,} characters"))
            continue
        chars += len(text)
        state, reason = ("read", "") if text.strip() else ("empty", "nothing in the section")
        pages.append({**bare_page(number, state, reason, text[:max_chars]), "hidden": hidden})
    return pages
