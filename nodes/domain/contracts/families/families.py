"""Families of documents: an agreement with its amendments, annexes and orders, and which of them are missing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from nodes.domain.contracts.families.annexes import (
    GENERAL_TERMS,
    OF_ANOTHER,
    accepted_names,
    equivalent_names,
    holds_annexes,
    labels_in,
)
from nodes.domain.contracts.families.members import Member
from nodes.domain.contracts.families.references import form_of
from nodes.domain.evidence.coverage import page_counts
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding, Location, finding_id
from nodes.domain.text.normalise import simplify

SOURCE = "local:families@3"
MISSING_ANNEX, MISSING_MAIN_AGREEMENT = "missing_annex", "missing_master"
ACROSS = (MISSING_ANNEX, MISSING_MAIN_AGREEMENT)
"""Clause types of the findings made here; a playbook says under `across` how they count."""
_MAIN_FORMS = frozenset(("agreement", "general_terms", ""))
MOST_BY_TITLE = 500
"""Agreements of one group among which a title alone may tell one apart."""


@dataclass(frozen=True, slots=True)
class Families:
    """The documents of a run, each assigned to its main agreement."""

    members: Mapping[str, Member]
    main_agreements: Mapping[str, tuple[str, bool]]
    """Document → its main agreement, and whether that is certain."""
    findings: tuple[Finding, ...]
    """Annexes and agreements that are named and missing; not scored yet."""
    restated: Mapping[str, tuple[Member, bool]] = field(default_factory=dict)
    """Agreement → the one that replaced it as a whole, and whether that is certain."""

    @property
    def parts(self) -> frozenset[str]:
        """Documents that belong to another: they need not repeat what that one says."""
        return frozenset(self.main_agreements) | {
            name for name, member in self.members.items() if member.form == "amendment"
        }

    def amendments(self) -> Iterator[tuple[str, list[tuple[Member, bool]]]]:
        """Yield each agreement with its amendments, the earliest first, and whether they are certainly its own."""
        by_agreement: dict[str, list[tuple[Member, bool]]] = defaultdict(list)
        for name, (main_agreement, certain) in self.main_agreements.items():
            if self.members[name].form == "amendment":
                by_agreement[main_agreement].append((self.members[name], certain))
        for main_agreement in sorted(by_agreement):
            amendments = by_agreement[main_agreement]
            yield main_agreement, sorted(amendments, key=lambda amendment: _amendment_order(amendment[0]))

    def adopted(self) -> dict[str, str]:
        """Map documents without a supplier to that of their main agreement."""
        return {
            name: self.members[main_agreement].row.supplier
            for name, (main_agreement, certain) in self.main_agreements.items()
            if certain and not self.members[name].row.supplier and self.members[main_agreement].row.supplier
        }


def families(members: Iterable[Member]) -> Families:
    """Assign documents to main agreements; none where two fit. Deterministic, whatever the order."""
    by_name = {member.row.document: member for member in sorted(members, key=lambda member: member.row.ordinal)}
    agreements = _Agreements(by_name.values())
    main_agreements: dict[str, tuple[str, bool]] = {}
    for name, member in by_name.items():
        container = name.rpartition("#")[0]
        chosen = (container, True) if container in by_name else agreements.main_agreement_of(member)
        if chosen is not None:
            main_agreements[name] = chosen
    restated: dict[str, tuple[Member, bool]] = {}
    for newer in by_name.values():
        if older := agreements.restated_by(newer):
            restated[older[0]] = newer, older[1]
    return Families(by_name, main_agreements, tuple(_missing_documents(by_name, main_agreements)), restated)


class _Agreements:
    """Index of a run's agreements by number, date and title, within the groups that a document belongs to."""

    def __init__(self, members: Iterable[Member]) -> None:
        self.references: dict[tuple[str, str, str], list[Member]] = defaultdict(list)
        self.titles: dict[str, list[Member]] = defaultdict(list)
        for member in members:
            if member.form not in _MAIN_FORMS:
                continue
            for group in _groups(member):
                self.titles[group].append(member)
                for kind, name in (("number", member.reference), *(("date", day) for day in member.dates)):
                    if name:
                        self.references[group, kind, name].append(member)

    def main_agreement_of(self, part: Member) -> tuple[str, bool] | None:
        """Find the agreement that a part names, and whether more than its title says so; its own supplier's come first.

        An amendment that names none may belong to the only one that there is of its supplier.
        """
        if part.form == "amendment" and not part.parent and part.row.supplier:
            agreements = self.titles.get(part.supplier, [])
            return (agreements[0].row.document, False) if len(agreements) == 1 else None
        if part.form not in OF_ANOTHER or not part.parent:
            return None
        return self._find_named(part)

    def restated_by(self, newer: Member) -> tuple[str, bool] | None:
        """Find the agreement that this one says it replaces, and whether it is certainly that."""
        scope = newer.parent.get("restates") if newer.form not in OF_ANOTHER else None
        main_agreement = self._find_named(newer) if scope else None
        return (main_agreement[0], main_agreement[1] and scope == "whole") if main_agreement else None

    def _find_named(self, part: Member) -> tuple[str, bool] | None:
        return next(
            (main_agreement for group in _groups(part) if (main_agreement := self._find_in_group(part, group))), None
        )

    def _find_in_group(self, part: Member, group: str) -> tuple[str, bool] | None:
        title = simplify(part.parent.get("title", ""))
        same_number = self._by_reference(group, "number", simplify(part.parent.get("number", "")))
        same_date = self._by_reference(group, "date", part.parent.get("date", ""))
        both = [agreement for agreement in same_date if title and _titles_match(title, agreement.title)]
        for candidates, certain in (
            (same_number, True),
            (both, True),
            (self._by_title(group, title), False),
            (same_date, False),
        ):
            matches = [agreement for agreement in candidates if agreement is not part]
            if len(matches) == 1 and (certain or not _is_another(part, matches[0])):
                return matches[0].row.document, certain
            if len(matches) > 1:
                return None
        return None

    def _by_reference(self, group: str, kind: str, name: str) -> list[Member]:
        return self.references.get((group, kind, name), []) if name else []

    def _by_title(self, group: str, title: str) -> list[Member]:
        """Agreements of a similar title; none among too many, where a title alone says nothing."""
        agreements = self.titles.get(group, [])
        if not title or len(agreements) > MOST_BY_TITLE:
            return []
        return [agreement for agreement in agreements if _titles_match(title, agreement.title)]


def _groups(member: Member) -> tuple[str, str]:
    """Return the groups of a document: its supplier's and its folder's; files at the top are groups of their own.

    A folder for annexes belongs to the one in which it lies.
    """
    file = member.row.document.partition("#")[0]
    folder = PurePosixPath(file).parent
    folder = folder.parent if holds_annexes(folder.name) and str(folder.parent) != "." else folder
    return member.supplier, f"folder {folder}" if str(folder) != "." else f"file {file}"


def _titles_match(title: str, other_title: str) -> bool:
    return title in other_title or other_title in title


def _is_another(part: Member, main_agreement: Member) -> bool:
    """Tell whether number or date show that this is another agreement of the same title."""
    number, date = simplify(part.parent.get("number", "")), part.parent.get("date", "")
    return bool(number and main_agreement.reference and number != main_agreement.reference) or bool(
        date and main_agreement.signing_dates and date not in main_agreement.dates
    )


def _missing_documents(
    members: Mapping[str, Member], main_agreements: Mapping[str, tuple[str, bool]]
) -> Iterator[Finding]:
    """Yield a finding for each annex or agreement that a document relies on and that is missing."""
    in_file: dict[str, set[str]] = defaultdict(set)
    nearby: dict[str, set[str]] = defaultdict(set)
    for name, member in members.items():
        in_file[name.partition("#")[0]] |= set().union(*map(accepted_names, member.labels))
        own_names = set().union(*map(accepted_names, _own_labels(member)))
        for group in (*_groups(member), f"master {main_agreements[name][0]}" if name in main_agreements else ""):
            nearby[group] |= own_names
    for name, member in members.items():
        if member.row.state != "done":
            continue
        if (
            member.form == "amendment"
            and name not in main_agreements
            and member.named_at is not None
            and member.named_at.page
        ):
            yield _finding(
                member, MISSING_MAIN_AGREEMENT, member.named_at, "what it changes is not among the documents"
            )
        groups = (*_groups(member), f"master {name}")
        present = in_file[name.partition("#")[0]].union(*(nearby[group] for group in groups))
        for fact in member.annexes:
            if present.isdisjoint(equivalent_names(str(fact.detail["label"]))):
                mention = "named" if fact.detail.get("said") == "named" else "said to be attached"
                yield _finding(member, MISSING_ANNEX, fact, f"{fact.value} is {mention} and is not there")


def _own_labels(member: Member) -> set[str]:
    """Return labels of the annexes that a document is, and of those that it has if it is the file of all."""
    own_name = PurePosixPath(member.row.document.rpartition("#")[2]).stem
    labels = labels_in(own_name) | labels_in(member.title)
    if holds_annexes(own_name):
        labels |= member.labels
    if "general_terms" in (member.form, form_of(own_name)):
        labels.add(GENERAL_TERMS)
    return labels


def _finding(member: Member, clause_type: str, fact: Fact, reason: str) -> Finding:
    read, total = page_counts(member.row)
    place = Location(fact.alignment, fact.spans, fact.page, fact.page_end, fact.boxes)
    return Finding(
        finding_id=finding_id(member.row.sha256, clause_type, place, fact.quote),
        document=member.row.document,
        document_sha256=member.row.sha256,
        supplier=member.row.supplier,
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


def _amendment_order(member: Member) -> tuple[int, str, int]:
    """Sort key of an amendment: its number, its earliest date, its place in the run."""
    number = int(member.number) if re.fullmatch(r"\d{1,3}", member.number) else 0
    return number, member.dated, member.row.ordinal
