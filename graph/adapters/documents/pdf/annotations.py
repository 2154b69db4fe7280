"""Annotations of a PDF page: values of form fields, text boxes, comments. Runs in a worker process.

Fields and text boxes with a picture of their own are drawn into the page, so that they are read where they stand;
those without get a place below what is drawn. Comments are no part of the document and are kept apart.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.documents.layout.running_text import Word, clean
from graph.adapters.documents.pdf.appearance import Frame
from graph.adapters.documents.pdf.checkboxes import checkbox_sign, hide_widget, insert_checkboxes
from graph.adapters.documents.pdf.pdfium_calls import address, bind_by_address
from nodes.domain.text.documents import BOX_UNIT

DRAWN_KINDS = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)
COMMENT_KINDS = (
    raw.FPDF_ANNOT_TEXT,
    raw.FPDF_ANNOT_HIGHLIGHT,
    raw.FPDF_ANNOT_UNDERLINE,
    raw.FPDF_ANNOT_STRIKEOUT,
    raw.FPDF_ANNOT_SQUIGGLY,
    raw.FPDF_ANNOT_CARET,
    raw.FPDF_ANNOT_SQUARE,
    raw.FPDF_ANNOT_CIRCLE,
)
HIDDEN_FLAGS = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
TEXT_FIELDS = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
MAX_ANNOTATIONS = 5_000
"""Annotations of one page that are looked at."""

annotation_count = bind_by_address(raw.FPDFPage_GetAnnotCount)


class AnnotationText(NamedTuple):
    """Text of an annotation, and its box: left, bottom, right, top in the page's own coordinates."""

    text: str
    box: tuple[float, float, float, float]


class Annotations(NamedTuple):
    """Texts of the annotations of a page, by what they are."""

    values: list[AnnotationText]
    """Of fields and text boxes that a person sees."""
    comments: list[AnnotationText]
    hidden: list[AnnotationText]
    """Of fields and text boxes that are not shown."""
    checkboxes: list[AnnotationText]
    """Signs of check boxes and radio buttons that a person sees."""


def read_annotations(page: pdfium.PdfPage) -> Annotations | None:
    """Read the annotations of a page; None for one without any that say or show something."""
    count = min(annotation_count(address(page.raw)), MAX_ANNOTATIONS)
    if count <= 0:
        return None
    annotations = Annotations([], [], [], [])
    drawn = False
    for index in range(count):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            drawn = drawn or kind in DRAWN_KINDS
            if kind in DRAWN_KINDS or kind in COMMENT_KINDS:
                _read_annotation(page, annotation, kind, annotations)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    return annotations if drawn or any(annotations) else None


def _read_annotation(page: pdfium.PdfPage, annotation: Any, kind: int, annotations: Annotations) -> None:
    sign = checkbox_sign(page, annotation) if kind == raw.FPDF_ANNOT_WIDGET else ""
    if kind == raw.FPDF_ANNOT_WIDGET:
        text = sign or _value(page, annotation)
    else:
        text = _string(lambda buffer, size: raw.FPDFAnnot_GetStringValue(annotation, b"Contents", buffer, size))
    if not text.strip():
        return
    box = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(annotation, box)
    annotated_text = AnnotationText(text, (box.left, box.bottom, box.right, box.top))
    if sign:
        if not raw.FPDFAnnot_GetFlags(annotation) & HIDDEN_FLAGS:
            annotations.checkboxes.append(annotated_text)
            hide_widget(annotation)
    elif raw.FPDFAnnot_GetFlags(annotation) & HIDDEN_FLAGS:
        annotations.hidden.append(annotated_text)
    else:
        (annotations.comments if kind in COMMENT_KINDS else annotations.values).append(annotated_text)


def _value(page: pdfium.PdfPage, annotation: Any) -> str:
    form = page.formenv
    if form is None or raw.FPDFAnnot_GetFormFieldType(form, annotation) not in TEXT_FIELDS:
        return ""
    if raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & raw.FPDF_FORMFLAG_TEXT_PASSWORD:
        return ""
    return _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(form, annotation, buffer, size))


def _string(get: Callable[[Any, int], int]) -> str:
    size = get(None, 0)
    if not 2 < size < 1 << 20:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    get(buffer, size)
    return clean(bytes(buffer)[: size - 2].decode("utf-16-le", "replace").replace("\r", " ").replace("\n", " "))


def flatten(page: pdfium.PdfPage) -> bool:
    """Draw the annotations into the page; True when it has to be loaded anew for that."""
    return bool(raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS)


def undrawn_words(values: list[AnnotationText], texts: list[str], frame: Frame) -> list[Word]:
    """List the words of field values that are not drawn on the page, each with the box of its field."""
    page_letters = _plain("".join(texts))
    words: list[Word] = []
    for annotated_text in values:
        if _plain(annotated_text.text) in page_letters:
            continue
        parts = annotated_text.text.split()
        words += [Word(part, *_box(annotated_text, frame), part is parts[-1]) for part in parts]
    return words


def with_checkboxes(words: list[Word], checkboxes: list[AnnotationText], frame: Frame) -> list[Word]:
    """Put the sign of each check box into its place among the words of a page."""
    return insert_checkboxes(
        words, [Word(annotated_text.text, *_box(annotated_text, frame), False) for annotated_text in checkboxes]
    )


def _box(annotated_text: AnnotationText, frame: Frame) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = (min(max(round(edge), 0), BOX_UNIT) for edge in frame.place(*annotated_text.box))
    return x0, y0, x1, y1


def _plain(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
