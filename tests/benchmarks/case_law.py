"""How well decisions are read: `python tests/benchmarks/case_law.py [--texts] [--no-scans] [--source DIR]`.

A real run over the PDFs with the case-law playbook, scans through OCR included (eight seconds a page on one core), its
facts against the official metadata: number, date, court, chamber, formation, solution (its category) and the articles
of the official visa. `--texts` runs over the same decisions as text files. Each field is counted over the documents for
which the manifest has a value; every miss is named. Rows of which the manifest itself says that it and the document
differ are shown apart. Prints `nothing to measure` where the shared data is not beside the checkout.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stage import place, reprise_at

from nodes.domain.case_law.groups import OWN
from nodes.domain.evidence.facts import Fact

DECISIONS = Path(__file__).resolve().parents[3] / "shared" / "data" / "decisions_fr"
FIELDS = ("number", "date", "court", "chamber", "formation", "solution", "visa")
GOAL, GOALS = 0.97, ("number", "date")
_DIFFERS = "metadata date can differ"
_NOT_AN_ARTICLE = re.compile(
    r"(?i)(?:n° ?|du |de |de la directive |directive )\d[\d/-]*(?: (?:janvier|février|fevrier|mars|avril|mai|juin"
    r"|juillet"
    r"|août|aout|septembre|octobre|novembre|décembre|decembre) \d{4}|/CE|/UE|(?= du )|(?=\W|$))"
    r"|\d+ ?°|alin[ée]as? \d+(?:er)?(?:,? et \d+)?|§ ?\d+|\b(?:janvier|août|aout|mars|octobre) \d{4}"
)
_ARTICLE = re.compile(r"(?<![\w/.])(?:[LRDA]\. ?)?\d+(?:-\d+)*(?:\.\d+)?(?![\w/°])")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", action="store_true", help="the text files instead of the PDFs")
    parser.add_argument("--no-scans", action="store_true", help="leave out files whose name ends in _scan")
    parser.add_argument("--source", type=Path, help="another folder of decisions, named like the manifest's doc")
    parser.add_argument("--manifest", type=Path, default=DECISIONS / "manifest.csv")
    chosen = parser.parse_args()
    source = chosen.source or DECISIONS / ("txt" if chosen.texts else "pdf")
    if not source.is_dir() or not chosen.manifest.is_file():
        print("the shared data is not beside this checkout: nothing to measure")
        return 0
    with chosen.manifest.open(encoding="utf-8") as rows:
        manifest = {row["doc"]: row for row in csv.DictReader(rows)}
    wanted = [
        path
        for path in sorted(source.iterdir())
        if path.suffix in (".txt", ".pdf") and _row(path.stem, manifest) and not (chosen.no_scans and _scan(path.stem))
    ]
    facts, pages, seconds = asyncio.run(_read(wanted))
    return _print(facts, manifest, pages, seconds)


async def _read(paths: Sequence[Path]) -> tuple[dict[str, list[Fact]], int, float]:
    """Facts by document, pages and seconds of the whole run."""
    facts: dict[str, list[Fact]] = {path.stem: [] for path in paths}
    async with place() as folder, reprise_at(folder) as reprise:
        source = folder / "decisions"
        source.mkdir()
        for path in paths:
            shutil.copy(path, source / path.name)
        began = time.perf_counter()
        run = await reprise.start(source, thread="case-law", playbook="case-law", review="never")
        seconds = time.perf_counter() - began
        print(f"{run.status}, documents {dict(run.documents)}, pages {dict(run.pages)}")
        for fact in await reprise.facts("case-law"):
            facts[Path(fact.document).stem].append(fact.fact)
    return facts, run.pages["total"], seconds


def _row(stem: str, manifest: Mapping[str, Mapping[str, str]]) -> Mapping[str, str] | None:
    return manifest.get(stem.removesuffix("_scan"))


def _scan(stem: str) -> bool:
    return stem.endswith("_scan")


def _print(
    facts: Mapping[str, Sequence[Fact]], manifest: Mapping[str, Mapping[str, str]], pages: int, seconds: float
) -> int:
    counts: dict[str, Counter[bool]] = {field: Counter() for field in FIELDS}
    scans: dict[str, Counter[bool]] = {field: Counter() for field in FIELDS}
    everything: dict[str, Counter[bool]] = {field: Counter() for field in FIELDS}
    differing: list[str] = []
    articles: Counter[str] = Counter()
    for stem in sorted(facts):
        row = _row(stem, manifest) or {}
        for field, wanted, found in _compared(facts[stem], row, articles):
            everything[field][wanted == found] += 1
            line = f"{stem} {field}: {found or 'nothing'} instead of {wanted}"
            if _DIFFERS in row.get("licence", ""):
                differing += [line] if wanted != found else []
                continue
            counts[field][wanted == found] += 1
            if _scan(stem):
                scans[field][wanted == found] += 1
            if wanted != found:
                print("missed ", line)
    for line in differing:
        print("differs", line)
    print(f"{'field':<12}{'right':>7}{'n':>6}{'accuracy':>10}{'of scans':>12}{'all rows':>12}")
    for field in FIELDS:
        print(f"{field:<12}{_cells(counts[field])}{_share(scans[field]):>12}{_share(everything[field]):>12}")
    print(f"articles of the visa found {articles['right']} of {articles['gold']}; of those that rules call visa "
          f"{articles['visa_right']} of {articles['visa']} are in the official one")  # fmt: skip
    print(f"{len(facts)} documents, {pages} pages in {seconds:.0f} s: {pages / seconds:.1f} pages a second")
    reached = all(counts[field][True] >= GOAL * sum(counts[field].values()) for field in GOALS)
    print(f"goal {GOAL} for {' and '.join(GOALS)}: {'reached' if reached else 'MISSED'}")
    return 0 if reached else 1


def _cells(counted: Counter[bool]) -> str:
    total = sum(counted.values())
    return f"{counted[True]:>7}{total:>6}{counted[True] / total if total else 0:>10.3f}"


def _share(counted: Counter[bool]) -> str:
    return f"{counted[True]}/{sum(counted.values())}"


def _compared(facts: Sequence[Fact], row: Mapping[str, str], articles: Counter[str]) -> Iterator[tuple[str, str, str]]:
    """(field, as the manifest has it, as the run found it) of each field that the manifest knows."""
    number = next((fact.value for fact in facts if fact.kind == "case_number" and fact.detail["kind"] in OWN), "")
    found = {
        "number": number,
        "date": _first(facts, "decision_date"),
        "court": next((str(fact.detail["jurisdiction"]) for fact in facts if fact.kind == "court"), ""),
        "chamber": _first(facts, "chamber"),
        "formation": _first(facts, "formation"),
        "solution": next((str(fact.detail["category"]) for fact in facts if fact.kind == "solution"), ""),
    }
    for field, value in found.items():
        wanted = row.get("jurisdiction" if field == "court" else field, "")
        if wanted:
            yield field, wanted, value
    gold = _articles(row.get("visa", ""))
    if gold:
        cited = {_plain(str(fact.detail["article"])) for fact in facts if fact.kind == "statute"}
        visa = {
            _plain(str(fact.detail["article"]))
            for fact in facts
            if fact.kind == "statute" and fact.detail["role"] == "visa"
        }
        visa.discard("")
        articles.update(gold=len(gold), right=len(gold & cited), visa=len(visa), visa_right=len(visa & gold))
        yield "visa", " ".join(sorted(gold)), " ".join(sorted(gold & cited))


def _first(facts: Sequence[Fact], kind: str) -> str:
    return next((fact.value for fact in facts if fact.kind == kind), "")


def _articles(visa: str) -> set[str]:
    """Numbers of the articles that an official visa names, versions, dates and paragraphs left out."""
    return {_plain(match[0]) for match in _ARTICLE.finditer(_NOT_AN_ARTICLE.sub(" ", visa))}


def _plain(article: str) -> str:
    return re.sub(r"(?<=\d)er$|[\s.]", "", article).upper()


if __name__ == "__main__":
    sys.exit(main())
