"""The command that lists what documents state about themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from graph.surfaces.cli import arguments as given
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import console, emit, say

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.views.facts import DocumentFact


def facts(
    thread: given.Thread,
    document: Annotated[str, typer.Option("--document", metavar="TEXT", help="Part of the document's path.")] = "",
    kind: Annotated[str, typer.Option("--kind", metavar="SLUG", help="Kind of fact, for example party.")] = "",
    as_json: given.JsonLines = False,
) -> int:
    """List what the documents state about themselves, each statement with its quote and page."""

    async def work(reprise: Reprise) -> int:
        found = await reprise.facts(thread)
        kept = [one for one in found if document.casefold() in one.document.casefold() and kind in ("", one.fact.kind)]
        if as_json:
            for one in kept:
                emit(one.to_json())
        else:
            from nodes.domain.shared.formats import count

            _show(kept)
            of = f" of {len(found)}" if len(kept) != len(found) else ""
            kinds = sorted({one.fact.kind for one in found})
            known = f"; their kinds are {', '.join(kinds)}" if kind and kinds and kind not in kinds else ""
            say(count(len(kept), "fact") + of + known)
        return 0

    return with_reprise(work)


def _show(found: Sequence[DocumentFact]) -> None:
    """A table; where it is too wide, quote and document give way before the value does."""
    from rich.text import Text

    from graph.surfaces.terminal.run import WIDE, cut, plain_table, tail
    from nodes.domain.shared.formats import one_line, place_in, unit_of

    width = console().width
    more = ("quote",) if width >= WIDE else ()
    head = unit_of(one.fact.unit for one in found if one.fact.page is not None)
    columns = plain_table("document", "fact", "value", *more, head, right=(head,), gives_way=("document", *more))
    for one in found:
        fact = one.fact
        value = f"{fact.value} (computed)" if fact.computed else fact.value
        value = value if fact.alignment != "not_found" else f"(not in the document) {value}"
        columns.add_row(
            cut(tail(one.document, width // 4)),
            Text(one_line(fact.kind.replace("_", " "), 24)),
            Text(one_line(value, 40 if more else max(width // 3, 20))),
            *([cut(f"“{one_line(fact.quote, 200)}”")] if more else []),
            place_in(fact.page, fact.unit, head),
        )
    if found:
        console().print(columns)
