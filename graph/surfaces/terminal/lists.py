"""How the lists of a run look on a terminal: calls, decisions, runs, checkpoints, resumes, tombstones, coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from rich.table import Table
from rich.text import Text

from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.run import STATUS_STYLES, counts_line, run_label
from graph.surfaces.terminal.tables import WIDE, cut, fitting_table, labelled_line, plain_table, short_path
from nodes.domain.evidence.coverage import ranges
from nodes.domain.review.review import Decision
from nodes.domain.shared.formats import count, duration, money, one_line, size, when

STATE_STYLES = {"completed": "green", "reused": "dim", "failed": "red", "lost_answer": "yellow", "abandoned": "yellow"}
RESUME_STYLES = {"ended": "green", "failed": "red", "killed": "yellow", "stopped": "yellow"}


def show_failures(failures: Sequence[Mapping[str, Any]], limit: int | None = None) -> None:
    """Print the documents that failed, with the reason and what to do; the first `limit` of them."""
    for failure in failures[:limit]:
        document, reason = one_line(failure["document"], 200), one_line(failure["reason"], 400)
        line = reason if reason.startswith(document) else f"{document}: {reason}"
        console().print(labelled_line("failed", line, "red"))
    if limit is not None and len(failures) > limit:
        console().print(Text(f"  and {len(failures) - limit} more: python run.py coverage", style="dim"))


def show_releases(uris: Sequence[str]) -> None:
    """Print where the released notes lie, as paths that can be copied."""
    for uri in uris:
        path = unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri
        console().print(Text(f"  {'note':<10}{one_line(path, 500)}"), soft_wrap=True)


def show_journal(rows: Sequence[Mapping[str, Any]]) -> None:
    wide = console().width >= WIDE
    model_column = ("model",) if wide else ()
    table = plain_table(
        "call", "tool", *model_column, "state", "try", "took", "cost", "document", gives_way=("document",)
    )
    for row in rows:
        table.add_row(
            str(row["call_id"]),
            row["tool"],
            *([one_line(row["model"], 24)] if wide else []),
            Text(row["state"], style=STATE_STYLES.get(row["state"], "")),
            str(row["attempt"]),
            _took(row["started_at"], row["finished_at"]),
            _usd(row["usd"], row["state"]),
            cut(short_path(row["document"], 40)),
        )
    _print(table, len(rows), "call")
    for row in rows:
        if row["error"]:
            console().print(Text(f"{row['call_id']}: {one_line(row['error'], 300)}", style="dim"))


def show_decisions(rows: Sequence[Decision]) -> None:
    table = plain_table("at", "verdict", "finding", "reviewer", "from", "reason", gives_way=("reason",))
    for decision in rows:
        style = "green" if decision.verdict == "accept" else "red"
        table.add_row(
            when(decision.at),
            Text(decision.verdict, style=style),
            one_line(decision.finding_id, 40),
            Text(one_line(decision.reviewer, 24)),
            decision.surface,
            cut(decision.reason),
        )
    _print(table, len(rows), "decision")


def show_runs(runs: Sequence[Mapping[str, Any]]) -> None:
    names = ("run", "status", "documents", "to review", "cost", "started")
    rows = [_run_row(run) for run in runs]
    _print(
        fitting_table(names, rows, dropped_columns=("started", "cost", "to review"), gives_way=("run",)),
        len(runs),
        "run",
    )


def _run_row(run: Mapping[str, Any]) -> tuple[str | Text, ...]:
    status, cost = str(run["status"]), run["cost"]
    return (
        cut(_short(run), style="bold"),
        Text(status, style=STATUS_STYLES.get(status, "")),
        _done_of(run["documents"]),
        str(run["findings"]["to_review"] or "—"),
        money(Decimal(str(cost["usd"])), basis=cost["basis"], unpriced=cost["calls_unpriced"]),
        when(datetime.fromisoformat(run["started_at"])) if run["started_at"] else "",
    )


def _done_of(documents: Mapping[str, int]) -> str:
    failed = f", {documents['failed']} failed" if documents["failed"] else ""
    return f"{documents['done']} of {documents['total']}{failed}"


def _short(run: Mapping[str, Any]) -> str:
    return run_label(run) if run["name"] else str(run["thread_id"])[:8]


def show_history(rows: Sequence[Mapping[str, Any]]) -> None:
    wide = console().width >= WIDE
    checkpoint_column = ("checkpoint",) if wide else ()
    table = plain_table(
        "step", "at", "next", *checkpoint_column, "what was done", right=("step",), gives_way=("what was done",)
    )
    for row in rows:
        created_at = row["created_at"]
        table.add_row(
            str(row["step"]),
            when(datetime.fromisoformat(created_at)) if created_at else "",
            ", ".join(row["next"]).strip("_") or "—",
            *([str(row["checkpoint_id"])] if wide else []),
            cut(row["headline"]),
        )
    _print(table, len(rows), "checkpoint")


def show_resumes(rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any], *, with_run_names: bool) -> None:
    """Print every start and resume with what it kept and lost, then what they add up to.

    `with_run_names` is for rows of several runs: each row then has the name of its run.
    """
    run_column, dropped_columns = ("run",) if with_run_names else (), ("by", "took", "stood still", "kept", "at step")
    columns = ("began", *run_column, "kind", "at step", "took", "ended", "kept", "stood still", "by")
    if rows:
        table = fitting_table(
            columns,
            [_resume_cells(row, with_run_names) for row in rows],
            dropped_columns=dropped_columns,
            gives_way=run_column,
        )
        console().print(table)
    for row in rows:
        if row["error"]:
            console().print(Text(f"{when(row['started_at'])}: {one_line(row['error'], 400)}", style="dim"))
    console().print(Text(summary_line(summary), style="bold"))


def _resume_cells(row: Mapping[str, Any], with_run_names: bool) -> list[str | Text]:
    return [
        when(row["started_at"]),
        *([cut(row["name"] or str(row["thread_id"])[:8])] if with_run_names else []),
        row["kind"],
        row["from_step"],
        duration((row["ended_at"] - row["started_at"]).total_seconds()) if row["ended_at"] else "—",
        Text(_resume_end(row), style=RESUME_STYLES.get(row["success"], "")),
        _kept_work(row),
        duration(row["lost_seconds"]) if row["lost_seconds"] is not None else "",
        f"{row['pid']} on {one_line(row['host'], 24)}",
    ]


def summary_line(summary: Mapping[str, Any]) -> str:
    """The sum of resumes on one line: "3 resumes of 2 runs, at extract 2, needs_review 1: 2 ended, 1 killed; …"."""
    if not summary["resumes"]:
        return "no resume yet"
    steps = ", ".join(f"{step} {number}" for step, number in summary["by_step"].items())
    ends = ", ".join(f"{number} {end}" for end, number in summary["by_success"].items())
    resumes = f"{count(summary['resumes'], 'resume')} of {count(summary['runs'], 'run')}"
    return (
        f"{resumes}, at {steps}: {ends}; stood still for {duration(summary['lost_seconds'])} after kills; "
        f"{count(summary['documents_kept'], 'document')} and "
        f"{money(Decimal(str(summary['kept_usd'])))} kept that starting anew would have done and paid once more"
    )


def _resume_end(row: Mapping[str, Any]) -> str:
    stopped = row["success"] == "stopped" and row["outcome"]
    return one_line(f"stopped ({row['outcome']})" if stopped else str(row["success"]), 40)


def _kept_work(row: Mapping[str, Any]) -> str:
    if not row["documents_kept"]:
        return ""
    paid = f", {money(Decimal(row['kept_usd']))}" if row["kept_usd"] else ""
    return f"{row['documents_kept']} done{paid}"


def show_tombstones(stones: Sequence[Mapping[str, Any]]) -> None:
    """Print what was purged, when, by whom and why."""
    if not stones:
        console().print(Text("nothing was purged yet", style="dim"))
        return
    wide = console().width >= WIDE
    numbers = ("documents", *(("rows", "files") if wide else ()), "bytes")
    table = plain_table("purged", "run", "matter", *numbers, "by", "why", right=numbers, gives_way=("why",))
    for stone in stones:
        ended: datetime | None = stone["purged_at"]
        table.add_row(
            when(ended) if ended else Text("not finished", style="red"),
            one_line(stone["name"] or stone["thread_id"] or "answers of no run", 40),
            one_line(stone["matter"], 30),
            str(stone["documents"]),
            *((str(sum(stone["rows"].values())), str(stone["files"])) if wide else ()),
            size(stone["bytes"]),
            one_line(stone["by"], 24),
            cut(stone["reason"]),
        )
    console().print(table)


def show_coverage(coverage: Mapping[str, Any]) -> None:
    document_counts, page_counts = coverage["documents"], coverage["pages"]
    unit = coverage["unit"]
    columns = ("state", "document", "supplier", f"{unit}s", "findings")
    table = plain_table(*columns, right=("findings",), gives_way=("document", "supplier"))
    for document in coverage["listed"]:
        style = {"done": "green", "failed": "red"}.get(document["state"], "yellow")
        table.add_row(
            Text(document["state"], style=style),
            cut(short_path(document["document"], console().width // 2)),
            cut(document["supplier"]),
            _states(
                [page["state"] for page in document["pages"]], "" if document["unit"] == unit else document["unit"]
            ),
            str(document["findings"]) if document["state"] == "done" else "",
        )
    console().print(table)
    for line in _unread(coverage["listed"]):
        console().print(line)
    total = f"documents {counts_line(document_counts, 'done failed skipped')}"
    console().print(
        Text(f"{total} · {unit}s {counts_line(page_counts, 'read ocr empty failed skipped')}", style="bold")
    )


def _unread(listed: Sequence[Mapping[str, Any]]) -> Iterable[Text]:
    for document in listed:
        name = one_line(document["document"], 200)
        if document["reason"]:
            reason = one_line(document["reason"], 400)
            yield Text(reason if reason.startswith(name) else f"{name}: {reason}")
        unread_pages: dict[tuple[str, str], list[int]] = {}
        for page in document["pages"]:
            if page["state"] in ("failed", "skipped"):
                unread_pages.setdefault((page["state"], one_line(page["reason"], 300)), []).append(page["number"])
        for (state, reason), numbers in unread_pages.items():
            yield Text(f"{name}, {document['unit']} {ranges(numbers)}: {state}, {reason}")
        for warning in document["warnings"]:
            yield Text(f"{name}: {one_line(warning, 300)}", style="dim")


def _states(states: Sequence[str], unit: str = "") -> str:
    """The number of pages, with `unit` where one is given, and by state unless all were read: "12 (10 read, 2 ocr)"."""
    total = count(len(states), unit) if unit and states else str(len(states) or "")
    kinds = [kind for kind in ("read", "ocr", "empty", "failed", "skipped") if kind in states]
    if kinds in ([], ["read"]):
        return total
    return f"{total} ({', '.join(f'{states.count(kind)} {kind}' for kind in kinds)})"


def _took(started: datetime | None, ended: datetime | None) -> str:
    return duration((ended - started).total_seconds()) if started and ended else "—"


def _usd(usd: Any, state: str) -> str:
    if usd is None:
        return "—" if state == "running" else "unknown"
    return money(Decimal(usd)) if usd else ""


def _print(table: Table, rows: int, noun: str) -> None:
    if rows:
        console().print(table)
    else:
        console().print(Text(f"no {noun} yet", style="dim"))
