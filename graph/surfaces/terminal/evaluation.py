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
    from graph.usecases.evaluate import Measurement

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


def show_evaluation(measurements: Sequence[Measurement]) -> None:
    """Print scores, traps, cost and time of each side, then both side by side where there are two."""
    out = console()
    for measurement in measurements:
        compared = f" · {count(measurement.scores.documents, 'document')} compared · {measurement.thread_id}"
        out.print(Text.assemble("\n", (measurement.side, "bold"), compared))
        out.print(_types_table(measurement))
        _show_totals(measurement)
    if len(measurements) == 2:
        out.print()
        out.print(_side_by_side(*measurements))


def _types_table(measurement: Measurement) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("clause type")
    for title, _ in COLUMNS:
        table.add_column(title, justify="right")
    for name, counts in measurement.scores.types.items():
        rates = counts.rates()
        table.add_row(name, *(_cell(rates[key]) for _, key in COLUMNS))
    mean = measurement.scores.mean()
    table.add_row("mean", *(_cell(mean[key]) if key in mean else "" for _, key in COLUMNS), style="bold")
    return table


def _show_totals(measurement: Measurement) -> None:
    out, took, scores = console(), measurement.took, measurement.scores
    traps = f"{len(scores.fallen)} of {count(scores.traps, 'trap')} stepped into" if scores.traps else ""
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
    for fallen in scores.fallen:
        place = place_in(fallen.page, fallen.unit)
        out.print(f"  trap: {fallen.clause_type} in {fallen.document}, {place}: “{one_line(fallen.quote, 160)}”")
    for untested in scores.untested:
        out.print(f"  trap not tested: {untested.clause_type} in {one_line(untested.document, 80)}, {untested}")
    if scores.silent and scores.types:
        out.print(
            f"{count(scores.silent, 'document')} of which the golden set says nothing: what was found in them "
            "counts as wrong."
        )
    if scores.lost:
        out.print(f"{count(scores.lost, 'golden quote')} not in the text as it was read: each counts as missed.")
    if scores.unread:
        names = ", ".join(scores.unread[:5]) + (" …" if len(scores.unread) > 5 else "")
        out.print(
            f"{count(len(scores.unread), 'golden document')} without a text here, left out: {one_line(names, 300)}"
        )


def _side_by_side(first: Measurement, second: Measurement) -> Table:
    table = Table(
        box=None, pad_edge=False, header_style="bold", title=f"{first.side} | {second.side}", title_justify="left"
    )
    table.add_column("clause type")
    for title, _ in COMPARED:
        table.add_column(title, justify="right")
    for name in first.scores.types:
        rows = [side.scores.types[name].rates() for side in (first, second)]
        table.add_row(name, *(f"{_cell(rows[0][key])} | {_cell(rows[1][key])}" for _, key in COMPARED))
    means = [side.scores.mean() for side in (first, second)]
    table.add_row("mean", *(f"{_cell(means[0][key])} | {_cell(means[1][key])}" for _, key in COMPARED), style="bold")
    return table


def _cell(rate: Any) -> str:
    return "-" if rate is None else str(rate) if isinstance(rate, int) else f"{rate:.3f}"
