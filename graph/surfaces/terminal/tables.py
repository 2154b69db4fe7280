"""Tables and lines that fit a terminal of any width.

Columns are cut, or left out whole where one cut to two signs would say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Literal

from rich.table import Table
from rich.text import Text

from graph.surfaces.terminal.output import console
from nodes.domain.shared.formats import one_line

WIDE = 110
"""Columns of a terminal from which a finding fits on one line."""
COLUMN_GAP = 2
"""Blank columns after each column of a table."""
LEAST_WIDTH = 16
"""Columns that a text which may be cut gets before another column is left out."""

Cell = str | Text


def plain_table(*columns: str, right: Sequence[str] = (), gives_way: Sequence[str] = ()) -> Table:
    """A table without frames, so that its lines can be copied.

    Where it is too wide, the columns that give way are cut before the others; fill them with `cut` texts.
    """
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in columns:
        justify: Literal["left", "right"] = "right" if name in right else "left"
        table.add_column(name, no_wrap=name not in gives_way, overflow="ellipsis", justify=justify)
    return table


def fitting_table(
    names: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    dropped_columns: Sequence[str],
    right: Sequence[str] = (),
    gives_way: Sequence[str] = (),
) -> Table:
    """A table of these rows, without the first of `dropped_columns`, as many as it takes to fit the terminal.

    Columns that give way are cut before any other; fill them with `cut` texts.
    """
    widths = {name: _width(name, [row[index] for row in rows], name in gives_way) for index, name in enumerate(names)}
    for name in dropped_columns:
        if sum(widths.values()) + COLUMN_GAP * (len(widths) - 1) <= console().width:
            break
        widths.pop(name, None)
    table = plain_table(*widths, right=right, gives_way=gives_way)
    indexes = [index for index, name in enumerate(names) if name in widths]
    for row in rows:
        table.add_row(*(row[index] for index in indexes))
    return table


def _width(name: str, cells: Sequence[Cell], may_be_cut: bool) -> int:
    longest = max((cell.cell_len if isinstance(cell, Text) else Text(cell).cell_len for cell in cells), default=0)
    return max(len(name), min(longest, LEAST_WIDTH) if may_be_cut else longest)


def labelled_line(name: str, value: str, style: str = "dim") -> Table:
    """A line with a name before it; what does not fit goes on below its beginning."""
    grid = Table.grid(padding=(0, 0))
    grid.add_column(width=12, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(f"  {name}", style=style), Text(value))
    return grid


def cut(text: str, style: str = "") -> Text:
    """Text on one line that may be cut at the end."""
    return Text(one_line(text, 300), style=style, no_wrap=True, overflow="ellipsis")


def short_path(path: str, limit: int) -> str:
    """A path on one line; of one that is too long the name of the file, which tells documents apart."""
    line = one_line(path, 500)
    if len(line) <= limit:
        return line
    name = PurePosixPath(line).name
    return f"…/{name}" if len(name) + 2 <= limit else one_line(name, limit)
