"""One document in twenty hangs for ever: all others are done, and the hung ones cost only the slots that they held.

python tests/benchmarks/hang.py [--small]

The limit of one request is one second, and three in the slow lane. Its twin runs on the same documents without a hang.
That an endpoint which never answers is given up in this way is in tests/integration/test_time.py.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from stage import documents, number_of, place, reprise_at, tools, verdict, with_tools  # isort: skip  # it makes the other ones importable
from databases import rows

from nodes.domain.shared.errors import Transient
from nodes.ports import ToolRequest

SLOTS, LATENCY, SECONDS, MOST = 16, 0.2, 1.0, 0.10
EVERY = 20


async def hold(question: ToolRequest) -> None:
    """An answer after 0.2 s; none from a call that hangs, which is given up as the adapter of an endpoint does it."""
    if question.document and number_of(question) % EVERY == 0:
        await asyncio.sleep(SECONDS * question.timeouts.factor)
        raise Transient("It did not answer in time.", word="request_timeout", unknown=True)
    await asyncio.sleep(LATENCY)


async def calmly(question: ToolRequest) -> None:
    await asyncio.sleep(LATENCY)


async def run(count: int, hanging: bool) -> tuple[float, float, dict[str, int]]:
    """(seconds of the run, seconds that abandoned calls held a slot, documents by state)."""
    async with place() as folder:
        source = documents(folder / "room", count)
        async with reprise_at(folder) as reprise:
            with_tools(reprise, tools(reprise.container.services.artifacts, hold if hanging else calmly))
            began = time.monotonic()
            view = await reprise.start(source, thread="t", engine="openai", review="never", concurrency=SLOTS)
            seconds = time.monotonic() - began
            held = rows(
                reprise.container.url,
                "SELECT coalesce(extract(epoch FROM sum(finished_at - started_at)), 0)::float AS s "
                "FROM reprise.calls WHERE state = 'abandoned'",
            )[0]["s"]
    return seconds, held, view.documents


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="160 documents, and no judgement of the time")
    small = parser.parse_args().small
    count = 160 if small else 640
    calm, _, _ = asyncio.run(run(count, False))
    hung, held, found = asyncio.run(run(count, True))
    extra, allowed = hung - calm, held / SLOTS * (1 + MOST)
    print(
        f"{count} documents: {calm:.1f} s without a hang, {hung:.1f} s with; "
        f"the hung calls held {held:.0f} slot-seconds"
    )
    facts = [
        (f"{found['done']} done, {found['failed']} failed", found["done"] == count - count // EVERY),
        ("those that hang fail by name", found["failed"] == count // EVERY),
    ]
    if not small:
        facts.append((f"extra time {extra:.1f} s, at most {allowed:.1f} s", extra <= allowed))
    return verdict(Path(__file__).stem, *facts)


if __name__ == "__main__":
    sys.exit(main())
