"""The order in which a person reads lines that lie on a page: columns one after the other. Runs in worker processes."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from graph.adapters.documents.layout.running_text import Word

Line = list[Word]
MIN_COLUMN_LINES = 5
"""Lines that make a column."""
MAX_CROSSING_SHARE = 0.2
"""Share of lines that may cross the gap between two columns: titles, pictures' captions."""
MIN_FILLED_SHARE = 0.6
"""Share of its column that the usual line of running text fills; cells of a table fill less."""


def in_order(lines: Sequence[Line]) -> list[Line]:
    """Rows in reading order; the last word of each row ends a line."""
    lines = [line for line in lines if line]
    gutter = _gutter(lines)
    if gutter is None:
        return _rows(lines)
    rows: list[Line] = []
    left_column: list[Line] = []
    right_column: list[Line] = []
    for line in sorted(lines, key=_top):
        if line[0].x0 < gutter < line[-1].x1:
            rows += in_order(left_column) + in_order(right_column) + _rows([line])
            left_column, right_column = [], []
        else:
            (left_column if line[-1].x1 <= gutter else right_column).append(line)
    return rows + in_order(left_column) + in_order(right_column)


def _gutter(lines: Sequence[Line]) -> int | None:
    """Where a gap runs down the page between two columns of running text."""
    if len(lines) < 2 * MIN_COLUMN_LINES:
        return None
    best: tuple[int, int] | None = None
    for edge in sorted({line[0].x0 for line in lines}):
        gap_x = edge - 20
        left_lines = [line for line in lines if line[-1].x1 <= gap_x]
        right_lines = [line for line in lines if line[0].x0 > gap_x]
        crossing = len(lines) - len(left_lines) - len(right_lines)
        if crossing > MAX_CROSSING_SHARE * len(lines) or (best and crossing >= best[0]):
            continue
        if _is_column(left_lines) and _is_column(right_lines) and _beside(left_lines, right_lines):
            best = (crossing, gap_x)
    return best[1] if best else None


def _is_column(lines: Sequence[Line]) -> bool:
    if len(lines) < MIN_COLUMN_LINES:
        return False
    extent = max(line[-1].x1 for line in lines) - min(line[0].x0 for line in lines)
    usual_width = statistics.median(line[-1].x1 - line[0].x0 for line in lines)
    # Or two columns in their turn, each of which fills a little less than half of it.
    return usual_width >= MIN_FILLED_SHARE * extent or (
        len(lines) >= 2 * MIN_COLUMN_LINES and MIN_FILLED_SHARE / 2 * extent <= usual_width < extent / 2
    )


def _beside(left_column: Sequence[Line], right_column: Sequence[Line]) -> bool:
    """Whether the two share at least half the height of the shorter one."""
    low = max(min(map(_top, left_column)), min(map(_top, right_column)))
    high = min(max(line[0].y1 for line in left_column), max(line[0].y1 for line in right_column))
    shorter = min(max(line[0].y1 for line in side) - min(map(_top, side)) for side in (left_column, right_column))
    return high - low >= shorter / 2


def _top(line: Line) -> int:
    return line[0].y0


def _rows(lines: Sequence[Line]) -> list[Line]:
    """Lines at the same height joined from left to right, rows from top to bottom."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=_middle):
        if rows and _middle(line) - _middle(rows[-1][-1]) < 0.5 * min(_height(line), _height(rows[-1][-1])):
            rows[-1].append(line)
        else:
            rows.append([line])
    joined = [[word for line in sorted(row, key=lambda line: line[0].x0) for word in line] for row in rows]
    return [[*row[:-1], row[-1]._replace(line_ends=True)] for row in joined]


def _middle(line: Line) -> float:
    return (line[0].y0 + line[-1].y1) / 2


def _height(line: Line) -> int:
    return max(word.y1 - word.y0 for word in line)
