"""Fits the two stages of the clause model; the same contracts give the same model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from graph.training.corpus import Contract
from graph.training.growing import grow_forest, merge_forests
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

Vector = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A contract with all that is worked out from it once."""

    contract: Contract
    rows: Any
    """Sparse (sentences, columns)."""
    rules: dict[str, Array]
    labels: dict[str, Flags]


def prepare(contract: Contract, types: Sequence[str] = TYPES) -> Prepared:
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
    plausible = [_plausible_features(prepared, weight, types) for prepared, weight in zip(contracts, unseen, strict=True)]
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
        slope, intercept = _log_odds_line(distance, labels)
        unseen[:, index] = distance * slope + intercept
        weights, intercept = _linear(scaled, labels)
        all_weights[:, index], bias[index] = weights * rarity * slope, intercept * slope + intercept
    return _by_contract(unseen, contracts), (all_weights, bias)


def _rarity(rows: Any) -> Vector:
    """What an entry of each column counts: more, the fewer sentences have one."""
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    return np.asarray(np.minimum(np.log(rows.shape[0] / np.maximum(counts, 1)), MAX_RARITY) / USUAL_RARITY)


def _log_odds_line(distance: Vector, labels: Flags) -> tuple[float, float]:
    """Slope and start of the line from distances to log odds."""
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
    """Facts and labels of all that is worth a look in a contract, whatever the type."""
    features: list[Array] = []
    labels: list[Flags] = []
    contract = prepared.contract
    for index, name in enumerate(types):
        plausible = plausible_sentences(weight[:, index], prepared.rules[name])
        features.append(context_features(index, weight, prepared.rules[name], contract.plain, contract.headings, contract.blocks)[plausible])
        labels.append(prepared.labels[name][plausible])
    return np.concatenate(features), np.concatenate(labels)


def _second_stage(plausible: Sequence[tuple[Array, Flags]]) -> Trees:
    """Trees of several forests, each grown on most of the contracts, so that none rules alone."""
    forests = []
    for number in range(FORESTS):
        chosen = np.random.RandomState(number).rand(len(plausible)) < FOREST_SHARE
        training = [pair for pair, is_chosen in zip(plausible, chosen, strict=True) if is_chosen]
        forests.append(grow_forest(np.concatenate([features for features, _ in training]), np.concatenate([labels for _, labels in training]), number))
    return merge_forests(forests, np.zeros(1, np.float32))


def _unseen_probabilities(
    model: Model,
    contracts: Sequence[Prepared],
    unseen: Sequence[Array],
    plausible: Sequence[tuple[Array, Flags]],
    fold: npt.NDArray[np.int64],
) -> list[Array]:
    """Chances of each contract by trees of the other folds."""
    probabilities: list[Array] = [np.zeros((0, 0), np.float32)] * len(contracts)
    for number in range(FOLDS):
        fold_model = replace(model, trees=_second_stage([plausible[i] for i in range(len(plausible)) if fold[i] != number]))
        for index in map(int, np.flatnonzero(fold == number)):
            contract = contracts[index].contract
            probabilities[index] = zero_titles(refined_probabilities(fold_model, unseen[index], contract.plain, contract.headings, contract.blocks), contract.plain)
    return probabilities
