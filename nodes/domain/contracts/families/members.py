"""Members of a family: the few data of each document from which families are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from nodes.domain.contracts.families.annexes import OF_ANOTHER, labels_in
from nodes.domain.evidence.facts import Fact, of_kind
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.text.normalise import simplify
from nodes.domain.text.supplier_names import spelling

_SIGNING_KINDS = ("agreement_date", "signature_date")
_DATES = (*_SIGNING_KINDS, "effective_date")


def supplier_key(result: DocumentResult) -> str:
    """Return a key of the supplier, equal for all its spellings; documents without a supplier get one of their own."""
    has_name = any(map(str.isalnum, result.supplier))
    return f"supplier {spelling(result.supplier)}" if has_name else f"document {result.document}"


@dataclass(frozen=True, slots=True)
class Change:
    """A change that an amendment makes to articles of its agreement."""

    articles: tuple[str, ...]
    action: str
    """replace, delete, change or add."""
    entire: bool
    """Whether it is about these articles as a whole, not a word or a sentence in them."""
    page: int
    start: int
    """Offset in the amendment where the change begins."""
    end: int
    """End of the sentence that makes the change."""


@dataclass(frozen=True, slots=True)
class Member:
    """The few data of a document from which families are made; those of all documents stay in memory."""

    row: DocumentResult
    form: str = ""
    """amendment, annex, general_terms, order, statement_of_work, agreement; "" when it has no title that says so."""
    number: str = ""
    """Number of an amendment; "" for others."""
    title: str = ""
    """Simplified, for comparing."""
    reference: str = ""
    """Its own reference number, simplified."""
    dates: frozenset[str] = frozenset()
    """Dates by which others may refer to it."""
    signing_dates: frozenset[str] = frozenset()
    """Those on which it was made or signed; they alone tell apart two agreements of one title."""
    parent: Mapping[str, str] = field(default_factory=dict)
    """Of an amendment, annex or order: title, date and number of the agreement that it names; of an agreement, those of
    the one in whose place it comes, and under `restates` whether it says so of an agreement of its own title."""
    named_at: Fact | None = None
    """The fact that names that agreement, else the one of its own title."""
    changes: tuple[Change, ...] = ()
    annexes: tuple[Fact, ...] = ()
    """Annexes that it refers to as attached or as its own."""
    labels: frozenset[str] = frozenset()
    """Labels of the annexes that it has, or is."""

    @property
    def supplier(self) -> str:
        return supplier_key(self.row)

    @property
    def dated(self) -> str:
        return min(self.dates, default="")


def member(row: DocumentResult, facts: Sequence[Fact]) -> Member:
    """Make a member from a document's row and its facts."""
    title = next(iter(of_kind(facts, "title")), None)
    parent = next(iter(of_kind(facts, "parent")), None)
    reference = next(iter(of_kind(facts, "reference_number")), None)
    own_name = PurePosixPath(row.document.rpartition("#")[2]).stem
    headings = of_kind(facts, "annex_heading")
    labels = {fact.detail[key] for fact in headings for key in ("label", "name") if key in fact.detail}
    labels |= labels_in(own_name) | (labels_in(title.value) if title else set())
    form = title.detail["form"] if title else ""
    restates = parent is not None and "restates" in parent.detail
    # What stands by the name of its agreement is that agreement's date.
    parent_dates = {parent.detail.get("date", "")} if parent and (form in OF_ANOTHER or restates) else set()
    dates = {kind: {fact.value for fact in of_kind(facts, kind)} - parent_dates for kind in _DATES}
    return Member(
        row=row,
        form=form,
        number=title.detail.get("number", "") if title else "",
        title=simplify(title.value) if title else simplify(own_name),
        reference=simplify(reference.value) if reference else "",
        dates=frozenset().union(*dates.values()),
        signing_dates=frozenset().union(*(dates[kind] for kind in _SIGNING_KINDS)),
        parent={**parent.detail} if parent else {},
        named_at=parent or title,
        changes=tuple(_change(fact) for fact in of_kind(facts, "replaces") if fact.page and fact.spans),
        annexes=tuple(fact for fact in of_kind(facts, "annex_reference") if fact.page),
        labels=frozenset(labels),
    )


def _change(fact: Fact) -> Change:
    detail = fact.detail
    return Change(
        tuple(detail["articles"]),
        detail["action"],
        detail["whole"],
        fact.page or 0,
        fact.spans[0][0],
        fact.spans[-1][1],
    )
