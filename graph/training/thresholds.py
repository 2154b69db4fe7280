"""From which chance on a clause is there, and from which a quote begins."""

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
TINY = 1e-4


@dataclass(frozen=True, slots=True)
class Thresholds:
    """One of each for every clause type."""

    present: Array
    seed: Array


def tuned(types: Sequence[str], contracts: Sequence[Contract], chances: Sequence[Array]) -> Thresholds:
    """Thresholds for chances (sentences, types) that were worked out without the contract itself.

    Quotes of all types begin from the same chance: thresholds for each would fit a few dozen clauses by accident.
    """
    columns = [[chance[:, index] for chance in chances] for index in range(len(types))]
    present = [_present(name, contracts, column) for name, column in zip(types, columns, strict=True)]
    best, chosen = -1.0, SEEDS[0]
    for seed in SEEDS:
        found = [
            _spans(name, contracts, column, there, seed)
            for name, column, there in zip(types, columns, present, strict=True)
        ]
        recall, precision = np.mean(found, axis=0)
        if min(recall, precision) > best:
            best, chosen = float(min(recall, precision)), seed
    return Thresholds(np.array(present, np.float32), np.full(len(types), chosen, np.float32))


def _present(name: str, contracts: Sequence[Contract], chances: Sequence[Array]) -> float:
    """Where the expected F1 over documents is best.

    The chances are made smooth first: the best point of the raw counts is that of a few documents, not of the type.
    """
    top = np.array([chance.max(initial=0.0) for chance in chances], dtype=np.float64)
    there = np.array([bool(contract.gold.get(name)) for contract in contracts])
    if there.all() or not there.any():
        return float(top.min() if there.all() else 1.0)
    scale = np.log((top + TINY) / (1 - top + TINY))[:, None]
    smooth = LogisticRegression(C=10.0).fit(scale, there).predict_proba(scale)[:, 1]
    limits = np.unique(smooth)
    expected = [2 * smooth[smooth >= limit].sum() / ((smooth >= limit).sum() + smooth.sum()) for limit in limits]
    return float(top[smooth >= limits[int(np.argmax(expected))]].min())


def _spans(
    name: str, contracts: Sequence[Contract], chances: Sequence[Array], present: float, seed: float
) -> tuple[float, float]:
    """Span recall and span precision."""
    wanted = reached = given = right = 0
    for contract, chance in zip(contracts, chances, strict=True):
        gold = contract.gold.get(name, ())
        found: list[Span] = []
        top = float(chance.max(initial=0.0))
        if top >= present:
            for quote in quotes(contract.text, contract.sentences, chance, name, min(seed, top)):
                found.append((quote.start or 0, (quote.start or 0) + len(quote.quote)))
        wanted += len(gold)
        given += len(found)
        reached += sum(any(hits(span, quote) for quote in found) for span in gold)
        right += sum(any(hits(span, quote) for span in gold) for quote in found)
    return reached / max(wanted, 1), right / max(given, 1)
