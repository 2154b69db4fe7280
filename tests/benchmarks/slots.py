"""How busy the slots are: with read-ahead, and with a plain loop that waits for each batch to end.

python tests/benchmarks/slots.py [--small]

Both answer after the same latencies, lognormal with a median of 0.16 s and a 95th percentile of 0.30 s.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from math import exp, log
from pathlib import Path
from statistics import NormalDist

from plain_loop import plain_loop
from stage import documents, number_of, place, reprise_at, share, tools, verdict, with_tools

from nodes.ports import ToolRequest

SLOTS, BATCH = 16, 10
MEDIAN, P95 = 0.16, 0.30
LEAST_BUSY = 0.95
SPREAD = log(P95 / MEDIAN) / NormalDist().inv_cdf(0.95)


def latency(n: int) -> float:
    """Of document n, the same in every run."""
    return MEDIAN * exp(SPREAD * NormalDist().inv_cdf(share(f"latency {n}")))


class Slots:
    """Holds each call for its latency and adds up how many were held at once."""

    def __init__(self) -> None:
        self.spans: list[tuple[float, float]] = []

    async def hold(self, question: ToolRequest) -> None:
        if question.document:
            began = time.monotonic()
            await asyncio.sleep(latency(number_of(question)))
            self.spans.append((began, time.monotonic()))

    def busy(self) -> float:
        """Share of the slots' time that calls held them, from the first start until the last 16 start."""
        starts = sorted(began for began, _ in self.spans)
        first, last = starts[0], starts[-SLOTS]
        held = sum(max(0.0, min(ended, last) - began) for began, ended in self.spans if began < last)
        return held / (SLOTS * (last - first))

    def seconds(self) -> float:
        """From the first start to the last end."""
        return max(ended for _, ended in self.spans) - min(began for began, _ in self.spans)


async def with_read_ahead(count: int) -> Slots:
    """A run through the facade."""
    slots = Slots()
    async with place() as folder:
        source = documents(folder / "room", count)
        async with reprise_at(folder) as reprise:
            with_tools(reprise, tools(reprise.container.services.artifacts, slots.hold))
            options = {"engine": "openai", "review": "never", "concurrency": SLOTS, "batch_size": BATCH}
            run = await reprise.start(source, thread="t", **options)
            assert run.documents["done"] == count, run.to_json()
    return slots


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="200 documents, and it only has to be faster than the plain loop"
    )
    small = parser.parse_args().small
    count = 200 if small else 2_000
    ideal = sum(map(latency, range(count))) / SLOTS
    slots = asyncio.run(with_read_ahead(count))
    plain = plain_loop([latency(n) for n in range(count)], BATCH, SLOTS)
    print(
        f"{count} documents, {SLOTS} slots, batches of {BATCH}: ideal {ideal:.1f} s, "
        f"read-ahead {slots.seconds():.1f} s ({slots.seconds() / ideal:.2f} of it), "
        f"plain loop {plain:.1f} s ({plain / ideal:.2f} of it)",
        flush=True,
    )
    busy = slots.busy()
    facts = [(f"slots busy {100 * busy:.1f} %", small or busy >= LEAST_BUSY), ("faster", slots.seconds() < plain)]
    return verdict(Path(__file__).stem, *facts)


if __name__ == "__main__":
    sys.exit(main())
