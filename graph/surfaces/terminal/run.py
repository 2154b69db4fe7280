"""How a run, its findings and its note look on a terminal of any width; every text from outside is cleaned."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.tables import WIDE, labelled_line, plain_table, short_path
from nodes.domain.evidence.findings import RISKS, Finding
from nodes.domain.evidence.note_model import title_of as full_title
from nodes.domain.review.review import most_serious_first
from nodes.domain.shared.formats import clean, count, money, number, one_line, place_in, status_label, unit_of, when

TOP_FINDINGS = 15
"""Findings at most that are shown at the end of a drive."""
TOP_FINDINGS_NARROW = 10

READABLE_WIDTH = 100
"""Columns at most of a note: longer lines are hard to read."""

_ANCHOR = re.compile(r'<a id="[^"]*"></a>')
_LINKED_MARK = re.compile(r"\[(F:[0-9A-Za-z-]+)\]\(#[^)]*\)")

RISK_STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "dim"}
STATUS_STYLES = {
    "running": "cyan",
    "needs_review": "yellow",
    "paused": "yellow",
    "interrupted": "yellow",
    "completed": "green",
    "completed_with_failures": "yellow",
    "failed": "red",
    "cancelled": "red",
}


def run_label(run: Mapping[str, Any]) -> str:
    """The name of a run, else its id."""
    return one_line(run["name"] or run["thread_id"], 80)


def show_run(run: Mapping[str, Any], out: Console | None = None, unit: str = "page") -> None:
    """Print the run object in a few lines; `unit` is the word for its pages."""
    out = out or console()
    status = str(run["status"])
    title = Text(run_label(run), style="bold")
    title.append(f"  {status_label(status)}", style=STATUS_STYLES.get(status, ""))
    about = [run["playbook"], f"engine {run['engine']}", *([f"matter {run['matter']}"] if run["matter"] else [])]
    title.append(f"  {' · '.join(one_line(str(part), 60) for part in about if part)}", style="dim")
    out.print(title)
    for name, value in _facts(run, unit):
        out.print(labelled_line(name, value, "red" if name == "error" else "dim"))


def _facts(run: Mapping[str, Any], unit: str) -> Iterable[tuple[str, str]]:
    if run["name"]:
        yield "thread", run["thread_id"]
    if run.get("parent_thread_id"):
        yield "fork of", run["parent_thread_id"]
    yield "documents", counts_line(run["documents"], "done failed skipped")
    yield f"{unit}s", counts_line(run["pages"], "read ocr empty failed skipped")
    findings = run["findings"]
    by_risk = [f"{findings['by_risk'][risk]} {risk}" for risk in reversed(RISKS) if findings["by_risk"][risk]]
    review = [f"{findings['to_review']} to review"] if findings["to_review"] else []
    yield "findings", ", ".join([number(findings["total"]), *by_risk, *review])
    yield "cost", cost_line(run["cost"])
    batch = run["batch"]
    if run["status"] in ("running", "interrupted", "paused", "failed") and batch["total"]:
        yield "batch", f"{batch['index']} of {batch['total']} closed, at step {run['step']}"
    review_state = run["review"] or {}
    if review_state.get("reviewers"):
        reviewers = ", ".join(one_line(name, 40) for name in review_state["reviewers"])
        yield "reviewed", f"{count(review_state['decisions'], 'decision')} by {reviewers}"
    if run["updated_at"]:
        yield "last sign", when(datetime.fromisoformat(run["updated_at"]))
    if run["error"]:
        yield "error", one_line(run["error"], 500)


def counts_line(counts: Mapping[str, int], states: str) -> str:
    """A total and the counts that are not zero: "16: 15 done, 1 failed"."""
    words = {"ocr": "by OCR", "read": "read"}
    parts = [f"{number(counts[s])} {words.get(s, s)}" for s in states.split() if counts.get(s)]
    return f"{number(counts['total'])}{': ' if parts else ''}{', '.join(parts)}"


def cost_line(cost: Mapping[str, Any]) -> str:
    usd = money(Decimal(str(cost["usd"])), basis=cost["basis"], unpriced=cost["calls_unpriced"])
    parts = [count(cost["calls"], "call")]
    if cost["calls_reused"]:
        saved = Decimal(str(cost["avoided_usd"]))
        parts.append(f"{number(cost['calls_reused'])} reused" + (f" ({money(saved)} not paid again)" if saved else ""))
    if cost["calls_lost"]:
        parts.append(count(cost["calls_lost"], "lost answer"))
    return f"{usd}, {', '.join(parts)}"


def next_line(action: str) -> Text:
    """The line with the command to type next."""
    line = Text("Next: ", style="bold", no_wrap=True, overflow="ignore")
    line.append(action, style="bold cyan")
    return line


def show_next(action: str, out: Console | None = None) -> None:
    (out or console()).print(next_line(action), soft_wrap=True)


def show_findings(
    findings: Sequence[Finding], titles: Mapping[str, str], limit: int | None = None, out: Console | None = None
) -> None:
    """Print the findings, most serious first; one line each where there is room, else two."""
    out = out or console()
    ordered = sorted(findings, key=most_serious_first)
    top_findings = ordered[:limit]
    if not top_findings:
        return
    out.print(
        _wide_table(top_findings, titles, out.width)
        if out.width >= WIDE
        else _narrow_table(top_findings, titles, out.width)
    )
    if len(ordered) > len(top_findings):
        out.print(Text(f"and {number(len(ordered) - len(top_findings))} more", style="dim"))


def _wide_table(findings: Sequence[Finding], titles: Mapping[str, str], width: int) -> Table:
    page_column = unit_of(finding.unit for finding in findings if finding.page is not None)
    # Decisions of courts have no supplier, nor do many documents of no contract.
    with_supplier = any(finding.supplier for finding in findings)
    table = plain_table(
        "risk",
        *(["supplier"] if with_supplier else []),
        "clause",
        "quote",
        "document",
        page_column,
        "",
        right=(page_column,),
    )
    page_width = max(
        len(page_column), *(len(place_in(finding.page, finding.unit, page_column)) for finding in findings)
    )
    room = width - len("critical") - page_width - len("to review") - 2 * len(table.columns)
    supplier, clause, document = room * 17 // 100 if with_supplier else 0, room * 20 // 100, room * 27 // 100
    for finding in findings:
        table.add_row(
            Text(finding.risk, style=RISK_STYLES.get(finding.risk, "")),
            *([Text(one_line(finding.supplier, supplier) or "—")] if with_supplier else []),
            Text(one_line(title_of(finding, titles), clause)),
            quote_text(finding, room - supplier - clause - document),
            Text(short_path(finding.document, document)),
            Text(place_in(finding.page, finding.unit, page_column)),
            state_text(finding),
        )
    return table


def _narrow_table(findings: Sequence[Finding], titles: Mapping[str, str], width: int) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    room = width - 10
    for finding in findings:
        page = (
            ""
            if finding.page is None
            else f" p. {finding.page}"
            if finding.unit == "page"
            else f" {finding.unit} {finding.page}"
        )
        place = one_line(finding.document, room) + page
        subject = " · ".join(filter(None, [title_of(finding, titles), finding.supplier]))
        head = Text(one_line(subject, max(room - len(place) - 2, room // 2)), style="bold")
        head.append(f"  {short_path(finding.document, room - len(head.plain) - len(page) - 2)}{page}", style="not bold")
        table.add_row(Text(finding.risk, style=RISK_STYLES.get(finding.risk, "")), head)
        state = state_text(finding)
        line = quote_text(finding, room - len(state.plain) - 1)
        table.add_row("", Text.assemble(line, " ", state))
    return table


def title_of(finding: Finding, titles: Mapping[str, str]) -> str:
    return one_line(full_title(finding, titles), 80)


def quote_text(finding: Finding, limit: int) -> Text:
    """The quote, cut to `limit`; one that is not in the document is marked as such, since it is no evidence."""
    if finding.about:
        return Text(one_line("(no such clause was found)", limit), style="dim")
    if finding.alignment == "not_found":
        return Text(one_line(f"(not in the document) {finding.quote}", limit), style="dim")
    return Text(f"“{one_line(finding.quote, max(limit - 2, 8))}”")


def state_text(finding: Finding) -> Text:
    verdict = (finding.decision or {}).get("verdict")
    if verdict:
        return Text(f"{verdict}ed", style="green" if verdict == "accept" else "red")
    return Text("to review" if finding.needs_review else "", style="yellow")


def show_note(text: str) -> None:
    """Render a note's Markdown; links within the page become their bare marks, since a terminal cannot follow them."""
    from rich.markdown import Markdown

    plain = _LINKED_MARK.sub(r"`\1`", _ANCHOR.sub("", clean(text)))
    out = console()
    out.print(Markdown(plain, hyperlinks=False), width=min(out.width, READABLE_WIDTH))
