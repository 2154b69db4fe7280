"""Facts that the documents of a run state about themselves: parties, dates, amounts, law, with their places."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import Any

from graph.composition import Container
from graph.views.frames import frame, table
from graph.views.threads import find_run
from nodes.domain.evidence.facts import Fact
from nodes.domain.shared.formats import alignment_label, count, one_line, place_in, unit_of

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
        """Return a pandas.DataFrame with one row a fact. Raises MissingPart without pandas."""
        return frame([document_fact.to_json() for document_fact in self], COLUMNS)

    def _repr_html_(self) -> str:
        facts = [document_fact.fact for document_fact in self]
        unit = unit_of(fact.unit for fact in facts if fact.page is not None)
        heads = ("document", "fact", "value", "quote", unit)
        return table(count(len(self), "fact"), heads, [_cells(document_fact, unit) for document_fact in self])


async def read_facts(container: Container, thread: str) -> FactsView:
    """Read what each document of a run that is done states about itself. Raises UnknownThread."""
    run = await find_run(container, thread)
    facts = FactsView()
    for document in await container.ledger.documents(run.run_id, 0, run.documents_total):
        if document.facts_ref:
            for columns in json.loads(await container.artifacts.get(document.facts_ref)):
                facts.append(DocumentFact(document.document, document.supplier, Fact.from_json(columns)))
    return facts


def _cells(document_fact: DocumentFact, unit: str) -> tuple[str, ...]:
    fact = document_fact.fact
    doubt = "" if fact.alignment == "exact" else f" <i>({escape(alignment_label(fact.alignment))})</i>"
    return (
        escape(one_line(document_fact.document, 60)),
        escape(one_line(fact.kind.replace("_", " "), 40)),
        escape(one_line(fact.value, 100)) + (" <i>(computed)</i>" if fact.computed else ""),
        f"“{escape(one_line(fact.quote, 160))}”{doubt}",
        place_in(fact.page, fact.unit, unit),
    )
