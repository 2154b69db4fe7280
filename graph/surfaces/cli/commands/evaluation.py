"""The command eval: measures an engine, or two side by side, against a golden set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.surfaces.cli import arguments as args
from graph.surfaces.cli.exit_codes import FAILED, OK, exit_code
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import emit, say
from nodes.domain.evaluation.golden_set import slug
from nodes.domain.shared.errors import RepriseError
from nodes.domain.shared.formats import count, one_line

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.usecases.evaluate import Measurement, Side

GoldFiles = Annotated[
    list[Path],
    typer.Argument(metavar="GOLD", help="JSON lines: document, clause_type, text, page, or must_not_find. Repeatable."),
]
SourceFolder = Annotated[
    Path | None,
    typer.Option("--source", metavar="FOLDER", help="The documents. Left out: NAME beside NAME-gold.jsonl, or pdf."),
]
SecondEngine = Annotated[
    str | None,
    typer.Option("--against", metavar="ENGINE", help="A second one beside it: local, openai or openai:MODEL."),
]
ClauseTypes = Annotated[
    str, typer.Option("--types", metavar="TYPE,TYPE", help="Only these clause types. Left out: those that GOLD names.")
]
TRAPS_NAMED = 5
"""Traps at most that the sentence of an error names; the table names all."""
MinimumF1 = Annotated[
    float | None,
    typer.Option("--min-f1", metavar="SHARE", min=0, max=1, help="Exit 1 when the mean document F1 is lower."),
]


def evaluate(
    gold: GoldFiles,
    source: SourceFolder = None,
    playbook: args.Playbook = "due-diligence",
    engine: args.Engine = "local",
    model: args.Model = None,
    against: SecondEngine = None,
    types: ClauseTypes = "",
    min_f1: MinimumF1 = None,
    budget_usd: args.Budget = None,
    concurrency: args.Concurrency = None,
    passwords: args.Passwords = None,
    as_json: args.Json = False,
) -> int:
    """Measure an engine against a golden set: clauses, quotes, pages, traps, cost, time; no stored answer is used."""
    from graph.usecases.evaluate import Side, parse_side, read_golden_sets

    golden_sets = read_golden_sets(gold, source)
    folders = [str(golden_set.source) for golden_set in golden_sets]
    sides: list[Side] = [Side(engine, args.parse_models(model) or {}, playbook)]
    if against:
        sides.append(parse_side(against, playbook))
    clause_types = [slug(name) for name in types.split(",") if name.strip()]
    budget = args.parse_budget(budget_usd)
    document_passwords = args.read_passwords(passwords)

    def show(measurements: list[Measurement]) -> None:
        if as_json:
            lines = sum(len(golden_set.gold) for golden_set in golden_sets)
            emit(
                {
                    "gold": lines,
                    "source": "\n".join(folders),
                    "sides": [measurement.to_json() for measurement in measurements],
                }
            )
        elif measurements:
            from graph.surfaces.terminal.evaluation import show_evaluation

            show_evaluation(measurements)

    async def work(reprise: Reprise) -> int:
        for sentence in await reprise.check_measurable(
            sides, golden_sets, types=clause_types, budget_usd=budget, concurrency=concurrency
        ):
            say(f"note: {sentence}")
        measurements: list[Measurement] = []
        options: dict[str, Any] = {"types": clause_types, "budget_usd": budget, "passwords": document_passwords}
        try:
            for side in sides:
                say(f"{side.name} reads {', '.join(folders)}, without stored answers.")
                measurements.append(await reprise.measure(side, golden_sets, concurrency=concurrency, **options))
        except RepriseError:
            # What one side took to measure is not lost by the other.
            if measurements:
                show(measurements)
            raise
        show(measurements)
        return _unfinished_code(measurements) or _quality_code(measurements[0], min_f1)

    return with_reprise(work)


def _unfinished_code(measurements: Sequence[Measurement]) -> int:
    """Name a run that did not come to its end, so that its numbers are of a part; returns the exit code, 0 for none."""
    for measurement in measurements:
        status, documents = measurement.took["status"], measurement.took["documents"]
        if status in ("completed", "completed_with_failures"):
            continue
        share = f"{documents['done']} of {count(documents['total'], 'document')}"
        at_limit = status == "paused"
        reason = "came to its limit" if at_limit else f"is {status}"
        say(
            f"error: {measurement.side} {reason} with {share} read, and was measured on these alone: "
            + ("give a higher --budget-usd." if at_limit else f"python run.py show {measurement.thread_id} says more.")
        )
        return exit_code(status) or FAILED
    return OK


def _quality_code(measurement: Measurement, min_f1: float | None) -> int:
    """The exit code by quality: 1, with a sentence, when a trap was stepped into or not tested, or F1 is too low."""
    problems, scores = [], measurement.scores
    if not scores.matched:
        problems.append("no document that the golden set names was read, so nothing was compared")
    if fallen := len(scores.fallen):
        problems.append(f"{fallen} of {count(scores.traps, 'trap')} {'was' if fallen == 1 else 'were'} stepped into")
    if untested := len(scores.untested):
        traps = "; ".join(map(str, scores.untested[:TRAPS_NAMED])) + ("; …" if untested > TRAPS_NAMED else "")
        problems.append(f"{count(untested, 'trap')} could not be tested: {one_line(traps, 1000)}")
    mean = scores.mean()["doc_f1"] or 0.0
    if min_f1 is not None and mean < min_f1:
        problems.append(f"the mean document F1 is {mean:.3f}, less than {min_f1:g}")
    if problems:
        say(f"error: {', and '.join(problems)}: python run.py findings {measurement.thread_id} shows what was found.")
    return 1 if problems else 0


evaluate.__name__ = "eval"
