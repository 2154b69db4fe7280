"""Fits the two stages of the clause model; the same contracts give the same model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from graph.training.corpus import Contract
from graph.training.thresholds import Thresholds, tuned
from nodes.domain.classifier import Array, Model, facts, load_notions, rule_facts, steps
from nodes.domain.features import features, width

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
FIRST_C, SECOND_C = 0.7, 0.1
"""Inverse strength of regularisation of each stage."""
WORTH = -6.0
"""The second stage learns from sentences that weigh at least this, and from those in which a rule sees something."""

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
    fold = folds(len(contracts))
    owner = np.repeat(np.arange(len(contracts)), [item.rows.shape[0] for item in contracts])
    parts = [_fit_type(name, contracts, rows, fold[owner]) for name in types]
    stored, largest = steps(np.stack([weights for weights, _, _, _ in parts], axis=1))
    return Model(
        types=np.array(types),
        weights=stored,
        largest=largest,
        bias=np.array([bias for _, bias, _, _ in parts], np.float32),
        second=np.stack([second for _, _, second, _ in parts]).astype(np.float32),
        present=np.array([limits.present for _, _, _, limits in parts], np.float32),
        seed=np.array([limits.seed for _, _, _, limits in parts], np.float32),
    )


def folds(count: int) -> npt.NDArray[np.int64]:
    """A fold for each of so many contracts."""
    fold = np.empty(count, np.int64)
    fold[np.random.RandomState(0).permutation(count)] = np.arange(count) % FOLDS
    return fold


def _fit_type(
    name: str, contracts: Sequence[Prepared], rows: Any, fold: npt.NDArray[np.int64]
) -> tuple[Vector, float, Vector, Thresholds]:
    labels = np.concatenate([item.labels[name] for item in contracts])
    weight = np.zeros(len(labels), np.float32)
    for number in range(FOLDS):
        out = fold == number
        weights, bias = _first(rows[~out], labels[~out])
        weight[out] = rows[out] @ weights.astype(np.float32) + bias
    weights, bias = _first(rows, labels)
    known = _facts_of_all(name, contracts, weight)
    rules = np.concatenate([item.rules[name] for item in contracts])
    worth = (weight > WORTH) | (rules[:, :2].max(axis=1) > 0) | labels
    second = _second(known[worth], labels[worth])
    chance = 1 / (1 + np.exp(-(known @ second[:-1] + second[-1])))
    ends = np.cumsum([item.rows.shape[0] for item in contracts])[:-1]
    return weights, bias, second, tuned(name, [item.contract for item in contracts], np.split(chance, ends))


def _facts_of_all(name: str, contracts: Sequence[Prepared], weight: Array) -> Array:
    found, start = [], 0
    for item in contracts:
        end = start + item.rows.shape[0]
        found.append(facts(weight[start:end], item.rules[name], item.contract.plain, item.contract.blocks))
        start = end
    return np.concatenate(found)


def _first(rows: Any, labels: Flags) -> tuple[Vector, float]:
    model = LogisticRegression(C=FIRST_C, solver="liblinear", dual=True, max_iter=60, tol=1e-2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, labels)
    return model.coef_[0].astype(np.float64), float(model.intercept_[0])


def _second(known: Array, labels: Flags) -> Vector:
    """Weights for the facts as they are, and the bias behind them."""
    middle, spread = known.mean(axis=0, dtype=np.float64), known.std(axis=0, dtype=np.float64) + 1e-6
    model = LogisticRegression(C=SECOND_C, max_iter=1_000)
    model.fit((known - middle) / spread, labels)
    weights = model.coef_[0] / spread
    return np.append(weights, model.intercept_[0] - weights @ middle)
