"""One page of a PDF: its words with boxes, and whether it has still to be read by OCR. Runs in a child."""

from __future__ import annotations

from typing import Any

import numpy as np
import pypdfium2 as pdfium

from graph.adapters.layout import Word, compose
from graph.adapters.pdf_look import Frame, Looks, Marks, draw, survey
from graph.adapters.pdf_words import Found, characters, words_of

FEW_CHARS = 100
"""Less visible text than this over a picture that fills the page is a stamp on a scan, not its text."""
BLANK_DPI = 36
HIDDEN_CHARS = 2_000
"""Of the hidden text of one page, so much is kept for each reason."""


def read_page(page: pdfium.PdfPage, number: int) -> dict[str, Any]:
    """One page as JSON-plain data; `state` is "ocr" with a reason when the page has still to be read by OCR."""
    frame = Frame(page)
    marks = survey(page, frame)
    textpage = page.get_textpage()
    try:
        chars = characters(textpage)
        looks = Looks(page, textpage, marks) if marks.hidden or marks.covers else None
        shown, hidden = words_of(chars, frame, looks)
        bad = "without a character map" if chars.unmapped_share() > 0.3 else "is garbled" if chars.garbled() else ""
    finally:
        textpage.close()
    layer = False
    invisible = [word for word, why in hidden if why == "invisible"]
    if invisible and marks.picture > 0.5 and length(shown.texts) < FEW_CHARS <= sum(len(w.text) for w in invisible):
        # The invisible text of a scan is its OCR layer: the only text it has.
        shown, layer = merge(shown, invisible), True
        hidden = [(word, why) for word, why in hidden if why != "invisible"]
    laid = compose(*shown)
    state, reason = judge(page, marks, length(shown.texts), bad)
    return {
        "number": number,
        "state": state,
        "reason": reason,
        "width": round(frame.shown_width, 2),
        "height": round(frame.shown_height, 2),
        "text": laid.text,
        "words": laid.words,
        "edges": laid.edges,
        "hidden": [[why, text] for why, text in grouped(hidden)],
        "ocr_layer": layer,
    }


def length(texts: list[str]) -> int:
    return sum(map(len, texts))


def merge(shown: Found, invisible: list[Word]) -> Found:
    """Both, without the invisible words that a visible one covers."""
    visible = shown.words()
    rows = [word for word in invisible if not any(overlaps(word, other) for other in visible)] + visible
    boxes = np.array([word[1:5] for word in rows], np.int64).reshape(-1, 4)
    return Found([word.text for word in rows], boxes, np.array([word.line_ends for word in rows], np.bool_))


def overlaps(one: Word, other: Word) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def grouped(hidden: list[tuple[Word, str]]) -> list[tuple[str, str]]:
    """Hidden words as running text by reason."""
    reasons = dict.fromkeys(why for _, why in hidden)
    return [(why, " ".join(word.text for word, other in hidden if other == why)[:HIDDEN_CHARS]) for why in reasons]


def judge(page: pdfium.PdfPage, marks: Marks, letters: int, bad: str) -> tuple[str, str]:
    """State and reason of a page by what was found on it."""
    if letters and bad:
        return "ocr", f"text layer {bad}"
    if letters and not (marks.picture > 0.5 and letters < FEW_CHARS):
        return "read", ""
    if letters:
        return "ocr", "almost no text over a picture"
    if blank(page):
        return "empty", "nothing on the page"
    return "ocr", "no text layer"


def blank(page: pdfium.PdfPage) -> bool:
    """Whether the page, drawn small, is of one colour."""
    picture = draw(page, BLANK_DPI, 400_000)
    return len(set(picture[2])) <= 1
