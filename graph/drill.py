"""The fire drill: kill the job at every boundary, resume it, and compare with a run that nobody disturbed.

With the openai engine the scripted endpoint's own log is the witness of what was asked, not our tables.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.app import Reprise
from graph.drill_home import DrillHome, Scratch, scratch
from graph.runtime.boundaries import counted
from nodes.domain.errors import OperatorError, UnknownThread

THREAD = "drill"
MODEL = "gpt-4.1-mini"
RESUME = ("resume", THREAD, "--accept-all", "--reviewer", "Drill", "--reason", "drill", "--json")
MOST_RESUMES = 5
_TIME = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})? UTC")


@dataclass(frozen=True)
class Job:
    """What is drilled."""

    source: Path
    playbook: str = "due-diligence"
    engine: str = "local"
    concurrency: int = 8

    @property
    def start(self) -> tuple[str, ...]:
        """The command that begins it."""
        asked = ("--model", f"extract={MODEL}", "--model", f"summarize={MODEL}") if self.engine == "openai" else ()
        common = ("--playbook", self.playbook, "--engine", self.engine, "--concurrency", str(self.concurrency))
        return ("start", str(self.source), "--thread", THREAD, *common, *asked, "--json")


@dataclass(frozen=True)
class Result:
    """One disturbed run."""

    place: str
    """Where it was to die: boundary, side, and how often that had been passed."""
    killed: bool
    """It did die there; a place whose turn depends on timing may not be reached as often again."""
    resumed_at: str
    """Node with which the resume began; start when there was nothing to resume yet."""
    made_again: int
    """Calls whose outcome was committed at the kill and that were made once more: must be 0."""
    lost: int
    """Calls that were in flight at the kill and were made once more."""
    in_flight: int
    """How many can have been in flight: the concurrency."""
    doubled: int
    """Effects done more than once, or left undone: must be 0."""
    differences: tuple[str, ...]
    """What is not as in the undisturbed run; times and new ids do not count."""
    seconds: float

    @property
    def ok(self) -> bool:
        return not (self.made_again or self.doubled or self.differences) and self.lost <= self.in_flight


class Drill:
    """Made by `drilling`; knows the undisturbed run."""

    def __init__(self, job: Job, where: Scratch) -> None:
        self._job = job
        self._where = where
        self._undisturbed: Mapping[str, Any] = {}
        self.places: Counter[str] = Counter()
        """How often the undisturbed run passed each place."""

    async def undisturbed(self) -> None:
        """Do the job once; remember what it passed and what came of it. Raises OperatorError when it fails."""
        async with self._home() as home:
            trace = home.folder / "trace"
            for command in (self._job.start, RESUME):
                await home.command(command, {"REPRISE_TRACE": str(trace)}, must=True)
            self.places = counted(trace)
            self._undisturbed = await _outcome(home)
            if not str(self._undisturbed["status"]).startswith("completed"):
                raise OperatorError(
                    f"The undisturbed run ended as {self._undisturbed['status']}: drill a job that ends."
                )

    def plan(self, randomly: int, seed: int = 0, boundaries: int | None = None) -> list[str]:
        """Each place once, in the middle of its passings, then `randomly` passings of any.

        `boundaries` limits the places to so many, drawn by the seed.
        """
        chance = random.Random(seed)
        middles = [f"{place}:{count // 2 + 1}" for place, count in self.places.items()]
        if boundaries is not None and boundaries < len(middles):
            middles = chance.sample(middles, boundaries)
        drawn = chance.choices(list(self.places.elements()), k=randomly)
        return middles + [f"{place}:{chance.randint(1, self.places[place])}" for place in drawn]

    async def run(self, place: str) -> Result:
        """Kill the job at a place, resume it to its end, and compare."""
        began = time.monotonic()
        async with self._home() as home:
            killed = await self._until_killed(home, place)
            await home.quiet()
            before = await home.asked()
            rows = await home.rows("SELECT call_key FROM reprise.answers WHERE state = 'completed'")
            committed = {str(row["call_key"]) for row in rows}
            resumed_at = await self._to_the_end(home)
            again = Counter((await home.asked())[len(before) :])
            return Result(
                place=place,
                killed=killed,
                resumed_at=resumed_at,
                made_again=sum(count for key, count in again.items() if key in committed),
                lost=sum(count for key, count in again.items() if key in before and key not in committed),
                in_flight=self._job.concurrency,
                doubled=await _doubled(home),
                differences=_differences(self._undisturbed, await _outcome(home)),
                seconds=time.monotonic() - began,
            )

    async def _until_killed(self, home: DrillHome, place: str) -> bool:
        """Both commands of the job with a process that dies at the place, until one of them has."""
        for command in (self._job.start, RESUME):
            if await home.command(command, {"REPRISE_DIE_AT": place}) == -signal.SIGKILL:
                return True
        return False

    async def _to_the_end(self, home: DrillHome) -> str:
        """Resume until nothing is left; returns the node that the first resume began with."""
        first = await _step(home)
        if first == "start":
            await home.command(self._job.start, {}, must=True)
        for _ in range(MOST_RESUMES):
            await home.command(RESUME, {}, must=True)
            if (await _outcome(home))["status"].startswith("completed"):
                break
        return first

    @asynccontextmanager
    async def _home(self) -> AsyncIterator[DrillHome]:
        async with self._where.home(endpoint=self._job.engine == "openai") as home:
            yield home


@asynccontextmanager
async def drilling(job: Job) -> AsyncIterator[Drill]:
    """A drill in a scratch home of its own."""
    async with scratch() as where:
        yield Drill(job, where)


async def drill_all(drill: Drill, places: Sequence[str], on_result: Callable[[Result], None], workers: int = 2) -> None:
    """Drill every place, `workers` at a time."""
    slots = asyncio.Semaphore(workers)

    async def one(place: str) -> None:
        async with slots:
            on_result(await drill.run(place))

    async with asyncio.TaskGroup() as group:
        for place in places:
            group.create_task(one(place))


async def _step(home: DrillHome) -> str:
    async with Reprise.open(database_url=home.url, home=home.folder) as reprise:
        try:
            return str((await reprise.status(THREAD)).step)
        except UnknownThread:
            return "start"


async def _outcome(home: DrillHome) -> dict[str, Any]:
    """What came of a run, without times and without ids that are new for each run."""
    async with Reprise.open(database_url=home.url, home=home.folder) as reprise:
        run = await reprise.status(THREAD)
        findings = [finding.to_json() for finding in await reprise.findings(THREAD)]
        decisions = await reprise.decisions(THREAD)
        return {
            "status": run.status,
            "documents": run.documents,
            "pages": run.pages,
            # Without boxes: PDFium measures fonts that are not embedded a hair differently from process to process.
            "findings": sorted(
                json.dumps({**one, "decision": None, "boxes": None}, sort_keys=True) for one in findings
            ),
            "decisions": sorted((one.finding_id, one.verdict, one.reviewer, one.reason) for one in decisions),
            "note": _without_times(await reprise.report(THREAD)) if run.status.startswith("completed") else "",
        }


def _without_times(note: str) -> str:
    """The note with every time of day as one and the same."""
    return _TIME.sub("at some time", note)


async def _doubled(home: DrillHome) -> int:
    """Effects that are not done exactly once: by the outbox, and by the files that stand at their target."""
    effects = await home.rows("SELECT payload->>'name' AS name, state FROM reprise.effects")
    done = Counter(str(row["name"]) for row in effects if row["state"] == "done")
    files = Counter(path.name for path in await asyncio.to_thread(_released, home.folder))
    wanted = ("note.html", "note.md")
    return sum(abs(done[name] - 1) for name in wanted) + sum(abs(files[name] - 1) for name in wanted)


def _released(folder: Path) -> list[Path]:
    return [path for path in (folder / "notes").rglob("*") if path.is_file()]


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in one if one[name] != other[name])
