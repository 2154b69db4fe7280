"""Pages of a PDF: their words with boxes, and whether it has still to be read by OCR. Runs in a child."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence, Set
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.documents.layout.running_text import Laid, Word, compose
from graph.adapters.documents.pdf.annotations import Notes, ticked, undrawn
from graph.adapters.documents.pdf.appearance import Frame, Looks, draw, survey
from graph.adapters.documents.pdf.layers import HIDDEN
from graph.adapters.documents.pdf.pdfium_calls import address, quick
from graph.adapters.documents.pdf.words import Found, Sheet, characters, words_of
from nodes.domain.text.documents import TICKED, UNTICKED

FEW_CHARS = 100
"""Less visible text than this over a picture that fills the page is a stamp on a scan, not its text."""
BLANK_DPI = 36
HIDDEN_CHARS = 2_000
"""Of the hidden text of one page, so much is kept for each reason."""

load_page = quick(raw.FPDF_LoadPage, ctypes.c_int, gives=ctypes.c_void_p)
close_page = quick(raw.FPDF_ClosePage, gives=None)
load_text = quick(raw.FPDFText_LoadPage, gives=ctypes.c_void_p)
close_text = quick(raw.FPDFText_ClosePage, gives=None)


class Page(pdfium.PdfPage):  # type: ignore[misc]
    """A page that is closed by hand alone: what else watches over it takes as long as a tenth of its text.

    Raises PdfiumError when it cannot be loaded.
    """

    def __init__(self, pdf: pdfium.PdfDocument, index: int) -> None:
        handle = load_page(address(pdf.raw), index)
        if not handle:
            raise pdfium.PdfiumError("Failed to load page.")
        self.raw = ctypes.cast(handle, raw.FPDF_PAGE)
        self.pdf, self.formenv = pdf, pdf.formenv
        if self.formenv:
            raw.FORM_OnAfterLoadPage(self, self.formenv)

    def close(self) -> None:
        if self.formenv:
            raw.FORM_OnBeforeClosePage(self, self.formenv)
        close_page(address(self.raw))


class Open:
    """A page with its text loaded; to be closed."""

    def __init__(
        self, page: pdfium.PdfPage, number: int, notes: Notes | None = None, veiled: Set[int] = frozenset()
    ) -> None:
        self.page, self.number, self.notes, self.veiled = page, number, notes, veiled
        self.frame = Frame(page)
        self.marks = survey(page, self.frame)
        if veiled:
            self.marks = self.marks._replace(hidden=True)
        # A plain address: the wrapper, with what watches over it, costs more than many a page.
        self.text = load_text(address(page.raw))
        if not self.text:
            raise pdfium.PdfiumError("its text cannot be loaded")
        self.chars = characters(self.text)

    @property
    def plain(self) -> bool:
        """Whether it can be read together with others."""
        return not (self.notes or self.marks.hidden or self.marks.covers)

    @property
    def weight(self) -> int:
        """Characters and objects, which are what it takes memory for."""
        return len(self.chars.codes) + self.marks.objects

    def close(self) -> None:
        close_text(self.text)
        self.page.close()


def read_pages(pages: Sequence[Open]) -> list[dict[str, Any]]:
    """Pages as JSON-plain data; `state` is "ocr" with a reason when a page has still to be read by OCR.

    Plain ones are read together: a page takes so little that most of its time would go into the calls.
    """
    plain = [page for page in pages if page.plain]
    rows = {page.number: row for page, row in zip(plain, _together(plain), strict=True)}
    rows |= {page.number: _alone(page) for page in pages if not page.plain}
    return [rows[page.number] for page in pages]


def _together(pages: Sequence[Open]) -> list[dict[str, Any]]:
    if not pages:
        return []
    found, counts, hidden = words_of([Sheet(page.chars, page.frame, None) for page in pages])
    laid = compose(*found, counts)
    return [_row(page, one, grouped(apart), False) for page, one, apart in zip(pages, laid, hidden, strict=True)]


def _alone(page: Open) -> dict[str, Any]:
    """A page on which something may be hidden, or lies beside its content."""
    looks = Looks(page.page, page.text, page.marks)
    looks.known |= dict.fromkeys(page.veiled, HIDDEN)
    shown, _, (hidden,) = words_of([Sheet(page.chars, page.frame, looks)])
    layer = False
    invisible = [word for word, why in hidden if why == "invisible"]
    few = length(shown.texts) < FEW_CHARS <= sum(len(word.text) for word in invisible)
    if page.marks.picture > 0.5 and few:
        # The invisible text of a scan is its OCR layer: the only text it has.
        shown, layer = merge(shown, invisible), True
        hidden = [(word, why) for word, why in hidden if why != "invisible"]
    kept: list[list[str]] = []
    if page.notes:
        shown, kept = beside(shown, page.notes, page.frame)
    (laid,) = compose(*shown, [len(shown.texts)])
    return _row(page, laid, grouped(hidden) + kept, layer)


def _row(page: Open, laid: Laid, hidden: list[list[str]], layer: bool) -> dict[str, Any]:
    state, reason = judge(page, laid)
    return {
        "number": page.number,
        "state": state,
        "reason": reason,
        "width": round(page.frame.shown_width, 2),
        "height": round(page.frame.shown_height, 2),
        "text": laid.text,
        "words": laid.words,
        "edges": laid.edges,
        "hidden": hidden,
        "ocr_layer": layer,
    }


def beside(shown: Found, notes: Notes, frame: Frame) -> tuple[Found, list[list[str]]]:
    """The page's words with the values that no picture shows, and what of its annotations is kept apart."""
    more = undrawn(notes.values, shown.texts, frame)
    apart = (("comment", notes.comments), ("in a hidden field", notes.unshown))
    kept = [[why, " ".join(one.text for one in said)[:HIDDEN_CHARS]] for why, said in apart if said]
    if more or notes.ticks:
        shown = found_of(ticked([*shown.words(), *more], notes.ticks, frame))
    return shown, kept


def length(texts: list[str]) -> int:
    return sum(map(len, texts))


def merge(shown: Found, invisible: list[Word]) -> Found:
    """Both, without the invisible words that a visible one covers."""
    visible = shown.words()
    rows = [word for word in invisible if not any(overlaps(word, other) for other in visible)] + visible
    return found_of(rows)


def found_of(words: list[Word]) -> Found:
    boxes = np.array([word[1:5] for word in words], np.int64).reshape(-1, 4)
    return Found([word.text for word in words], boxes, np.array([word.line_ends for word in words], np.bool_))


def overlaps(one: Word, other: Word) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def grouped(hidden: list[tuple[Word, str]]) -> list[list[str]]:
    """Hidden words as running text by reason."""
    reasons = dict.fromkeys(why for _, why in hidden)
    return [[why, " ".join(word.text for word, other in hidden if other == why)[:HIDDEN_CHARS]] for why in reasons]


def judge(page: Open, laid: Laid) -> tuple[str, str]:
    """State and reason of a page by what was found on it."""
    letters = int((laid.ends - laid.starts).sum())
    if letters and page.chars.unmapped_share() > 0.3:
        return "ocr", "text layer without a character map"
    if page.chars.garbled():
        return "ocr", "text layer is garbled"
    signs = laid.text.count(TICKED) + laid.text.count(UNTICKED)
    if 0 < letters < FEW_CHARS and sum(map(str.isalnum, laid.text)) < (letters - signs) / 2:
        return "ocr", "text layer has hardly any letters"
    if letters and not (page.marks.picture > 0.5 and letters < FEW_CHARS):
        return "read", ""
    if letters:
        return "ocr", "almost no text over a picture"
    if blank(page.page):
        return "empty", "nothing on the page"
    return "ocr", "no text layer"


def blank(page: pdfium.PdfPage) -> bool:
    """Whether the page, drawn small, is of one colour."""
    picture = draw(page, BLANK_DPI, 400_000)
    return len(set(picture[2])) <= 1
