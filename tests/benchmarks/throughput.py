"""120 contracts through the local engine: documents per second, and the share of reading, classifying and storing.

python tests/benchmarks/throughput.py [--documents 120]

The PDF files of the shared data, each several times over with bytes of its own, so that nothing is reused. How fast it
goes is measured with the usual number of documents in flight; the shares with one after the other, where they add up.
The yardstick in the same run is bare PDFium, which only extracts the text, on the same cores.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from stage import place, reprise_at, verdict  # isort: skip  # it makes the other ones importable
from paths import DATA
from reading import bare

from graph import Reprise
from graph.adapters.processes.worker_pool import usable_cpus

SHARES = 30
"""Documents that are done one after the other."""


def room(folder: Path, count: int) -> Path:
    """So many different files of the contracts there are."""
    files = sorted((DATA / "contracts" / "pdf").glob("*.pdf"))
    folder.mkdir()
    for number in range(count):
        file = files[number % len(files)]
        # What stands behind the end of a PDF is no part of it.
        (folder / f"{number:03d} {file.name}").write_bytes(file.read_bytes() + f"\n% {number}\n".encode())
    return folder


async def run(reprise: Reprise, source: Path, **options: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    view = await reprise.start(str(source), review="never", matter=source.name, **options)
    return view, time.perf_counter() - began


async def measure(count: int) -> int:
    cores = usable_cpus()
    async with place() as folder, reprise_at(folder) as reprise:
        source, one_by_one = room(folder / "all", count), room(folder / "shares", min(SHARES, count))
        await run(reprise, room(folder / "first", 2))  # the first one starts children and loads the model
        view, seconds = await run(reprise, source)
        with ProcessPoolExecutor(cores) as pool:
            list(pool.map(bare, [[]] * cores))
            shares = [[str(file) for file in sorted(source.iterdir())[start::cores]] for start in range(cores)]
            began = time.perf_counter()
            pages = sum(pages for pages, _ in pool.map(bare, shares))
            yardstick = time.perf_counter() - began
        slow, whole = await run(reprise, one_by_one, concurrency=1)
        taken = {"reader": 0.0, "clause_rules": 0.0}
        for call in await reprise.journal(slow.thread_id):
            if call["tool"] in taken:
                taken[call["tool"]] += (call["finished_at"] - call["started_at"]).total_seconds()
    done, found = view.documents["done"], view.findings["total"]
    print(f"{done} of {count} contracts, {pages} pages, {found} findings, {cores} cores")
    print(f"{done / seconds:.2f} documents a second, {pages / seconds:.0f} pages a second ({seconds:.1f} s)")
    print(f"bare PDFium: {pages / yardstick:.0f} pages a second; the job takes {seconds / yardstick:.1f} times as long")
    rest = whole - sum(taken.values())
    shares_said = [
        (name, part / whole) for name, part in (("reading", taken["reader"]), ("classifying", taken["clause_rules"]))
    ]
    shares_said.append(("locating, storing and steps", rest / whole))
    print("one after the other: " + ", ".join(f"{name} {part:.0%}" for name, part in shares_said))
    return verdict(Path(__file__).stem, (f"all {count} contracts were done", done == count))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=120)
    if not DATA.is_dir():
        print("the shared test documents are not beside the project")
        return 0
    return asyncio.run(measure(parser.parse_args().documents))


if __name__ == "__main__":
    sys.exit(main())
