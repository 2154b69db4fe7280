"""Thresholds of the clause model: the probability from which a clause is present, and from which a quote begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from graph.training.corpus import Contract, hits
from nodes.domain.clauses.local_engine import quotes
from nodes.domain.clauses.trees import Array
from nodes.domain.text.normalise import Span

SEEDS = tuple(np.round(np.arange(0.16, 0.40, 0.02), 2).tolist())
EPSILON = 1e-4


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Thresholds of every clause type."""

    present: Array
    """From which probability on a clause is there."""
    seed: Array
    """From which probability on a quote begins."""


def tune_thresholds(types: Sequence[str], contracts: Sequence[Contract], probabilities: Sequence[Array]) -> Thresholds:
    """Thresholds for probabilities (sentences, types) that were worked out without the contract itself.

    Quotes of all types begin from the same probability: thresholds for each would fit a few dozen clauses by accident.
    """
    columns = [[probability[:, index] for probability in probabilities] for index in range(len(types))]
    present = [_best_limit(name, contracts, column) for name, column in zip(types, columns, strict=True)]
    best, best_seed = -1.0, SEEDS[0]
    for seed in SEEDS:
        scores = [
            _recall_and_precision(name, contracts, column, min_probability, seed)
            for name, column, min_probability in zip(types, columns, present, strict=True)
        ]
        recall, precision = np.mean(scores, axis=0)
        if min(recall, precision) > best:
            best, best_seed = float(min(recall, precision)), seed
    return Thresholds(np.array(present, np.float32), np.full(len(types), best_seed, np.float32))


def _best_limit(name: str, contracts: Sequence[Contract], probabilities: Sequence[Array]) -> float:
    """Find the probability at which the expected F1 over documents is best.

    They are made smooth first: the best point of the raw counts is that of a few documents, not of the type.
    """
    top = np.array([probability.max(initial=0.0) for probability in probabilities], dtype=np.float64)
    has_clause = np.array([bool(contract.gold.get(name)) for contract in contracts])
    if has_clause.all() or not has_clause.any():
        return float(top.min() if has_clause.all() else 1.0)
    scale = np.log((top + EPSILON) / (1 - top + EPSILON))[:, None]
    smooth = LogisticRegression(C=10.0).fit(scale, has_clause).predict_proba(scale)[:, 1]
    limits = np.unique(smooth)
    expected = [2 * smooth[smooth >= limit].sum() / ((smooth >= limit).sum() + smooth.sum()) for limit in limits]
    return float(top[smooth >= limits[int(np.argmax(expected))]].min())


def _recall_and_precision(
    name: str, contracts: Sequence[Contract], probabilities: Sequence[Array], present: float, seed: float
) -> tuple[float, float]:
    """Span recall and span precision."""
    gold_count = reached = quote_count = correct = 0
    for contract, probability in zip(contracts, probabilities, strict=True):
        gold = contract.gold.get(name, ())
        quote_spans: list[Span] = []
        top = float(probability.max(initial=0.0))
        if top >= present:
            for quote in quotes(contract.text, contract.sentences, probability, name, min(seed, top)):
                quote_spans.append((quote.start or 0, (quote.start or 0) + len(quote.quote)))
        gold_count += len(gold)
        quote_count += len(quote_spans)
        reached += sum(any(hits(span, quote) for quote in quote_spans) for span in gold)
        correct += sum(any(hits(span, quote) for span in gold) for quote in quote_spans)
    return reached / max(gold_count, 1), correct / max(quote_count, 1)
