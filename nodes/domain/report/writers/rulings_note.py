"""The note of a case-law run: a table of the decisions, then each with its head and summary, every sentence placed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

from nodes.domain.case_law.body.summary import PARTS
from nodes.domain.case_law.groups import OWN, Groups, grouped, paper
from nodes.domain.case_law.head.dates import french
from nodes.domain.evidence.fact_evidence import borrowed_from, without
from nodes.domain.evidence.facts import Fact, of_kind
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_check import verified
from nodes.domain.evidence.note_model import Note, Section, Sentence, is_stated, status_of
from nodes.domain.report.wording.ruling_texts import decision_texts
from nodes.domain.report.writers.note_writer import NoteInput, write_note
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.shared.formats import NAME_LIMIT, count, one_line

QUOTE_LIMIT = 900
MOST_PARTIES, MOST_TEXTS, MOST_NUMBERS = 12, 25, 4
"""Named in a section; the facts have all of them."""


@dataclass(frozen=True, slots=True)
class _Decision:
    """One decision with what it states and what is attached to it."""

    row: DocumentResult
    facts: Sequence[Fact]
    findings: Sequence[Finding]
    attached: Sequence[DocumentResult]
    copies: Sequence[DocumentResult] = ()
    """Other documents that hold the same decision."""

    @property
    def joined(self) -> list[str]:
        """Numbers of the cases that it decides beside the first."""
        own = [one for one in of_kind(self.facts, "case_number") if one.detail.get("kind", "pourvoi") in OWN]
        return [one.value for one in own[1:] if one.detail.get("kind") == own[0].detail.get("kind")]

    def shown(self, kind: str, clause_type: str, doubt: str) -> str:
        """A value as the note may give it: marked while its finding waits, "" once it was rejected."""
        fact = next((one for one in self.facts if one.kind == kind and one.detail.get("kind", "pourvoi") in OWN), None)
        if fact is None or fact.alignment == "not_found":
            return ""
        finding = next(
            (one for one in self.findings if one.clause_type == clause_type and one.spans == fact.spans), None
        )
        status = status_of(finding) if finding else "passed"
        value = french(date.fromisoformat(fact.value)) if kind == "decision_date" else fact.value
        if status in ("rejected", "unlocated"):
            return ""
        return doubt.format(value=value) if status == "waiting" else value

    def marks(self, *types: str) -> tuple[str, ...]:
        return tuple(one.finding_id for one in self.findings if one.clause_type in types and is_stated(one))


def write_decision_note(given: NoteInput, facts: Mapping[str, Sequence[Fact]]) -> Note:
    """Coverage, the table, a section for each decision, then what waits or was rejected; checked like every note.

    `facts` by document. Attachments stand under the decision that carries them or beside which they lie; a decision
    that two documents hold is one.
    """
    groups = grouped(paper(one, facts.get(one.document, ())) for one in given.documents)
    given = replace(given, parts=frozenset((*given.parts, *groups.attached)))
    base = write_note(given)
    writer = _Writer(given, facts, groups)
    decisions = list(writer.decisions())
    index = Section("index", writer.words["index"], tuple(writer.row(one) for one in decisions))
    kept = tuple(one for one in base.sections if one.kind not in ("risk", "supplier"))
    sections = (kept[0], index, *(writer.section(one) for one in decisions), *kept[1:])
    evidence = (*base.findings, *writer.evidence.values())
    checked, _ = verified(replace(base, sections=sections, standings=(), findings=evidence))
    return without(checked, writer.evidence, {})


class _Writer:
    def __init__(self, given: NoteInput, facts: Mapping[str, Sequence[Fact]], groups: Groups) -> None:
        self.given, self.facts, self.groups = given, facts, groups
        self.words = decision_texts(given.language)
        self.language = given.language
        self.evidence: dict[str, Finding] = {}
        self.findings: dict[str, list[Finding]] = defaultdict(list)
        for finding in given.findings:
            self.findings[finding.document].append(finding)

    def decisions(self) -> list[_Decision]:
        """The newest first; what carries no date last."""
        attached: dict[str, list[DocumentResult]] = defaultdict(list)
        copies: dict[str, list[DocumentResult]] = defaultdict(list)
        alone: list[DocumentResult] = []
        for row in self.given.documents:
            root = self.groups.root(row.document)
            if row.document in self.groups.copies:
                copies[root].append(row)
            elif root != row.document:
                attached[root].append(row)
            elif row.state == "done":
                alone.append(row)
        found = []
        for row in alone:
            name = row.document
            found.append(_Decision(row, self.facts.get(name, ()), self.findings[name], attached[name], copies[name]))
        found.sort(key=lambda one: one.row.document)
        return sorted(found, key=lambda one: _value(one.facts, "decision_date"), reverse=True)

    def row(self, one: _Decision) -> Sentence:
        doubt = self.words["doubt"]
        number = self.number(one)
        cells = (
            one.shown("decision_date", "decision_date", doubt),
            self.sitting(one),
            one.shown("solution", "solution", doubt),
            self.documents(one),
        )
        known = any((number, *cells[:3]))
        text = " · ".join(cell or "—" for cell in cells) if known else f"{self.words['none']} · {cells[3]}"
        return Sentence(text, one.marks("case_number", "decision_date", "solution"), "frame", number or "—")

    def number(self, one: _Decision) -> str:
        """Its number, and those of the cases that were joined to it."""
        first = one.shown("case_number", "case_number", self.words["doubt"])
        if not first:
            return ""
        named = one.joined if len(one.joined) < MOST_NUMBERS else one.joined[: MOST_NUMBERS - 2]
        left = len(one.joined) - len(named)
        more = f" {self.words['more'].format(count=left)}" if left else ""
        return ", ".join([first, *named]) + more

    def documents(self, one: _Decision) -> str:
        names = self.words["semicolon"].join(one_line(row.document, NAME_LIMIT) for row in one.copies)
        own = one_line(one.row.document, NAME_LIMIT)
        return self.words["again"].format(document=own, others=names) if names else own

    def sitting(self, one: _Decision) -> str:
        names = [fact.value for kind in ("court", "chamber") for fact in of_kind(one.facts, kind)[:1]]
        return ", ".join([*names[:1], *(name[:1].lower() + name[1:] for name in names[1:])])

    def title(self, one: _Decision) -> str:
        doubt = self.words["doubt"]
        number = self.number(one)
        parts = (
            self.sitting(one),
            one.shown("decision_date", "decision_date", doubt),
            number and f"{self.words['n']} {number}",
        )
        return ", ".join(filter(None, parts)) or one_line(one.row.document, NAME_LIMIT)

    def section(self, one: _Decision) -> Section:
        return Section("decision", self.title(one), tuple([*self.head(one), *self.body(one)]))

    def head(self, one: _Decision) -> Iterator[Sentence]:
        yield Sentence(f"{one_line(one.row.document, NAME_LIMIT)}, {self.length(one.row)}", lead=self.words["document"])
        if one.copies:
            named = [f"{one_line(row.document, NAME_LIMIT)}, {self.length(row)}" for row in one.copies]
            yield Sentence(
                self.words["alike"].format(names=self.words["semicolon"].join(named)), lead=self.words["copies"]
            )
        sat = [
            *of_kind(one.facts, "court")[:1],
            *of_kind(one.facts, "chamber")[:1],
            *of_kind(one.facts, "formation")[:1],
        ]
        if sat:
            mark = sat[-1].detail.get("mark", "")
            text = ", ".join(fact.value for fact in sat) + (f" ({mark})" if mark else "")
            yield Sentence(self.said(text, sat[0]), lead=self.words["court"])
        for key, kind in (("number", "case_number"), ("date", "decision_date"), ("solution", "solution")):
            value = self.number(one) if key == "number" else one.shown(kind, kind, self.words["doubt"])
            if value:
                fact = next(
                    fact for fact in one.facts if fact.kind == kind and fact.detail.get("kind", "pourvoi") in OWN
                )
                yield Sentence(self.said(value, fact), one.marks(kind), lead=self.words[key])
        for fact in of_kind(one.facts, "attacked_decision")[:1]:
            yield Sentence(self.said(one_line(fact.value, 300), fact), lead=self.words["attacked"])
        yield from self.listed("parties", of_kind(one.facts, "party"), MOST_PARTIES)
        laws = of_kind(one.facts, "statute")
        yield from self.listed(
            "applied", [fact for fact in laws if fact.detail["role"] == "visa"], MOST_TEXTS, one.marks("applied_text")
        )
        # What the annexed grounds alone cite says nothing of the decision.
        others = [
            fact for fact in laws if fact.detail["role"] == "cited" and fact.detail["zone"] not in ("annex", "head")
        ]
        yield from self.listed("cited", others, MOST_TEXTS)

    def listed(self, key: str, facts: Sequence[Fact], most: int, marks: tuple[str, ...] = ()) -> Iterator[Sentence]:
        if facts:
            named = []
            for page, group in groupby(facts[:most], key=lambda fact: (fact.page, fact.page_end, fact.unit)):
                values = self.words["semicolon"].join(one_line(fact.value, 160) for fact in group)
                named.append(self.words["said"].format(text=values, page=self.page(*page)) if page[0] else values)
            more = [self.words["more"].format(count=len(facts) - most)] if len(facts) > most else []
            yield Sentence(self.words["semicolon"].join([*named, *more]), marks, lead=self.words[key])

    def body(self, one: _Decision) -> Iterator[Sentence]:
        for part in PARTS:
            facts = of_kind(one.facts, f"summary_{part}")
            written = [fact for fact in facts if not fact.source.startswith("local:")]
            for fact in written or facts:
                if sentence := self.summarised(one, fact, self.words[part]):
                    yield sentence
        for finding in one.findings:
            if finding.clause_type in ("amount_ordered", "costs") and is_stated(finding):
                yield self.quoted(finding, self.words["ordered"])
        if one.attached:
            names = self.words["semicolon"].join(self.attachment(row) for row in one.attached)
            yield Sentence(names, lead=self.words["attached"])

    def attachment(self, row: DocumentResult) -> str:
        name = one_line(row.document.partition("#")[2] or row.document, NAME_LIMIT)
        pages = self.length(row)
        number = next((fact.value for fact in self.facts.get(row.document, ()) if fact.detail.get("kind") in OWN), "")
        return f"{name}, {pages if row.state == 'done' else one_line(row.reason, 160)}" + (
            f", {number}" if number else ""
        )

    def length(self, row: DocumentResult) -> str:
        return count(len(row.pages), row.unit, f"{row.unit}s", self.language)

    def summarised(self, one: _Decision, fact: Fact, lead: str) -> Sentence | None:
        if fact.page is None or fact.alignment == "not_found":
            return None
        borrowed = borrowed_from(fact, one.row)
        self.evidence[borrowed.finding_id] = borrowed
        if fact.source.startswith("local:"):
            return self.quoted(borrowed, lead)
        return Sentence(self.said(one_line(fact.value, QUOTE_LIMIT), fact), (borrowed.finding_id,), "fact", lead)

    def quoted(self, finding: Finding, lead: str) -> Sentence:
        quote = one_line(finding.quote, QUOTE_LIMIT)
        text = self.words["quote"].format(quote=quote, page=self.page(finding.page, finding.page_end, finding.unit))
        return Sentence(text, (finding.finding_id,), "fact", lead)

    def said(self, text: str, fact: Fact) -> str:
        return (
            self.words["said"].format(text=text, page=self.page(fact.page, fact.page_end, fact.unit))
            if fact.page
            else text
        )

    def page(self, first: int | None, last: int | None, unit: str) -> str:
        several = first is not None and last is not None and last > first
        key, page = ("pages", f"{first}–{last}") if several else ("page", first)
        return self.words[key].format(unit=unit, page=page)


def _value(facts: Iterable[Fact], kind: str) -> str:
    return next((fact.value for fact in facts if fact.kind == kind), "")
