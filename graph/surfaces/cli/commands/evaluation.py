"""The command eval: an engine, or two side by side, against a golden set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.surfaces.cli import arguments as given
from graph.surfaces.cli.exit_codes import FAILED, OK, code_of
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import emit, say
from nodes.domain.evaluation.golden_set import slug
from nodes.domain.shared.errors import RepriseError
from nodes.domain.shared.formats import count, one_line

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.usecases.evaluate import Measured, Side

GoldFiles = Annotated[
    list[Path],
    typer.Argument(metavar="GOLD", help="JSON lines: document, clause_type, text, page, or must_not_find. Repeatable."),
]
From = Annotated[
    Path | None,
    typer.Option("--source", metavar="FOLDER", help="The documents. Left out: NAME beside NAME-gold.jsonl, or pdf."),
]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="ENGINE", help="A second one beside it: local, openai or openai:MODEL."),
]
Types = Annotated[
    str, typer.Option("--types", metavar="TYPE,TYPE", help="Only these clause types. Left out: those that GOLD names.")
]
NAMED = 5
"""Traps that the one sentence of an error names; the table names all."""
Least = Annotated[
    float | None,
    typer.Option("--min-f1", metavar="SHARE", min=0, max=1, help="Exit 1 when the mean document F1 is lower."),
]


def evaluate(
    gold: GoldFiles,
    source: From = None,
    playbook: given.Playbook = "due-diligence",
    engine: given.Engine = "local",
    model: given.Model = None,
    against: Against = None,
    types: Types = "",
    min_f1: Least = None,
    budget_usd: given.Budget = None,
    concurrency: given.Concurrency = None,
    passwords: given.Passwords = None,
    as_json: given.Json = False,
) -> int:
    """Measure an engine against a golden set: clauses, quotes, pages, traps, cost, time; no stored answer is used."""
    from graph.usecases.evaluate import Side, checked, measure, sets_of, side_of

    sets = sets_of(gold, source)
    folders = [str(each.source) for each in sets]
    sides: list[Side] = [Side(engine, given.models(model) or {}, playbook)]
    if against:
        sides.append(side_of(against, playbook))
    wanted = [slug(name) for name in types.split(",") if name.strip()]
    words = given.passwords(passwords)

    def show(measured: list[Measured]) -> None:
        if as_json:
            lines = sum(len(each.gold) for each in sets)
            emit({"gold": lines, "source": "\n".join(folders), "sides": [one.to_json() for one in measured]})
        elif measured:
            from graph.surfaces.terminal.evaluation import show_evaluation

            show_evaluation(measured)

    async def work(reprise: Reprise) -> int:
        for sentence in await checked(reprise, sides, sets, wanted, budget_usd, concurrency):
            say(f"note: {sentence}")
        measured: list[Measured] = []
        options: dict[str, Any] = {"types": wanted, "budget_usd": budget_usd, "passwords": words}
        try:
            for side in sides:
                say(f"{side.name} reads {', '.join(folders)}, without stored answers.")
                measured.append(await measure(reprise, side, sets, concurrency=concurrency, **options))
        except RepriseError:
            # What one side took to measure is not lost by the other.
            if measured:
                show(measured)
            raise
        show(measured)
        return _not_whole(measured) or _verdict(measured[0], min_f1)

    return with_reprise(work)


def _not_whole(measured: Sequence[Measured]) -> int:
    """The exit code when a run did not come to its end, so that its numbers are of a part; 0 when all did."""
    for one in measured:
        status, documents = one.took["status"], one.took["documents"]
        if status in ("completed", "completed_with_failures"):
            continue
        of = f"{documents['done']} of {count(documents['total'], 'document')}"
        held = status == "paused"
        why = "came to its limit" if held else f"is {status}"
        say(
            f"error: {one.side} {why} with {of} read, and was measured on these alone: "
            + ("give a higher --budget-usd." if held else f"python run.py show {one.thread_id} says more.")
        )
        return code_of(status) or FAILED
    return OK


def _verdict(measured: Measured, min_f1: float | None) -> int:
    """1 when a trap was stepped into or could not be tested, or when it is worse than it must be; in a sentence."""
    problems, scores = [], measured.scores
    if not scores.matched:
        problems.append("no document that the golden set names was read, so nothing was compared")
    if fallen := len(scores.fallen):
        problems.append(f"{fallen} of {count(scores.traps, 'trap')} {'was' if fallen == 1 else 'were'} stepped into")
    if untested := len(scores.untested):
        named = "; ".join(map(str, scores.untested[:NAMED])) + ("; …" if untested > NAMED else "")
        problems.append(f"{count(untested, 'trap')} could not be tested: {one_line(named, 1000)}")
    mean = scores.mean()["doc_f1"] or 0.0
    if min_f1 is not None and mean < min_f1:
        problems.append(f"the mean document F1 is {mean:.3f}, less than {min_f1:g}")
    if problems:
        say(f"error: {', and '.join(problems)}: python run.py findings {measured.thread_id} shows what was found.")
    return 1 if problems else 0


evaluate.__name__ = "eval"
