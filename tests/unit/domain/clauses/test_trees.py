"""The second stage of the clause model: trees as plain arrays, and what they are told of a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.training.corpus import plain_text
from nodes.domain.clauses.classifier import IMPLAUSIBLE_FACTOR, load_model, refined_probabilities
from nodes.domain.clauses.context_features import (
    FEATURE_COUNT,
    NO_CLAUSE,
    PLAUSIBLE_WEIGHT,
    context_features,
    plausible_sentences,
    shifted,
)
from nodes.domain.clauses.local_engine import classify
from nodes.domain.clauses.trees import Trees, tree_probabilities


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def one_tree() -> Trees:
    """Adds 2 when the second fact is above 0.5, else takes 1 away."""
    return Trees(
        ints(1, 0, 0), floats(0.5, 0, 0), ints(1, 1, 2), ints(2, 1, 2), floats(0, -1, 2), ints(0), floats(0.25)
    )


def test_each_row_gets_what_its_leaves_add_up_to() -> None:
    found = tree_probabilities(one_tree(), np.array([[9, 0.5], [9, 0.6]], np.float32))
    assert np.allclose(found, 1 / (1 + np.exp([0.75, -2.25])))


def test_without_rows_or_without_trees_nothing_goes_wrong() -> None:
    assert tree_probabilities(one_tree(), np.zeros((0, 2), np.float32)).shape == (0,)
    none = Trees(ints(), floats(), ints(), ints(), floats(), ints(), floats(0))
    assert tree_probabilities(none, np.zeros((3, 2), np.float32)).tolist() == [0.5] * 3


@pytest.mark.parametrize(
    "damage",
    [
        {"low": ints(1, 1, 7)},
        {"high": ints(-1, 1, 2)},
        {"roots": ints(3)},
        {"column": ints(-1, 0, 0)},
        {"gives": floats(0, 1)},
        {"limit": ints(0, 0, 0)},
        {"base": floats(0, 0)},
    ],
)
def test_damaged_trees_are_refused(damage: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="trees"):
        replace(one_tree(), **damage)


def test_trees_that_ask_for_a_fact_that_is_not_there_make_no_model() -> None:
    with pytest.raises(ValueError, match="facts that are not there"):
        replace(load_model(), trees=replace(one_tree(), column=ints(FEATURE_COUNT, 0, 0)))


def test_a_tree_that_leads_in_a_circle_ends() -> None:
    circle = replace(one_tree(), low=ints(1, 0, 2), high=ints(1, 0, 2))
    assert tree_probabilities(circle, np.zeros((1, 2), np.float32)).shape == (1,)


def test_a_value_and_its_neighbours_stand_in_one_row() -> None:
    values = floats(1, 2, 3)
    assert shifted(values, 1).tolist() == [NO_CLAUSE, 1, 2] and shifted(values, -1).tolist() == [2, 3, NO_CLAUSE]
    assert shifted(values, 2).tolist() == [NO_CLAUSE, NO_CLAUSE, 1] and shifted(floats(1), -2).tolist() == [NO_CLAUSE]


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 1_000))
@settings(max_examples=40, deadline=None)
def test_the_facts_of_any_document_are_finite_numbers_one_row_a_sentence(count: int, types: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.normal(-4, 4, (count, types)).astype(np.float32)
    rules = random.random((count, 4)).astype(np.float32)
    plain = ["x" * int(size) for size in random.integers(0, 90, count)]
    headings = [str(one) for one in random.integers(0, 3, count)]
    blocks = np.sort(random.integers(0, 5, count)).tolist()
    found = context_features(types - 1, weights, rules, plain, headings, blocks)
    assert found.shape == (count, FEATURE_COUNT) and np.isfinite(found).all()
    assert (found[:, 0] == weights[:, -1]).all() and (found[:, -1] == types - 1).all()


def test_only_sentences_worth_a_look_are_more_than_faintly_likely() -> None:
    model = load_model()
    plain = ["nothing is said here of any clause at all"] * 4
    weight = np.full((4, len(model.types)), PLAUSIBLE_WEIGHT - 1, np.float32)
    assert not plausible_sentences(weight[:, 0], np.zeros((4, 4), np.float32)).any()
    assert refined_probabilities(model, weight, plain, [""] * 4, range(4)).max() < IMPLAUSIBLE_FACTOR


def test_the_surest_sentence_is_quoted_when_the_clause_is_there_though_it_is_too_unsure_for_a_second_quote() -> None:
    text = plain_text(
        "12. Governing Law. This Agreement shall be governed by the laws of the State of New York.\n\n"
        "13. Notices. Every notice shall be given in writing and sent by a courier to the address above."
    )
    model = load_model()
    strict = replace(model, seed=np.full_like(model.seed, 2))
    (found,) = classify(strict, text, ["governing_law"])[0]
    assert "laws of the State of New York" in found.quote
