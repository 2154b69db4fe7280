"""What lies on a page of a PDF beside its content: values of form fields, text boxes, comments. Runs in a child.

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
from graph.adapters.documents.pdf.checkboxes import in_place, tick_of, undraw
from graph.adapters.documents.pdf.pdfium_calls import address, quick
from nodes.domain.text.documents import BOX_UNIT

DRAWN = (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT, raw.FPDF_ANNOT_STAMP)
COMMENTS = (
    raw.FPDF_ANNOT_TEXT,
    raw.FPDF_ANNOT_HIGHLIGHT,
    raw.FPDF_ANNOT_UNDERLINE,
    raw.FPDF_ANNOT_STRIKEOUT,
    raw.FPDF_ANNOT_SQUIGGLY,
    raw.FPDF_ANNOT_CARET,
    raw.FPDF_ANNOT_SQUARE,
    raw.FPDF_ANNOT_CIRCLE,
)
UNSHOWN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
WITH_TEXT = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
MOST = 5_000
"""Annotations of one page that are looked at."""

annotations_of = quick(raw.FPDFPage_GetAnnotCount)


class Said(NamedTuple):
    """A text of an annotation, and its box: left, bottom, right, top in the page's own coordinates."""

    text: str
    box: tuple[float, float, float, float]


class Notes(NamedTuple):
    """What the annotations of a page say."""

    values: list[Said]
    """Of fields and text boxes that a person sees."""
    comments: list[Said]
    unshown: list[Said]
    """Of fields and text boxes that are not shown."""
    ticks: list[Said]
    """Signs of check boxes and radio buttons that a person sees."""


def notes_of(page: pdfium.PdfPage) -> Notes | None:
    """None for a page without annotations that say or show anything."""
    count = min(annotations_of(address(page.raw)), MOST)
    if count <= 0:
        return None
    found = Notes([], [], [], [])
    drawn = False
    for index in range(count):
        note = raw.FPDFPage_GetAnnot(page, index)
        if not note:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(note)
            drawn = drawn or kind in DRAWN
            if kind in DRAWN or kind in COMMENTS:
                _hear(page, note, kind, found)
        finally:
            raw.FPDFPage_CloseAnnot(note)
    return found if drawn or any(found) else None


def _hear(page: pdfium.PdfPage, note: Any, kind: int, found: Notes) -> None:
    tick = tick_of(page, note) if kind == raw.FPDF_ANNOT_WIDGET else ""
    if kind == raw.FPDF_ANNOT_WIDGET:
        text = tick or _value(page, note)
    else:
        text = _string(lambda buffer, size: raw.FPDFAnnot_GetStringValue(note, b"Contents", buffer, size))
    if not text.strip():
        return
    box = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(note, box)
    said = Said(text, (box.left, box.bottom, box.right, box.top))
    if tick:
        if not raw.FPDFAnnot_GetFlags(note) & UNSHOWN:
            found.ticks.append(said)
            undraw(note)
    elif raw.FPDFAnnot_GetFlags(note) & UNSHOWN:
        found.unshown.append(said)
    else:
        (found.comments if kind in COMMENTS else found.values).append(said)


def _value(page: pdfium.PdfPage, note: Any) -> str:
    form = page.formenv
    if form is None or raw.FPDFAnnot_GetFormFieldType(form, note) not in WITH_TEXT:
        return ""
    if raw.FPDFAnnot_GetFormFieldFlags(form, note) & raw.FPDF_FORMFLAG_TEXT_PASSWORD:
        return ""
    return _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(form, note, buffer, size))


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


def undrawn(values: list[Said], texts: list[str], frame: Frame) -> list[Word]:
    """Words of those values that are not among the texts of the page, each with the box of its field."""
    page = _plain("".join(texts))
    words: list[Word] = []
    for said in values:
        if _plain(said.text) in page:
            continue
        parts = said.text.split()
        words += [Word(part, *_box(said, frame), part is parts[-1]) for part in parts]
    return words


def ticked(words: list[Word], ticks: list[Said], frame: Frame) -> list[Word]:
    """The words of a page with the signs of its boxes, each in its place."""
    return in_place(words, [Word(said.text, *_box(said, frame), False) for said in ticks])


def _box(said: Said, frame: Frame) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = (min(max(round(edge), 0), BOX_UNIT) for edge in frame.place(*said.box))
    return x0, y0, x1, y1


def _plain(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
