"""Runs, findings and the journal as HTML for a notebook, and as tables of pandas.

Everything is escaped: names and quotes come out of hostile documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from html import escape
from typing import Any

from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.titles import clause_name
from nodes.domain.review.review import most_serious_first
from nodes.domain.shared.errors import MissingPart
from nodes.domain.shared.formats import (
    alignment_label,
    count,
    duration,
    money,
    one_line,
    place_in,
    risk_label,
    status_label,
    unit_of,
)

MAX_ROWS = 50
"""Rows of a table in a notebook; the rest is counted."""

RISK_COLOURS = {"critical": "#8e1b1b", "high": "#b3541e", "medium": "#8a6d0b", "low": "#3f6b3f"}

_VERDICTS = {"accept": "accepted", "reject": "rejected"}

FINDING_COLUMNS = {
    "finding_id": "string",
    "document": "string",
    "supplier": "string",
    "clause_type": "string",
    "about": "string",
    "quote": "string",
    "page": "Int64",
    "unit": "string",
    "alignment": "string",
    "risk": "string",
    "score": "Int64",
    "confidence": "float64",
    "source": "string",
    "needs_review": "boolean",
    "verdict": "string",
    "reviewer": "string",
}
JOURNAL_COLUMNS = {
    "call_id": "Int64",
    "tool": "string",
    "step": "string",
    "document": "string",
    "model": "string",
    "state": "string",
    "attempt": "Int64",
    "started_at": "datetime64[us, UTC]",
    "finished_at": "datetime64[us, UTC]",
    "tokens_in": "Int64",
    "tokens_cached": "Int64",
    "tokens_out": "Int64",
    "usd": "float64",
    "basis": "string",
    "word": "string",
    "error": "string",
}


class FindingsView(list[Finding]):
    """Findings by document and place; a list in every respect. As HTML the most serious come first."""

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame with one row a finding. Raises MissingPart without pandas."""
        return frame([_finding_row(finding) for finding in self], FINDING_COLUMNS)

    def _repr_html_(self) -> str:
        head = unit_of(finding.unit for finding in self if finding.page is not None)
        heads = ("risk", "supplier", "clause", "quote", "document", head, "decision")
        ranked = sorted(self, key=most_serious_first)
        return table(count(len(self), "finding"), heads, [_finding_cells(finding, head) for finding in ranked])


class JournalView(list[dict[str, Any]]):
    """Calls, oldest first; a list in every respect."""

    def to_frame(self) -> Any:
        """Return a pandas.DataFrame with one row a call. Raises MissingPart without pandas."""
        return frame(self, JOURNAL_COLUMNS)

    def _repr_html_(self) -> str:
        heads = ("tool", "document", "model", "state", "attempt", "took", "tokens", "cost", "error")
        return table(count(len(self), "call"), heads, [_call_cells(call) for call in self])


class Diagram(str):
    """The graph as Mermaid text; a notebook draws it with its own library, without any web service."""

    def _repr_markdown_(self) -> str:
        return f"```mermaid\n{self}\n```"


def run_html(run: Mapping[str, Any]) -> str:
    """Draw a run object as a card: state, bar, money, next step."""
    documents, cost, findings = run["documents"], run["cost"], run["findings"]
    settled = documents["done"] + documents["failed"] + documents["skipped"]
    share = 100 * settled / documents["total"] if documents["total"] else 0
    rows = {
        "documents": f"{documents['done']} of {documents['total']} done"
        + (f", {documents['failed']} failed" if documents["failed"] else ""),
        "findings": f"{findings['total']}" + (f", {findings['to_review']} to review" if findings["to_review"] else ""),
        "cost": money(Decimal(str(cost["usd"])), basis=cost["basis"], unpriced=cost["calls_unpriced"]),
        "next": run["next_action"],
    }
    if run["error"]:
        rows["error"] = one_line(str(run["error"]), 300)
    cells = ((escape(head), _text(text, 300)) for head, text in rows.items())
    lines = "".join(f"<tr><th style='text-align:left'>{head}</th><td>{text}</td></tr>" for head, text in cells)
    name = _text(str(run["name"] or run["thread_id"]), 80)
    return (
        f"<div><b>{name}</b> · {_text(status_label(run['status']), 40)} · step {_text(run['step'], 40)}"
        f"<div style='background:#ddd;width:20em;height:.5em;margin:.3em 0'>"
        f"<div style='background:#3b6ea5;width:{share:.0f}%;height:.5em'></div></div><table>{lines}</table></div>"
    )


def run_frame(run: Mapping[str, Any]) -> Any:
    """Turn a run object into one row; nested counts become columns of their own. Raises MissingPart without pandas."""
    row: dict[str, Any] = {}
    for name, column in run.items():
        if isinstance(column, Mapping):
            row |= {f"{name}.{key}": number for key, number in column.items() if not isinstance(number, Mapping | list)}
        elif not isinstance(column, list):
            row[name] = column
    return _pandas().DataFrame([row])


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Draw an HTML table of cells that are escaped already."""
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in row) + "</tr>"
        for row in rows[:MAX_ROWS]
    )
    overflow = len(rows) - MAX_ROWS
    footer = f"<div>and {overflow} more: .to_frame() has all</div>" if overflow > 0 else ""
    return (
        f"<div><b>{escape(title)}</b><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{footer}</div>"
    )


def frame(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> Any:
    """Turn rows into a pandas.DataFrame with typed columns, also when there are none. Raises MissingPart."""
    pandas = _pandas()
    series = {
        name: pandas.Series([_plain(row.get(name)) for row in rows], dtype=kind) for name, kind in columns.items()
    }
    return pandas.DataFrame(series)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise MissingPart("Tables need pandas: pip install pandas, or use the object as it is.") from None
    return pandas


def _plain(cell: Any) -> Any:
    return float(cell) if isinstance(cell, Decimal) else cell


def _finding_row(finding: Finding) -> dict[str, Any]:
    decision = finding.decision or {}
    columns = {name: getattr(finding, name, None) for name in FINDING_COLUMNS}
    return {**columns, "verdict": decision.get("verdict"), "reviewer": decision.get("reviewer")}


def _finding_cells(finding: Finding, head: str) -> tuple[str, ...]:
    colour = RISK_COLOURS.get(finding.risk, "#555")
    chip = f"<span style='color:#fff;background:{colour};padding:0 .4em'>{_text(risk_label(finding.risk), 20)}</span>"
    doubt = "" if finding.alignment == "exact" else f" <i>({_text(alignment_label(finding.alignment), 60)})</i>"
    decision = finding.decision or {}
    verdict, waits = str(decision.get("verdict") or ""), "waits" if finding.needs_review else ""
    return (
        f"{chip} {finding.score}",
        _text(finding.supplier, 40),
        _text(clause_name(finding.clause_type, finding.about), 60),
        doubt if finding.about else f"“{_text(finding.quote, 160)}”{doubt}",
        _text(finding.document, 60),
        place_in(finding.page, finding.unit, head),
        _text(_VERDICTS.get(verdict, verdict) or waits, 20),
    )


def _call_cells(call: Mapping[str, Any]) -> tuple[str, ...]:
    begun, ended = call.get("started_at"), call.get("finished_at")
    took = ""
    if isinstance(begun, datetime) and isinstance(ended, datetime):
        took = duration((ended - begun).total_seconds())
    tokens = f"{call['tokens_in']} + {call['tokens_out']}" if call.get("tokens_in") is not None else ""
    usd = call.get("usd")
    cost = "" if usd is None else money(Decimal(usd), basis="estimated" if call["basis"] == "estimated" else "reported")
    columns = (call["tool"], call["document"], call["model"], call["state"], call["attempt"], took, tokens, cost)
    return (*(_text(str(column), 60) for column in columns), _text(str(call.get("error") or ""), 120))


def _text(text: str, limit: int) -> str:
    """Escape and shorten hostile text for a cell."""
    return escape(one_line(text, limit))
