"""How well facts are read from contracts: `python tests/benchmarks/facts.py [--split dev|train] [--small] [--wrong]`.

Compares parties, dates, terms, notice and law with the labels of the shared contracts, whose answers people wrote.
`found` of `stated` is recall, `right` of `found` is precision among documents with a label; `where none` counts what
was found where the label is empty. Prints `nothing to measure` where the shared data is not beside the checkout.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rapidfuzz.fuzz import ratio

from graph.training.corpus import plain_text
from nodes.domain.clauses.local_engine import find_clauses
from nodes.domain.contracts.reader import read
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.normalise import simplify

CONTRACTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "contracts"
TYPES = ("cap_on_liability", "governing_law", "renewal_term", "termination_for_convenience")
SAME = 92
"""Likeness of two spellings of one name, of 100: labels have slips of the pen."""
_GROUP = re.compile(
    r"^(?:each|together|referred|(?:the )?parties)\b|\b(?:individually|collectively|hereinafter|commonly referred)\b",
    re.IGNORECASE,
)
_ROLES = frozenset(
    ("", "you", "agent", "customer", "supplier", "franchisee", "franchisor", "distributor", "the seller", "sales agent")
) | {"an individual", "consultant"}
LABELS = {
    "agreement_date": "Agreement Date",
    "effective_date": "Effective Date",
    "expiration_date": "Expiration Date",
    "renewal_term": "Renewal Term",
    "notice_period": "Notice Period To Terminate Renewal",
    "governing_law": "Governing Law",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("dev", "train"), default="dev")
    parser.add_argument("--small", action="store_true", help="ten contracts only")
    parser.add_argument("--wrong", action="store_true", help="print what differs from its label")
    chosen = parser.parse_args()
    if not CONTRACTS.is_dir():
        print("the shared data is not beside this checkout: nothing to measure")
        return 0
    with (CONTRACTS / "manifest.csv").open(encoding="utf-8") as rows:
        wanted = [row["doc"] for row in csv.DictReader(rows) if row["split"] == chosen.split]
    labels = {
        one["doc"]: one["answers"] for one in map(json.loads, (CONTRACTS / "labels.jsonl").open(encoding="utf-8"))
    }
    counts: dict[str, Counter[str]] = {}
    seconds = 0.0
    wanted = wanted[:10] if chosen.small else wanted
    for name in wanted:
        text = plain_text((CONTRACTS / "txt" / f"{name}.txt").read_text("utf-8"), "en")
        candidates = find_clauses(text, TYPES).candidates
        began = time.perf_counter()
        facts = read(text, candidates)
        seconds += time.perf_counter() - began
        for kind, outcome, what in _compared(facts, labels[name]):
            counts.setdefault(kind, Counter())[outcome] += 1
            if chosen.wrong and outcome in ("wrong", "missed", "spurious"):
                print(f"{name} {kind} {outcome}: {what}")
    _print(counts, len(wanted), seconds)
    return 0


def _compared(facts: Sequence[Proposal], answers: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """(kind, outcome, what) of each comparison: right, wrong, missed, spurious, found in a document or not."""
    yield from _parties([fact.value for fact in facts if fact.kind == "party"], answers["Parties"])
    for kind, label in LABELS.items():
        own = [fact for fact in facts if fact.kind == kind and fact.detail.get("for", "renewal") == "renewal"]
        gold = answers[label]
        if "[" in gold or gold.casefold() in ("perpetual",):
            continue
        if not gold:
            if own:
                yield kind, "spurious", own[0].value
        elif not own:
            yield kind, "missed", gold
        else:
            same = any(_same(kind, fact.value, gold) for fact in own)
            yield kind, "right" if same else "wrong", f"{own[0].value} for {gold}"


def _same(kind: str, value: str, gold: str) -> bool:
    if kind.endswith("_date"):
        month, day, year = (int(part) for part in gold.split("/"))
        full = year if year > 999 else year + (2000 if year < 50 else 1900)
        return value == f"{full:04d}-{month:02d}-{day:02d}"
    if kind == "governing_law":
        plain, wanted = _name(value), _name(gold)
        return bool(plain) and (plain in wanted or wanted in plain)
    return _months(value) == _months(gold)


def _months(text: str) -> float:
    found = re.search(r"(\d+(?:\.\d+)?)\)? (day|week|month|year)", text.casefold())
    scale = {"day": 1 / 30, "week": 7 / 30, "month": 1.0, "year": 12.0}
    return round(float(found[1]) * scale[found[2]], 3) if found else -1.0


def _parties(found: Sequence[str], gold: str) -> Iterator[tuple[str, str, str]]:
    wanted = _named(gold)
    own = [_name(name) for name in found]
    for name in wanted:
        yield "party", "right" if any(_alike(one, name) for one in own) else "missed", f"{name} ({'; '.join(found)})"
    for one in own:
        if not any(_alike(one, name) for name in wanted):
            yield "party", "spurious", f"{one} ({gold[:120]})"
    if wanted:
        yield "party (documents)", "right" if own else "missed", gold[:80]


def _named(gold: str) -> list[str]:
    """The names of a label, each once.

    Not counted is what is no name: parties listed once more under a common one ("A and B (the “Parties”)"), and a
    role whose holder the contract leaves open ("Franchisee").
    """
    short = {_name(alias) for alias in re.findall(r"[\"“”](?:the )?([^\"“”]+)[\"“”]", gold)}
    names = []
    for part in gold.split(";"):
        bare = re.sub(r"\(.*", "", part.strip().strip("()"))
        pieces = [_name(one) for one in re.split(r",| and/or | and | or |/", bare)]
        again = re.search(r" (?:and|or) |/", bare) and all(not piece or piece in short for piece in pieces)
        if _GROUP.search(bare.strip()) or again or bare.strip().casefold() in _ROLES:
            continue
        names.append(_name(bare))
    return [name for name in dict.fromkeys(names) if name]


def _alike(one: str, other: str) -> bool:
    """One name holds the other, or they differ by a slip of the pen."""
    return bool(one) and (one in other or other in one or ratio(one, other) >= SAME)


def _name(text: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", " ", simplify(text))
    plain = re.sub(
        r"\b(?:inc|llc|ltd|limited|corp|corporation|company|co|lp|plc|sa|ag|gmbh|the|a|of|and)\b", " ", plain
    )
    return "".join(plain.split())


def _print(counts: Mapping[str, Counter[str]], documents: int, seconds: float) -> None:
    print(f"{'kind':<20}{'stated':>8}{'found':>8}{'right':>8}{'where none':>12}{'recall':>8}{'precision':>11}")
    for kind, count in sorted(counts.items()):
        stated = count["right"] + count["wrong"] + count["missed"]
        found = count["right"] + count["wrong"]
        recall = count["right"] / stated if stated else 0.0
        precision = count["right"] / (found + count["spurious"]) if found + count["spurious"] else 0.0
        row = f"{kind:<20}{stated:>8}{found:>8}{count['right']:>8}{count['spurious']:>12}"
        print(f"{row}{recall:>8.2f}{precision:>11.2f}")
    print(f"{documents} contracts, {seconds / documents:.3f} s each for facts, without the classifier")


if __name__ == "__main__":
    sys.exit(main())
