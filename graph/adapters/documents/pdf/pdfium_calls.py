"""Calls into PDFium of which a page needs hundreds or thousands. Runs in a worker process.

Most of such a call is the making of its arguments: ctypes checks each that has a stated type and wraps it anew. Whole
numbers that fit a C int it takes as they are, and references, which can be made once.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pypdfium2.raw as raw

SLOTS = 2_048
"""Results that are fetched before they are copied; with more nothing is gained."""
_slots = (ctypes.c_uint32 * (4 * SLOTS))()
COLUMNS = [[ctypes.byref(_slots, 16 * slot + 4 * part) for slot in range(SLOTS)] for part in range(4)]
"""References to the first number of each slot, to the second, …; one page is read at a time."""
INTEGERS = np.frombuffer(memoryview(_slots).cast("B"), np.uint32).reshape(SLOTS, 4)
FLOATS = INTEGERS.view(np.float32)


def bind_by_address(function: Any, *types: Any, returns: Any = ctypes.c_int) -> Callable[..., Any]:
    """A PDFium function that takes a plain address, then these types, and keeps the interpreter's lock.

    Far quicker for thousands of calls of a fraction of a microsecond each. What follows the stated types is to be
    references, or whole numbers that fit a C int.
    """
    return bind_by_reference(function, ctypes.c_void_p, *types, returns=returns)


def bind_by_reference(function: Any, *types: Any, returns: Any = ctypes.c_int) -> Callable[..., Any]:
    """The same with a reference in the place of the address, where no type is stated."""
    location = ctypes.cast(function, ctypes.c_void_p).value
    return ctypes.PYFUNCTYPE(returns, *types)(location or 0)


def address(handle: Any) -> int:
    """Of what a handle of pypdfium2 points to."""
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


def reference(location: int) -> Any:
    """To what lies at this address."""
    return ctypes.byref(ctypes.c_char.from_address(location))


_char_box = bind_by_reference(raw.FPDFText_GetLooseCharBox, returns=None)
_fill_colour = bind_by_address(raw.FPDFPageObj_GetFillColor)


def char_boxes(texts: Iterable[Any], indices: Sequence[int]) -> Any:
    """Left, top, right, bottom of each of these characters, a row each, in the page's own coordinates.

    `texts` are references to the loaded text of the page of each. A row that PDFium does not know is of NaN.
    """
    boxes = np.empty((len(indices), 4), np.float32)
    pages = iter(texts)
    for start in range(0, len(indices), SLOTS):
        batch = indices[start : start + SLOTS]
        FLOATS[: len(batch)] = np.nan
        deque(map(_char_box, islice(pages, len(batch)), batch, COLUMNS[0]), 0)
        boxes[start : start + SLOTS] = FLOATS[: len(batch)]
    return boxes


def fill_colours(objects: Sequence[int]) -> Iterator[tuple[Any, Any]]:
    """Of objects at these addresses, some at a time: which of them have a colour; red, green, blue, opacity of each."""
    for start in range(0, len(objects), SLOTS):
        batch = objects[start : start + SLOTS]
        coloured = np.fromiter(map(_fill_colour, batch, *COLUMNS), np.bool_, len(batch))
        yield coloured, INTEGERS[: len(batch)]
