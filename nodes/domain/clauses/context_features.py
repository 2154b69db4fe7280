"""Context features of a sentence: its own word weight, those of its neighbours and document, and signs of rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

NO_CLAUSE = -8.0
"""Weight of a neighbour that does not exist: certainly no clause."""
FEATURE_COUNT = 29
"""Number of columns; the last holds the number of the clause type."""
PLAUSIBLE_WEIGHT = -6.5
"""Word weight above which the second stage scores a sentence even without a sign of a rule."""

Array = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


def plausible_sentences(weight: Array, rules: Array) -> Flags:
    """Flag the few sentences that may state a clause of one type at all."""
    return np.asarray((weight > PLAUSIBLE_WEIGHT) | (rules[:, :2].max(axis=1, initial=0.0) > 0), dtype=bool)


def context_features(
    index: int, weights: Array, rules: Array, plain: Sequence[str], headings: Sequence[str], blocks: Sequence[int]
) -> Array:
    """Features (sentences, FEATURE_COUNT) for the clause type at `index`, of a whole document.

    `weights` are those of all types (sentences, types), `rules` the signs of this one (sentences, 4).
    """
    count = len(plain)
    if not count:
        return np.zeros((0, FEATURE_COUNT), np.float32)
    weight = weights[:, index]
    columns = (
        *_neighbour_weights(weight, blocks, headings),
        *_document_ranks(weight),
        *_rule_columns(rules),
        *_competing_types(index, weights),
        np.log([len(text) + 1 for text in plain]),
        np.arange(count) / count,
        np.full(count, np.log(count)),
        np.full(count, index),
    )
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _neighbour_weights(
    weight: Array, blocks: Sequence[int], headings: Sequence[str]
) -> tuple[npt.NDArray[np.floating], ...]:
    """Weights of the sentence, its neighbours, the best of its paragraph, best and mean under its heading."""
    _, block = np.unique(np.asarray(blocks), return_inverse=True)
    _, heading = np.unique(np.asarray(headings), return_inverse=True)
    floored = np.maximum(weight, PLAUSIBLE_WEIGHT)
    mean = np.bincount(heading, floored) / np.bincount(heading)
    return (
        weight,
        *(shifted(weight, by) for by in (1, -1, 2, -2)),
        _best(weight, block),
        _best(weight, heading),
        mean[heading],
    )


def _best(weight: Array, group: npt.NDArray[np.intp]) -> Array:
    best = np.full(group.max() + 1, NO_CLAUSE, np.float32)
    np.maximum.at(best, group, weight)
    return best[group]


def _document_ranks(weight: Array) -> tuple[npt.NDArray[np.floating], ...]:
    """Ranks of the sentence among those of the document."""
    count = len(weight)
    order = np.argsort(-weight, kind="stable")
    rank = np.empty(count)
    rank[order] = np.arange(count)
    top = weight[order]
    return (
        *(np.full(count, top[min(place, count - 1)]) for place in (0, 1, 4)),
        weight - top[0],
        rank,
        np.cumsum(weight > -2, dtype=np.float64),
        np.full(count, (weight > -1).sum(), np.float64),
    )


def _rule_columns(rules: Array) -> tuple[npt.NDArray[np.floating], ...]:
    strong, weak = (rules[:, place] * (1 - rules[:, 2]) for place in (0, 1))
    count = len(strong)
    return (
        strong,
        weak,
        rules[:, 2],
        rules[:, 3],
        shifted(strong, 1, 0.0),
        shifted(strong, -1, 0.0),
        np.full(count, strong.max()),
        np.full(count, strong.sum()),
    )


def _competing_types(index: int, weights: Array) -> tuple[Array, ...]:
    """Best weight of the other types, and the lead of this one over it."""
    other_weights = np.delete(weights, index, axis=1)
    best = other_weights.max(axis=1) if other_weights.shape[1] else np.full(len(weights), NO_CLAUSE, np.float32)
    return best, weights[:, index] - best


def shifted(values: Array, by: int, beyond: float = NO_CLAUSE) -> Array:
    """Shift values by `by` places; those from beyond the ends are `beyond`."""
    out = np.full_like(values, beyond)
    if by > 0:
        out[by:] = values[:-by]
    else:
        out[:by] = values[-by:]
    return out
