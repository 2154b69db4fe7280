"""What the program itself takes of a document when every tool answers at once: it must not grow with their number.

python tests/benchmarks/orchestration.py [--small]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from stage import documents, place, reprise_at, tools, verdict, with_tools  # isort: skip  # it makes the other ones importable
from databases import rows

MOST_MS, MOST_RATIO, MOST_MB, MOST_BYTES_APART = 5.0, 1.1, 50, 80
PER_STEP = """
WITH bytes AS (
    SELECT checkpoint_id AS id, pg_column_size(c.*) AS n FROM checkpoints c
    UNION ALL SELECT checkpoint_id, pg_column_size(w.*) FROM checkpoint_writes w
)
SELECT sum(bytes.n)::int AS bytes FROM bytes JOIN checkpoints c ON c.checkpoint_id = bytes.id
 WHERE c.checkpoint->'channel_values'->>'headline' LIKE 'extract: batch%%' AND c.metadata->>'step' <> %s
 GROUP BY c.checkpoint_id
"""


async def once(count: int, profile: str = "") -> dict[str, float]:
    """One run in this process."""
    async with place() as folder:
        source = documents(folder / "room", count)
        async with reprise_at(folder) as reprise:
            with_tools(reprise, tools(reprise.container.services.artifacts))
            began, wall = time.process_time(), time.monotonic()
            if profile:
                import cProfile

                profiler = cProfile.Profile(time.thread_time)
                profiler.enable()
            run = await reprise.start(source, thread="t", engine="openai", review="never", concurrency=16)
            if profile:
                profiler.disable()
                profiler.dump_stats(profile)
            cpu, wall = time.process_time() - began, time.monotonic() - wall
            assert run.documents["done"] == count, run.to_json()
            steps = [row["bytes"] for row in rows(reprise.container.url, PER_STEP, "none")]
        return {
            "documents": count,
            "cpu_ms": 1000 * cpu / count,
            "wall_ms": 1000 * wall / count,
            "step_bytes": statistics.median(steps),
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def measured(count: int) -> dict[str, float]:
    """One run in a process of its own, for its peak memory."""
    child = subprocess.run(
        [sys.executable, __file__, "--child", str(count)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(child.stdout.splitlines()[-1])
    print("  ".join(f"{name} {value:,.2f}" for name, value in found.items()), flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="100 and 400 documents, and no judgement of the ratio")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--profile", default="", help="write a profile of --child there")
    options = parser.parse_args()
    if options.child:
        print(json.dumps(asyncio.run(once(options.child, options.profile))))
        return 0
    few, many = (measured(count) for count in ((100, 400) if options.small else (1_000, 10_000)))
    ratio, growth = many["cpu_ms"] / few["cpu_ms"], many["peak_mb"] - few["peak_mb"]
    apart = abs(many["step_bytes"] - few["step_bytes"])
    facts = [
        (f"bytes a step {few['step_bytes']:.0f} and {many['step_bytes']:.0f}", apart <= MOST_BYTES_APART),
        (f"peak memory grows by {growth:.0f} MB", growth < MOST_MB),
    ]
    if not options.small:
        facts += [
            (f"{few['cpu_ms']:.2f} and {many['cpu_ms']:.2f} ms of CPU a document", many["cpu_ms"] <= MOST_MS),
            (f"ratio {ratio:.2f}", ratio <= MOST_RATIO),
        ]
    return verdict(Path(__file__).stem, *facts)


if __name__ == "__main__":
    sys.exit(main())
