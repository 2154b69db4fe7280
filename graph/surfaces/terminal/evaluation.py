"""Tables of an evaluation in the terminal: one side, or two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from graph.surfaces.terminal.output import console
from nodes.domain.shared.formats import count, duration, money, one_line, place_in

if TYPE_CHECKING:
    from graph.usecases.evaluate import Measured

COLUMNS = (
    ("docs", "documents_with"),
    ("P", "doc_precision"),
    ("R", "doc_recall"),
    ("F1", "doc_f1"),
    ("span R", "span_recall"),
    ("span P", "span_precision"),
    ("page", "page_accuracy"),
    ("lost", "unlocated"),
)
COMPARED = (("F1", "doc_f1"), ("span R", "span_recall"), ("span P", "span_precision"))


def show_evaluation(measured: Sequence[Measured]) -> None:
    """What each side found and took."""
    out = console()
    for one in measured:
        compared = f" · {count(one.scores.documents, 'document')} compared · {one.thread_id}"
        out.print(Text.assemble("\n", (one.side, "bold"), compared))
        out.print(_types(one))
        _said(one)
    if len(measured) == 2:
        out.print()
        out.print(_beside(*measured))


def _types(one: Measured) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("clause type")
    for title, _ in COLUMNS:
        table.add_column(title, justify="right")
    for name, counts in one.scores.types.items():
        rates = counts.rates()
        table.add_row(name, *(_cell(rates[key]) for _, key in COLUMNS))
    mean = one.scores.mean()
    table.add_row("mean", *(_cell(mean[key]) if key in mean else "" for _, key in COLUMNS), style="bold")
    return table


def _said(one: Measured) -> None:
    out, took = console(), one.took
    traps = f"{len(one.scores.fallen)} of {count(one.scores.traps, 'trap')} stepped into" if one.scores.traps else ""
    spent = money(Decimal(str(took["usd"])), basis=took["basis"], unpriced=took["calls_unpriced"])
    price = f"{spent}, " if took["calls"] else ""
    calls = f"{count(took['calls'], 'call')} of models, " if took["calls"] else ""
    tokens = f"{took['tokens_in']:,} tokens in, {took['tokens_out']:,} out, " if took["calls"] else ""
    out.print(f"{calls}{tokens}{price}{duration(took['seconds'])}{'; ' + traps if traps else ''}")
    if took["calls"]:
        median, slow = (
            f"{took[key]:.1f} s" if took[key] is not None else "-" for key in ("median_seconds", "p95_seconds")
        )
        out.print(
            f"an answer takes {median}, 95 % at most {slow}; {_cell(took['valid_answers'])} of them usable at once"
        )
    for fallen in one.scores.fallen:
        place = place_in(fallen.page, fallen.unit)
        out.print(f"  trap: {fallen.clause_type} in {fallen.document}, {place}: “{one_line(fallen.quote, 160)}”")
    for untested in one.scores.untested:
        out.print(f"  trap not tested: {untested.clause_type} in {one_line(untested.document, 80)}, {untested}")
    if one.scores.silent and one.scores.types:
        out.print(
            f"{count(one.scores.silent, 'document')} of which the golden set says nothing: what was found in them "
            "counts as wrong."
        )
    if one.scores.lost:
        out.print(f"{count(one.scores.lost, 'golden quote')} not in the text as it was read: each counts as missed.")
    if one.scores.unread:
        named = ", ".join(one.scores.unread[:5]) + (" …" if len(one.scores.unread) > 5 else "")
        out.print(
            f"{count(len(one.scores.unread), 'golden document')} without a text here, left out: {one_line(named, 300)}"
        )


def _beside(one: Measured, other: Measured) -> Table:
    table = Table(
        box=None, pad_edge=False, header_style="bold", title=f"{one.side} | {other.side}", title_justify="left"
    )
    table.add_column("clause type")
    for title, _ in COMPARED:
        table.add_column(title, justify="right")
    for name in one.scores.types:
        rows = [side.scores.types[name].rates() for side in (one, other)]
        table.add_row(name, *(f"{_cell(rows[0][key])} | {_cell(rows[1][key])}" for _, key in COMPARED))
    means = [side.scores.mean() for side in (one, other)]
    table.add_row("mean", *(f"{_cell(means[0][key])} | {_cell(means[1][key])}" for _, key in COMPARED), style="bold")
    return table


def _cell(value: Any) -> str:
    return "-" if value is None else str(value) if isinstance(value, int) else f"{value:.3f}"
