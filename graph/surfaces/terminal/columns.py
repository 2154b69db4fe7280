"""Tables of which whole columns are left out where the terminal is too narrow: one cut to two signs says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.run import plain_table

BETWEEN = 2
"""Columns of space after each column."""
LEAST = 16
"""Columns that a text which may be cut gets before another column is given up."""

Cell = str | Text


def fitting(
    names: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    dropped_columns: Sequence[str],
    right: Sequence[str] = (),
    gives_way: Sequence[str] = (),
) -> Table:
    """A table of these rows, without as many of the columns `given_up`, the first first, as are in the way.

    Columns that give way are cut before any other; fill them with `cut` texts.
    """
    widths = {name: _width(name, [row[index] for row in rows], name in gives_way) for index, name in enumerate(names)}
    for name in dropped_columns:
        if sum(widths.values()) + BETWEEN * (len(widths) - 1) <= console().width:
            break
        widths.pop(name, None)
    table = plain_table(*widths, right=right, gives_way=gives_way)
    indexes = [index for index, name in enumerate(names) if name in widths]
    for row in rows:
        table.add_row(*(row[index] for index in indexes))
    return table


def _width(name: str, cells: Sequence[Cell], cut: bool) -> int:
    longest = max((cell.cell_len if isinstance(cell, Text) else Text(cell).cell_len for cell in cells), default=0)
    return max(len(name), min(longest, LEAST) if cut else longest)
