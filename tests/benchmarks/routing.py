"""How little a model must read, and what it would miss: `python tests/benchmarks/routing.py [--cache DIR]`.

For each labelled contract, the passages that a model of the other folds chooses: the share of the contract's
characters that stand in them, alone and with the prompt of every question, and how many of the labelled spans are in
them. A span is read when more than half of it is in one passage. `--curve` tells it for other limits too: the chance
below which a sentence is left out.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import Counter
from pathlib import Path
from unittest.mock import patch

from out_of_fold import DATA, ROOT, out_of_fold

from graph.training.corpus import Contract
from graph.training.fitting import TYPES
from nodes.domain.answers.passages import Passage, reading_list
from nodes.domain.clauses import local_engine
from nodes.domain.clauses.classifier import Model
from nodes.domain.clauses.local_engine import find_clauses_with
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.reading import parse_playbook
from nodes.ports import Services
from nodes.prompts.questions import model_question

POOLED, EACH, MEDIAN = 0.95, 0.90, 0.20
"""What routing must reach: recall over all spans, recall of each type, median share that is read."""

CURVE = (0.05, 0.03, 0.02, 0.015, 0.0075, 0.005)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="where the models of the folds are kept")
    parser.add_argument("--curve", action="store_true", help="other limits beside the one in use")
    chosen = parser.parse_args()
    contracts = DATA / "contracts"
    if not contracts.is_dir():
        print("the shared data is not beside this checkout: nothing to measure")
        return 0
    name = "due-diligence"
    book = parse_playbook((ROOT / "nodes" / "playbooks" / f"{name}.toml").read_text(encoding="utf-8"), name)
    cache = chosen.cache or Path(tempfile.mkdtemp())
    reached = False
    for limit in sorted({local_engine.UNLIKELY, *(CURVE if chosen.curve else ())}, reverse=True):
        used = limit == local_engine.UNLIKELY
        print(f"\nsentences from a chance of {limit:g} on{', as in use' if used else ''}")
        with patch.object(local_engine, "UNLIKELY", limit):
            there = _at(contracts, cache, book)
        reached = there if used else reached
    print("reached" if reached else "not reached")
    return 0 if reached else 1


def _at(contracts: Path, cache: Path, book: Playbook) -> bool:
    alone: list[float] = []
    asked: list[float] = []
    wanted: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for model, fold in out_of_fold(contracts, cache):
        for contract in fold:
            chars, with_prompt = _measure(model, contract, book, wanted, read)
            alone.append(chars)
            asked.append(with_prompt)
    return _report(alone, asked, wanted, read)


def _measure(
    model: Model, contract: Contract, book: Playbook, wanted: Counter[str], read: Counter[str]
) -> tuple[float, float]:
    """Share of the contract that is read, without and with prompts; counts its spans."""
    seen = find_clauses_with(model, contract.text, book.types)
    likely = [[passage.clause_type, passage.start, len(passage.quote), passage.confidence] for passage in seen.passages]
    room = Services.__dataclass_fields__["chunk_chars"].default
    chunks = reading_list(contract.text, seen.candidates, room, likely)
    passages = [passage for chunk in chunks for passage in chunk]
    for name in TYPES:
        for span in contract.gold.get(name, ()):
            wanted[name] += 1
            read[name] += any(_reads(passage, span) for passage in passages)
    sent = 0
    for chunk in chunks:
        question = model_question(contract.text, chunk, book.clauses, model="any")
        sent += sum(sum(len(str(part)) for part in message[1:]) for message in question.payload["messages"])
    size = len(contract.text.text)
    return sum(passage.chars for passage in passages) / size, sent / size


def _reads(passage: Passage, span: tuple[int, int]) -> bool:
    return min(passage.end, span[1]) - max(passage.start, span[0]) > (span[1] - span[0]) / 2


def _report(alone: list[float], asked: list[float], wanted: Counter[str], read: Counter[str]) -> bool:
    for name in TYPES:
        print(f"{name:28} {wanted[name]:5} spans  recall {read[name] / max(wanted[name], 1):.3f}")
    pooled = sum(read.values()) / sum(wanted.values())
    print(f"{'all':28} {sum(wanted.values()):5} spans  recall {pooled:.3f}")
    for title, shares in (("passages", alone), ("with prompts", asked)):
        tenth = statistics.quantiles(shares, n=10)[-1]
        print(f"share of a contract, {title}: median {statistics.median(shares):.3f}, p90 {tenth:.3f}")
    worst = min(read[name] / wanted[name] for name in TYPES)
    return pooled >= POOLED and worst >= EACH and statistics.median(alone) <= MEDIAN


if __name__ == "__main__":
    sys.exit(main())
