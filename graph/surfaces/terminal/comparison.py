"""How a comparison of two runs looks on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from graph.surfaces.terminal.output import console
from graph.surfaces.terminal.run import RISK_STYLES
from graph.surfaces.terminal.tables import cut, plain_table
from nodes.domain.shared.formats import count, number, one_line, place_in, unit_of


def show_comparison(comparison: Mapping[str, Any]) -> None:
    """Print what differs, the most serious first; what is alike is only counted."""
    out = console()
    titles = (
        f"{_name(comparison[side])} ({one_line(comparison[side]['playbook'], 40)})" for side in ("first", "second")
    )
    out.print(Text(f"{' and '.join(titles)}: {count(comparison['same'], 'finding')} alike", style="bold"))
    first, second = (_name(comparison[side]) for side in ("first", "second"))
    if comparison["changed"]:
        _show_changed(comparison["changed"], first, second)
    for side, name in (("only_first", first), ("only_second", second)):
        _show_only(comparison[side], name)
        for document in comparison["documents"][side]:
            out.print(Text(f"document only in {name}: {one_line(document, 300)}"), soft_wrap=True)
    for change in comparison["documents"]["state"]:
        document = one_line(change["document"], 200)
        line = f"document {document}: {change['first']} in {first}, {change['second']} in {second}"
        out.print(Text(line), soft_wrap=True)
    for change in comparison["suppliers"]:
        out.print(
            _arrow(f"supplier {one_line(change['supplier'], 200)}: ", change["first"], change["second"]), soft_wrap=True
        )
    if not (comparison["changed"] or comparison["only_first"] or comparison["only_second"] or comparison["suppliers"]):
        out.print("Nothing differs in findings and suppliers.")


def _name(side: Mapping[str, Any]) -> str:
    return one_line(side["name"] or side["thread_id"][:8], 24)


def _show_changed(rows: Sequence[Mapping[str, Any]], first: str, second: str) -> None:
    page_column = unit_of(row["unit"] for row in rows if row["page"] is not None)
    table = plain_table(
        "clause", "document", page_column, first, second, right=(page_column,), gives_way=("clause", "document")
    )
    for row in rows:
        page = place_in(row["page"], row["unit"], page_column)
        clause = " ".join(filter(None, (row["clause_type"], row["about"])))
        table.add_row(cut(clause), cut(row["document"]), Text(page), _view(row["first"]), _view(row["second"]))
    console().print(table)


def _show_only(rows: Sequence[Mapping[str, Any]], name: str) -> None:
    if not rows:
        return
    console().print(Text(f"only in {name}: {number(len(rows))}", style="bold"))
    table = plain_table("risk", "clause", "document", "quote", gives_way=("clause", "document", "quote"))
    for row in rows:
        clause = " ".join(filter(None, (row["clause_type"], row["about"])))
        table.add_row(_view(row), cut(clause), cut(row["document"]), cut(row["quote"]))
    console().print(table)


def _view(side: Mapping[str, Any]) -> Text:
    verdict = f", {side['verdict']}ed" if side.get("verdict") else ""
    return Text(f"{side['risk']} {side['score']}{verdict}", style=RISK_STYLES.get(side["risk"], ""))


def _arrow(lead: str, first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> Text:
    absent = Text("not there", style="dim")
    return Text.assemble(lead, _view(first) if first else absent, " → ", _view(second) if second else absent)
