"""`resumes`: every start and resume with what it kept and lost, and what they add up to, on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from rich.text import Text

from graph.surfaces.terminal.columns import fitting
from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.run import cut
from nodes.domain.shared.formats import count, duration, money, one_line, when

STYLES = {"ended": "green", "failed": "red", "killed": "yellow", "stopped": "yellow"}


def show_resumes(rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], *, with_run_names: bool) -> None:
    """A row for each, then the sum; `named`: rows of several runs, each with its run's name."""
    run_column, dropped_columns = ("run",) if with_run_names else (), ("by", "took", "stood still", "kept", "at step")
    columns = ("began", *run_column, "kind", "at step", "took", "ended", "kept", "stood still", "by")
    if rows:
        table = fitting(
            columns,
            [_cells(row, with_run_names) for row in rows],
            dropped_columns=dropped_columns,
            gives_way=run_column,
        )
        console().print(table)
    for row in rows:
        if row["error"]:
            console().print(Text(f"{when(row['started_at'])}: {one_line(row['error'], 400)}", style="dim"))
    console().print(Text(summary_line(summary), style="bold"))


def _cells(row: Mapping[str, Any], with_run_names: bool) -> list[str | Text]:
    return [
        when(row["started_at"]),
        *([cut(row["name"] or str(row["thread_id"])[:8])] if with_run_names else []),
        row["kind"],
        row["from_step"],
        duration((row["ended_at"] - row["started_at"]).total_seconds()) if row["ended_at"] else "—",
        Text(_end(row), style=STYLES.get(row["success"], "")),
        _kept(row),
        duration(row["lost_seconds"]) if row["lost_seconds"] is not None else "",
        f"{row['pid']} on {one_line(row['host'], 24)}",
    ]


def summary_line(summary: Mapping[str, Any]) -> str:
    """3 resumes of 2 runs, at extract 2, needs_review 1: 2 ended, 1 killed; …"""
    if not summary["resumes"]:
        return "no resume yet"
    steps = ", ".join(f"{step} {number}" for step, number in summary["by_step"].items())
    ends = ", ".join(f"{number} {end}" for end, number in summary["by_success"].items())
    return (
        f"{count(summary['resumes'], 'resume')} of {count(summary['runs'], 'run')}, at {steps}: {ends}; stood still for "
        f"{duration(summary['lost_seconds'])} after kills; {count(summary['documents_kept'], 'document')} and "
        f"{money(Decimal(str(summary['kept_usd'])))} kept that starting anew would have done and paid once more"
    )


def _end(row: Mapping[str, Any]) -> str:
    stopped = row["success"] == "stopped" and row["outcome"]
    return one_line(f"stopped ({row['outcome']})" if stopped else str(row["success"]), 40)


def _kept(row: Mapping[str, Any]) -> str:
    if not row["documents_kept"]:
        return ""
    paid = f", {money(Decimal(row['kept_usd']))}" if row["kept_usd"] else ""
    return f"{row['documents_kept']} done{paid}"
