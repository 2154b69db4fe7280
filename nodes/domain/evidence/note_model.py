"""The note as data: sections of sentences, each with its kind and the findings that it cites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from nodes.domain.evidence.findings import Finding
from nodes.domain.shared.formats import clean

SentenceKind = Literal["fact", "frame", "absence"]
SectionKind = Literal["coverage", "risk", "supplier", "index", "decision", "waiting", "rejected", "unlocated", "about"]
Status = Literal["accepted", "passed", "waiting", "rejected", "unlocated"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of plain text; whoever renders it escapes it and adds the marks of its findings."""

    text: str
    finding_ids: tuple[str, ...] = ()
    """Findings that it cites; at least one for a fact."""
    kind: SentenceKind = "frame"
    """fact: states what documents say, and is checked. frame: counts and order, by code. absence: nothing was found."""
    lead: str = ""
    """A label before it, from the playbook or the text table, never from a document or a model."""


@dataclass(frozen=True, slots=True)
class Section:
    kind: SectionKind
    title: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence that was taken out, and why."""

    text: str
    problem: str


@dataclass(frozen=True, slots=True)
class SupplierRating:
    """The risk of one supplier (or of a document that names none), as scored."""

    name: str
    risk: str
    score: int
    """0 to 100."""
    reasons: tuple[str, ...] = ()
    """The chain of reasons, in order."""
    grounds: tuple[str, ...] = ()
    """For each reason the finding behind it, "" where there is none; () in notes of earlier versions."""
    waiting: int = 0
    """How many of the findings behind it nobody has reviewed."""


@dataclass(frozen=True, slots=True)
class Note:
    """The note of a run, as the analyst reads it."""

    title: str
    language: str
    """en or fr."""
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...]
    """Every finding of the run with its decision, most serious first: the evidence."""
    standings: tuple[SupplierRating, ...] = ()
    titles: Mapping[str, str] | None = None
    """Clause type → its name in the note's language."""
    with_failures: bool = False
    """Something was not read; the note opens with it."""
    dropped: tuple[Dropped, ...] = ()

    def clause_title(self, finding: Finding) -> str:
        """Name of its clause type; of a missing clause, with the type that is missing."""
        return title_of(finding, self.titles or {})

    def section(self, kind: SectionKind) -> Section | None:
        return next((section for section in self.sections if section.kind == kind), None)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "titles": dict(self.titles or {})}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Note:
        sections = tuple(
            Section(
                section["kind"],
                section["title"],
                tuple(
                    Sentence(**{**sentence, "finding_ids": tuple(sentence["finding_ids"])})
                    for sentence in section["sentences"]
                ),
            )
            for section in data["sections"]
        )
        return cls(
            **{
                **data,
                "sections": sections,
                "findings": tuple(Finding.from_json(finding) for finding in data["findings"]),
                "standings": tuple(
                    SupplierRating(
                        **{**rating, "reasons": tuple(rating["reasons"]), "grounds": tuple(rating.get("grounds", ()))}
                    )
                    for rating in data["standings"]
                ),
                "dropped": tuple(Dropped(**sentence) for sentence in data["dropped"]),
            }
        )


def words_of(clause_type: str) -> str:
    """Name a clause type for which the playbook has no title: "Cap on liability" of cap_on_liability."""
    words = clause_type.replace("_", " ")
    return words[:1].upper() + words[1:]


def title_in(titles: Mapping[Any, str], clause_type: str, language: str = "en") -> str:
    """Choose the title of a clause type: in this language, else in English, else in any, else the words of the type."""
    title = titles.get(language) or titles.get("en") or next(iter(titles.values()), "")
    return clean(title).strip() or words_of(clause_type)


def title_of(finding: Finding, titles: Mapping[str, str]) -> str:
    """Name a finding by the titles of clause types."""
    title = titles.get(finding.clause_type) or words_of(finding.clause_type)
    return f"{title}: {titles.get(finding.about) or words_of(finding.about)}" if finding.about else title


def status_of(finding: Finding) -> Status:
    """Decide what the note may do with a finding: state it (accepted, passed) or only report that it is there.

    passed: the playbook asks for no review of it. A quote that is not in the document is never stated, whoever
    accepts it. A missing clause has no quote; it is stated as what was not found, never as a fact of the document.
    """
    verdict = (finding.decision or {}).get("verdict")
    if verdict == "reject":
        return "rejected"
    if finding.alignment == "not_found" or (finding.page is None and finding.alignment != "absent"):
        return "unlocated"
    if verdict == "accept":
        return "accepted"
    return "waiting" if finding.needs_review else "passed"


def has_risk(note: Note) -> bool:
    """Does risk mean anything in this note? In a note on rulings, only findings with points have any."""
    return note.section("index") is None or any(finding.score for finding in note.findings)


def is_stated(finding: Finding) -> bool:
    return status_of(finding) in ("accepted", "passed")
