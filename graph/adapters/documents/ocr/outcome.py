"""Decides what a page becomes after OCR. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MIN_CONFIDENCE = 0.8
"""Mean confidence below which OCR does not replace a text layer, however poor that seems."""
NOISE_LETTERS = 3
"""So many letters and digits that OCR is not sure of are no word."""
FEW_LETTERS = "text layer has hardly any letters"
"""The reason of a page whose few signs may be all that it has: where OCR sees no more, they are."""


def apply_ocr(page: dict[str, Any], result: Mapping[str, Any]) -> None:
    """Write the result of OCR into a page (as the readers answer it, state "ocr").

    result: failed (why), or text, words, edges, confidence, and where no word was found, ink.
    """
    if "failed" in result:
        page.update(state="failed", reason=result["failed"])
    elif not has_words(result["text"], result["confidence"]):
        state, outcome = wordless_state(page, result["ink"])
        page.update(state=state, reason=f"{page['reason']}; {outcome}")
    elif page["text"] and result["confidence"] < MIN_CONFIDENCE:
        page.update(state="read", reason=f"{page['reason']}, but OCR was no better")
    else:
        page.update(text=result["text"], words=result["words"], edges=result["edges"], ocr_layer=False)
        page["reason"] += f" (mean confidence {result['confidence']:.2f})"


def has_words(text: str, confidence: float) -> bool:
    """Whether OCR has read words: specks are read as dots, a signature as two letters that it is not sure of."""
    return sum(map(str.isalnum, text)) > (0 if confidence >= MIN_CONFIDENCE else NOISE_LETTERS)


def wordless_state(page: Mapping[str, Any], marked: bool) -> tuple[str, str]:
    """State of a page on which OCR finds no word, and why.

    Bare paper is known to hold nothing. What holds something that nobody could read has not been read: a person who
    is told that a clause is missing must know of it.
    """
    if page["text"] and page["reason"] == FEW_LETTERS:
        return "read", "OCR found no more"
    if page["text"] or marked:
        return "failed", "OCR found no words, though something stands on the page"
    return "empty", "OCR found no words, and nothing stands on the page"
