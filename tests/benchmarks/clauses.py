"""How well the local engine finds clauses: `python tests/benchmarks/clauses.py [--cache DIR]`.

Prints the tables of the scoring tool of the shared data: cross-validation over all labelled contracts, the shipped
model on the contracts of the dev split, which it was not trained on, and the rules on the French contracts; and for
the cross-validation, how far confidence is to be believed. Needs the shared data beside the checkout, and for the
cross-validation `pip install 'reprise[train]'` and ten minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from out_of_fold import DATA, METRICS, out_of_fold

from graph.training.corpus import Contract, hits, plain_text, read_contracts
from nodes.domain.clauses.classifier import load_model
from nodes.domain.clauses.local_engine import find_clauses, find_clauses_with
from nodes.domain.clauses.rules import load_rules
from nodes.domain.evidence.findings import Candidate

CUAD = (
    "cap_on_liability,uncapped_liability,termination_for_convenience,governing_law,insurance,liquidated_damages,"
    "anti_assignment,audit_rights,change_of_control,warranty_duration,exclusivity,non_compete"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="where the models of the folds are kept")
    parser.add_argument("--skip-folds", action="store_true", help="only the shipped model")
    chosen = parser.parse_args()
    contracts, french = DATA / "contracts", DATA / "contracts_fr"
    if not contracts.is_dir():
        print("the shared data is not beside this checkout: nothing to measure")
        return 0
    model = load_model()
    if not chosen.skip_folds:
        judged = [
            (contract, find_clauses_with(fold_model, contract.text, CUAD.split(",")).candidates)
            for fold_model, fold in out_of_fold(contracts, chosen.cache or Path(tempfile.mkdtemp()))
            for contract in fold
        ]
        found = ((contract.name, candidates) for contract, candidates in judged)
        names = [path.stem for path in (contracts / "txt").glob("*.txt")]
        _score("Five folds over all contracts", contracts, found, ["--types", CUAD, "--docs", ",".join(names)])
        _reliability(judged)
    dev = (
        (one.name, find_clauses_with(model, one.text, CUAD.split(",")).candidates)
        for one in read_contracts(contracts, "dev")
    )
    _score("Shipped model, dev split, texts", contracts, dev, ["--types", CUAD, "--docs", "dev"])
    types = [rule.type for rule in load_rules()["fr"].rule]
    texts = sorted((french / "txt").glob("*.txt"))
    found_fr = ((p.stem, find_clauses(plain_text(p.read_text("utf-8"), "fr"), types).candidates) for p in texts)
    names_fr = ",".join(path.stem for path in texts)
    _score("French contracts", french, found_fr, ["--skip-uncertain", "--docs", names_fr, "--types", ",".join(types)])
    return 0


def _reliability(judged: Iterable[tuple[Contract, list[Candidate]]]) -> None:
    """Confidence of quotes, and the share of them that hit a labelled span."""
    right: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for contract, candidates in judged:
        for candidate in candidates:
            span = (candidate.start or 0, (candidate.start or 0) + len(candidate.quote))
            hit = any(hits(gold, span) for gold in contract.gold.get(candidate.clause_type, ()))
            right[candidate.source.split("@")[0], min(int(candidate.confidence * 10), 9)].append(hit)
    print("\nConfidence, quotes, share that hit a labelled span")
    for (source, tenth), hit in sorted(right.items()):
        print(f"{source:12} {tenth / 10:.1f}-{tenth / 10 + 0.1:.1f} {len(hit):6} {sum(hit) / len(hit):.2f}")


def _score(title: str, data: Path, found: Iterable[tuple[str, list[Candidate]]], options: list[str]) -> None:
    lines = [
        json.dumps({"document": name, "clause_type": candidate.clause_type, "quote": candidate.quote})
        for name, candidates in found
        for candidate in candidates
    ]
    print(f"\n{title}", flush=True)
    command = [sys.executable, str(METRICS), str(data), "-", *options]
    subprocess.run(command, input="\n".join(lines), text=True, check=True)


if __name__ == "__main__":
    sys.exit(main())
