"""Groups of documents of a case-law run: a ruling with its attachments and its copies."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nodes.domain.case_law.head.number import ALONE
from nodes.domain.case_law.ruling_text import RulingText
from nodes.domain.evidence.facts import Fact, of_kind
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.text.normalise import Span, simplify

OWN = ("pourvoi", "rg", "requete", "decision")
"""Kinds of number that identify a case; others identify a ruling or a register entry."""
KINDS = frozenset({"case_number", "court", "decision_date", "solution", "attachment"})
"""Kinds of facts from which groups are made."""
TOP = 2_000
"""Characters from the start that hold an attachment's heading."""

# Example: annexe au present arret
_HEADING = re.compile(
    r"""
    ^[ \t]*(?P<words>
      bordereau\b[^\n]{0,90} | (?:liste|inventaire)\s+des\s+pieces\b[^\n]{0,60}
      | pieces?\s+(?:n\s?°\s?)?\d{1,3}\b[^\n]{0,60}
      | pieces?\s+(?:communiquee|jointe|annexee|versee|produite)s?\b[^\n]{0,60}
      | annexes?\b(?:[ \t]*(?:n\s?°[ \t]?)?(?:\d{1,3}|[a-z])\b(?!'))?[ \t]*(?:[:.(-][^\n]{0,60})?
        (?=\n|\Z)
      | annexes?\s+(?:a\s+(?:l'|la\b|le\b)|au\b)[^\n]{0,60} | moyens?\s+annexes?\b[^\n]{0,60}
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
_ATTACHMENT_NAME = re.compile(r"\b(?:bordereau|annexes?|pieces? (?:n ?)?\d{1,3}|pieces? jointes?)\b")
# Example: au nom du peuple francais
_RULED = re.compile(
    r"""
    \bau\s+nom\s+du\s+peuple\s+francais\b
    | \ba\s+rendu\s+(?:l[ae]\s+|l')?(?:presente?\s+)?(?:arret|decision)\b
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class RulingDocument:
    """The few data of a document from which groups are made."""

    row: DocumentResult
    numbers: tuple[str, ...]
    """Numbers of the case, its own first, normalised."""
    court: str
    """Name of the court, simplified; "" for none."""
    day: str
    """Date of the ruling, ISO; "" for none."""
    category: str
    """Category of the solution; "" for none."""
    attachment: bool
    """Whether text or file name say that it is a list of exhibits, an annex or an exhibit."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Attachments and copies among the documents of a run."""

    attached: Mapping[str, str]
    """Attachment → the ruling to which it belongs."""
    copies: Mapping[str, str]
    """Copy → the document that holds the same ruling."""

    def root(self, document: str) -> str:
        """Return the ruling to which a document belongs; itself when it belongs to none."""
        document = document.partition("#")[0]
        return self.copies.get(ruling := self.attached.get(document, document), ruling)


def heading(ruling: RulingText) -> Span | None:
    """Return the span of the heading that marks an attachment; None for whatever reads like a ruling."""
    match = _HEADING.search(ruling.lined, 0, TOP)
    if match is None or ruling.operative < ruling.end or _RULED.search(ruling.plain):
        return None
    return match.span("words")


def ruling_document(row: DocumentResult, facts: Sequence[Fact]) -> RulingDocument:
    """Make the group data of a document from its row and its facts of KINDS."""
    case_numbers = [
        fact for fact in of_kind(facts, "case_number") if float(fact.detail.get("confidence", ALONE)) >= ALONE
    ]
    day = next((fact.value for fact in of_kind(facts, "decision_date")), "")
    category = next((str(fact.detail.get("category", "")) for fact in of_kind(facts, "solution")), "")
    is_named_attachment = (
        _ATTACHMENT_NAME.search(re.sub(r"[\W_]+", " ", simplify(PurePosixPath(row.document).stem))) is not None
    )
    return RulingDocument(
        row,
        tuple(_spelt_alike(fact.value) for fact in case_numbers if fact.detail.get("kind") in OWN),
        next((simplify(fact.value) for fact in of_kind(facts, "court")), ""),
        day,
        category,
        not category and (bool(of_kind(facts, "attachment")) or (is_named_attachment and not day)),
    )


def group_rulings(documents: Iterable[RulingDocument]) -> Groups:
    """Find attachments and copies; a document in doubt stands alone.

    A copy has the number and the date of another and contradicts neither its court nor its solution: what a court
    renders later in the same case is a ruling of its own. An attachment has a ruling's number and none of its own.
    """
    candidates = [
        document
        for document in documents
        if document.row.state == "done" and "#" not in document.row.document and document.numbers
    ]
    rulings = sorted((document for document in candidates if not document.attachment), key=_preference)
    copies: dict[str, str] = {}
    distinct: dict[tuple[str, str], list[RulingDocument]] = defaultdict(list)
    by_number: dict[str, list[RulingDocument]] = defaultdict(list)
    for document in rulings:
        rivals = distinct[document.numbers[0], document.day] if document.day else []
        twin = next((rival for rival in rivals if _agree(document, rival)), None)
        if twin is not None:
            copies[document.row.document] = twin.row.document
            continue
        rivals.append(document)
        if document.category or (document.court and document.day):
            for number in document.numbers:
                by_number[number].append(document)
    attached: dict[str, str] = {}
    for document in candidates:
        fitting = [rival for rival in by_number[document.numbers[0]] if document.court in ("", rival.court)]
        if document.attachment and fitting:
            # What was rendered later in the case, to rectify it for example, is about the first.
            attached[document.row.document] = min(
                fitting, key=lambda rival: (rival.day or "9", rival.row.ordinal)
            ).row.document
    return Groups(attached, copies)


def _agree(first: RulingDocument, second: RulingDocument) -> bool:
    pairs = ((first.court, second.court), (first.category, second.category))
    return all(
        not first_value or not second_value or first_value == second_value for first_value, second_value in pairs
    )


def _preference(document: RulingDocument) -> tuple[bool, int, int]:
    """Sort key that prefers the text to its scan, and the whole to a part of it."""
    return any(state == "ocr" for _, state, _ in document.row.pages), -len(document.row.pages), document.row.ordinal


def _spelt_alike(number: str) -> str:
    """Normalise a case number: 19/04567 and 19/4567 are equal."""
    return re.sub(r"(?<=[/-])0+(?=\d)", "", simplify(number))
