"""How long a process takes from its start to its first new call, with 10,000 documents done and one open.

python tests/benchmarks/first_work.py [--small] [--documents N] [--times N]

The run is begun by the command itself and killed once its inputs are frozen; then the rows, artifacts and checkpoint
of all documents but the last are written as a run would have left them. Each measurement is a `resume` of its own
process, killed at the first call that it really makes. What Python needs to import LangGraph and psycopg is measured
beside it, in the same minute.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from stage import database_at, place, verdict  # isort: skip  # it makes the other ones importable
from processes import begin, environment, kill, run

from graph import Reprise
from graph.runtime.postgres.lease import OWNER

LIMIT = 1.5
BATCH = 10
BARE = {
    "import langgraph, psycopg": "import langgraph, psycopg",
    "import langgraph.graph, its Postgres saver": "import langgraph.graph, langgraph.checkpoint.postgres.aio",
}
TEXT = 'This Agreement is made between Firm {n} Ltd (the "Supplier") and Meridian Foods SA.\n'

DONE = """
    UPDATE reprise.run_document SET state = 'done', supplier = 'Firm ' || ordinal, language = 'en', engine = 'local',
           findings_ref = %(ref)s, text_ref = %(ref)s, finished_at = now() WHERE ordinal < %(last)s;
    INSERT INTO reprise.pages SELECT run_id, ordinal, 1, 'read', '' FROM reprise.run_document WHERE ordinal < %(last)s;
    INSERT INTO reprise.calls (run_id, thread_id, matter, call_key, tool, step, document, state, attempt, owner,
                               finished_at, usd, basis)
    SELECT run_id, thread_id, 'default', tool || ordinal, tool, 'extract', document, 'completed', 1, 'before', now(), 0,
           'reported'
      FROM reprise.run_document, unnest(ARRAY['reader', 'clause_rules']) AS tool WHERE ordinal < %(last)s;
    ANALYZE;
"""
NAMED = b"INSERT INTO reprise.artifacts (run_id, name, sha256, bytes, uri) VALUES (%s, %s, %s, %s, %s)"


def prepare(folder: Path, documents: int, database: str) -> dict[str, str]:
    """A thread whose inputs are frozen; the environment of its processes."""
    room = folder / "room"
    room.mkdir()
    for number in range(documents + 1):
        (room / f"{number:05d}.txt").write_text(TEXT.format(n=number))
    env = environment(database, folder / "home")
    frozen = {**env, "REPRISE_DIE_AT": "tool.reader:before:1"}
    died = run(["start", room, "--thread", "long", "--batch-size", str(BATCH), "--json"], frozen, timeout=900)
    assert died.returncode == -9, died.stderr
    return env


async def as_if_done(documents: int, database: str, home: Path) -> None:
    """All documents but the last as a run would have left them."""
    async with Reprise.open(database_url=database, home=home) as reprise:
        artifacts = reprise.container.services.artifacts
        values = {"ref": await artifacts.put(b"[]"), "last": documents}
        view = await reprise.status("long")
        batches = []
        for index in range(documents // BATCH):
            batch = json.dumps({"batch": index + 1, "documents": []}).encode()
            batches.append((view.run_id, f"findings_batch_{index + 1}", await artifacts.put(batch), len(batch), ""))
        # Under the lease, and in its name: the fence lets nobody else write.
        async with reprise.container.drive(view.thread_id, "resume", "extract", {}) as driver:
            owner = f"-c reprise.owner={OWNER}"
            async with await psycopg.AsyncConnection.connect(database, autocommit=True, options=owner) as connection:
                for statement in filter(str.strip, DONE.split(";")):
                    await connection.execute(statement.encode(), values)
                await connection.cursor().executemany(NAMED, batches)
            await driver.graph.aupdate_state(driver.config, {"batch_index": documents // BATCH}, as_node="extract")


def first_work(env: dict[str, str]) -> dict[str, Any]:
    """Resume, and kill the process once it says that it works; seconds by its own word and by our clock."""
    began = time.monotonic()
    process = begin(["resume", "long", "--json"], env)
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if found := re.search(r"first new work after ([\d.]+) s, ([\d.]+) s", line):
            seen = time.monotonic() - began
            kill(process)
            return {"said": float(found[1]), "cpu": float(found[2]), "seen": round(seen, 2)}
    raise AssertionError("".join(said))


def bare(code: str) -> tuple[float, float]:
    """Seconds that a bare Python takes for it, and of these what it computes."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def measured(documents: int, times: int) -> tuple[list[dict[str, Any]], dict[str, tuple[float, float]]]:
    """Each resume, and what the bare imports took at the least."""
    async with place() as folder:
        database = await database_at(folder)
        env = await asyncio.to_thread(prepare, folder, documents, database)
        await as_if_done(documents, database, folder / "home")
        await asyncio.to_thread(first_work, env)  # compiles what is not compiled yet
        found = [await asyncio.to_thread(first_work, env) for _ in range(times)]
        return found, {name: min(bare(code) for _ in range(max(2, times))) for name, code in BARE.items()}


def main() -> int:
    given = argparse.ArgumentParser()
    given.add_argument("--small", action="store_true", help="200 documents, twice")
    given.add_argument("--documents", type=int, default=10_000)
    given.add_argument("--times", type=int, default=5)
    chosen = given.parse_args()
    documents, times = (200, 2) if chosen.small else (chosen.documents, chosen.times)
    found, floors = asyncio.run(measured(documents, times))
    seconds, computing = ([one[name] for one in found] for name in ("said", "cpu"))
    print(f"{documents} documents done, one open: first new work after {statistics.median(seconds):.2f} s (median of")
    print(f"  {times}; {min(seconds):.2f} to {max(seconds):.2f}), {min(computing):.2f} s of computing at the least")
    for name, (wall, cpu) in floors.items():
        least = f"{wall:.2f} s and {cpu:.2f} s of computing at the least"
        print(f"  {name}: {least}; the resume {min(seconds) / wall:.1f} and {min(computing) / cpu:.1f} times as much")
    print(f"  load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return verdict("first work", (f"within {LIMIT} s of the start of the process, at the least", min(seconds) <= LIMIT))


if __name__ == "__main__":
    sys.exit(main())
