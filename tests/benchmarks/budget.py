"""A budget of a third of the price: never passed, held, raised, and in the end not a cent more than without it.

python tests/benchmarks/budget.py [--small]

What was charged is counted from the log of the endpoint, a process of its own. The run is driven from the command line,
16 documents in flight; the second time it is killed with kill -9 just before its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

from stage import database_at, place, verdict  # isort: skip  # it makes the other ones importable
from databases import number
from processes import begin, environment, kill, run, wait_until
from sample_contracts import contracts

from graph.runtime.calls.pricing import Prices
from graph.testing.endpoint import ScriptedEndpoint
from nodes.ports import Usage

MODEL, SLOTS = "gpt-4.1-mini", 16
MODELS = ("--engine", "openai", "--model", f"extract={MODEL}", "--model", f"summarize={MODEL}")
OPTIONS = (*MODELS, "--concurrency", str(SLOTS), "--review", "never", "--json")
CENT = Decimal("0.000001")


def charged(endpoint: ScriptedEndpoint) -> Decimal:
    """US dollars of every call that the endpoint did, whether or not anybody took the answer."""
    prices = Prices()
    total = Decimal(0)
    for call in endpoint.calls():
        if call["event"] in ("answered", "disconnected"):
            total += prices.price(MODEL, Usage(call["prompt_tokens"], 0, call["completion_tokens"]))[0] or 0
    return total


class Room:
    """The same documents, asked about in one matter after the other."""

    def __init__(self, source: Path, env: dict[str, str], database: str, endpoint: ScriptedEndpoint) -> None:
        self.source, self.env, self.database, self.endpoint = source, env, database, endpoint

    def start(self, thread: str, *more: str) -> list[str]:
        """The command that begins a run of its own matter; the endpoint's log begins anew."""
        self.endpoint.reset()
        return ["start", str(self.source), "--thread", thread, "--matter", thread, *OPTIONS, *more]

    def ended(self, arguments: list[str]) -> dict[str, object]:
        """Run a command to its end; the run object."""
        ended = run(arguments, self.env, timeout=600)
        assert ended.returncode in (0, 4), ended.stderr
        found: dict[str, object] = json.loads(ended.stdout)
        return {**found, "code": ended.returncode}


def held_and_raised(room: Room, third: Decimal) -> tuple[dict[str, object], Decimal, Decimal]:
    """(run object at the hold, charged at the hold, charged at the end)."""
    held = room.ended(room.start("held", "--budget-usd", str(third)))
    at_hold = charged(room.endpoint)
    room.ended(["resume", "held", "--budget-usd", "1000", "--json"])
    return held, at_hold, charged(room.endpoint)


def killed_and_raised(room: Room, third: Decimal) -> tuple[Decimal, Decimal, int]:
    """(charged when nothing more fits the budget, charged at the end, calls that were lost at the kill)."""
    process = begin(room.start("killed", "--budget-usd", str(third)), room.env)
    spent = "SELECT floor(1000000 * coalesce(sum(usd), 0)) FROM reprise.calls c JOIN reprise.runs r USING (run_id) "
    near = int(third * 600_000)
    wait_until(lambda: number(room.database, f"{spent} WHERE r.name = 'killed'") >= near, 60)
    kill(process)
    held = room.ended(["resume", "killed", "--json"])
    at_hold = charged(room.endpoint)
    assert held["code"] == 4, held
    room.ended(["resume", "killed", "--budget-usd", "1000", "--json"])
    lost = "SELECT count(*) FROM reprise.calls c JOIN reprise.runs r USING (run_id)"
    mine = "WHERE r.name = 'killed' AND c.tool = 'model' AND c.state = 'lost_answer'"
    return at_hold, charged(room.endpoint), number(room.database, f"{lost} {mine}")


async def measured(count: int) -> int:
    async with place() as folder:
        database = await database_at(folder)
        return await asyncio.to_thread(compared, folder, database, count)


def compared(folder: Path, database: str, count: int) -> int:
    with tempfile.TemporaryDirectory() as logs, ScriptedEndpoint(latency=0.2, log=f"{logs}/calls.jsonl") as endpoint:
        home = folder / "home"
        home.mkdir(mode=0o755)
        env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
        room = Room(contracts(folder / "room", count), env, database, endpoint)
        room.ended(room.start("whole"))
        whole = charged(endpoint)
        third = (whole / 3).quantize(CENT)
        held, at_hold, in_all = held_and_raised(room, third)
        killed_at, killed_in_all, lost = killed_and_raised(room, third)
    print(
        f"{count} documents: ${whole:.4f} undisturbed, budget ${third:.4f}; "
        f"held at ${at_hold:.4f}, in all ${in_all:.4f}"
    )
    print(f"killed: held at ${killed_at:.4f}, in all ${killed_in_all:.4f}, {lost} answers lost")
    most = whole / count * 2
    return verdict(
        Path(__file__).stem,
        ("holds with exit code 4", held["code"] == 4 and held["status"] == "paused"),
        ("never passed", at_hold <= third),
        ("in all as much as undisturbed", abs(in_all - whole) < CENT),
        ("killed: never passed", killed_at <= third),
        (f"killed: at most {lost} lost answers paid again", whole <= killed_in_all <= whole + lost * most),
        (f"killed: at most {SLOTS} answers lost", lost <= SLOTS),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="60 documents")
    return asyncio.run(measured(60 if parser.parse_args().small else 300))


if __name__ == "__main__":
    sys.exit(main())
