"""Which documents of a case-law run are one decision: what is attached to it beside it, and the same one twice."""

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
"""Kinds of number under which a court knows a case; others are of the decision or of a register."""
KINDS = frozenset({"case_number", "court", "decision_date", "solution", "attachment"})
"""Kinds of facts that tell it."""
TOP = 2_000
"""The heading of an attachment stands in so many first characters."""

_HEADING = re.compile(
    r"(?m)^[ \t]*(?P<words>bordereau\b[^\n]{0,90}|(?:liste|inventaire)\s+des\s+pieces\b[^\n]{0,60}"
    r"|pieces?\s+(?:n\s?°\s?)?\d{1,3}\b[^\n]{0,60}|pieces?\s+(?:communiquee|jointe|annexee|versee|produite)s?\b[^\n]{0,60}"
    r"|annexes?\b(?:[ \t]*(?:n\s?°[ \t]?)?(?:\d{1,3}|[a-z])\b(?!'))?[ \t]*(?:[:.(-][^\n]{0,60})?(?=\n|\Z)"
    r"|annexes?\s+(?:a\s+(?:l'|la\b|le\b)|au\b)[^\n]{0,60}|moyens?\s+annexes?\b[^\n]{0,60})"
)
_NAMED = re.compile(r"\b(?:bordereau|annexes?|pieces? (?:n ?)?\d{1,3}|pieces? jointes?)\b")
_RULED = re.compile(
    r"\bau\s+nom\s+du\s+peuple\s+francais\b|\ba\s+rendu\s+(?:l[ae]\s+|l')?(?:presente?\s+)?(?:arret|decision)\b"
)


@dataclass(frozen=True, slots=True)
class Paper:
    """The little of a document that tells where it belongs."""

    row: DocumentResult
    numbers: tuple[str, ...]
    """Of the case, its own first, spelt alike."""
    court: str
    """Simplified; "" when it names none."""
    day: str
    """ISO."""
    category: str
    """Of its solution; "" when it has none."""
    attachment: bool
    """It, or its name, says that it is a list of exhibits, an annex or an exhibit."""


@dataclass(frozen=True, slots=True)
class Groups:
    """By document."""

    attached: Mapping[str, str]
    """Attachment that lies beside a decision → that decision."""
    copies: Mapping[str, str]
    """Document that holds the decision of another once more → that other."""

    def root(self, document: str) -> str:
        """The decision to which a document belongs; itself when it belongs to none."""
        document = document.partition("#")[0]
        return self.copies.get(found := self.attached.get(document, document), found)


def heading(decision: RulingText) -> Span | None:
    """Where a document says that it is attached to something; None for whatever reads like a decision."""
    found = _HEADING.search(decision.lined, 0, TOP)
    if found is None or decision.operative < decision.end or _RULED.search(decision.plain):
        return None
    return found.span("words")


def paper(row: DocumentResult, facts: Sequence[Fact]) -> Paper:
    """What is kept of a document and its facts of KINDS."""
    sure = [one for one in of_kind(facts, "case_number") if float(one.detail.get("confidence", ALONE)) >= ALONE]
    day = next((one.value for one in of_kind(facts, "decision_date")), "")
    category = next((str(one.detail.get("category", "")) for one in of_kind(facts, "solution")), "")
    named = _NAMED.search(re.sub(r"[\W_]+", " ", simplify(PurePosixPath(row.document).stem))) is not None
    return Paper(
        row,
        tuple(_alike(one.value) for one in sure if one.detail.get("kind") in OWN),
        next((simplify(one.value) for one in of_kind(facts, "court")), ""),
        day,
        category,
        not category and (bool(of_kind(facts, "attachment")) or (named and not day)),
    )


def grouped(papers: Iterable[Paper]) -> Groups:
    """Attachments and copies; a document of which it is not sure stands alone.

    A copy has the number and the date of another and contradicts neither its court nor its solution: what a court
    renders later in the same case is a decision of its own. An attachment has a decision's number and none of its own.
    """
    lying = [one for one in papers if one.row.state == "done" and "#" not in one.row.document and one.numbers]
    decisions = sorted((one for one in lying if not one.attachment), key=_best)
    copies: dict[str, str] = {}
    kept: dict[tuple[str, str], list[Paper]] = defaultdict(list)
    by_number: dict[str, list[Paper]] = defaultdict(list)
    for one in decisions:
        rivals = kept[one.numbers[0], one.day] if one.day else []
        twin = next((other for other in rivals if _agree(one, other)), None)
        if twin is not None:
            copies[one.row.document] = twin.row.document
            continue
        rivals.append(one)
        if one.category or (one.court and one.day):
            for number in one.numbers:
                by_number[number].append(one)
    attached: dict[str, str] = {}
    for one in lying:
        fitting = [other for other in by_number[one.numbers[0]] if one.court in ("", other.court)]
        if one.attachment and fitting:
            # What was rendered later in the case, to rectify it for example, is about the first.
            attached[one.row.document] = min(
                fitting, key=lambda other: (other.day or "9", other.row.ordinal)
            ).row.document
    return Groups(attached, copies)


def _agree(one: Paper, other: Paper) -> bool:
    pairs = ((one.court, other.court), (one.category, other.category))
    return all(not mine or not theirs or mine == theirs for mine, theirs in pairs)


def _best(one: Paper) -> tuple[bool, int, int]:
    """The text before its scan, the whole before a part of it."""
    return any(state == "ocr" for _, state, _ in one.row.pages), -len(one.row.pages), one.row.ordinal


def _alike(number: str) -> str:
    """19/04567 and 19/4567 are one number."""
    return re.sub(r"(?<=[/-])0+(?=\d)", "", simplify(number))
