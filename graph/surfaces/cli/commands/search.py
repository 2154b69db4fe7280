"""The command that searches the documents of a matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graph.surfaces.cli import arguments as args
from graph.surfaces.cli.session import with_reprise
from graph.surfaces.terminal.output import console, emit, say

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.inspection.search import Hit, SearchView


def search(
    text: Annotated[
        list[str],
        typer.Argument(metavar="TEXT", help='Words that must stand together; "a phrase"; one or another; -without.'),
    ],
    matter: Annotated[str, typer.Option("--matter", metavar="ID", help="Search the documents of this matter.")] = "",
    thread: Annotated[str, typer.Option("--thread", metavar="THREAD", help="Only those of one run.")] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="Show at most so many passages.")] = 20,
    as_json: args.Json = False,
) -> int:
    """Find passages in the documents that were read, each with its page; the best first."""
    for word in text:
        if word.startswith("--"):
            raise typer.BadParameter(f"There is no option {word.split('=')[0]}.")
    if matter and thread:
        raise typer.BadParameter("A run has its matter: give --thread or --matter, not both.")

    async def work(reprise: Reprise) -> int:
        passages = await reprise.search(" ".join(text), matter=matter or "default", thread=thread, limit=limit)
        if as_json:
            emit(passages.to_json())
        else:
            _show(passages)
        return 0

    return with_reprise(work)


def _show(passages: SearchView) -> None:
    from nodes.domain.shared.formats import count

    for hit in passages:
        _show_hit(hit)
    cut_note = f", the best {len(passages)} shown (--limit)" if passages.total > len(passages) else ""
    scope = f"of {count(passages.searched, 'document')} searched"
    say(f"{count(passages.total, 'passage')} in {passages.documents} {scope}{cut_note}")
    if passages.not_searched:
        unsearched = count(passages.not_searched, "document")
        reason = "for want of a text: not read yet, or not readable (python run.py coverage THREAD)"
        say(f"{unsearched} not searched, {reason}")
    if not passages:
        say("All words must stand in one passage: ask for fewer, or put the word or between them.")


def _show_hit(hit: Hit) -> None:
    from rich.text import Text

    from nodes.domain.shared.formats import one_line, place_in

    head = Text(one_line(hit.document, 200), style="bold")
    head.append(f", {place_in(hit.page, hit.unit)}", style="")
    origin = " · ".join(one_line(name, 90) for name in (hit.title, hit.supplier) if name)
    if origin:
        head.append(f"  {origin}", style="dim")
    quote, last = Text(), 0
    for start, end in [*hit.marks, (len(hit.printable), len(hit.printable))]:
        quote.append(hit.printable[last:start]).append(hit.printable[start:end], style="bold")
        last = end
    lines = Text(" ").join(part for part in quote.split() if part.plain.strip())
    console().print(head)
    body = lines if hit.quote else Text("the text is gone: resume the run")
    for line in body.wrap(console(), max(console().width - 2, 20)):
        line.rstrip()
        console().print(Text("  ").append_text(line))
    console().print()
