"""Sparse vectors of sentences: hashed words and word pairs, their surroundings, and legal notions.

Columns of words are hashes, so that nothing of a text can be read back from what is trained on them.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

BITS = 18
HASHED = 1 << BITS
"""Columns of hashed words; behind them those of the notions, of their pairs, and of the place."""
PLACE = 4
MAX_WORDS = 400
"""Words of a sentence that are counted."""
EDGE = 15
"""Sentences at each end of a document that count as its opening and its signatures."""
ROWS_AT_ONCE = 2_000

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

_WORD = re.compile(r"[a-z]+|\d+|[$%]")
_FIRST, _LAST = 1, 2
_SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93)
_STEP = 0xBF58476D1CE4E5B9
_ALL = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True, slots=True)
class SparseVectors:
    """Entries of a sparse matrix with a row for each sentence, in order of their rows."""

    rows: Ints
    columns: Ints
    values: Floats
    count: int
    """Number of rows."""


def width(notions: int) -> int:
    """Number of columns of the matrix, for so many notions."""
    return HASHED + notions + notions * (notions - 1) // 2 + PLACE


def sentence_vectors(
    plain: Sequence[str],
    headings: Sequence[str],
    notions: Mapping[str, re.Pattern[str]],
    first: int = 0,
    total: int | None = None,
) -> SparseVectors:
    """Vectors of consecutive sentences, all simplified, each with its heading.

    `first` is the place of the first one among the `total` of the document.
    """
    if not plain:
        no_rows = np.zeros(0, np.int64)
        return SparseVectors(no_rows, no_rows, np.zeros(0, np.float32), 0)
    before, behind = ["", *plain[:-1]], [*plain[1:], ""]
    blocks = [
        _words(plain, 1, pairs=True, framed=True, scale=1.0),
        _words(headings, 2, pairs=True, framed=True, scale=0.5),
        _words(before, 3, pairs=False, framed=False, scale=0.3),
        _words(behind, 4, pairs=False, framed=False, scale=0.3),
        *_notions(plain, notions),
        _place(plain, width(len(notions)) - PLACE, first, len(plain) if total is None else total),
    ]
    rows, columns, values = (np.concatenate([block[part] for block in blocks]) for part in range(3))
    order = np.argsort(rows, kind="stable")
    return SparseVectors(rows[order], columns[order], values[order].astype(np.float32), len(plain))


@lru_cache(maxsize=100_000)
def _word_hash(word: str) -> int:
    # All numbers are one word: what they are says nothing of the kind of a clause.
    return zlib.crc32(b"#" if word[0].isdigit() else word.encode())


def _words(
    texts: Sequence[str], salt: int, *, pairs: bool, framed: bool, scale: float
) -> tuple[Ints, Ints, npt.NDArray[Any]]:
    """Columns of words and of pairs of neighbours, each once a sentence; long sentences weigh little more."""
    words: list[int] = []
    owners: list[int] = []
    for row, text in enumerate(texts):
        hashed = [_word_hash(word) for word in _WORD.findall(text)[:MAX_WORDS]]
        if framed:
            hashed = [_FIRST, *hashed, _LAST]
        words += hashed
        owners += [row] * len(hashed)
    hashes, owner = np.array(words, dtype=np.uint64), np.array(owners, dtype=np.int64)
    offset = np.uint64((salt * _SEEDS[2]) & _ALL)
    keys, rows = [_mix(hashes + offset)], [owner]
    if pairs and len(hashes) > 1:
        both = _mix(hashes[:-1] * np.uint64(_SEEDS[0]) + hashes[1:] * np.uint64(_SEEDS[1]) + offset)
        same = owner[:-1] == owner[1:]
        keys.append(both[same])
        rows.append(owner[:-1][same])
    columns = (np.concatenate(keys) & np.uint64(HASHED - 1)).astype(np.int64)
    cells = np.unique(np.concatenate(rows) * HASHED + columns)
    row_index, column = cells >> BITS, cells & (HASHED - 1)
    return row_index, column, _row_values(row_index, len(texts), scale)


def _row_values(rows: Ints, count: int, scale: float) -> npt.NDArray[Any]:
    """Equal values for all entries of a row: the more entries, the lower."""
    sizes = np.bincount(rows, minlength=count)
    return np.asarray(scale / np.sqrt(np.sqrt(sizes[rows])))


def _mix(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    keys = keys ^ (keys >> np.uint64(29))
    keys = keys * np.uint64(_STEP)
    return np.asarray(keys ^ (keys >> np.uint64(32)))


def _notions(plain: Sequence[str], notions: Mapping[str, re.Pattern[str]]) -> list[tuple[Ints, Ints, npt.NDArray[Any]]]:
    """Columns of the notions of a sentence, and of their pairs."""
    searches = [pattern.search for pattern in notions.values()]
    present = np.array([[search(text) is not None for search in searches] for text in plain], dtype=bool)
    present = present.reshape(len(plain), len(searches))
    speaking = np.nonzero(present)
    first, second = np.array(list(combinations(range(len(searches)), 2)), dtype=np.int64).reshape(-1, 2).T
    rows: list[Ints] = []
    columns: list[Ints] = []
    for start in range(0, len(plain), ROWS_AT_ONCE):
        part = present[start : start + ROWS_AT_ONCE]
        both_row, pair = np.nonzero(part[:, first] & part[:, second])
        rows.append(both_row.astype(np.int64) + start)
        columns.append(pair.astype(np.int64))
    both = np.concatenate([*rows, np.zeros(0, np.int64)])
    pairs = np.concatenate([*columns, np.zeros(0, np.int64)])
    return [
        (speaking[0].astype(np.int64), speaking[1].astype(np.int64) + HASHED, np.full(len(speaking[0]), 0.3)),
        (both, pairs + HASHED + len(searches), _row_values(both, len(plain), 0.6)),
    ]


def _place(plain: Sequence[str], column: int, first: int, total: int) -> tuple[Ints, Ints, npt.NDArray[Any]]:
    """Columns of the place of a sentence in the document and of its length."""
    index = np.arange(first, first + len(plain))
    sizes = np.array([len(text) for text in plain], dtype=np.float64)
    placement = (index / total * 2 - 1, np.log(sizes + 1) - 5, index < EDGE, total - index < EDGE)
    values = np.stack([np.asarray(value, dtype=np.float64) for value in placement], axis=1) * 0.2
    rows = np.repeat(np.arange(len(plain)), PLACE).astype(np.int64)
    return rows, np.tile(np.arange(column, column + PLACE), len(plain)).astype(np.int64), values.reshape(-1)
