"""What is known of a sentence beside its words: what it, its neighbours and its document weigh, and what rules see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

NO_CLAUSE = -8.0
"""What stands beside the first and the last sentence: no clause at all."""
FEATURE_COUNT = 29
"""Columns; the last is the number of the clause type."""
PLAUSIBLE_WEIGHT = -6.5
"""A sentence is looked at closely when its words weigh at least this, or a rule sees something in it."""

Array = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


def plausible_sentences(weight: Array, rules: Array) -> Flags:
    """Which sentences may state a clause of one type at all: few of them."""
    return np.asarray((weight > PLAUSIBLE_WEIGHT) | (rules[:, :2].max(axis=1, initial=0.0) > 0), dtype=bool)


def context_features(
    index: int, weights: Array, rules: Array, plain: Sequence[str], headings: Sequence[str], blocks: Sequence[int]
) -> Array:
    """(sentences, FACTS) for the clause type at `index`, of a whole document.

    `weights` are those of all types (sentences, types), `rules` the signs of this one (sentences, 4).
    """
    count = len(plain)
    if not count:
        return np.zeros((0, FEATURE_COUNT), np.float32)
    weight = weights[:, index]
    columns = (
        *_around(weight, blocks, headings),
        *_in_document(weight),
        *_of_rules(rules),
        *_of_others(index, weights),
        np.log([len(text) + 1 for text in plain]),
        np.arange(count) / count,
        np.full(count, np.log(count)),
        np.full(count, index),
    )
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=1)


def _around(weight: Array, blocks: Sequence[int], headings: Sequence[str]) -> tuple[npt.NDArray[np.floating], ...]:
    """The sentence, its neighbours, the best of its paragraph, best and mean under its heading."""
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


def _in_document(weight: Array) -> tuple[npt.NDArray[np.floating], ...]:
    """How the sentence stands among those of the document."""
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


def _of_rules(rules: Array) -> tuple[npt.NDArray[np.floating], ...]:
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


def _of_others(index: int, weights: Array) -> tuple[Array, ...]:
    """The best of the other types, and by how much this one is ahead."""
    other_weights = np.delete(weights, index, axis=1)
    best = other_weights.max(axis=1) if other_weights.shape[1] else np.full(len(weights), NO_CLAUSE, np.float32)
    return best, weights[:, index] - best


def shifted(values: Array, by: int, beyond: float = NO_CLAUSE) -> Array:
    """Each value in the place of its neighbour `by` behind it."""
    out = np.full_like(values, beyond)
    if by > 0:
        out[by:] = values[:-by]
    else:
        out[:by] = values[-by:]
    return out
