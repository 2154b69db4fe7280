"""Sums of small decision trees as plain arrays, evaluated on rows of features."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

MAX_DEPTH = 64
"""Most steps from a root; a tree that needs more is damaged."""
ROWS_AT_ONCE = 512

Array = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Trees:
    """Nodes of all trees, one behind the other. A leaf leads to itself."""

    column: Ints
    """Feature that a node compares."""
    limit: Array
    """Values up to this go to `low`, others to `high`."""
    low: Ints
    high: Ints
    gives: Array
    """Value that a leaf adds to the sum."""
    roots: Ints
    """Root node of each tree."""
    base: Array
    """Start of the sum: one number."""

    def __post_init__(self) -> None:
        count = len(self.column)
        for field in fields(self):
            array = getattr(self, field.name)
            kind = np.float32 if field.name in ("limit", "gives", "base") else np.int32
            size = {"roots": len(self.roots), "base": 1}.get(field.name, count)
            if array.dtype != kind or array.ndim != 1 or len(array) != size:
                raise ValueError("its trees are damaged")
        for places in (self.low, self.high, self.roots):
            if len(places) and not (places.min() >= 0 and places.max() < count):
                raise ValueError("its trees lead nowhere")
        if count and self.column.min() < 0:
            raise ValueError("its trees ask for nothing")


def tree_probabilities(trees: Trees, features: Array) -> Array:
    """Probability for each row of features."""
    sums = [_sums(trees, features[first : first + ROWS_AT_ONCE]) for first in range(0, len(features), ROWS_AT_ONCE)]
    total = np.concatenate(sums) if sums else np.zeros(0, np.float32)
    return np.asarray(1 / (1 + np.exp(-total)), dtype=np.float32)


def _sums(trees: Trees, features: Array) -> Array:
    row = np.arange(len(features))[:, None]
    at = np.broadcast_to(trees.roots, (len(features), len(trees.roots)))
    for _ in range(MAX_DEPTH):
        goes_low = features[row, trees.column[at]] <= trees.limit[at]
        reached = np.where(goes_low, trees.low[at], trees.high[at])
        if np.array_equal(reached, at):
            break
        at = reached
    return np.asarray(trees.gives[at].sum(axis=1, dtype=np.float64) + trees.base[0], dtype=np.float32)
