"""OCR of pages without a usable text layer: RapidOCR with the models of its own wheel. Runs in a child, on one core."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pypdfium2 as pdfium

from graph.adapters.file_bytes import Refused, load
from graph.adapters.layout import BOX_UNIT, Word, clean, lay_out
from graph.adapters.pdf_look import draw
from graph.adapters.pdf_text import open_pdf
from graph.adapters.reading_order import Line, in_order

DPI = 200
MAX_PIXELS = 8_000_000
SURE = 0.85
"""Mean confidence above which the page is not tried in another direction."""

INK = 140
"""Grey below which a dot of a page at DPI belongs to a letter."""
FAIR_GAP = 0.75
"""Share of the line's usual space from which a gap between two letters is a space."""

Piece = tuple[str, float, float, float, float]
"""Text and its box in pixels: x0, y0, x1, y1."""


class Found(NamedTuple):
    """One line as OCR sees it: its words, and how sure it is."""

    words: list[Piece]
    confidence: float


def ocr_pages(path: str, password: str | None, options: dict[str, Any], numbers: list[int]) -> list[dict[str, Any]]:
    """Text, words and mean confidence of these pages, or why one of them failed.

    options: as for `load`.
    """
    try:
        pdf, _ = open_pdf(load(path, options), password)
    except Refused as refusal:
        return [{"number": number, "failed": f"needs OCR, but the file is {refusal.kind}"} for number in numbers]
    try:
        return [{"number": number, **ocr_page(pdf, number)} for number in numbers]
    finally:
        pdf.close()


def ocr_page(pdf: pdfium.PdfDocument, number: int) -> dict[str, Any]:
    page = pdf[number - 1]
    try:
        width, height, grey = draw(page, DPI, MAX_PIXELS)
    finally:
        page.close()
    turn, lines, shape = read_upright(picture_of(width, height, grey))
    slope = slope_of(lines) * shape[1] / shape[0]
    words = [word for row in in_order([placed(line, shape, slope) for line in lines]) for word in row]
    laid = lay_out(words)
    for row, box in enumerate(laid.boxes.tolist()):
        laid.boxes[row] = on_the_page(box, turn, slope)
    confidence = statistics.fmean(line.confidence for line in lines) if lines else 0.0
    return {"text": laid.text, "words": laid.words, "edges": laid.edges, "confidence": round(confidence, 3)}


def slope_of(lines: Sequence[Found]) -> float:
    """How much the lines of a skewed scan fall from left to right, in pixels down for each to the right."""
    slopes = []
    for line in lines:
        (_, left, top, right, bottom), (_, last_left, last_top, last_right, last_bottom) = line.words[0], line.words[-1]
        run = (last_left + last_right - left - right) / 2
        if run > 10 * (bottom - top):
            slopes.append((last_top + last_bottom - top - bottom) / 2 / run)
    return statistics.median(slopes) if len(slopes) >= 3 else 0.0


def on_the_page(box: list[int], turn: int, slope: float) -> list[int]:
    """The box on the page as shown: skewed again, and turned back by the quarters that made it stand upright."""
    x0, y0, x1, y1 = box
    fall = round(slope * (x0 + x1) / 2)
    y0, y1 = (min(max(edge + fall, 0), BOX_UNIT) for edge in (y0, y1))
    for _ in range(turn):
        x0, y0, x1, y1 = BOX_UNIT - y1, x0, BOX_UNIT - y0, x1
    return [x0, y0, x1, y1]


def picture_of(width: int, height: int, grey: bytes) -> Any:
    import numpy

    return numpy.frombuffer(grey, dtype=numpy.uint8).reshape(height, width)


@functools.cache
def engine() -> Any:
    """Loaded once a child; its models lie in the wheel, so nothing is fetched."""
    import cv2
    from rapidocr import RapidOCR

    cv2.setNumThreads(1)
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    return RapidOCR(params={**threads, "Global.use_cls": False, "Global.log_level": "critical"})


def read_upright(picture: Any) -> tuple[int, list[Found], tuple[int, int]]:
    """Quarter turns counter-clockwise after which the page reads best, its lines, the picture's height and width."""
    import numpy

    lines, on_end = recognise(picture)
    if not lines or (sure(lines) and not on_end):
        return 0, lines, picture.shape[:2]
    # Lines on end are read one by one in any case, but never in their order.
    tried = [] if on_end else [(0, lines, picture.shape[:2])]
    for turn in (1, 3) if on_end else (2,):
        turned = numpy.ascontiguousarray(numpy.rot90(picture, turn))
        tried.append((turn, recognise(turned)[0], turned.shape[:2]))
        if sure(tried[-1][1]):
            break
    return max(tried, key=lambda one: weight(one[1]))


def sure(lines: Sequence[Found]) -> bool:
    return bool(lines) and statistics.fmean(line.confidence for line in lines) >= SURE


def weight(lines: Sequence[Found]) -> float:
    """How much was read, unsure lines counting little."""
    return sum(line.confidence**4 * sum(len(word[0]) for word in line.words) for line in lines)


def recognise(picture: Any) -> tuple[list[Found], bool]:
    """The lines of a picture, and whether most of them stand on end."""
    result = engine()(picture, return_word_box=True, return_single_char_box=True)
    if result.boxes is None or result.txts is None:
        return [], False
    upright = on_end = 0.0
    lines = []
    for box, text, score, words in zip(result.boxes, result.txts, result.scores, result.word_results, strict=True):
        wide, high = (max(point[axis] for point in box) - min(point[axis] for point in box) for axis in (0, 1))
        if high > 1.5 * wide:
            on_end += high
        else:
            upright += wide
        found = [(word, *bounds(quad)) for word, _, quad in words] or [(text, *bounds(box))]
        lines.append(Found(spaced(text, found, picture), float(score)))
    return lines, on_end > upright


def bounds(quad: Any) -> tuple[float, float, float, float]:
    xs, ys = [float(point[0]) for point in quad], [float(point[1]) for point in quad]
    return min(xs), min(ys), max(xs), max(ys)


def spaced(text: str, chars: list[Piece], picture: Any) -> list[Piece]:
    """The words of a line: cut at its spaces, and where the picture shows one that the recogniser has dropped."""
    parts: list[list[Piece]] = []
    at = 0
    for part in text.split():
        run = chars[at : at + len(part)]
        if "".join(char[0] for char in run) != part:
            return chars if len(chars) == 1 else [joined(chars)]
        parts.append(run)
        at += len(part)
    usual = [gap(one[-1], two[0], picture) for one, two in pairwise(parts)]
    if len(usual) >= 2:
        wide = FAIR_GAP * statistics.median(usual)
        parts = [piece for part in parts for piece in cut(part, wide, picture)]
    return [joined(part) for part in parts]


def cut(part: list[Piece], wide: float, picture: Any) -> list[list[Piece]]:
    """A word where its letters stand as far apart as words do; letterspaced words stay whole."""
    places = [
        number
        for number, (one, two) in enumerate(pairwise(part), 1)
        if not (one[0].isdigit() and two[0].isdigit()) and gap(one, two, picture) >= wide  # 11 is often set wide
    ]
    if not places or len(places) > max(1, len(part) / 4):
        return [part]
    return [part[start:end] for start, end in pairwise([0, *places, len(part)])]


def gap(one: Piece, two: Piece, picture: Any) -> int:
    """Columns of paper alone between the middles of two letters, the longest run of them."""
    left, right = round((one[1] + one[3]) / 2), round((two[1] + two[3]) / 2)
    top, bottom = round(min(one[2], two[2])), round(max(one[4], two[4]))
    window = picture[max(top, 0) : bottom, max(left, 0) : right]
    if not window.size:
        return 0
    longest = run = 0
    for dark in (window.min(axis=0) < INK).tolist():
        run = 0 if dark else run + 1
        longest = max(longest, run)
    return longest


def joined(chars: Sequence[Piece]) -> Piece:
    return (
        "".join(char[0] for char in chars),
        min(char[1] for char in chars),
        min(char[2] for char in chars),
        max(char[3] for char in chars),
        max(char[4] for char in chars),
    )


def placed(line: Found, shape: tuple[int, int], slope: float) -> Line:
    """The line in BOX_UNIT of the picture, each word moved so that the lines run level."""
    height, width = shape
    words = []
    for text, *pixels in line.words:
        kept = clean(text).strip()
        x0, y0, x1, y1 = (round(edge * BOX_UNIT / size) for edge, size in zip(pixels, (width, height) * 2, strict=True))
        fall = round(slope * (x0 + x1) / 2)
        if kept:
            words.append(Word(kept, max(x0, 0), y0 - fall, min(x1, BOX_UNIT), y1 - fall, False))
    return words
