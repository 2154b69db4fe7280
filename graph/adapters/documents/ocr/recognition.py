"""OCR of pages without a usable text layer: Tesseract where it can, else RapidOCR. Runs in a worker, on one core."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import pypdfium2 as pdfium

from graph.adapters.documents.document_bytes import load
from graph.adapters.documents.layout.reading_order import Line, in_order
from graph.adapters.documents.layout.running_text import BOX_UNIT, Word, clean, lay_out
from graph.adapters.documents.ocr import rapid_ocr, tesseract
from graph.adapters.documents.ocr.lines import OcrLine, is_confident
from graph.adapters.documents.ocr.outcome import has_words
from graph.adapters.documents.pages import Refused
from graph.adapters.documents.pdf.annotations import read_annotations, with_checkboxes
from graph.adapters.documents.pdf.appearance import Frame, draw
from graph.adapters.documents.pdf.document import open_pdf

DPI = 200
MAX_PIXELS = 8_000_000

# Whether a page without words is blank:
CELL_DPI = 50
"""So fine is the page looked at: grain, dust and what shines through the paper are averaged away."""
EDGE = 0.02
"""Share of width and height at each edge where scanners leave their shadow."""
TILE = 32
"""Cells in a row from which the colour of the paper around is told: light falls unevenly."""
CONTRAST = 24
"""Of 255: by so much a cell differs from its paper when something stands there."""
DUST_CELLS = 6
"""Cells side by side that may still be dust, half a millimetre each; the stroke of a pen has more."""
MAX_DUST = 2_000
"""No sheet has so many cells with dust."""


def ocr_pages(path: str, password: str | None, options: dict[str, Any], numbers: list[int]) -> list[dict[str, Any]]:
    """Text, words and mean confidence of these pages, or why one of them failed.

    Where no word is found, `ink` says whether something stands on the page all the same.
    options: as for `load`, and language, "" where it is not known.
    """
    data = tesseract.data_for(options.get("language", ""))
    try:
        pdf, _ = open_pdf(load(path, options), password)
    except Refused as refusal:
        return [{"number": number, "failed": f"needs OCR, but the file is {refusal.kind}"} for number in numbers]
    try:
        with suppress(pdfium.PdfiumError):
            pdf.init_forms()
        return [{"number": number, **ocr_page(pdf, number, data)} for number in numbers]
    finally:
        pdf.close()


def ocr_page(pdf: pdfium.PdfDocument, number: int, data: str) -> dict[str, Any]:
    """As `ocr_pages` for one page; `data` names what Tesseract reads it with, "" for RapidOCR alone."""
    page = pdf[number - 1]
    try:
        # First, for it takes the boxes of a form out of the drawing: a recogniser sees letters in them, or nothing.
        annotations, frame = read_annotations(page), Frame(page)
        width, height, grey = draw(page, DPI, MAX_PIXELS)
        dpi = 72 * width / page.get_width()
    finally:
        page.close()
    picture = as_array(width, height, grey)
    turn, lines, shape = recognise(picture, data)
    slope = slope_of(lines) * shape[1] / shape[0]
    words = [word for line in in_order([to_line(line, shape, slope) for line in lines]) for word in line]
    if annotations and annotations.checkboxes and turn == 0:
        words = with_checkboxes(words, annotations.checkboxes, frame)
    page_text = lay_out(words)
    for number, box in enumerate(page_text.boxes.tolist()):
        page_text.boxes[number] = to_page_box(box, turn, slope)
    confidence = round(statistics.fmean(line.confidence for line in lines) if lines else 0.0, 3)
    row = {"text": page_text.text, "words": page_text.words, "edges": page_text.edges, "confidence": confidence}
    return row if has_words(page_text.text, confidence) else {**row, "ink": not is_blank(picture, dpi)}


def recognise(picture: Any, data: str) -> tuple[int, list[OcrLine], tuple[int, int]]:
    """Read as `rapid_ocr.read_upright`, with Tesseract first; RapidOCR reads what Tesseract is not confident of."""
    lines = tesseract.recognise(picture, DPI, data) if data else []
    if is_confident(lines) or (data and find_spec("rapidocr") is None):
        return 0, lines, picture.shape[:2]
    return rapid_ocr.read_upright(picture)


def slope_of(lines: Sequence[OcrLine]) -> float:
    """How much the lines of a skewed scan fall from left to right, in pixels down for each to the right."""
    slopes = []
    for line in lines:
        (_, first_left, top, first_right, bottom), (_, last_left, last_top, last_right, last_bottom) = (
            line.words[0],
            line.words[-1],
        )
        run = (last_left + last_right - first_left - first_right) / 2
        if run > 10 * (bottom - top):
            slopes.append((last_top + last_bottom - top - bottom) / 2 / run)
    return statistics.median(slopes) if len(slopes) >= 3 else 0.0


def to_page_box(box: list[int], turns: int, slope: float) -> list[int]:
    """The box on the page as shown: skewed again, and turned back by the quarters that made it stand upright."""
    x0, y0, x1, y1 = box
    fall = round(slope * (x0 + x1) / 2)
    y0, y1 = (min(max(edge + fall, 0), BOX_UNIT) for edge in (y0, y1))
    for _ in range(turns):
        x0, y0, x1, y1 = BOX_UNIT - y1, x0, BOX_UNIT - y0, x1
    return [x0, y0, x1, y1]


def as_array(width: int, height: int, grey: bytes) -> Any:
    import numpy

    return numpy.frombuffer(grey, dtype=numpy.uint8).reshape(height, width)


def to_line(line: OcrLine, shape: tuple[int, int], slope: float) -> Line:
    """The line in BOX_UNIT of the picture, each word moved so that the lines run level."""
    height, width = shape
    words = []
    for text, *pixels in line.words:
        word_text = clean(text).strip()
        x0, y0, x1, y1 = (round(edge * BOX_UNIT / size) for edge, size in zip(pixels, (width, height) * 2, strict=True))
        fall = round(slope * (x0 + x1) / 2)
        if word_text:
            words.append(Word(word_text, max(x0, 0), y0 - fall, min(x1, BOX_UNIT), y1 - fall, False))
    return words


def is_blank(picture: Any, dpi: float) -> bool:
    """Whether this grey picture (rows of 0 to 255) shows nothing but the grain, dust and shadow of a scan."""
    import numpy

    high, wide = picture.shape
    margin_y, margin_x = round(high * EDGE), round(wide * EDGE)
    step = max(round(dpi / CELL_DPI), 1)
    side = step * TILE
    inside = picture[margin_y : high - margin_y, margin_x : wide - margin_x].astype(numpy.float32)
    # Filled up at the far edges with what stands there, so that whole tiles cover the page.
    inside = numpy.pad(inside, [(0, -size % side) for size in inside.shape], mode="edge")
    down, across = (size // step for size in inside.shape)
    cells = inside.reshape(down, step, across, step).mean(axis=(1, 3))
    tiles = cells.reshape(down // TILE, TILE, across // TILE, TILE)
    paper = numpy.median(tiles, axis=(1, 3), keepdims=True)
    marked = (abs(tiles - paper) > CONTRAST).reshape(down, across)
    # What covers a whole tile passes for its paper; but then the tiles differ.
    return (
        float(paper.max() - paper.min()) <= 4 * CONTRAST
        and int(marked.sum()) <= MAX_DUST
        and not has_large_mark(marked)
    )


def has_large_mark(marked: Any) -> bool:
    """Whether more than DUST_CELLS of the marked cells touch each other, also at their corners."""
    unvisited = set(zip(*(axis.tolist() for axis in marked.nonzero()), strict=True))
    while unvisited:
        size, frontier = 1, [unvisited.pop()]
        while frontier:
            row, column = frontier.pop()
            neighbours = {(row + down, column + across) for down in (-1, 0, 1) for across in (-1, 0, 1)} & unvisited
            unvisited -= neighbours
            frontier += neighbours
            size += len(neighbours)
            if size > DUST_CELLS:
                return True
    return False
