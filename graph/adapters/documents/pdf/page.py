"""Pages of a PDF: their words with boxes, and whether it has still to be read by OCR. Runs in a worker process."""

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
    words, counts, hidden_by_page = read_words([SourcePage(page.chars, page.frame, None) for page in pages])
    texts = compose(*words, counts)
    return [
        _row(page, text, by_reason(hidden_words), False)
        for page, text, hidden_words in zip(pages, texts, hidden_by_page, strict=True)
    ]


def _read_single(page: LoadedPage) -> dict[str, Any]:
    """A page on which something may be hidden, or lies beside its content."""
    visibility = TextVisibility(page.page, page.text, page.survey)
    visibility.reasons |= dict.fromkeys(page.hidden_objects, HIDDEN)
    visible, _, (hidden,) = read_words([SourcePage(page.chars, page.frame, visibility)])
    from_ocr_layer = False
    invisible = [word for word, reason in hidden if reason == "invisible"]
    is_stamp = length(visible.texts) < FEW_CHARS <= sum(len(word.text) for word in invisible)
    if page.survey.picture > 0.5 and is_stamp:
        # The invisible text of a scan is its OCR layer: the only text it has.
        visible, from_ocr_layer = merge_invisible(visible, invisible), True
        hidden = [(word, reason) for word, reason in hidden if reason != "invisible"]
    apart: list[list[str]] = []
    if page.annotations:
        visible, apart = with_annotations(visible, page.annotations, page.frame)
    (text,) = compose(*visible, [len(visible.texts)])
    return _row(page, text, by_reason(hidden) + apart, from_ocr_layer)


def _row(page: LoadedPage, text: RunningText, hidden: list[list[str]], from_ocr_layer: bool) -> dict[str, Any]:
    state, reason = page_state(page, text)
    return {
        "number": page.number,
        "state": state,
        "reason": reason,
        "width": round(page.frame.shown_width, 2),
        "height": round(page.frame.shown_height, 2),
        "text": text.text,
        "words": text.words,
        "edges": text.edges,
        "hidden": hidden,
        "ocr_layer": from_ocr_layer,
    }


def with_annotations(visible: WordTable, annotations: Annotations, frame: Frame) -> tuple[WordTable, list[list[str]]]:
    """The page's words with the values that no picture shows, and what of its annotations is kept apart."""
    undrawn = undrawn_words(annotations.values, visible.texts, frame)
    sources = (("comment", annotations.comments), ("in a hidden field", annotations.hidden))
    apart = [
        [reason, " ".join(annotation.text for annotation in annotated_texts)[:HIDDEN_CHARS]]
        for reason, annotated_texts in sources
        if annotated_texts
    ]
    if undrawn or annotations.checkboxes:
        visible = word_table(with_checkboxes([*visible.words(), *undrawn], annotations.checkboxes, frame))
    return visible, apart


def length(texts: list[str]) -> int:
    return sum(map(len, texts))


def merge_invisible(visible: WordTable, invisible: list[Word]) -> WordTable:
    """Both, without the invisible words that a visible one covers."""
    visible_words = visible.words()
    rows = [
        word for word in invisible if not any(overlaps(word, visible_word) for visible_word in visible_words)
    ] + visible_words
    return word_table(rows)


def word_table(words: list[Word]) -> WordTable:
    boxes = np.array([word[1:5] for word in words], np.int64).reshape(-1, 4)
    return WordTable([word.text for word in words], boxes, np.array([word.line_ends for word in words], np.bool_))


def overlaps(first: Word, second: Word) -> bool:
    return first.x0 < second.x1 and second.x0 < first.x1 and first.y0 < second.y1 and second.y0 < first.y1


def by_reason(hidden: list[tuple[Word, str]]) -> list[list[str]]:
    """Hidden words as running text by reason."""
    reasons = dict.fromkeys(reason for _, reason in hidden)
    return [
        [reason, " ".join(word.text for word, word_reason in hidden if word_reason == reason)[:HIDDEN_CHARS]]
        for reason in reasons
    ]


def page_state(page: LoadedPage, text: RunningText) -> tuple[str, str]:
    """State and reason of a page by what was found on it."""
    letters = int((text.ends - text.starts).sum())
    if letters and page.chars.unmapped_share() > 0.3:
        return "ocr", "text layer without a character map"
    if page.chars.garbled():
        return "ocr", "text layer is garbled"
    signs = text.text.count(TICKED) + text.text.count(UNTICKED)
    if 0 < letters < FEW_CHARS and sum(map(str.isalnum, text.text)) < (letters - signs) / 2:
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
