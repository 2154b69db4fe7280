"""Pages of a PDF: their words with boxes, and whether it has still to be read by OCR. Runs in a child."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence, Set
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.documents.layout.running_text import RunningText, Word, compose
from graph.adapters.documents.pdf.annotations import Annotations, undrawn_words, with_checkboxes
from graph.adapters.documents.pdf.appearance import Frame, TextVisibility, draw, survey_objects
from graph.adapters.documents.pdf.layers import HIDDEN
from graph.adapters.documents.pdf.pdfium_calls import address, bind_by_address
from graph.adapters.documents.pdf.words import SourcePage, WordTable, load_characters, read_words
from nodes.domain.text.documents import TICKED, UNTICKED

FEW_CHARS = 100
"""Less visible text than this over a picture that fills the page is a stamp on a scan, not its text."""
BLANK_DPI = 36
HIDDEN_CHARS = 2_000
"""Of the hidden text of one page, so much is kept for each reason."""

load_page = bind_by_address(raw.FPDF_LoadPage, ctypes.c_int, returns=ctypes.c_void_p)
close_page = bind_by_address(raw.FPDF_ClosePage, returns=None)
load_text = bind_by_address(raw.FPDFText_LoadPage, returns=ctypes.c_void_p)
close_text = bind_by_address(raw.FPDFText_ClosePage, returns=None)


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


class LoadedPage:
    """A page with its text loaded; to be closed."""

    def __init__(
        self,
        page: pdfium.PdfPage,
        number: int,
        annotations: Annotations | None = None,
        hidden_objects: Set[int] = frozenset(),
    ) -> None:
        self.page, self.number, self.annotations, self.hidden_objects = page, number, annotations, hidden_objects
        self.frame = Frame(page)
        self.survey = survey_objects(page, self.frame)
        if hidden_objects:
            self.survey = self.survey._replace(hidden=True)
        # A plain address: the wrapper, with what watches over it, costs more than many a page.
        self.text = load_text(address(page.raw))
        if not self.text:
            raise pdfium.PdfiumError("its text cannot be loaded")
        self.chars = load_characters(self.text)

    @property
    def plain(self) -> bool:
        """Whether it can be read together with others."""
        return not (self.annotations or self.survey.hidden or self.survey.covers)

    @property
    def weight(self) -> int:
        """Characters and objects, which are what it takes memory for."""
        return len(self.chars.codes) + self.survey.objects

    def close(self) -> None:
        close_text(self.text)
        self.page.close()


def read_pages(pages: Sequence[LoadedPage]) -> list[dict[str, Any]]:
    """Pages as JSON-plain data; `state` is "ocr" with a reason when a page has still to be read by OCR.

    Plain ones are read together: a page takes so little that most of its time would go into the calls.
    """
    plain = [page for page in pages if page.plain]
    rows = {page.number: row for page, row in zip(plain, _read_plain(plain), strict=True)}
    rows |= {page.number: _read_single(page) for page in pages if not page.plain}
    return [rows[page.number] for page in pages]


def _read_plain(pages: Sequence[LoadedPage]) -> list[dict[str, Any]]:
    if not pages:
        return []
    found, counts, hidden = read_words([SourcePage(page.chars, page.frame, None) for page in pages])
    laid = compose(*found, counts)
    return [_row(page, one, by_reason(apart), False) for page, one, apart in zip(pages, laid, hidden, strict=True)]


def _read_single(page: LoadedPage) -> dict[str, Any]:
    """A page on which something may be hidden, or lies beside its content."""
    visibility = TextVisibility(page.page, page.text, page.survey)
    visibility.reasons |= dict.fromkeys(page.hidden_objects, HIDDEN)
    shown, _, (hidden,) = read_words([SourcePage(page.chars, page.frame, visibility)])
    layer = False
    invisible = [word for word, why in hidden if why == "invisible"]
    few = length(shown.texts) < FEW_CHARS <= sum(len(word.text) for word in invisible)
    if page.survey.picture > 0.5 and few:
        # The invisible text of a scan is its OCR layer: the only text it has.
        shown, layer = merge_invisible(shown, invisible), True
        hidden = [(word, why) for word, why in hidden if why != "invisible"]
    kept: list[list[str]] = []
    if page.annotations:
        shown, kept = with_annotations(shown, page.annotations, page.frame)
    (laid,) = compose(*shown, [len(shown.texts)])
    return _row(page, laid, by_reason(hidden) + kept, layer)


def _row(page: LoadedPage, laid: RunningText, hidden: list[list[str]], layer: bool) -> dict[str, Any]:
    state, reason = page_state(page, laid)
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


def with_annotations(shown: WordTable, annotations: Annotations, frame: Frame) -> tuple[WordTable, list[list[str]]]:
    """The page's words with the values that no picture shows, and what of its annotations is kept apart."""
    more = undrawn_words(annotations.values, shown.texts, frame)
    apart = (("comment", annotations.comments), ("in a hidden field", annotations.hidden))
    kept = [[why, " ".join(one.text for one in said)[:HIDDEN_CHARS]] for why, said in apart if said]
    if more or annotations.checkboxes:
        shown = word_table(with_checkboxes([*shown.words(), *more], annotations.checkboxes, frame))
    return shown, kept


def length(texts: list[str]) -> int:
    return sum(map(len, texts))


def merge_invisible(shown: WordTable, invisible: list[Word]) -> WordTable:
    """Both, without the invisible words that a visible one covers."""
    visible = shown.words()
    rows = [word for word in invisible if not any(overlaps(word, other) for other in visible)] + visible
    return word_table(rows)


def word_table(words: list[Word]) -> WordTable:
    boxes = np.array([word[1:5] for word in words], np.int64).reshape(-1, 4)
    return WordTable([word.text for word in words], boxes, np.array([word.line_ends for word in words], np.bool_))


def overlaps(one: Word, other: Word) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def by_reason(hidden: list[tuple[Word, str]]) -> list[list[str]]:
    """Hidden words as running text by reason."""
    reasons = dict.fromkeys(why for _, why in hidden)
    return [[why, " ".join(word.text for word, other in hidden if other == why)[:HIDDEN_CHARS]] for why in reasons]


def page_state(page: LoadedPage, laid: RunningText) -> tuple[str, str]:
    """State and reason of a page by what was found on it."""
    letters = int((laid.ends - laid.starts).sum())
    if letters and page.chars.unmapped_share() > 0.3:
        return "ocr", "text layer without a character map"
    if page.chars.garbled():
        return "ocr", "text layer is garbled"
    signs = laid.text.count(TICKED) + laid.text.count(UNTICKED)
    if 0 < letters < FEW_CHARS and sum(map(str.isalnum, laid.text)) < (letters - signs) / 2:
        return "ocr", "text layer has hardly any letters"
    if letters and not (page.survey.picture > 0.5 and letters < FEW_CHARS):
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
