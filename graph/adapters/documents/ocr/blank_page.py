"""Whether a page on which OCR sees no word is bare paper or has something on it. Runs in a child."""

from __future__ import annotations

from typing import Any

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


def is_blank(picture: Any, dpi: float) -> bool:
    """Whether nothing stands on this grey picture (rows of 0 to 255) but the grain, dust and shadow of a scan."""
    import numpy

    high, wide = picture.shape
    top, left = round(high * EDGE), round(wide * EDGE)
    step = max(round(dpi / CELL_DPI), 1)
    side = step * TILE
    inside = picture[top : high - top, left : wide - left].astype(numpy.float32)
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
    """Whether more than MOST of the marked cells touch each other, also at their corners."""
    left = set(zip(*(axis.tolist() for axis in marked.nonzero()), strict=True))
    while left:
        group, edge = 1, [left.pop()]
        while edge:
            row, column = edge.pop()
            near = {(row + down, column + across) for down in (-1, 0, 1) for across in (-1, 0, 1)} & left
            left -= near
            edge += near
            group += len(near)
            if group > DUST_CELLS:
                return True
    return False
