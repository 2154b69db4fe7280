"""Appearance of a PDF page: frame, pictures, rendering, text that a person does not see. Runs in a worker process."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.documents.pdf.pdfium_calls import address, bind_by_address, fill_colours
from nodes.domain.text.documents import BOX_UNIT

INVISIBLE = 3
CLIP_ONLY = 7
NO_TEXT = raw.FPDF_TEXTRENDERMODE_UNKNOWN
"""What PDFium says of objects that are no text."""
TINY_POINTS = 1.5
CONTRAST_DPI = 144
FAINT = 245
"""A colour all of whose parts reach this is taken for white until the picture shows otherwise."""
MAX_NESTING = 8
MAX_OBJECTS = 200_000
MAX_COVERS = 200
COVERING = BOX_UNIT / 300
"""Height and width of what can hide a word; less is a rule under or through it."""

Place = tuple[float, float, float, float]
"""x0, y0, x1, y1 in BOX_UNIT of the page as shown."""


object_of_page = bind_by_address(raw.FPDFPage_GetObject, ctypes.c_int, returns=ctypes.c_void_p)
object_of_form = bind_by_address(raw.FPDFFormObj_GetObject, ctypes.c_ulong, returns=ctypes.c_void_p)
objects_of_form = bind_by_address(raw.FPDFFormObj_CountObjects)
type_of = bind_by_address(raw.FPDFPageObj_GetType)
mode_of = bind_by_address(raw.FPDFTextObj_GetTextRenderMode)
colour_of = bind_by_address(raw.FPDFPageObj_GetFillColor)
bounds_of = bind_by_address(raw.FPDFPageObj_GetBounds)
draw_mode_of = bind_by_address(raw.FPDFPath_GetDrawMode)
box_of = bind_by_address(raw.FPDF_GetPageBoundingBox)
turn_of = bind_by_address(raw.FPDFPage_GetRotation)
text_object_at = bind_by_address(raw.FPDFText_GetTextObject, ctypes.c_int, returns=ctypes.c_void_p)

_rgba = (ctypes.c_uint * 4)()
RGBA = [ctypes.byref(_rgba, 4 * part) for part in range(4)]
"""Where red, green, blue and opacity of an object are written, 0 to 255; one page is read at a time."""
_path_mode = (ctypes.c_int * 2)()
PATH_MODE = [ctypes.byref(_path_mode, 4 * part) for part in range(2)]
"""Where it is written how a path is filled, and whether it is stroked."""

TURNS = {1: ([3, 0, 1, 2], [0, 2]), 2: ([2, 3, 0, 1], [0, 1, 2, 3]), 3: ([1, 2, 3, 0], [1, 3])}
"""For each number of quarter turns: which edge of the unturned page becomes x0, y0, x1, y1, and which are mirrored."""


class Cover(NamedTuple):
    """Something drawn over text that may hide it: its place among the page's objects, and its box in BOX_UNIT."""

    order: int
    box: Place


class ObjectSurvey(NamedTuple):
    """Result of a walk over the objects of a page, its text aside."""

    picture: float
    """Share of the page that its largest picture covers."""
    hidden: bool
    """Whether some text is drawn so that it may not be seen."""
    covers: list[Cover]
    orders: dict[int, int]
    """Place among the page's objects of each text object that something is drawn over."""
    objects: int
    """How many have been looked at, those in forms too."""


class Frame:
    """Conversion from the page's own coordinates to BOX_UNIT of the page as shown."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        box, handle = raw.FS_RECTF(), address(page.raw)
        box_of(handle, ctypes.byref(box))
        self.left, self.bottom, self.right, self.top = box.left, box.bottom, box.right, box.top
        self.turn = turn_of(handle)
        self.width = (self.right - self.left) or 1.0
        self.height = (self.top - self.bottom) or 1.0
        shown_size = (self.width, self.height) if self.turn % 2 == 0 else (self.height, self.width)
        self.shown_width, self.shown_height = shown_size

        across, down = BOX_UNIT / self.width, BOX_UNIT / self.height
        self._scale = np.array([across, -down, across, -down], np.float32)
        self._shift = np.array([-self.left * across, self.top * down] * 2, np.float32)

    def same_as(self, frame: Frame) -> bool:
        """Whether both frames convert alike."""
        edges = (self.left, self.bottom, self.right, self.top, self.turn)
        return edges == (frame.left, frame.bottom, frame.right, frame.top, frame.turn)

    def spread(self, edges: Any) -> Any:
        """Rows of left, top, right, bottom as rows of x0, y0, x1, y1 in BOX_UNIT, not cut off at the page's edge."""
        placed = edges * self._scale
        placed += self._shift
        if self.turn:
            order, turned = TURNS[self.turn]
            placed = placed[:, order]
            placed[:, turned] = BOX_UNIT - placed[:, turned]
        return placed

    def place(self, left: float, bottom: float, right: float, top: float) -> Place:
        """`spread` for one box."""
        x0, y0, x1, y1 = self.spread(np.array([[left, top, right, bottom]]))[0].tolist()
        return x0, y0, x1, y1


def draw(page: pdfium.PdfPage, dpi: float, max_pixels: int) -> tuple[int, int, bytes]:
    """Render the page as shown: width, height and grey values, at most `max_pixels` of them."""
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


def survey_objects(page: pdfium.PdfPage, frame: Frame) -> ObjectSurvey:
    """Walk the page's objects once."""
    count = min(raw.FPDFPage_CountObjects(page), MAX_OBJECTS)
    objects = list(map(object_of_page, repeat(address(page.raw)), range(count)))
    walk = _ObjectWalk(frame, objects)
    walk.visit(objects, range(count), 0)
    orders = walk.orders if walk.covers else {}
    return ObjectSurvey(walk.largest, walk.any_suspicious(), walk.covers, orders, MAX_OBJECTS - walk.budget)


class _ObjectWalk:
    """A walk over the objects of a page in the order in which they are drawn."""

    def __init__(self, frame: Frame, objects: Sequence[int]) -> None:
        self.frame, self.page_objects = frame, objects
        self.budget = MAX_OBJECTS
        self.largest = 0.0
        self.covers: list[Cover] = []
        self.orders: dict[int, int] = {}
        self._over: set[int] = set()
        self._modes: set[int] = set()

    def visit(self, objects: Sequence[int], orders: Sequence[int], depth: int) -> None:
        """Objects of the page or of a form, and for each its place, or that of the form, among those of the page."""
        modes = list(map(mode_of, objects))
        self._modes.update(modes)
        first_text = 0
        if NO_TEXT in modes:
            for index in [index for index, mode in enumerate(modes) if mode == NO_TEXT]:
                if index > first_text:
                    self._texts(objects[first_text:index], orders[first_text:index])
                self._drawing(objects[index], orders[index], depth)
                first_text = index + 1
        self._texts(objects[first_text:], orders[first_text:])

    def _texts(self, objects: Sequence[int], orders: Sequence[int]) -> None:
        self.orders.update(zip(objects[: self.budget], orders, strict=False))
        self.budget -= min(len(objects), self.budget)

    def _drawing(self, page_object: int, order: int, depth: int) -> None:
        if not self.budget:
            return
        self.budget -= 1
        kind = type_of(page_object)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            # Its place in a form is not known cheaply, and some scanners write forms.
            self.largest = max(self.largest, 0.51 if depth else page_share(bounds(page_object, self.frame)))
        elif kind == raw.FPDF_PAGEOBJ_FORM and depth < MAX_NESTING:
            # What may hide something is what is drawn in a form, not the form.
            count = min(objects_of_form(page_object), self.budget)
            self.visit(list(map(object_of_form, repeat(page_object), range(count))), [order] * count, depth + 1)
            return
        if self.orders and order not in self._over and len(self._over) < MAX_COVERS and opaque(page_object, kind):
            self._over.add(order)
            box = bounds(self.page_objects[order], self.frame)
            if min(box[2] - box[0], box[3] - box[1]) > COVERING:
                self.covers.append(Cover(order, box))

    def any_suspicious(self) -> bool:
        """Whether some text may not be seen: drawn with no ink, or with white or transparent ink."""
        if INVISIBLE in self._modes or CLIP_ONLY in self._modes:
            return True
        for coloured, colours in fill_colours(list(self.orders)):
            white = (colours[:, :3] >= FAINT).all(axis=1) | (colours[:, 3] < 20)
            if (coloured & white).any():
                return True
        return False


def opaque(page_object: int, kind: int) -> bool:
    """Whether this object may hide what lies under it; only the page, drawn, tells whether it does."""
    if kind != raw.FPDF_PAGEOBJ_PATH:
        return bool(kind != raw.FPDF_PAGEOBJ_FORM)
    draw_mode_of(page_object, *PATH_MODE)
    return bool(_path_mode[0] and colour_of(page_object, *RGBA)) and _rgba[3] > 200


def bounds(page_object: int, frame: Frame) -> Place:
    """The object's box in BOX_UNIT, cut off at the page's edge."""
    edges = (ctypes.c_float * 4)()
    if not bounds_of(page_object, *(ctypes.byref(edges, 4 * part) for part in range(4))):
        return 0.0, 0.0, 0.0, 0.0
    x0, y0, x1, y1 = frame.place(*edges)
    return max(x0, 0.0), max(y0, 0.0), min(x1, float(BOX_UNIT)), min(y1, float(BOX_UNIT))


def page_share(box: Place) -> float:
    return max(box[2] - box[0], 0.0) * max(box[3] - box[1], 0.0) / BOX_UNIT**2


def faint(page_object: int) -> bool:
    if not colour_of(page_object, *RGBA):
        return False
    red, green, blue, alpha = _rgba
    return alpha < 20 or (red >= FAINT and green >= FAINT and blue >= FAINT)


class TextVisibility:
    """Why characters cannot be seen, for pages on which some may be hidden."""

    def __init__(self, page: pdfium.PdfPage, text: int, survey: ObjectSurvey) -> None:
        self.page, self.handle, self.survey = page, text, survey
        self.reasons: dict[int, str] = {}
        self.picture: tuple[int, int, bytes] | None = None

    def split(self, start: int, end: int) -> list[tuple[int, int, str]]:
        """Split a range of characters into runs with the same reason for being hidden."""
        if not self.survey.hidden:
            return [(start, end, "")]
        runs: list[tuple[int, int, str]] = []
        for index in range(start, end):
            reason = self._reason(index)
            if runs and runs[-1][2] == reason:
                runs[-1] = (runs[-1][0], index + 1, reason)
            else:
                runs.append((index, index + 1, reason))
        return runs

    def confirm(self, reasons: list[str], places: Any, starts: Any) -> None:
        """Check reasons by the rendered page: white on a dark ground is text, what something was drawn over is none."""
        for row, reason in enumerate(reasons):
            if reason == "white" and self.contrast(places[row].tolist()):
                reasons[row] = ""
        for row in self._covered_rows(places, starts):
            if not reasons[row] and not self.contrast(places[row].tolist()):
                reasons[row] = "covered"

    def _covered_rows(self, places: Any, starts: Any) -> list[int]:
        """Rows of the words over which something was drawn."""
        x, y = (places[:, 0] + places[:, 2]) / 2, (places[:, 1] + places[:, 3]) / 2
        rows: set[int] = set()
        for order, (x0, y0, x1, y1) in self.survey.covers:
            inside = ((x0 <= x) & (x <= x1) & (y0 <= y) & (y <= y1)).nonzero()[0].tolist()
            rows |= {row for row in inside if self.survey.orders.get(self._object(int(starts[row])), order) < order}
        return sorted(rows)

    def _object(self, index: int) -> int:
        return text_object_at(self.handle, index) or 0

    def _reason(self, index: int) -> str:
        text_object = self._object(index)
        if text_object and text_object not in self.reasons:
            not_drawn = mode_of(text_object) in (INVISIBLE, CLIP_ONLY)
            self.reasons[text_object] = "invisible" if not_drawn else "white" if faint(text_object) else ""
        return self.reasons.get(text_object, "")

    def contrast(self, box: Sequence[float]) -> bool:
        """Whether the rendered page shows more than one colour in this box: white on a dark ground is text."""
        if self.picture is None:
            self.picture = draw(self.page, CONTRAST_DPI, 4_000_000)
        width, height, rows = self.picture
        x0, x1 = int(box[0] / BOX_UNIT * width) - 1, int((box[2] + 1) / BOX_UNIT * width) + 1  # an I is a hair wide
        x0, x1 = (min(max(edge, 0), width) for edge in (x0, x1))
        y0, y1 = (min(max(int(edge / BOX_UNIT * height), 0), height) for edge in (box[1], box[3] + 1))
        inside = b"".join(rows[row * width + x0 : row * width + x1] for row in range(y0, y1))
        return bool(inside) and max(inside) - min(inside) > 40
