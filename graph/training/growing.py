"""Grows the trees of the second stage and writes them down as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier

from nodes.domain.clauses.trees import Array, Trees

ROUNDS, RATE, LEAVES, IN_A_LEAF = 200, 0.05, 10, 30
"""Trees of a forest, what each adds, its leaves, and sentences in each leaf."""


def boosted(known: Array, labels: npt.NDArray[np.bool_], seed: int) -> HistGradientBoostingClassifier:
    forest = HistGradientBoostingClassifier(
        max_iter=ROUNDS,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=IN_A_LEAF,
        l2_regularization=5.0,
        max_features=0.5,
        early_stopping=False,
        random_state=seed,
    )
    forest.fit(known, labels)
    return forest


def grown(forests: Sequence[HistGradientBoostingClassifier], base: Array) -> Trees:
    """The trees of forests, each of which counts for its share of the sum."""
    nodes: list[Any] = []
    roots: list[int] = []
    begins = 0
    for forest in forests:
        base = base + np.float32(forest._baseline_prediction.ravel()[0] / len(forests))
        for (tree,) in forest._predictors:
            roots.append(begins)
            nodes.append(_placed(tree.nodes, begins, len(forests)))
            begins += len(tree.nodes)
    column, limit, low, high, gives = (
        np.concatenate([node[place] for node in nodes]) if nodes else np.zeros(0) for place in range(5)
    )
    return Trees(
        column=column.astype(np.int32),
        limit=limit.astype(np.float32),
        low=low.astype(np.int32),
        high=high.astype(np.int32),
        gives=gives.astype(np.float32),
        roots=np.array(roots, np.int32),
        base=base,
    )


def _placed(tree: Any, begins: int, forests: int) -> tuple[npt.NDArray[Any], ...]:
    """Columns, limits, ways and gifts of one tree whose first node stands at `begins`."""
    leaf = tree["is_leaf"].astype(bool)
    here = np.arange(len(tree)) + begins
    return (
        np.where(leaf, 0, tree["feature_idx"]),
        np.where(leaf, 0.0, tree["num_threshold"]),
        np.where(leaf, here, tree["left"].astype(np.int64) + begins),
        np.where(leaf, here, tree["right"].astype(np.int64) + begins),
        np.where(leaf, tree["value"] / forests, 0.0),
    )
