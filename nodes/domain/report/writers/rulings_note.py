"""Writer of the note on case law: a table of court decisions, then each with its head and summary, by page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby

from nodes.domain.case_law.body.summary import PARTS
from nodes.domain.case_law.groups import OWN, Groups, group_rulings, ruling_document
from nodes.domain.case_law.head.dates import french
from nodes.domain.evidence.fact_evidence import fact_as_finding, without_evidence
from nodes.domain.evidence.facts import Fact, of_kind
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_check import drop_unsupported
from nodes.domain.evidence.note_model import Note, Section, Sentence, is_stated, status_of
from nodes.domain.report.wording.texts import ruling_texts
from nodes.domain.report.writers.note_writer import NoteInput, write_note
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.shared.formats import NAME_LIMIT, count, one_line

QUOTE_LIMIT = 900
MOST_PARTIES, MOST_TEXTS, MOST_NUMBERS = 12, 25, 4
"""The most that a section lists; the facts have all of them."""


@dataclass(frozen=True, slots=True)
class _Ruling:
    """One court decision with its facts, findings, attachments and copies."""

    row: DocumentResult
    facts: Sequence[Fact]
    findings: Sequence[Finding]
    attached: Sequence[DocumentResult]
    copies: Sequence[DocumentResult] = ()
    """Other documents that hold the same decision."""

    @property
    def joined_numbers(self) -> list[str]:
        """Numbers of the joined cases, without the first."""
        own = [fact for fact in of_kind(self.facts, "case_number") if fact.detail.get("kind", "pourvoi") in OWN]
        return [fact.value for fact in own[1:] if fact.detail.get("kind") == own[0].detail.get("kind")]

    def shown(self, kind: str, clause_type: str, doubt: str) -> str:
        """Return a value as the note may show it: marked while its finding waits, "" once it was rejected."""
        fact = next(
            (fact for fact in self.facts if fact.kind == kind and fact.detail.get("kind", "pourvoi") in OWN), None
        )
        if fact is None or fact.alignment == "not_found":
            return ""
        finding = next(
            (
                finding
                for finding in self.findings
                if finding.clause_type == clause_type and finding.spans == fact.spans
            ),
            None,
        )
        status = status_of(finding) if finding else "passed"
        value = french(date.fromisoformat(fact.value)) if kind == "decision_date" else fact.value
        if status in ("rejected", "unlocated"):
            return ""
        return doubt.format(value=value) if status == "waiting" else value

    def marks(self, *types: str) -> tuple[str, ...]:
        return tuple(
            finding.finding_id for finding in self.findings if finding.clause_type in types and is_stated(finding)
        )


def write_ruling_note(note_input: NoteInput, facts: Mapping[str, Sequence[Fact]]) -> Note:
    """Write coverage, the table, a section for each decision, then what waits or was rejected; checked like every note.

    `facts` by document. Attachments stand under the decision that carries them or beside which they lie; a decision
    that two documents hold is one.
    """
    groups = group_rulings(ruling_document(row, facts.get(row.document, ())) for row in note_input.documents)
    note_input = replace(note_input, parts=frozenset((*note_input.parts, *groups.attached)))
    base = write_note(note_input)
    writer = _Writer(note_input, facts, groups)
    rulings = list(writer.rulings())
    index = Section("index", writer.words["index"], tuple(writer.row(ruling) for ruling in rulings))
    base_sections = tuple(section for section in base.sections if section.kind not in ("risk", "supplier"))
    sections = (base_sections[0], index, *(writer.section(ruling) for ruling in rulings), *base_sections[1:])
    evidence = (*base.findings, *writer.evidence.values())
    checked, _ = drop_unsupported(replace(base, sections=sections, standings=(), findings=evidence))
    return without_evidence(checked, writer.evidence, {})


class _Writer:
    def __init__(self, note_input: NoteInput, facts: Mapping[str, Sequence[Fact]], groups: Groups) -> None:
        self.note_input, self.facts, self.groups = note_input, facts, groups
        self.words = ruling_texts(note_input.language)
        self.language = note_input.language
        self.evidence: dict[str, Finding] = {}
        self.findings: dict[str, list[Finding]] = defaultdict(list)
        for finding in note_input.findings:
            self.findings[finding.document].append(finding)

    def rulings(self) -> list[_Ruling]:
        """Return the court decisions, the newest first, those without a date last."""
        attached: dict[str, list[DocumentResult]] = defaultdict(list)
        copies: dict[str, list[DocumentResult]] = defaultdict(list)
        alone: list[DocumentResult] = []
        for row in self.note_input.documents:
            root = self.groups.root(row.document)
            if row.document in self.groups.copies:
                copies[root].append(row)
            elif root != row.document:
                attached[root].append(row)
            elif row.state == "done":
                alone.append(row)
        rulings = []
        for row in alone:
            name = row.document
            rulings.append(_Ruling(row, self.facts.get(name, ()), self.findings[name], attached[name], copies[name]))
        rulings.sort(key=lambda ruling: ruling.row.document)
        return sorted(rulings, key=lambda ruling: _value(ruling.facts, "decision_date"), reverse=True)

    def row(self, ruling: _Ruling) -> Sentence:
        doubt = self.words["doubt"]
        number = self.number(ruling)
        cells = (
            ruling.shown("decision_date", "decision_date", doubt),
            self.sitting(ruling),
            ruling.shown("solution", "solution", doubt),
            self.documents(ruling),
        )
        recognised = any((number, *cells[:3]))
        text = " · ".join(cell or "—" for cell in cells) if recognised else f"{self.words['none']} · {cells[3]}"
        return Sentence(text, ruling.marks("case_number", "decision_date", "solution"), "frame", number or "—")

    def number(self, ruling: _Ruling) -> str:
        """Return the number of a case with those of its joined cases."""
        first = ruling.shown("case_number", "case_number", self.words["doubt"])
        if not first:
            return ""
        numbers = (
            ruling.joined_numbers
            if len(ruling.joined_numbers) < MOST_NUMBERS
            else ruling.joined_numbers[: MOST_NUMBERS - 2]
        )
        remaining = len(ruling.joined_numbers) - len(numbers)
        suffix = f" {self.words['more'].format(count=remaining)}" if remaining else ""
        return ", ".join([first, *numbers]) + suffix

    def documents(self, ruling: _Ruling) -> str:
        names = self.words["semicolon"].join(one_line(row.document, NAME_LIMIT) for row in ruling.copies)
        own = one_line(ruling.row.document, NAME_LIMIT)
        return self.words["again"].format(document=own, others=names) if names else own

    def sitting(self, ruling: _Ruling) -> str:
        names = [fact.value for kind in ("court", "chamber") for fact in of_kind(ruling.facts, kind)[:1]]
        return ", ".join([*names[:1], *(name[:1].lower() + name[1:] for name in names[1:])])

    def title(self, ruling: _Ruling) -> str:
        doubt = self.words["doubt"]
        number = self.number(ruling)
        parts = (
            self.sitting(ruling),
            ruling.shown("decision_date", "decision_date", doubt),
            number and f"{self.words['n']} {number}",
        )
        return ", ".join(filter(None, parts)) or one_line(ruling.row.document, NAME_LIMIT)

    def section(self, ruling: _Ruling) -> Section:
        return Section("decision", self.title(ruling), tuple([*self.head(ruling), *self.body(ruling)]))

    def head(self, ruling: _Ruling) -> Iterator[Sentence]:
        yield Sentence(
            f"{one_line(ruling.row.document, NAME_LIMIT)}, {self.length(ruling.row)}", lead=self.words["document"]
        )
        if ruling.copies:
            names = [f"{one_line(row.document, NAME_LIMIT)}, {self.length(row)}" for row in ruling.copies]
            yield Sentence(
                self.words["alike"].format(names=self.words["semicolon"].join(names)), lead=self.words["copies"]
            )
        sitting_facts = [
            *of_kind(ruling.facts, "court")[:1],
            *of_kind(ruling.facts, "chamber")[:1],
            *of_kind(ruling.facts, "formation")[:1],
        ]
        if sitting_facts:
            mark = sitting_facts[-1].detail.get("mark", "")
            text = ", ".join(fact.value for fact in sitting_facts) + (f" ({mark})" if mark else "")
            yield Sentence(self.with_page(text, sitting_facts[0]), lead=self.words["court"])
        for key, kind in (("number", "case_number"), ("date", "decision_date"), ("solution", "solution")):
            value = self.number(ruling) if key == "number" else ruling.shown(kind, kind, self.words["doubt"])
            if value:
                fact = next(
                    fact for fact in ruling.facts if fact.kind == kind and fact.detail.get("kind", "pourvoi") in OWN
                )
                yield Sentence(self.with_page(value, fact), ruling.marks(kind), lead=self.words[key])
        for fact in of_kind(ruling.facts, "attacked_decision")[:1]:
            yield Sentence(self.with_page(one_line(fact.value, 300), fact), lead=self.words["attacked"])
        yield from self.listed("parties", of_kind(ruling.facts, "party"), MOST_PARTIES)
        laws = of_kind(ruling.facts, "statute")
        yield from self.listed(
            "applied",
            [fact for fact in laws if fact.detail["role"] == "visa"],
            MOST_TEXTS,
            ruling.marks("applied_text"),
        )
        # What the annexed grounds alone cite says nothing of the decision.
        cited = [
            fact for fact in laws if fact.detail["role"] == "cited" and fact.detail["zone"] not in ("annex", "head")
        ]
        yield from self.listed("cited", cited, MOST_TEXTS)

    def listed(self, key: str, facts: Sequence[Fact], limit: int, marks: tuple[str, ...] = ()) -> Iterator[Sentence]:
        if facts:
            parts = []
            for page, group in groupby(facts[:limit], key=lambda fact: (fact.page, fact.page_end, fact.unit)):
                values = self.words["semicolon"].join(one_line(fact.value, 160) for fact in group)
                parts.append(self.words["said"].format(text=values, page=self.page(*page)) if page[0] else values)
            overflow = [self.words["more"].format(count=len(facts) - limit)] if len(facts) > limit else []
            yield Sentence(self.words["semicolon"].join([*parts, *overflow]), marks, lead=self.words[key])

    def body(self, ruling: _Ruling) -> Iterator[Sentence]:
        for part in PARTS:
            facts = of_kind(ruling.facts, f"summary_{part}")
            written = [fact for fact in facts if not fact.source.startswith("local:")]
            for fact in written or facts:
                if sentence := self.summarised(ruling, fact, self.words[part]):
                    yield sentence
        for finding in ruling.findings:
            if finding.clause_type in ("amount_ordered", "costs") and is_stated(finding):
                yield self.quoted(finding, self.words["ordered"])
        if ruling.attached:
            names = self.words["semicolon"].join(self.attachment(row) for row in ruling.attached)
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

    def summarised(self, ruling: _Ruling, fact: Fact, lead: str) -> Sentence | None:
        if fact.page is None or fact.alignment == "not_found":
            return None
        borrowed = fact_as_finding(fact, ruling.row)
        self.evidence[borrowed.finding_id] = borrowed
        if fact.source.startswith("local:"):
            return self.quoted(borrowed, lead)
        return Sentence(self.with_page(one_line(fact.value, QUOTE_LIMIT), fact), (borrowed.finding_id,), "fact", lead)

    def quoted(self, finding: Finding, lead: str) -> Sentence:
        quote = one_line(finding.quote, QUOTE_LIMIT)
        text = self.words["quote"].format(quote=quote, page=self.page(finding.page, finding.page_end, finding.unit))
        return Sentence(text, (finding.finding_id,), "fact", lead)

    def with_page(self, text: str, fact: Fact) -> str:
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
