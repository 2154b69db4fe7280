"""Which documents belong together: an agreement with its amendments, annexes and orders; and what of them is absent."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from nodes.domain.contracts.families.annexes import (
    GENERAL_TERMS,
    OF_ANOTHER,
    answers_to,
    are_annexes,
    labels_in,
    names_of,
)
from nodes.domain.contracts.families.members import Member
from nodes.domain.contracts.families.references import form_of
from nodes.domain.evidence.coverage import pages_of
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding, Location, finding_id
from nodes.domain.text.normalise import simplify

SOURCE = "local:families@3"
MISSING_ANNEX, MISSING_MASTER = "missing_annex", "missing_master"
ACROSS = (MISSING_ANNEX, MISSING_MASTER)
"""Types of the findings that come from here; a playbook says under `across` how they count."""
_MASTERS = frozenset(("agreement", "general_terms", ""))
CROWD = 500


@dataclass(frozen=True, slots=True)
class Families:
    """Who belongs to whom."""

    members: Mapping[str, Member]
    masters: Mapping[str, tuple[str, bool]]
    """Document → the agreement that it belongs to, and whether that is certain."""
    findings: tuple[Finding, ...]
    """Annexes and agreements that are named and are not there; not scored yet."""
    restated: Mapping[str, tuple[Member, bool]] = field(default_factory=dict)
    """Agreement → the one that came in its place as a whole, and whether that is certain."""

    @property
    def parts(self) -> frozenset[str]:
        """Documents that belong to another: nothing is missing in them for not being said again."""
        return frozenset(self.masters) | {name for name, one in self.members.items() if one.form == "amendment"}

    def amendments(self) -> Iterator[tuple[str, list[tuple[Member, bool]]]]:
        """Each agreement with its amendments, the earliest first, and whether they are certainly its own."""
        found: dict[str, list[tuple[Member, bool]]] = defaultdict(list)
        for name, (master, sure) in self.masters.items():
            if self.members[name].form == "amendment":
                found[master].append((self.members[name], sure))
        for master in sorted(found):
            yield master, sorted(found[master], key=lambda one: (_order(one[0]), one[0].row.ordinal))

    def adopted(self) -> dict[str, str]:
        """Suppliers of documents that name none themselves: that of the agreement to which they belong."""
        return {
            name: self.members[master].row.supplier
            for name, (master, sure) in self.masters.items()
            if sure and not self.members[name].row.supplier and self.members[master].row.supplier
        }


def families(members: Iterable[Member]) -> Families:
    """Put documents together; where two agreements fit, none is chosen. Deterministic, whatever the order."""
    known = {one.row.document: one for one in sorted(members, key=lambda one: one.row.ordinal)}
    agreements = _Agreements(known.values())
    masters: dict[str, tuple[str, bool]] = {}
    for name, one in known.items():
        container = name.rpartition("#")[0]
        chosen = (container, True) if container in known else agreements.master_of(one)
        if chosen is not None:
            masters[name] = chosen
    restated: dict[str, tuple[Member, bool]] = {}
    for one in known.values():
        if older := agreements.restated_by(one):
            restated[older[0]] = one, older[1]
    return Families(known, masters, tuple(_absent(known, masters)), restated)


class _Agreements:
    """The agreements of a run by what may name them, within the groups that a document belongs to."""

    def __init__(self, members: Iterable[Member]) -> None:
        self.known: dict[tuple[str, str, str], list[Member]] = defaultdict(list)
        self.titles: dict[str, list[Member]] = defaultdict(list)
        for one in members:
            if one.form not in _MASTERS:
                continue
            for group in _groups(one):
                self.titles[group].append(one)
                for what, name in (("number", one.reference), *(("date", each) for each in one.dates)):
                    if name:
                        self.known[group, what, name].append(one)

    def master_of(self, part: Member) -> tuple[str, bool] | None:
        """The agreement that a part names, and whether more than its title says so; its own supplier's come first.

        An amendment that names none may belong to the only one that there is of its supplier.
        """
        if part.form == "amendment" and not part.parent and part.row.supplier:
            only = self.titles.get(part.supplier, [])
            return (only[0].row.document, False) if len(only) == 1 else None
        if part.form not in OF_ANOTHER or not part.parent:
            return None
        return self._named_by(part)

    def restated_by(self, newer: Member) -> tuple[str, bool] | None:
        """The agreement in whose place this one says it comes, and whether it is certainly that."""
        how = newer.parent.get("restates") if newer.form not in OF_ANOTHER else None
        found = self._named_by(newer) if how else None
        return (found[0], found[1] and how == "whole") if found else None

    def _named_by(self, part: Member) -> tuple[str, bool] | None:
        return next((found for group in _groups(part) if (found := self._in_group(part, group))), None)

    def _in_group(self, part: Member, group: str) -> tuple[str, bool] | None:
        title = simplify(part.parent.get("title", ""))
        same_number = self._named(group, "number", simplify(part.parent.get("number", "")))
        same_date = self._named(group, "date", part.parent.get("date", ""))
        both = [one for one in same_date if title and _alike(title, one.title)]
        for fit, sure in ((same_number, True), (both, True), (self._titled(group, title), False), (same_date, False)):
            found = [one for one in fit if one is not part]
            if len(found) == 1 and (sure or not _differs(part, found[0])):
                return found[0].row.document, sure
            if len(found) > 1:
                return None
        return None

    def _named(self, group: str, what: str, name: str) -> list[Member]:
        return self.known.get((group, what, name), []) if name else []

    def _titled(self, group: str, title: str) -> list[Member]:
        """Not asked of a crowd: among so many agreements a title alone says nothing."""
        crowd = self.titles.get(group, [])
        return [one for one in crowd if title and _alike(title, one.title)] if len(crowd) <= CROWD else []


def _groups(one: Member) -> tuple[str, str]:
    """A document is near those of its supplier and those of its folder; at the top no folder holds files together.

    A folder for annexes belongs to the one in which it lies.
    """
    file = one.row.document.partition("#")[0]
    folder = PurePosixPath(file).parent
    folder = folder.parent if are_annexes(folder.name) and str(folder.parent) != "." else folder
    return one.supplier, f"folder {folder}" if str(folder) != "." else f"file {file}"


def _alike(one: str, other: str) -> bool:
    return one in other or other in one


def _differs(part: Member, master: Member) -> bool:
    """Do number or date say that this is another agreement of the same title?"""
    number, date = simplify(part.parent.get("number", "")), part.parent.get("date", "")
    return bool(number and master.reference and number != master.reference) or bool(
        date and master.made and date not in master.dates
    )


def _absent(known: Mapping[str, Member], masters: Mapping[str, tuple[str, bool]]) -> Iterator[Finding]:
    """What is said to be attached or to belong to a contract, or is amended, and is not among the documents."""
    inside: dict[str, set[str]] = defaultdict(set)
    beside: dict[str, set[str]] = defaultdict(set)
    for name, one in known.items():
        inside[name.partition("#")[0]] |= set().union(*map(answers_to, one.labels))
        mine = set().union(*map(answers_to, _is_annex(one)))
        for group in (*_groups(one), f"master {masters[name][0]}" if name in masters else ""):
            beside[group] |= mine
    for name, one in known.items():
        if one.row.state != "done":
            continue
        if one.form == "amendment" and name not in masters and one.named_at is not None and one.named_at.page:
            yield _finding(one, MISSING_MASTER, one.named_at, "what it changes is not among the documents")
        groups = (*_groups(one), f"master {name}")
        there = inside[name.partition("#")[0]].union(*(beside[group] for group in groups))
        for fact in one.annexes:
            if there.isdisjoint(names_of(str(fact.detail["label"]))):
                said = "named" if fact.detail.get("said") == "named" else "said to be attached"
                yield _finding(one, MISSING_ANNEX, fact, f"{fact.value} is {said} and is not there")


def _is_annex(one: Member) -> set[str]:
    """The annexes that a document is, not those that it has, unless it is the file of all; general terms too."""
    own_name = PurePosixPath(one.row.document.rpartition("#")[2]).stem
    found = labels_in(own_name) | labels_in(one.title)
    if are_annexes(own_name):
        found |= one.labels
    if "general_terms" in (one.form, form_of(own_name)):
        found.add(GENERAL_TERMS)
    return found


def _finding(one: Member, clause_type: str, fact: Fact, reason: str) -> Finding:
    read, total = pages_of(one.row)
    place = Location(fact.alignment, fact.spans, fact.page, fact.page_end, fact.boxes)
    return Finding(
        finding_id=finding_id(one.row.sha256, clause_type, place, fact.quote),
        document=one.row.document,
        document_sha256=one.row.sha256,
        supplier=one.row.supplier,
        clause_type=clause_type,
        quote=fact.quote,
        page=fact.page,
        page_end=fact.page_end,
        boxes=fact.boxes,
        spans=fact.spans,
        alignment=fact.alignment,
        # How much of the document was read: it may stand on a page that was not.
        confidence=round(0.9 * read / total, 4) if total else 0.0,
        source=SOURCE,
        reasons=(reason,),
        unit=fact.unit,
    )


def _order(one: Member) -> tuple[int, str]:
    return (int(one.number) if re.fullmatch(r"\d{1,3}", one.number) else 0, one.dated)
