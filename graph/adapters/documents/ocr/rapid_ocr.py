"""RapidOCR with the models of its own wheel: reads Latin letters of any language. Runs in a worker, on one core."""

from __future__ import annotations

import functools
import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from graph.adapters.documents.ocr.lines import OcrLine, OcrWord, amount_read, is_confident

DARK = 140
"""Grey below which a dot of a page belongs to a letter."""
FAIR_GAP = 0.75
"""Share of the line's usual space from which a gap between two letters is a space."""


@functools.cache
def engine() -> Any:
    """Load the engine, once a worker; its models lie in the wheel, so nothing is fetched."""
    import cv2
    from rapidocr import RapidOCR

    cv2.setNumThreads(1)
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    return RapidOCR(params={**threads, "Global.use_cls": False, "Global.log_level": "critical"})


def read_upright(picture: Any) -> tuple[int, list[OcrLine], tuple[int, int]]:
    """Read a page the right way up: quarter turns counter-clockwise, its lines, the picture's height and width."""
    import numpy

    lines, on_end = recognise(picture)
    if not lines or (is_confident(lines) and not on_end):
        return 0, lines, picture.shape[:2]
    # Lines on end are read one by one in any case, but never in their order.
    readings = [] if on_end else [(0, lines, picture.shape[:2])]
    for turn in (1, 3) if on_end else (2,):
        turned = numpy.ascontiguousarray(numpy.rot90(picture, turn))
        readings.append((turn, recognise(turned)[0], turned.shape[:2]))
        if is_confident(readings[-1][1]):
            break
    return max(readings, key=lambda reading: amount_read(reading[1]))


def recognise(picture: Any) -> tuple[list[OcrLine], bool]:
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
        chars = [(word, *bounding_box(quad)) for word, _, quad in words] or [(text, *bounding_box(box))]
        lines.append(OcrLine(split_words(text, chars, picture), float(score)))
    return lines, on_end > upright


def bounding_box(quad: Any) -> tuple[float, float, float, float]:
    xs, ys = [float(point[0]) for point in quad], [float(point[1]) for point in quad]
    return min(xs), min(ys), max(xs), max(ys)


def split_words(text: str, chars: list[OcrWord], picture: Any) -> list[OcrWord]:
    """Split a line into words at its spaces, and where the picture shows one that the recogniser has dropped."""
    parts: list[list[OcrWord]] = []
    start = 0
    for part in text.split():
        run = chars[start : start + len(part)]
        if "".join(char[0] for char in run) != part:
            return chars if len(chars) == 1 else [join_letters(chars)]
        parts.append(run)
        start += len(part)
    gaps = [gap_width(word_before[-1], word_after[0], picture) for word_before, word_after in pairwise(parts)]
    if len(gaps) >= 2:
        min_gap = FAIR_GAP * statistics.median(gaps)
        parts = [word for part in parts for word in split_wide_gaps(part, min_gap, picture)]
    return [join_letters(part) for part in parts]


def split_wide_gaps(chars: list[OcrWord], min_gap: float, picture: Any) -> list[list[OcrWord]]:
    """Split a word where its letters stand as far apart as words do; letterspaced words stay whole."""
    cuts = [
        number
        for number, (letter, next_letter) in enumerate(pairwise(chars), 1)
        if not (letter[0].isdigit() and next_letter[0].isdigit())
        and gap_width(letter, next_letter, picture) >= min_gap  # 11 is often set wide
    ]
    if not cuts or len(cuts) > max(1, len(chars) / 4):
        return [chars]
    return [chars[start:end] for start, end in pairwise([0, *cuts, len(chars)])]


def gap_width(letter: OcrWord, next_letter: OcrWord, picture: Any) -> int:
    """Measure the longest run of blank columns between the middles of two letters, in pixels."""
    start, end = round((letter[1] + letter[3]) / 2), round((next_letter[1] + next_letter[3]) / 2)
    top, bottom = round(min(letter[2], next_letter[2])), round(max(letter[4], next_letter[4]))
    window = picture[max(top, 0) : bottom, max(start, 0) : end]
    if not window.size:
        return 0
    longest = run = 0
    for dark in (window.min(axis=0) < DARK).tolist():
        run = 0 if dark else run + 1
        longest = max(longest, run)
    return longest


def join_letters(chars: Sequence[OcrWord]) -> OcrWord:
    return (
        "".join(char[0] for char in chars),
        min(char[1] for char in chars),
        min(char[2] for char in chars),
        max(char[3] for char in chars),
        max(char[4] for char in chars),
    )
