"""How a page of a PDF looks: its frame, its pictures, a drawing of it, what a person does not see. Runs in a child."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.layout import BOX_UNIT

INVISIBLE = 3
CLIP_ONLY = 7
TINY_POINTS = 1.5
FAINT = 245
"""A colour all of whose parts reach this is taken for white until the picture shows otherwise."""
MAX_NESTING = 8
MAX_OBJECTS = 200_000


class Marks(NamedTuple):
    """What the objects of a page say without its text."""

    picture: float
    """Share of the page that its largest picture covers."""
    hidden: bool
    """Whether some text is drawn so that it may not be seen."""


class Frame:
    """From the page's own coordinates to BOX_UNIT of the page as shown."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        box = raw.FS_RECTF()
        raw.FPDF_GetPageBoundingBox(page, box)
        self.left, self.bottom, self.right, self.top = box.left, box.bottom, box.right, box.top
        self.turn = raw.FPDFPage_GetRotation(page)
        self.width = (self.right - self.left) or 1.0
        self.height = (self.top - self.bottom) or 1.0
        shown = (self.width, self.height) if self.turn % 2 == 0 else (self.height, self.width)
        self.shown_width, self.shown_height = shown

    def place(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 in BOX_UNIT, not cut off at the page's edge."""
        a, b = (left - self.left) / self.width, (right - self.left) / self.width
        c, d = (self.top - top) / self.height, (self.top - bottom) / self.height
        x0, y0, x1, y1 = (
            (a, c, b, d),
            (1 - d, a, 1 - c, b),
            (1 - b, 1 - d, 1 - a, 1 - c),
            (c, 1 - b, d, 1 - a),
        )[self.turn]
        return x0 * BOX_UNIT, y0 * BOX_UNIT, x1 * BOX_UNIT, y1 * BOX_UNIT


def draw(page: pdfium.PdfPage, dpi: float, max_pixels: int) -> tuple[int, int, bytes]:
    """Width, height and grey values of the page as shown, at most `max_pixels` of them."""
    width, height = page.get_size()
    scale = dpi / 72
    pixels = max(width * scale, 1) * max(height * scale, 1)
    if pixels > max_pixels:
        scale *= (max_pixels / pixels) ** 0.5
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        rows = bytes(bitmap.buffer)
        if bitmap.stride != bitmap.width:
            rows = b"".join(
                rows[row * bitmap.stride : row * bitmap.stride + bitmap.width] for row in range(bitmap.height)
            )
        return bitmap.width, bitmap.height, rows
    finally:
        bitmap.close()


def survey(page: pdfium.PdfPage, frame: Frame) -> Marks:
    """Walk the page's objects once."""
    largest, hidden, seen = 0.0, False, 0
    area = frame.width * frame.height
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    stack = [(raw.FPDFPage_GetObject(page, i), 0) for i in range(raw.FPDFPage_CountObjects(page))]
    while stack and seen < MAX_OBJECTS:
        item, depth = stack.pop()
        seen += 1
        kind = raw.FPDFPageObj_GetType(item)
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            hidden = hidden or suspicious(item)
        elif kind == raw.FPDF_PAGEOBJ_IMAGE and depth == 0:
            if raw.FPDFPageObj_GetBounds(item, left, bottom, right, top):
                wide = min(right.value, frame.right) - max(left.value, frame.left)
                high = min(top.value, frame.top) - max(bottom.value, frame.bottom)
                largest = max(largest, max(wide, 0) * max(high, 0) / area)
        elif kind == raw.FPDF_PAGEOBJ_IMAGE:
            largest = max(largest, 0.51)  # its place in a form is not known cheaply, and some scanners write forms
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_NESTING:
            inner = range(raw.FPDFFormObj_CountObjects(item))
            stack += [(raw.FPDFFormObj_GetObject(item, i), depth + 1) for i in inner]
    return Marks(largest, hidden)


def suspicious(item: Any) -> bool:
    """Whether this text object may not be seen: drawn with no ink, or with white or transparent ink."""
    mode = raw.FPDFTextObj_GetTextRenderMode(item)
    return mode in (INVISIBLE, CLIP_ONLY) or faint(item)


def faint(item: Any) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not raw.FPDFPageObj_GetFillColor(item, red, green, blue, alpha):
        return False
    return alpha.value < 20 or min(red.value, green.value, blue.value) >= FAINT


def unseen(box: tuple[float, float, float, float], frame: Frame, chars: int) -> str:
    """Why a word at this place cannot be read by a person, or ""."""
    x0, y0, x1, y1 = box
    if x1 <= 0 or y1 <= 0 or x0 >= BOX_UNIT or y0 >= BOX_UNIT:
        return "off the page"
    wide, high = (x1 - x0) * frame.shown_width / BOX_UNIT, (y1 - y0) * frame.shown_height / BOX_UNIT
    if 0 < max(wide / chars, high) < TINY_POINTS:
        return "tiny"
    return ""


class Looks:
    """How each character is drawn, for pages on which some may be hidden."""

    def __init__(self, page: pdfium.PdfPage, textpage: pdfium.PdfTextPage) -> None:
        self.page, self.textpage = page, textpage
        self.known: dict[int, str] = {}
        self.picture: tuple[int, int, bytes] | None = None

    def split(self, start: int, end: int) -> list[tuple[int, int, str]]:
        """Runs of equal look in a range of characters."""
        runs: list[tuple[int, int, str]] = []
        for index in range(start, end):
            why = self._why(index)
            if runs and runs[-1][2] == why:
                runs[-1] = (runs[-1][0], index + 1, why)
            else:
                runs.append((index, index + 1, why))
        return runs

    def _why(self, index: int) -> str:
        item = raw.FPDFText_GetTextObject(self.textpage, index)
        if not item:
            return ""
        key = ctypes.cast(item, ctypes.c_void_p).value or 0
        if key not in self.known:
            mode = raw.FPDFTextObj_GetTextRenderMode(item)
            self.known[key] = "invisible" if mode in (INVISIBLE, CLIP_ONLY) else "white" if faint(item) else ""
        return self.known[key]

    def contrast(self, box: tuple[float, float, float, float]) -> bool:
        """Whether the page, drawn, shows anything but one colour in this box: white on a dark ground is text."""
        if self.picture is None:
            self.picture = draw(self.page, 72, 4_000_000)
        width, height, rows = self.picture
        x0, x1 = (min(max(int(edge / BOX_UNIT * width), 0), width) for edge in (box[0], box[2] + 1))
        y0, y1 = (min(max(int(edge / BOX_UNIT * height), 0), height) for edge in (box[1], box[3] + 1))
        inside = b"".join(rows[row * width + x0 : row * width + x1] for row in range(y0, y1))
        return bool(inside) and max(inside) - min(inside) > 40
