"""What training writes down says what the library says that grew it; the library starts processes to count cores."""

from __future__ import annotations

import numpy as np
import pytest

from nodes.domain.clauses.trees import tree_probabilities


def test_trees_written_down_say_what_the_library_that_grew_them_says() -> None:
    pytest.importorskip("sklearn")
    from graph.training.fitting import grow_forest, merge_forests

    facts = np.random.default_rng(0).normal(size=(400, 5)).astype(np.float32)
    labels = facts[:, 0] + facts[:, 1] * facts[:, 2] > 0.3
    forest = grow_forest(facts, labels, 0)
    assert np.allclose(
        tree_probabilities(merge_forests([forest], np.zeros(1, np.float32)), facts),
        forest.predict_proba(facts)[:, 1],
        atol=1e-4,
    )
