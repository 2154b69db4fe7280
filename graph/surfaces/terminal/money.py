"""How cost and estimate look on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from rich.text import Text

from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.tables import cut, fitting_table, labelled_line, plain_table, short_path
from nodes.domain.shared.formats import count, duration, money, number, one_line

DEAREST = 10
"""Documents at most in the list of the dearest; `--json` has them all."""


def show_cost(cost: Mapping[str, Any], models: bool = False) -> None:
    """Print the cost by step, tool and model; `models` adds speed and success of each, and the dearest documents."""
    _show_levels(cost["by_model"])
    if models:
        _show_speed([row for row in cost["by_model"] if row["calls"]])
    dearest = [row for row in cost["by_document"] if row["document"] and (row["usd"] or row["unpriced"])][:DEAREST]
    if models and dearest:
        table = plain_table("document", "calls", "tokens in", "tokens out", "cost", gives_way=("document",))
        for row in dearest:
            numbers = [number(int(row[key])) for key in ("calls", "tokens_in", "tokens_out")]
            table.add_row(cut(short_path(row["document"], console().width // 2)), *numbers, _usd(row))
        console().print(table)
    total = money(Decimal(str(cost["usd"])), basis=cost["basis"], unpriced=cost["calls_unpriced"])
    limit = f" of {money(Decimal(cost['budget_usd']))}" if cost["budget_usd"] is not None else ""
    saved = f"; {money(Decimal(str(cost['avoided_usd'])))} not paid again" if cost["avoided_usd"] else ""
    console().print(Text(f"spent {total}{limit} in {count(cost['calls'], 'call')}{saved}", style="bold"))
    if cost["estimate"]:
        calls_made = sum(row["calls"] for row in cost["by_model"] if row["tool"] == "model")
        calls = f"{number(cost['estimate']['calls']['model'])} calls of a model, and took {number(calls_made)}"
        console().print(Text(f"estimated {_range(cost['estimate'])}, {calls}", style="dim"))


def _show_levels(rows: list[Mapping[str, Any]]) -> None:
    columns = ("step", "tool", "model", "calls", "reused", "lost", "tokens in", "cached", "tokens out", "cost")
    numbers = ("calls", "reused", "lost", "tokens_in", "tokens_cached", "tokens_out")
    cells = [
        (row["step"], row["tool"], one_line(row["model"], 30), *(number(int(row[key])) for key in numbers), _usd(row))
        for row in rows
    ]
    console().print(
        fitting_table(columns, cells, dropped_columns=("cached", "tokens out", "tokens in", "lost", "reused", "step"))
    )


def _show_speed(rows: list[Mapping[str, Any]]) -> None:
    columns = ("step", "tool", "model", "calls", "median", "p95", "valid", "calls a second")
    cells = [
        (
            row["step"],
            row["tool"],
            one_line(row["model"], 30),
            number(int(row["calls"])),
            *(_seconds(row[key]) for key in ("median_seconds", "p95_seconds")),
            "—" if row["success_rate"] is None else f"{100 * row['success_rate']:.0f} %",
            "—" if row["calls_per_second"] is None else f"{row['calls_per_second']:.1f}",
        )
        for row in rows
    ]
    console().print(fitting_table(columns, cells, dropped_columns=("calls a second", "p95", "step")))


def show_estimate(estimate: Mapping[str, Any]) -> None:
    """Print what a run would take, and that nothing was paid to know it."""
    documents, calls, tokens, seconds = (estimate[key] for key in ("documents", "calls", "tokens", "seconds"))
    unreadable = f", {count(documents['unreadable'], 'document')} cannot be read" if documents["unreadable"] else ""
    out = console()
    out.print(labelled_line("documents", f"{number(documents['total'])}{unreadable}"))
    out.print(labelled_line(f"{estimate['unit']}s", number(estimate["pages"])))
    reused = f", {number(calls['known'])} of them answered before" if calls["known"] else ""
    local = (
        f"{count(calls['reader'], 'reading')} and {count(calls['clause_rules'], 'look')} by the rules on this machine"
    )
    upper_bound = f" to {number(calls['model_most'])}" if calls["model_most"] > calls["model"] else ""
    out.print(labelled_line("calls", f"{number(calls['model'])}{upper_bound} of a model{reused}; {local}"))
    if calls["model"]:
        spread = [f"{number(tokens[key])} to {number(tokens[f'{key}_most'])} {key}" for key in ("in", "out")]
        out.print(labelled_line("tokens", ", ".join(spread)))
    out.print(labelled_line("cost", _range(estimate)))
    span = f"{duration(seconds['low'])} to {duration(seconds['high'])}"
    basis = "from such calls made here before" if seconds["basis"] == "measured" else "assumed, none was made here yet"
    out.print(labelled_line("time", f"{span} ({basis})"))
    out.print(
        Text(
            f"Nothing was paid. The documents were read in {duration(estimate['reading_seconds'])}; "
            "a start in the same matter does not read them again.",
            style="dim",
        )
    )


def _range(estimate: Mapping[str, Any]) -> str:
    usd = estimate["usd"]
    low, likely, high = (Decimal(str(usd[name])) for name in ("low", "likely", "high"))
    if not high and not usd["unpriced_calls"]:
        return "nothing"
    highest = money(high, unpriced=usd["unpriced_calls"])
    return f"{money(low)} to {highest}, likely {money(likely)}" if high else highest


def _usd(row: Mapping[str, Any]) -> str:
    basis: Literal["estimated", "reported"] = "estimated" if row["estimated"] else "reported"
    return money(Decimal(row["usd"]), basis=basis, unpriced=row["unpriced"])


def _seconds(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}s"
