"""`python -m graph.training CONTRACTS --out nodes/models/clauses.npz`: train the clause model."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from nodes.domain.clauses.classifier import save


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and write; the same contracts and the same libraries give the same file."""
    parser = argparse.ArgumentParser(prog="python -m graph.training", description=__doc__)
    parser.add_argument("contracts", type=Path, help="folder with txt/, gold.jsonl and manifest.csv")
    parser.add_argument("--out", type=Path, required=True, help="the model file to write")
    parser.add_argument("--split", default="train", help="which contracts to train on; all for every one of them")
    options = parser.parse_args(arguments)
    try:
        from graph.training.corpus import read_contracts
        from graph.training.fitting import fit, prepare
    except ModuleNotFoundError as error:
        parser.error(f"{error}; pip install 'reprise[train]' brings what training needs")
    began = time.monotonic()
    split = "" if options.split == "all" else options.split
    contracts = [prepare(contract) for contract in read_contracts(options.contracts, split)]
    data = save(fit(contracts))
    options.out.write_bytes(data)
    took = time.monotonic() - began
    sys.stdout.write(f"{len(contracts)} contracts, {took:.0f} s: {options.out}, {len(data):,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
