"""Two runs side by side: findings that differ in score, risk or decision, and what only one of them has."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from graph.composition import Container
from graph.views.findings import findings_of
from graph.views.frames import table
from graph.views.threads import find_run, read_head
from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.titles import clause_name
from nodes.domain.review.review import most_serious_first
from nodes.domain.runs.settings import DocumentResult, Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.shared.formats import count, one_line, place_in, unit_of


@dataclass(frozen=True, slots=True)
class Side:
    """One of two runs that are compared."""

    run: Run
    documents: Sequence[DocumentResult]
    findings: Sequence[Finding]
    """With their decisions."""
    suppliers: Mapping[str, Mapping[str, Any]]
    """As scored, by name."""


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
        rows = [tuple(escape(one_line(cell, 80)) for cell in _cells(row, head)) for row in changed]
        only = ", ".join(f"{len(self.data[f'only_{side}'])} only in the {side}" for side in ("first", "second"))
        title = f"{count(len(rows), 'finding')} with another score or decision, {self.data['same']} alike, {only}"
        return table(title, ("document", head, "clause", "first", "second"), rows)


def _cells(row: Mapping[str, Any], head: str) -> tuple[str, ...]:
    sides = (" ".join(str(part) for part in row[side].values() if part is not None) for side in ("first", "second"))
    clause = clause_name(row["clause_type"], row["about"])
    return (row["document"], place_in(row["page"], row["unit"], head), clause, *sides)


async def compare_runs(container: Container, first: str, second: str) -> Comparison:
    """Compare documents, findings and suppliers of two runs. Raises UnknownThread."""
    sides = [await _read_side(container, thread) for thread in (first, second)]
    return await asyncio.to_thread(compare, *sides)


async def _read_side(container: Container, thread: str) -> Side:
    run = await find_run(container, thread)
    state = valid_part((await read_head(container, run.thread_id)).values)
    documents = await container.ledger.documents(run.run_id, 0, run.documents_total)
    suppliers: dict[str, Any] = {}
    if state.get("findings"):
        suppliers = json.loads(await container.artifacts.get(state["findings"]))["suppliers"]
    return Side(run, documents, await findings_of(container, run, state), suppliers)


def compare(first: Side, second: Side) -> Comparison:
    """Match findings by their ids, which document, clause type and place give; documents by their bytes."""
    firsts, seconds = ({finding.finding_id: finding for finding in side.findings} for side in (first, second))
    both = {document.sha256 for document in first.documents} & {document.sha256 for document in second.documents}
    pairs = [(firsts[finding_id], seconds[finding_id]) for finding_id in firsts if finding_id in seconds]
    changed = [pair for pair in pairs if _scores(pair[0]) != _scores(pair[1])]
    changed.sort(key=lambda pair: min(most_serious_first(finding) for finding in pair))
    return Comparison(
        {
            "first": _run(first),
            "second": _run(second),
            "same": len(pairs) - len(changed),
            "changed": [
                {**_place(before), "first": _scores(before), "second": _scores(after)} for before, after in changed
            ],
            "only_first": _unmatched(firsts, seconds, both),
            "only_second": _unmatched(seconds, firsts, both),
            "documents": _documents(first.documents, second.documents),
            "suppliers": _suppliers(first.suppliers, second.suppliers),
        }
    )


def _run(side: Side) -> dict[str, Any]:
    return {
        "thread_id": side.run.thread_id,
        "name": side.run.name,
        "playbook": side.run.playbook,
        "playbook_sha256": side.run.playbook_sha256,
        "engine": side.run.engine,
        "documents": len(side.documents),
        "findings": len(side.findings),
    }


def _place(finding: Finding) -> dict[str, Any]:
    names = ("finding_id", "document", "unit", "page", "clause_type", "about", "quote")
    return {name: getattr(finding, name) for name in names}


def _scores(finding: Finding) -> dict[str, Any]:
    return {
        "risk": finding.risk,
        "score": finding.score,
        "verdict": (finding.decision or {}).get("verdict"),
    }


def _unmatched(findings: Mapping[str, Finding], others: Mapping[str, Finding], both: set[str]) -> list[dict[str, Any]]:
    """Findings that only one run has, of documents that both have."""
    unmatched = [
        finding
        for finding_id, finding in findings.items()
        if finding_id not in others and finding.document_sha256 in both
    ]
    return [{**_place(finding), **_scores(finding)} for finding in sorted(unmatched, key=most_serious_first)]


def _documents(first: Sequence[DocumentResult], second: Sequence[DocumentResult]) -> dict[str, Any]:
    firsts, seconds = ({document.sha256: document for document in documents} for documents in (first, second))
    return {
        "only_first": [document.document for document in first if document.sha256 not in seconds],
        "only_second": [document.document for document in second if document.sha256 not in firsts],
        "state": [
            {"document": document.document, "first": document.state, "second": seconds[sha256].state}
            for sha256, document in firsts.items()
            if sha256 in seconds and seconds[sha256].state != document.state
        ],
    }


def _suppliers(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[dict[str, Any]]:
    def rating(suppliers: Mapping[str, Any], name: str) -> dict[str, Any] | None:
        supplier = suppliers.get(name)
        return {"risk": supplier["risk"], "score": supplier["score"]} if supplier else None

    pairs = [(name, rating(first, name), rating(second, name)) for name in dict.fromkeys([*first, *second])]
    return [{"supplier": name, "first": before, "second": after} for name, before, after in pairs if before != after]
