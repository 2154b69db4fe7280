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
from graph.training.growing import boosted, grown
from graph.training.thresholds import tuned
from nodes.domain.clauses.classifier import Array, Model, judged, load_notions, rule_facts, steps
from nodes.domain.clauses.context_features import bearings, worth_a_look
from nodes.domain.clauses.local_engine import stated
from nodes.domain.clauses.sentence_vectors import features, width
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
RAREST, MIDDLING = 8.0, 5.0
"""A word counts by how rare it is, as the logarithm of one in so many sentences; a middling one keeps its value."""
FORESTS, SHARE = 3, 0.8
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
    seen = features(contract.plain, contract.headings, notions)
    shape = (seen.count, width(len(notions)))
    rows = sparse.csr_matrix((seen.values, (seen.rows, seen.columns)), shape=shape, dtype=np.float32)
    rules = {name: rule_facts(name, contract.plain, contract.headings) for name in types}
    return Prepared(contract, rows, rules, {name: contract.labels(name) for name in types})


def fit(contracts: Sequence[Prepared], types: Sequence[str] = TYPES) -> Model:
    """Train on these contracts. What the second stage and the thresholds see of a contract was learned without it."""
    rows = sparse.vstack([item.rows for item in contracts]).tocsr()
    owner = np.repeat(np.arange(len(contracts)), [item.rows.shape[0] for item in contracts])
    fold = folds(len(contracts))
    unseen, (weights, bias) = _first_stage(contracts, rows, fold[owner], types)
    stored, largest = steps(weights)
    silent = np.zeros(len(types), np.float32)
    model = Model(np.array(types), stored, largest, bias, grown([], silent[:1]), silent, silent)
    known = [_close_look(item, weight, types) for item, weight in zip(contracts, unseen, strict=True)]
    chance = _unseen_chances(model, contracts, unseen, known, fold)
    limits = tuned(types, [item.contract for item in contracts], chance)
    return replace(model, trees=_second_stage(known), present=limits.present, seed=limits.seed)


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
    every = np.zeros((rows.shape[1], len(types)))
    bias = np.zeros(len(types), np.float32)
    rarity = _rarity(rows)
    scaled = (rows @ sparse.diags(rarity)).tocsr().astype(np.float32)
    parts = [(scaled[fold != number], fold == number, scaled[fold == number]) for number in range(FOLDS)]
    for index, name in enumerate(types):
        labels = np.concatenate([item.labels[name] for item in contracts])
        distance = np.zeros(rows.shape[0])
        for seen, out, held in parts:
            weights, one = _linear(seen, labels[~out])
            distance[out] = held @ weights + one
        slope, start = _odds(distance, labels)
        unseen[:, index] = distance * slope + start
        weights, one = _linear(scaled, labels)
        every[:, index], bias[index] = weights * rarity * slope, one * slope + start
    return _by_contract(unseen, contracts), (every, bias)


def _rarity(rows: Any) -> Vector:
    """What an entry of each column counts: more, the fewer sentences have one."""
    there = np.bincount(rows.indices, minlength=rows.shape[1])
    return np.asarray(np.minimum(np.log(rows.shape[0] / np.maximum(there, 1)), RAREST) / MIDDLING)


def _odds(distance: Vector, labels: Flags) -> tuple[float, float]:
    """Slope and start of the line from distances to log odds."""
    line = LogisticRegression(C=1e4).fit(distance[:, None], labels)
    return float(line.coef_[0, 0]), float(line.intercept_[0])


def _by_contract(values: Array, contracts: Sequence[Prepared]) -> list[Array]:
    return np.split(values, np.cumsum([item.rows.shape[0] for item in contracts])[:-1])


def _linear(rows: Any, labels: Flags) -> tuple[Vector, float]:
    model = LinearSVC(C=STRENGTH, dual=True, max_iter=60, tol=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, labels)
    return model.coef_[0].astype(np.float64), float(model.intercept_[0])


def _close_look(item: Prepared, weight: Array, types: Sequence[str]) -> tuple[Array, Flags]:
    """Facts and labels of all that is worth a look in a contract, whatever the type."""
    known: list[Array] = []
    labels: list[Flags] = []
    one = item.contract
    for index, name in enumerate(types):
        worth = worth_a_look(weight[:, index], item.rules[name])
        known.append(bearings(index, weight, item.rules[name], one.plain, one.headings, one.blocks)[worth])
        labels.append(item.labels[name][worth])
    return np.concatenate(known), np.concatenate(labels)


def _second_stage(known: Sequence[tuple[Array, Flags]]) -> Trees:
    """Trees of several forests, each grown on most of the contracts, so that none rules alone."""
    forests = []
    for number in range(FORESTS):
        chosen = np.random.RandomState(number).rand(len(known)) < SHARE
        some = [pair for pair, taken in zip(known, chosen, strict=True) if taken]
        forests.append(boosted(np.concatenate([f for f, _ in some]), np.concatenate([y for _, y in some]), number))
    return grown(forests, np.zeros(1, np.float32))


def _unseen_chances(
    model: Model,
    contracts: Sequence[Prepared],
    unseen: Sequence[Array],
    known: Sequence[tuple[Array, Flags]],
    fold: npt.NDArray[np.int64],
) -> list[Array]:
    """Chances of each contract by trees of the other folds."""
    found: list[Array] = [np.zeros((0, 0), np.float32)] * len(contracts)
    for number in range(FOLDS):
        others = replace(model, trees=_second_stage([known[i] for i in range(len(known)) if fold[i] != number]))
        for place in map(int, np.flatnonzero(fold == number)):
            one = contracts[place].contract
            found[place] = stated(judged(others, unseen[place], one.plain, one.headings, one.blocks), one.plain)
    return found
