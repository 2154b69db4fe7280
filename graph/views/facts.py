"""What the documents of a run state about themselves, as scripts, notebooks and the command line see it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from html import escape
from typing import Any

from graph.views.frames import frame, table
from nodes.domain.evidence.facts import Fact
from nodes.domain.runs.settings import Run
from nodes.domain.shared.formats import alignment_label, count, one_line, place_in, unit_of
from nodes.ports import Artifacts, Ledger

COLUMNS = {
    "document": "string",
    "supplier": "string",
    "kind": "string",
    "value": "string",
    "quote": "string",
    "page": "Int64",
    "alignment": "string",
    "source": "string",
}


@dataclass(frozen=True, slots=True)
class DocumentFact:
    """A fact with the document that states it."""

    document: str
    supplier: str
    """As the document names it; "" when it could not be told."""
    fact: Fact

    def to_json(self) -> dict[str, Any]:
        return {"document": self.document, "supplier": self.supplier, **self.fact.to_json()}


class FactsView(list[DocumentFact]):
    """Facts by document, each document's in their order; a list in every respect."""

    def to_frame(self) -> Any:
        """A pandas.DataFrame with one row a fact. Raises MissingPart without pandas."""
        return frame([one.to_json() for one in self], COLUMNS)

    def _repr_html_(self) -> str:
        head = unit_of(one.fact.unit for one in self if one.fact.page is not None)
        heads = ("document", "fact", "value", "quote", head)
        return table(count(len(self), "fact"), heads, [_cells(one, head) for one in self])


async def facts_of(ledger: Ledger, artifacts: Artifacts, run: Run) -> FactsView:
    """The facts of every document of a run that is done."""
    return FactsView([one async for one in _stored(ledger, artifacts, run)])


async def _stored(ledger: Ledger, artifacts: Artifacts, run: Run) -> AsyncIterator[DocumentFact]:
    for row in await ledger.documents(run.run_id, 0, run.documents_total):
        if row.facts_ref:
            for fact in json.loads(await artifacts.get(row.facts_ref)):
                yield DocumentFact(row.document, row.supplier, Fact.from_json(fact))


def _cells(one: DocumentFact, head: str) -> tuple[str, ...]:
    fact = one.fact
    doubt = "" if fact.alignment == "exact" else f" <i>({escape(alignment_label(fact.alignment))})</i>"
    return (
        escape(one_line(one.document, 60)),
        escape(one_line(fact.kind.replace("_", " "), 40)),
        escape(one_line(fact.value, 100)) + (" <i>(computed)</i>" if fact.computed else ""),
        f"“{escape(one_line(fact.quote, 160))}”{doubt}",
        place_in(fact.page, fact.unit, head),
    )
