"""The command eval: an engine, or two side by side, against a golden set."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph.surfaces import arguments as given
from graph.surfaces.output import emit, say
from graph.surfaces.session import with_reprise
from nodes.domain.gold import slug

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.evaluating import Measured, Side

GoldFiles = Annotated[
    list[Path],
    typer.Argument(metavar="GOLD", help="JSON lines: document, clause_type, text, page, or must_not_find. Repeatable."),
]
From = Annotated[
    Path | None, typer.Option("--source", metavar="FOLDER", help="The documents. Left out: the folder beside GOLD.")
]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="ENGINE", help="A second one beside it: local, openai or openai:MODEL."),
]
Types = Annotated[
    str, typer.Option("--types", metavar="TYPE,TYPE", help="Only these clause types. Left out: those that GOLD names.")
]
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
    from graph.evaluating import Side, gold_of, measure, side_of, source_of

    lines = [line for path in gold for line in gold_of(path)]
    folder = source or source_of(gold[0])
    sides: list[Side] = [Side(engine, given.models(model) or {}, playbook)]
    if against:
        sides.append(side_of(against, playbook))
    wanted = [slug(name) for name in types.split(",") if name.strip()]
    words = given.passwords(passwords)

    async def work(reprise: Reprise) -> int:
        measured: list[Measured] = []
        for side in sides:
            say(f"{side.name} reads {folder}, without stored answers.")
            measured.append(
                await measure(
                    reprise,
                    side,
                    lines,
                    folder,
                    types=wanted,
                    budget_usd=None if budget_usd is None else Decimal(budget_usd),
                    concurrency=concurrency,
                    passwords=words,
                )
            )
        if as_json:
            emit({"gold": len(lines), "source": str(folder), "sides": [one.to_json() for one in measured]})
        else:
            from graph.surfaces.terminal_eval import show_evaluation

            show_evaluation(measured)
        return _verdict(measured[0], min_f1)

    return with_reprise(work)


def _verdict(measured: Measured, min_f1: float | None) -> int:
    """1 when a trap was stepped into, or when it is worse than it must be; said in a sentence."""
    problems = []
    if fallen := len(measured.scores.fallen):
        problems.append(f"{fallen} of {measured.scores.traps} traps were stepped into")
    mean = measured.scores.mean()["doc_f1"] or 0.0
    if min_f1 is not None and mean < min_f1:
        problems.append(f"the mean document F1 is {mean:.3f}, less than {min_f1:g}")
    if problems:
        say(f"error: {' and '.join(problems)}: python run.py findings {measured.thread_id} shows what was found.")
    return 1 if problems else 0


evaluate.__name__ = "eval"
