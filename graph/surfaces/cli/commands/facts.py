"""The command that lists what documents state about themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from graph.surfaces.cli import arguments as args
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import console, emit, say

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.views.facts import DocumentFact


def facts(
    thread: args.Thread,
    document: Annotated[str, typer.Option("--document", metavar="TEXT", help="Part of the document's path.")] = "",
    kind: Annotated[str, typer.Option("--kind", metavar="SLUG", help="Kind of fact, for example party.")] = "",
    as_json: args.JsonLines = False,
) -> int:
    """List what the documents state about themselves, each statement with its quote and page."""

    async def work(reprise: Reprise) -> int:
        document_facts = await reprise.facts(thread)
        selected = [
            document_fact
            for document_fact in document_facts
            if document.casefold() in document_fact.document.casefold() and kind in ("", document_fact.fact.kind)
        ]
        if as_json:
            for document_fact in selected:
                emit(document_fact.to_json())
        else:
            from nodes.domain.shared.formats import count

            _show(selected)
            share = f" of {len(document_facts)}" if len(selected) != len(document_facts) else ""
            kinds = sorted({document_fact.fact.kind for document_fact in document_facts})
            hint = f"; their kinds are {', '.join(kinds)}" if kind and kinds and kind not in kinds else ""
            say(count(len(selected), "fact") + share + hint)
        return 0

    return with_reprise(work)


def _show(document_facts: Sequence[DocumentFact]) -> None:
    """Print a table; where it is too wide, quote and document give way before the value does."""
    from rich.text import Text

    from graph.surfaces.terminal.tables import WIDE, cut, plain_table, short_path
    from nodes.domain.shared.formats import one_line, place_in, unit_of

    width = console().width
    quote_column = ("quote",) if width >= WIDE else ()
    page_column = unit_of(
        document_fact.fact.unit for document_fact in document_facts if document_fact.fact.page is not None
    )
    table = plain_table(
        "document",
        "fact",
        "value",
        *quote_column,
        page_column,
        right=(page_column,),
        gives_way=("document", *quote_column),
    )
    for document_fact in document_facts:
        fact = document_fact.fact
        statement = f"{fact.value} (computed)" if fact.computed else fact.value
        statement = statement if fact.alignment != "not_found" else f"(not in the document) {statement}"
        table.add_row(
            cut(short_path(document_fact.document, width // 4)),
            Text(one_line(fact.kind.replace("_", " "), 24)),
            Text(one_line(statement, 40 if quote_column else max(width // 3, 20))),
            *([cut(f"“{one_line(fact.quote, 200)}”")] if quote_column else []),
            place_in(fact.page, fact.unit, page_column),
        )
    if document_facts:
        console().print(table)
