"""Fits the two stages of the clause model; the same contracts give the same model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from graph.training.corpus import Contract
from graph.training.thresholds import tune_thresholds
from nodes.domain.clauses.classifier import Array, Model, load_notions, quantized, refined_probabilities, rule_features
from nodes.domain.clauses.context_features import context_features, plausible_sentences
from nodes.domain.clauses.local_engine import zero_titles
from nodes.domain.clauses.sentence_vectors import sentence_vectors, width
from nodes.domain.clauses.trees import Trees

TYPES = (
    "cap_on_liability",
    "uncapped_liability",
    "termination_for_convenience",
    "governing_law",
    "insurance",
    "liquidated_damages",
    "anti_assignment",
    "audit_rights",
    "change_of_control",
    "warranty_duration",
    "exclusivity",
    "non_compete",
    "renewal_term",
)
FOLDS = 5
STRENGTH = 0.03
"""Inverse strength of regularisation of the first stage."""
MAX_RARITY, USUAL_RARITY = 8.0, 5.0
"""A word counts by how rare it is, as the logarithm of one in so many sentences; a middling one keeps its value."""
FORESTS, FOREST_SHARE = 3, 0.8
"""Forests of the second stage, and the share of contracts that each learns from."""
ROUNDS, RATE, LEAVES, IN_A_LEAF = 200, 0.05, 10, 30
"""Trees of a forest, what each adds, its leaves, and sentences in each leaf."""

Vector = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A contract with its features and labels, worked out once."""

    contract: Contract
    rows: Any
    """Sparse (sentences, columns)."""
    rules: dict[str, Array]
    labels: dict[str, Flags]


def prepare(contract: Contract, types: Sequence[str] = TYPES) -> Prepared:
    """Work out features, rule hits and labels of every sentence of a contract."""
    notions = load_notions()
    vectors = sentence_vectors(contract.plain, contract.headings, notions)
    shape = (vectors.count, width(len(notions)))
    rows = sparse.csr_matrix((vectors.values, (vectors.rows, vectors.columns)), shape=shape, dtype=np.float32)
    rules = {name: rule_features(name, contract.plain, contract.headings) for name in types}
    return Prepared(contract, rows, rules, {name: contract.labels(name) for name in types})


def fit(contracts: Sequence[Prepared], types: Sequence[str] = TYPES) -> Model:
    """Train on these contracts. What the second stage and the thresholds see of a contract was learned without it."""
    rows = sparse.vstack([prepared.rows for prepared in contracts]).tocsr()
    owner = np.repeat(np.arange(len(contracts)), [prepared.rows.shape[0] for prepared in contracts])
    fold = folds(len(contracts))
    unseen, (weights, bias) = _first_stage(contracts, rows, fold[owner], types)
    weight_codes, weight_scale = quantized(weights)
    zeros = np.zeros(len(types), np.float32)
    model = Model(np.array(types), weight_codes, weight_scale, bias, merge_forests([], zeros[:1]), zeros, zeros)
    plausible = [
        _plausible_features(prepared, weight, types) for prepared, weight in zip(contracts, unseen, strict=True)
    ]
    probabilities = _unseen_probabilities(model, contracts, unseen, plausible, fold)
    thresholds = tune_thresholds(types, [prepared.contract for prepared in contracts], probabilities)
    return replace(model, trees=_second_stage(plausible), present=thresholds.present, seed=thresholds.seed)


def folds(count: int) -> npt.NDArray[np.int64]:
    """A fold for each of so many contracts."""
    fold = np.empty(count, np.int64)
    fold[np.random.RandomState(0).permutation(count)] = np.arange(count) % FOLDS
    return fold


def _first_stage(
    contracts: Sequence[Prepared], rows: Any, fold: npt.NDArray[np.int64], types: Sequence[str]
) -> tuple[list[Array], tuple[Vector, Array]]:
    """Weights of the sentences of each contract as a model of the other folds gives them, and the model of all.

    The distance that a support vector machine gives is turned into log odds by what it gives to unseen contracts.
    """
    unseen = np.zeros((rows.shape[0], len(types)), np.float32)
    all_weights = np.zeros((rows.shape[1], len(types)))
    bias = np.zeros(len(types), np.float32)
    rarity = _rarity(rows)
    scaled = (rows @ sparse.diags(rarity)).tocsr().astype(np.float32)
    splits = [(scaled[fold != number], fold == number, scaled[fold == number]) for number in range(FOLDS)]
    for index, name in enumerate(types):
        labels = np.concatenate([prepared.labels[name] for prepared in contracts])
        distance = np.zeros(rows.shape[0])
        for training, held_out, test_rows in splits:
            weights, intercept = _linear(training, labels[~held_out])
            distance[held_out] = test_rows @ weights + intercept
        slope, offset = _log_odds_line(distance, labels)
        unseen[:, index] = distance * slope + offset
        weights, intercept = _linear(scaled, labels)
        all_weights[:, index], bias[index] = weights * rarity * slope, intercept * slope + offset
    return _by_contract(unseen, contracts), (all_weights, bias)


def _rarity(rows: Any) -> Vector:
    """Weight of each column: the more, the fewer sentences have an entry in it."""
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    return np.asarray(np.minimum(np.log(rows.shape[0] / np.maximum(counts, 1)), MAX_RARITY) / USUAL_RARITY)


def _log_odds_line(distance: Vector, labels: Flags) -> tuple[float, float]:
    """Slope and offset of the line from distances to log odds."""
    line = LogisticRegression(C=1e4).fit(distance[:, None], labels)
    return float(line.coef_[0, 0]), float(line.intercept_[0])


def _by_contract(values: Array, contracts: Sequence[Prepared]) -> list[Array]:
    return np.split(values, np.cumsum([prepared.rows.shape[0] for prepared in contracts])[:-1])


def _linear(rows: Any, labels: Flags) -> tuple[Vector, float]:
    model = LinearSVC(C=STRENGTH, dual=True, max_iter=60, tol=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, labels)
    return model.coef_[0].astype(np.float64), float(model.intercept_[0])


def _plausible_features(prepared: Prepared, weight: Array, types: Sequence[str]) -> tuple[Array, Flags]:
    """Features and labels of all plausible sentences of a contract, whatever the type."""
    features: list[Array] = []
    labels: list[Flags] = []
    contract = prepared.contract
    for index, name in enumerate(types):
        plausible = plausible_sentences(weight[:, index], prepared.rules[name])
        features.append(
            context_features(index, weight, prepared.rules[name], contract.plain, contract.headings, contract.blocks)[
                plausible
            ]
        )
        labels.append(prepared.labels[name][plausible])
    return np.concatenate(features), np.concatenate(labels)


def _second_stage(plausible: Sequence[tuple[Array, Flags]]) -> Trees:
    """Trees of several forests, each grown on most of the contracts, so that none rules alone."""
    forests = []
    for number in range(FORESTS):
        chosen = np.random.RandomState(number).rand(len(plausible)) < FOREST_SHARE
        training = [pair for pair, is_chosen in zip(plausible, chosen, strict=True) if is_chosen]
        forests.append(
            grow_forest(
                np.concatenate([features for features, _ in training]),
                np.concatenate([labels for _, labels in training]),
                number,
            )
        )
    return merge_forests(forests, np.zeros(1, np.float32))


def _unseen_probabilities(
    model: Model,
    contracts: Sequence[Prepared],
    unseen: Sequence[Array],
    plausible: Sequence[tuple[Array, Flags]],
    fold: npt.NDArray[np.int64],
) -> list[Array]:
    """Probabilities of each contract, by trees of the other folds."""
    probabilities: list[Array] = [np.zeros((0, 0), np.float32)] * len(contracts)
    for number in range(FOLDS):
        fold_model = replace(
            model, trees=_second_stage([plausible[i] for i in range(len(plausible)) if fold[i] != number])
        )
        for index in map(int, np.flatnonzero(fold == number)):
            contract = contracts[index].contract
            probabilities[index] = zero_titles(
                refined_probabilities(fold_model, unseen[index], contract.plain, contract.headings, contract.blocks),
                contract.plain,
            )
    return probabilities


def grow_forest(features: Array, labels: npt.NDArray[np.bool_], seed: int) -> HistGradientBoostingClassifier:
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
    forest.fit(features, labels)
    return forest


def merge_forests(forests: Sequence[HistGradientBoostingClassifier], base: Array) -> Trees:
    """Write the trees of forests as plain arrays; each forest counts for its share of the sum."""
    nodes: list[Any] = []
    roots: list[int] = []
    first_node = 0
    for forest in forests:
        base = base + np.float32(forest._baseline_prediction.ravel()[0] / len(forests))
        for (tree,) in forest._predictors:
            roots.append(first_node)
            nodes.append(_node_arrays(tree.nodes, first_node, len(forests)))
            first_node += len(tree.nodes)
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


def _node_arrays(tree: Any, first_node: int, forests: int) -> tuple[npt.NDArray[Any], ...]:
    """Columns, limits, branches and outputs of one tree whose first node stands at `first_node`."""
    leaf = tree["is_leaf"].astype(bool)
    own_index = np.arange(len(tree)) + first_node
    return (
        np.where(leaf, 0, tree["feature_idx"]),
        np.where(leaf, 0.0, tree["num_threshold"]),
        np.where(leaf, own_index, tree["left"].astype(np.int64) + first_node),
        np.where(leaf, own_index, tree["right"].astype(np.int64) + first_node),
        np.where(leaf, tree["value"] / forests, 0.0),
    )
