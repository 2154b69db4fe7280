"""Two runs side by side: findings that differ in score, risk or decision, and what only one of them has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from graph.views.frames import table
from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.titles import clause_name
from nodes.domain.review.review import most_serious_first
from nodes.domain.runs.settings import DocumentResult, Run
from nodes.domain.shared.formats import count, one_line, place_in, unit_of

Side = tuple[Run, Sequence[DocumentResult], Sequence[Finding], Mapping[str, Mapping[str, Any]]]
"""A run, its documents, its findings with their decisions, its suppliers as scored."""


@dataclass(frozen=True)
class Comparison:
    """What differs; `to_json` has the stable keys."""

    data: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Keys: first, second {thread_id, name, playbook, engine, documents, findings}, same (findings alike in both),
        changed [{finding_id, document, unit, page, clause_type, about, quote, first, second}] with {risk, score,
        verdict} each, only_first and only_second (findings of documents that both have), documents {only_first,
        only_second, state [{document, first, second}]}, suppliers [{supplier, first, second}] with {risk, score} or
        null.
        """
        return dict(self.data)

    def _repr_html_(self) -> str:
        changed = self.data["changed"]
        head = unit_of(row["unit"] for row in changed if row["page"] is not None)
        rows = [tuple(escape(one_line(each, 80)) for each in _cells(row, head)) for row in changed]
        only = ", ".join(f"{len(self.data[f'only_{side}'])} only in the {side}" for side in ("first", "second"))
        title = f"{count(len(rows), 'finding')} with another score or decision, {self.data['same']} alike, {only}"
        return table(title, ("document", head, "clause", "first", "second"), rows)


def _cells(row: Mapping[str, Any], head: str) -> tuple[str, ...]:
    sides = (" ".join(str(part) for part in row[side].values() if part is not None) for side in ("first", "second"))
    named = clause_name(row["clause_type"], row["about"])
    return (row["document"], place_in(row["page"], row["unit"], head), named, *sides)


def compare(first: Side, second: Side) -> Comparison:
    """Findings are matched by their ids, which document, clause type and place give; documents by their bytes."""
    mine, theirs = ({one.finding_id: one for one in side[2]} for side in (first, second))
    both = {one.sha256 for one in first[1]} & {one.sha256 for one in second[1]}
    pairs = [(mine[one], theirs[one]) for one in mine if one in theirs]
    changed = [pair for pair in pairs if _view(pair[0]) != _view(pair[1])]
    changed.sort(key=lambda pair: min(most_serious_first(one) for one in pair))
    return Comparison(
        {
            "first": _run(first),
            "second": _run(second),
            "same": len(pairs) - len(changed),
            "changed": [{**_place(one), "first": _view(one), "second": _view(other)} for one, other in changed],
            "only_first": _only(mine, theirs, both),
            "only_second": _only(theirs, mine, both),
            "documents": _documents(first[1], second[1]),
            "suppliers": _suppliers(first[3], second[3]),
        }
    )


def _run(side: Side) -> dict[str, Any]:
    run = side[0]
    return {
        "thread_id": run.thread_id,
        "name": run.name,
        "playbook": run.playbook,
        "playbook_sha256": run.playbook_sha256,
        "engine": run.engine,
        "documents": len(side[1]),
        "findings": len(side[2]),
    }


def _place(finding: Finding) -> dict[str, Any]:
    names = ("finding_id", "document", "unit", "page", "clause_type", "about", "quote")
    return {name: getattr(finding, name) for name in names}


def _view(finding: Finding) -> dict[str, Any]:
    return {
        "risk": finding.risk,
        "score": finding.score,
        "verdict": (finding.decision or {}).get("verdict"),
    }


def _only(mine: Mapping[str, Finding], theirs: Mapping[str, Finding], both: set[str]) -> list[dict[str, Any]]:
    left = [one for name, one in mine.items() if name not in theirs and one.document_sha256 in both]
    return [{**_place(one), **_view(one)} for one in sorted(left, key=most_serious_first)]


def _documents(first: Sequence[DocumentResult], second: Sequence[DocumentResult]) -> dict[str, Any]:
    mine, theirs = ({one.sha256: one for one in side} for side in (first, second))
    return {
        "only_first": [one.document for one in first if one.sha256 not in theirs],
        "only_second": [one.document for one in second if one.sha256 not in mine],
        "state": [
            {"document": one.document, "first": one.state, "second": theirs[one.sha256].state}
            for one in mine.values()
            if one.sha256 in theirs and theirs[one.sha256].state != one.state
        ],
    }


def _suppliers(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[dict[str, Any]]:
    def rating(side: Mapping[str, Any], name: str) -> dict[str, Any] | None:
        found = side.get(name)
        return {"risk": found["risk"], "score": found["score"]} if found else None

    pairs = [(name, rating(first, name), rating(second, name)) for name in dict.fromkeys([*first, *second])]
    return [{"supplier": name, "first": one, "second": other} for name, one, other in pairs if one != other]
