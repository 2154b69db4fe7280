"""From which chance on a clause is there, and from which a quote begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from graph.training.corpus import Contract, hits
from nodes.domain.folding import Span
from nodes.domain.local_engine import quotes

SEEDS = (0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6)
TINY = 1e-4

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Of one clause type."""

    present: float
    seed: float


def tuned(name: str, contracts: Sequence[Contract], chances: Sequence[Vector]) -> Thresholds:
    """Thresholds for chances that were worked out without the contract itself."""
    present = _present(name, contracts, chances)
    return Thresholds(present, _seed(name, contracts, chances, present))


def _present(name: str, contracts: Sequence[Contract], chances: Sequence[Vector]) -> float:
    """Where the expected F1 over documents is best.

    The chances are made smooth first: the best point of the raw counts is that of a few documents, not of the type.
    """
    top = np.array([chance.max(initial=0.0) for chance in chances])
    there = np.array([bool(contract.gold.get(name)) for contract in contracts])
    scale = np.log((top + TINY) / (1 - top + TINY))[:, None]
    smooth = LogisticRegression(C=10.0).fit(scale, there).predict_proba(scale)[:, 1]
    limits = np.unique(smooth)
    expected = [2 * smooth[smooth >= limit].sum() / ((smooth >= limit).sum() + smooth.sum()) for limit in limits]
    return float(top[smooth >= limits[int(np.argmax(expected))]].min())


def _seed(name: str, contracts: Sequence[Contract], chances: Sequence[Vector], present: float) -> float:
    """Where quotes find the most of the labelled spans for the fewest that hit none."""
    best = (-1.0, present)
    for seed in sorted({min(seed, present) for seed in SEEDS}):
        recall, precision = _spans(name, contracts, chances, present, seed)
        both = 2 * recall * precision / max(recall + precision, TINY)
        best = max(best, (both + 0.2 * min(recall, precision), seed))
    return best[1]


def _spans(
    name: str, contracts: Sequence[Contract], chances: Sequence[Vector], present: float, seed: float
) -> tuple[float, float]:
    """Span recall and span precision."""
    wanted = reached = given = right = 0
    for contract, chance in zip(contracts, chances, strict=True):
        gold = contract.gold.get(name, ())
        found: list[Span] = []
        if chance.max(initial=0.0) >= present:
            for quote in quotes(contract.text, contract.sentences, chance.astype(np.float32), name, seed):
                found.append((quote.start or 0, (quote.start or 0) + len(quote.quote)))
        wanted += len(gold)
        given += len(found)
        reached += sum(any(hits(span, quote) for quote in found) for span in gold)
        right += sum(any(hits(span, quote) for span in gold) for quote in found)
    return reached / max(wanted, 1), right / max(given, 1)
