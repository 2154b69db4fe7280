"""The fire drill: kill the job at every fault point, resume it, and compare with a run that nobody disturbed.

With the openai engine the scripted endpoint's own log is the witness of what was asked, not our tables.
"""

from __future__ import annotations

import asyncio
import json
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
from graph.drill.home import EMPTY, DrillHome, ScratchServer, Snapshot, scratch
from graph.drill.plan import COMMANDS, Kill, plan
from graph.runtime.fault_points import read_trace
from nodes.domain.shared.errors import OperatorError, UnknownThread

THREAD = "drill"
MODEL = "gpt-4.1-mini"
RESUME = ("resume", THREAD, "--accept-all", "--reviewer", "Drill", "--reason", "drill", "--json")
MAX_RESUMES = 5
_TIME = re.compile(r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}(?:er)? [^\W\d]+ \d{4} à) \d{2}:\d{2}(?::\d{2})? UTC")


@dataclass(frozen=True)
class Job:
    """The job that is drilled: a start of a run and its resume."""

    source: Path
    playbook: str = "due-diligence"
    engine: str = "local"
    concurrency: int = 8

    @property
    def start(self) -> tuple[str, ...]:
        """The command that starts the run."""
        models = ("--model", f"extract={MODEL}", "--model", f"summarize={MODEL}") if self.engine == "openai" else ()
        common = ("--playbook", self.playbook, "--engine", self.engine, "--concurrency", str(self.concurrency))
        return ("start", str(self.source), "--thread", THREAD, *common, *models, "--json")

    @property
    def dry_run(self) -> tuple[str, ...]:
        """The command that only reads the documents; a start of the same matter does not read them again."""
        return (*self.start, "--dry-run")


@dataclass(frozen=True)
class Result:
    """Outcome of one disturbed run, compared with the undisturbed one."""

    place: str
    """Where it was to die: command, fault point, side, how often that had been passed, and the delay after it."""
    killed: bool
    """Whether it did die there; a place whose turn depends on timing may not be reached as often again."""
    resumed_at: str
    """Node with which the resume began; start when there was nothing to resume yet."""
    made_again: int
    """Calls whose outcome was committed at the kill and that were made once more: must be 0."""
    lost: int
    """Calls that were in flight at the kill and were made once more."""
    in_flight: int
    """Most calls that can have been in flight: the concurrency."""
    doubled: int
    """Effects done more than once, or left undone: must be 0."""
    differences: tuple[str, ...]
    """Names of results unlike those of the undisturbed run; times and new ids do not count."""
    seconds: float

    @property
    def ok(self) -> bool:
        return not (self.made_again or self.doubled or self.differences) and self.lost <= self.in_flight


class Drill:
    """Kills and resumes a job, and compares each outcome with the undisturbed run; made by `drilling`."""

    def __init__(self, job: Job, server: ScratchServer, *, read_once: bool = False) -> None:
        self._job = job
        self._server = server
        self._read_once = read_once
        self._undisturbed: Mapping[str, Any] = {}
        self._begin = {command: EMPTY for command in COMMANDS}
        self.passed: dict[str, list[str]] = {}
        """Every place that each command of the undisturbed run passed, in its order."""

    @property
    def places(self) -> Counter[str]:
        """Passings of the undisturbed run, counted by place."""
        return Counter(place for command in COMMANDS for place in self.passed[command])

    async def undisturbed(self) -> None:
        """Do the job once; remember what it passed and what came of it. Raises OperatorError when it fails."""
        if self._read_once:
            async with self._home(EMPTY) as home:
                await home.command(self._job.dry_run, {}, check=True)
                self._begin["start"] = await self._server.snapshot(home)
        async with self._home(self._begin["start"]) as home:
            for name, command in zip(COMMANDS, (self._job.start, RESUME), strict=True):
                trace = home.folder.with_suffix(f".{name}")
                await home.command(command, {"REPRISE_TRACE": str(trace)}, check=True)
                self.passed[name] = read_trace(trace)
                if name == "start":
                    # A kill after the gate needs no new way to it: it begins with what stood there.
                    self._begin["resume"] = await self._server.snapshot(home)
            self._undisturbed = await _outcome(home)
            if not str(self._undisturbed["status"]).startswith("completed"):
                raise OperatorError(
                    f"The undisturbed run ended as {self._undisturbed['status']}: drill a job that ends."
                )

    def plan(self, randomly: int, seed: int = 0, fault_points: int | None = None) -> list[Kill]:
        """See graph.drill.plan.plan."""
        return plan(self.passed, randomly, seed, fault_points)

    async def run(self, kill: Kill) -> Result:
        """Kill the job at a place, resume it to its end, and compare."""
        began = time.monotonic()
        async with self._home(self._begin[kill.command]) as home:
            command = self._job.start if kill.command == "start" else RESUME
            killed = await home.command(command, {"REPRISE_DIE_AT": kill.place}) == -signal.SIGKILL
            if not killed and kill.delayed:
                return await self.run(kill.at_once())  # the job was at its end before that
            await home.wait_until_idle()
            before = await home.call_keys()
            rows = await home.rows("SELECT call_key FROM reprise.answers WHERE state = 'completed'")
            committed = {str(row["call_key"]) for row in rows}
            resumed_at = await self._to_the_end(home)
            repeated = Counter((await home.call_keys())[len(before) :])
            return Result(
                place=str(kill),
                killed=killed,
                resumed_at=resumed_at,
                made_again=sum(count for key, count in repeated.items() if key in committed),
                lost=sum(count for key, count in repeated.items() if key in before and key not in committed),
                in_flight=self._job.concurrency,
                doubled=await _doubled_effects(home),
                differences=_differences(self._undisturbed, await _outcome(home)),
                seconds=time.monotonic() - began,
            )

    async def _to_the_end(self, home: DrillHome) -> str:
        """Resume until nothing is left; returns the node that the first resume began with."""
        first = await _step(home)
        if first == "start":
            await home.command(self._job.start, {}, check=True)
        for _ in range(MAX_RESUMES):
            await home.command(RESUME, {}, check=True)
            if (await _outcome(home))["status"].startswith("completed"):
                break
        return first

    @asynccontextmanager
    async def _home(self, begin: Snapshot) -> AsyncIterator[DrillHome]:
        async with self._server.home(endpoint=self._job.engine == "openai", begin=begin) as home:
            yield home


@asynccontextmanager
async def drilling(job: Job, *, read_once: bool = False) -> AsyncIterator[Drill]:
    """A drill in a scratch home of its own.

    `read_once`: the documents are read before the first kill, so that each drill takes what follows alone.
    """
    async with scratch() as server:
        yield Drill(job, server, read_once=read_once)


async def drill_all(drill: Drill, kills: Sequence[Kill], on_result: Callable[[Result], None], workers: int = 2) -> None:
    """Do every kill, `workers` at a time."""
    slots = asyncio.Semaphore(workers)

    async def run_kill(kill: Kill) -> None:
        async with slots:
            on_result(await drill.run(kill))

    async with asyncio.TaskGroup() as group:
        for kill in kills:
            group.create_task(run_kill(kill))


async def _step(home: DrillHome) -> str:
    async with Reprise.open(database_url=home.url, home=home.folder) as reprise:
        try:
            return str((await reprise.status(THREAD)).step)
        except UnknownThread:
            return "start"


async def _outcome(home: DrillHome) -> dict[str, Any]:
    """Outcome of a run, without times and without ids that are new for each run."""
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
                json.dumps({**finding, "decision": None, "boxes": None}, sort_keys=True) for finding in findings
            ),
            "decisions": sorted(
                (decision.finding_id, decision.verdict, decision.reviewer, decision.reason) for decision in decisions
            ),
            "note": _without_times(await reprise.report(THREAD)) if run.status.startswith("completed") else "",
        }


def _without_times(note: str) -> str:
    """Replace every date with a time of day in the note by the same words."""
    return _TIME.sub("at some time", note)


async def _doubled_effects(home: DrillHome) -> int:
    """Count effects that were not done exactly once: by the outbox, the released files and the log of the webhook."""
    effects = await home.rows("SELECT payload->>'name' AS name, state FROM reprise.effects")
    done_effects = Counter(str(row["name"]) for row in effects if row["state"] == "done")
    files = Counter(path.name for path in await asyncio.to_thread(_released, home.folder))
    note_files = ("note.html", "note.md")
    webhook_errors = abs(len(home.webhook.receiver.taken) - 1)
    return (
        sum(abs(done_effects[name] - 1) for name in note_files)
        + sum(abs(files[name] - 1) for name in note_files)
        + webhook_errors
    )


def _released(folder: Path) -> list[Path]:
    return [path for path in (folder / "notes").rglob("*") if path.is_file()]


def _differences(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in expected if expected[name] != actual[name])
