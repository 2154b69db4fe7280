"""The command drill: kills a job at every fault point and shows in a table how each resume went."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.surfaces.cli import arguments as args
from graph.surfaces.terminal.output import console, emit, say
from nodes.domain.runs.options import ENGINES, OptionError
from nodes.domain.shared.errors import SourceError
from nodes.domain.shared.formats import count, duration

if TYPE_CHECKING:
    from graph.drill.drill import Drill, Result

SAMPLES = Path(__file__).resolve().parents[4] / "samples" / "data-room"

Source = Annotated[Path, typer.Argument(metavar="[SOURCE]", help="Folder to drill on; left out: the sample data room.")]
RandomKills = Annotated[
    int, typer.Option("--random", metavar="N", min=0, help="Kills at N more moments, drawn at random.")
]
FaultPoints = Annotated[
    int | None, typer.Option("--boundaries", metavar="N", min=0, help="Only N of the boundaries, drawn at random.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of what is drawn.")]
ReadOnce = Annotated[
    bool, typer.Option("--read-once", help="Read the documents once before all kills: faster on a large folder.")
]
Workers = Annotated[int, typer.Option("--workers", metavar="N", min=1, max=64, help="Drills at once.")]
Concurrency = Annotated[
    int, typer.Option("--concurrency", metavar="N", min=1, max=256, help="Documents in flight (8).")
]


def drill(
    source: Source = SAMPLES,
    playbook: args.Playbook = "due-diligence",
    engine: args.Engine = "local",
    concurrency: Concurrency = 8,
    randomly: RandomKills = 10,
    boundaries: FaultPoints = None,
    seed: Seed = 0,
    workers: Workers = 2,
    read_once: ReadOnce = False,
    as_json: args.Json = False,
) -> int:
    """Kill the job with kill -9 at every boundary, resume it, and compare with a run that nobody disturbed."""
    from graph.drill.drill import Job
    from graph.usecases.playbooks import require_playbook_file

    if not source.exists():
        raise SourceError(f"There is no folder or file {source}: check the path.")
    require_playbook_file(playbook)
    if engine not in ENGINES:
        raise OptionError(f"There is no engine {engine}: use {' or '.join(ENGINES)}.")
    job = Job(
        source.resolve(), str(Path(playbook).resolve()) if Path(playbook).is_file() else playbook, engine, concurrency
    )
    places, results = asyncio.run(_drill(job, randomly, boundaries, seed, workers, read_once))
    failures = [result for result in results if not result.ok]
    if as_json:
        rows = [{**asdict(result), "ok": result.ok} for result in results]
        emit({"ok": not failures, "boundaries": places, "drills": rows})
    else:
        _show_results(results)
        killed = sum(result.killed for result in results)
        say(
            f"{count(places, 'boundary', 'boundaries')} known, {count(len(results), 'drill')}, {killed} killed: "
            + (
                "all went on as if nothing had happened."
                if not failures
                else f"{len(failures)} DID NOT END AS THEY SHOULD."
            )
        )
    return 1 if failures else 0


async def _drill(
    job: Any, randomly: int, boundaries: int | None, seed: int, workers: int, read_once: bool
) -> tuple[int, list[Result]]:
    from graph.drill.drill import drill_all, drilling

    results: list[Result] = []
    async with drilling(job, read_once=read_once) as drill:
        say(f"The job is done once, undisturbed: {job.source}")
        await drill.undisturbed()
        plan = drill.plan(randomly, seed, boundaries)
        say(f"{count(len(drill.places), 'place')} to die at were passed; {count(len(plan), 'drill')} follow.")
        began = time.monotonic()
        await drill_all(drill, plan, lambda result: _report(results, result, len(plan), began), workers)
    order = {str(kill.at_once()): number for number, kill in enumerate(plan)}
    return len(_fault_points(drill)), sorted(results, key=lambda result: order[result.place.partition("+")[0]])


def _fault_points(drill: Drill) -> set[str]:
    return {place.rpartition(":")[0] for place in drill.places}


def _report(results: list[Result], result: Result, total: int, began: float) -> None:
    results.append(result)
    done = len(results)
    verdict = "ok" if result.ok else f"NOT OK {', '.join(result.differences)}"
    seconds_left = (time.monotonic() - began) / done * (total - done)
    say(f"  {done}/{total}  {result.place}  {duration(result.seconds)}  {verdict}, {duration(seconds_left)} left")


def _show_results(results: list[Result]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("killed at", "resumed at"):
        table.add_column(name, overflow="fold")
    for name in ("committed calls made again", "lost answers", "effects doubled"):
        table.add_column(name, justify="right")
    table.add_column("equal to the undisturbed run")
    for result in results:
        table.add_row(
            result.place if result.killed else f"{result.place} (not reached)",
            result.resumed_at,
            str(result.made_again),
            f"{result.lost} of at most {result.in_flight}",
            str(result.doubled),
            "yes" if not result.differences else f"NO: {', '.join(result.differences)}",
        )
    console().print(table)
