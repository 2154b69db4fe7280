"""Check boxes and radio buttons of a PDF: a sign for each in its place, so that a label is read with its box.

What PDFium reads of them is a letter of a font of signs where one is ticked, at the end of the page, and nothing where
it is not. Word writes the same two signs for its own boxes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.documents.layout.running_text import Word
from nodes.domain.text.documents import TICKED, UNTICKED

CHECKBOX_FIELDS = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)
OTHER_FIELDS = range(raw.FPDF_FORMFIELD_PUSHBUTTON, raw.FPDF_FORMFIELD_SIGNATURE + 1)
"""Kinds of fields that are known; a widget of none is a box where it has a state of its own."""


def checkbox_sign(page: pdfium.PdfPage, widget: Any) -> str:
    """Return TICKED or UNTICKED for a check box or a radio button, as it is drawn; "" for any other field."""
    form = page.formenv
    kind = raw.FPDFAnnot_GetFormFieldType(form, widget) if form is not None else -1
    if kind in CHECKBOX_FIELDS:
        return TICKED if raw.FPDFAnnot_IsChecked(form, widget) else UNTICKED
    state = _state(widget) if kind not in OTHER_FIELDS else ""
    return "" if not state else UNTICKED if state == "Off" else TICKED


def _state(widget: Any) -> str:
    """Name of the appearance that is shown; "" for a field with one alone."""
    buffer = (ctypes.c_ushort * 64)()
    size = raw.FPDFAnnot_GetStringValue(widget, b"AS", buffer, ctypes.sizeof(buffer))
    return bytes(buffer)[: max(size - 2, 0)].decode("utf-16-le", "replace") if size <= ctypes.sizeof(buffer) else ""


def hide_widget(widget: Any) -> None:
    """Keep the box from being drawn into the page: its sign would be read a second time there."""
    raw.FPDFAnnot_SetFlags(widget, raw.FPDFAnnot_GetFlags(widget) | raw.FPDF_ANNOT_FLAG_HIDDEN)


def insert_checkboxes(words: Sequence[Word], checkboxes: Sequence[Word]) -> list[Word]:
    """Insert each check box beside the nearest word on its line; the words keep their order."""
    ordered = list(words)
    for checkbox in sorted(checkboxes, key=lambda box: (box.y0, box.x0)):
        line = [number for number, word in enumerate(ordered) if _same_line(word, checkbox)]
        nearest = min(line, key=lambda number: _gap(ordered[number], checkbox), default=None)
        if nearest is None:
            _insert_line(ordered, checkbox)
            continue
        word = ordered[nearest]
        sign = checkbox._replace(y0=word.y0, y1=word.y1)  # a box is higher than its line, which would look like a gap
        if word.x0 + word.x1 >= checkbox.x0 + checkbox.x1:
            ordered.insert(nearest, sign._replace(line_ends=False))
        else:
            ordered[nearest] = word._replace(line_ends=False)
            ordered.insert(nearest + 1, sign._replace(line_ends=word.line_ends))
    return ordered


def _same_line(word: Word, checkbox: Word) -> bool:
    return (
        checkbox.y0 <= (word.y0 + word.y1) / 2 <= checkbox.y1 or word.y0 <= (checkbox.y0 + checkbox.y1) / 2 <= word.y1
    )


def _gap(word: Word, checkbox: Word) -> int:
    return max(word.x0 - checkbox.x1, checkbox.x0 - word.x1, 0)


def _insert_line(placed: list[Word], checkbox: Word) -> None:
    """Insert a box without words beside it as a line of its own, before what begins below it."""
    at = next((number for number, word in enumerate(placed) if word.y0 >= checkbox.y1), len(placed))
    if at:
        placed[at - 1] = placed[at - 1]._replace(line_ends=True)
    placed.insert(at, checkbox._replace(line_ends=True))
