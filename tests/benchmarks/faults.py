"""An endpoint that fails now and then in every way: what becomes of the documents, and whether both books agree.

python tests/benchmarks/faults.py [--documents 300] [--rate 0.1]

Three documents are refused for ever and must fail by name. The endpoint's own log is the witness of calls and prices.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from stage import database_at, place, verdict  # isort: skip  # it makes the other one importable
from faulty_runs import SHARES, Books, mix, run_under_faults

LOST = (1, 2, 3)


async def run(documents: int, rate: float) -> Books:
    async with place() as folder:
        return await run_under_faults(folder, await database_at(folder), folder / "home", documents, mix(rate), LOST)


def table(books: Books) -> None:
    print(f"{'fault':18}{'met':>6}")
    for fault in SHARES:
        print(f"{fault:18}{books.faults.get(fault, 0):6}")
    print(f"\n{'calls ended as':32}{'calls':>6}")
    for (state, word), count in sorted(books.endings.items()):
        print(f"{f'{state} {word}':32}{count:6}")
    print(f"\n{'price':12}{'calls':>7}{'tokens in':>12}{'tokens out':>12}{'US dollars':>14}")
    for basis, (calls, read, said, usd) in books.by_basis.items():
        print(f"{basis:12}{calls:7}{read:12}{said:12}{usd:14.6f}")
    read, said, usd = books.endpoint
    print(f"{'endpoint':12}{'':7}{read:12}{said:12}{usd:14.6f}   answers that arrived, by its log")
    print(f"{'':43}{books.unseen:14.6f}   answers that were lost on the way, by its log\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--rate", type=float, default=0.1)
    options = parser.parse_args()
    books = asyncio.run(run(options.documents, options.rate))
    table(books)
    found = books.view.documents
    print(f"{options.documents} documents, {books.findings} findings, {books.seconds:.0f} s, {books.view.status}")
    for document, reason in sorted(books.failed.items()):
        print(f"  failed  {document}: {reason}")
    return verdict(
        Path(__file__).stem,
        (
            f"{found['done']} done, {found['failed']} failed by name",
            found["done"] + len(books.failed) == found["total"],
        ),
        (f"{books.received} calls at the endpoint, {books.journalled} here", books.received == books.journalled),
        ("reported tokens and price are the endpoint's", books.by_basis["reported"][1:] == books.endpoint),
        ("what was lost on the way is within the estimate", books.unseen <= books.by_basis["estimated"][3]),
        (f"one question was asked {books.most_asked} times at the most", books.most_asked <= 8),
    )


if __name__ == "__main__":
    sys.exit(main())
