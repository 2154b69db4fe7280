"""Models that never saw the contract they are asked about: five folds over all labelled contracts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from graph.training.corpus import Contract, read_contracts
from nodes.domain.clauses.classifier import Model, load, save

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
METRICS = ROOT.parent / "shared" / "tools" / "clause_metrics.py"


def out_of_fold(folder: Path, cache: Path) -> Iterator[tuple[Model, Sequence[Contract]]]:
    """Each fold's contracts with a model of the other four; models are kept in `cache` and taken from there."""
    from graph.training.fitting import FOLDS, fit, folds, prepare

    contracts = read_contracts(folder)
    fold = folds(len(contracts))
    cache.mkdir(parents=True, exist_ok=True)
    prepared = None
    for number in range(FOLDS):
        kept = cache / f"fold-{number}.npz"
        if not kept.exists():
            prepared = prepared or [prepare(contract) for contract in contracts]
            kept.write_bytes(save(fit([prepared[i] for i in range(len(contracts)) if fold[i] != number])))
        yield load(kept.read_bytes()), [contracts[i] for i in range(len(contracts)) if fold[i] == number]
