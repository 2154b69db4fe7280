"""Writer of the note on contracts: the terms of each contract and what amendments override, each with its page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from nodes.domain.contracts.families.families import Families
from nodes.domain.contracts.families.overrides import is_void
from nodes.domain.evidence.fact_evidence import fact_as_finding, override_as_finding, without_evidence
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_check import check, drop_unsupported
from nodes.domain.evidence.note_model import Dropped, Note, Section, Sentence, is_stated
from nodes.domain.report.wording.texts import fact_texts
from nodes.domain.report.writers.note_writer import NoteInput, write_note
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.shared.formats import NAME_LIMIT, one_line
from nodes.domain.text.quantities import numbers_in
from nodes.domain.text.supplier_names import display_names, spelling

TERM_KINDS = (
    "effective_date", "agreement_date", "signature_date", "initial_term", "expiration_date", "renewal_term",
    "notice_period", "cap_amount", "cap_base", "governing_law", "court",
)  # fmt: skip
"""Kinds of facts in the line of a contract, in this order; of the first three, only the first that is stated."""
NOTE_FACT_KINDS = (*TERM_KINDS, "replaces")
_AMOUNT = re.compile(
    r"""(?: EUR | USD | GBP | CHF | € | US\ ?\$ | \$ | £ )\ ?\d[\d.,' \u00a0\u202f]*\d    # EUR 100,000.00
    | \d[\d.,' \u00a0\u202f]*\ ?(?: € | euros? | EUR | USD | \$ | £ )    # 100 000 €""",
    re.VERBOSE,
)
SHORT_QUOTE_CHARS = 60
"""A quote up to this length is the name of a law, and may be repeated beside its label."""
_QUOTE = re.compile(r"“[^”]+”|« [^»]+ »")
_VALUE = re.compile(r"(?:[“«] ?)?\{value\}(?: ?[”»])?")
_ARTICLE = re.compile(r"\W*(\d{1,3}(?:\.\d{1,3})*)\b")
_START_KINDS = frozenset(TERM_KINDS[:3])
MOST_CAPS = 3
QUOTED_CHARS = 240
"""A quote up to this length stands in for a value that the check of the note does not pass."""


def write_contract_note(note_input: NoteInput, facts: Mapping[str, Sequence[Fact]], families: Families) -> Note:
    """Write the note, with the contract terms and what amendments override in the section of each supplier.

    `facts` by document, of NOTE_FACT_KINDS. Every statement is checked against the quote of its fact; where that does
    not cover it, the quote itself is given, or the statement is dropped and counted.
    """
    base = write_note(note_input)
    writer = _Writer(note_input, facts, families)
    sections = list(base.sections)
    for supplier, documents in writer.by_supplier().items():
        terms = tuple(writer.lines(documents))
        place = next(
            (i for i, section in enumerate(sections) if section.kind == "supplier" and section.title == supplier), None
        )
        if not terms:
            continue
        if place is None:
            last = max((i for i, section in enumerate(sections) if section.kind in ("supplier", "risk")), default=0)
            sections.insert(last + 1, Section("supplier", supplier, terms))
        else:
            sections[place] = replace(sections[place], sentences=(*terms, *sections[place].sentences))
    sections = [replace(section, sentences=tuple(map(writer.with_override, section.sentences))) for section in sections]
    evidence = (*base.findings, *writer.evidence.values())
    noted = replace(base, sections=tuple(sections), findings=evidence, dropped=(*base.dropped, *writer.dropped))
    # What code borrows as evidence is no claim of a writer on that place.
    checked, _ = drop_unsupported(noted, uncounted=writer.evidence)
    return without_evidence(checked, writer.evidence, writer.links)


class _Writer:
    def __init__(self, note_input: NoteInput, facts: Mapping[str, Sequence[Fact]], families: Families) -> None:
        self.note_input, self.facts, self.families = note_input, facts, families
        self.language = "fr" if note_input.language == "fr" else "en"
        self.words = fact_texts(self.language)
        self.evidence: dict[str, Finding] = {}
        self.links: dict[str, str] = {}
        """Borrowed evidence → the stated finding in which it stands."""
        self.dropped: list[Dropped] = []
        self.findings: dict[str, list[Finding]] = defaultdict(list)
        for finding in note_input.findings:
            self.findings[finding.document].append(finding)
        self.by_id = {finding.finding_id: finding for finding in note_input.findings}
        self.parties = sorted({finding.supplier for finding in note_input.findings if finding.supplier})

    def by_supplier(self) -> dict[str, list[DocumentResult]]:
        """Group the documents that are done by the title of their supplier's section."""
        names = display_names(rating.name for rating in self.note_input.ratings)
        groups: dict[str, list[DocumentResult]] = defaultdict(list)
        for row in self.note_input.documents:
            if row.state == "done":
                name = row.supplier or row.document
                groups[one_line(names.setdefault(spelling(name), name), NAME_LIMIT)].append(row)
        return groups

    def lines(self, documents: Sequence[DocumentResult]) -> Iterator[Sentence]:
        for row in documents:
            yield from self.terms(row)
        for row in documents:
            yield from self.changes(row)

    def terms(self, row: DocumentResult) -> Iterator[Sentence]:
        """Yield one line with the terms that the contract states."""
        marks_by_text: dict[str, tuple[str, ...]] = {}
        for fact in self.chosen(row):
            if statement := self.statement(fact, row):
                text, marks = statement
                twin = next((earlier for earlier in marks_by_text if _same_quote(earlier, text)), None)
                if twin is None:
                    marks_by_text[text] = marks
                else:
                    # One sentence says both: it is quoted once, under both names.
                    name = self.quoting(fact).partition("{value}")[0].strip(" :“«")
                    marks_by_text = {
                        f"{name}, {earlier}" if earlier == twin else earlier: earlier_marks
                        for earlier, earlier_marks in marks_by_text.items()
                    }
        if marks_by_text:
            document = one_line(row.document, NAME_LIMIT)
            text = self.words["said"].format(document=document, statements=self.words["semicolon"].join(marks_by_text))
            yield Sentence(
                text,
                tuple(dict.fromkeys(mark for text_marks in marks_by_text.values() for mark in text_marks)),
                "fact",
                self.words["terms"],
            )

    def chosen(self, row: DocumentResult) -> list[Fact]:
        """Choose located facts in the order of TERM_KINDS: one start date, few caps, one cap base unless it is fixed.

        Computed facts are left out: the note gives the start and the term that the document states.
        """
        located = (fact for fact in self.facts.get(row.document, ()) if fact.page and fact.alignment != "not_found")
        stated = [fact for fact in located if not fact.computed]
        chosen: list[Fact] = []
        for kind in TERM_KINDS:
            kind_facts = [fact for fact in stated if fact.kind == kind]
            if kind in _START_KINDS and any(fact.kind in _START_KINDS for fact in chosen):
                continue
            if kind == "cap_base":
                kind_facts = [fact for fact in kind_facts if fact.detail.get("of") != "fixed sum"]
            values = {
                (fact.value, fact.detail.get("for", ""), fact.detail.get("per", "")): fact for fact in kind_facts[::-1]
            }
            chosen += list(values.values())[::-1][:MOST_CAPS]
        # A bare date is no term of a contract.
        return chosen if any(fact.kind not in _START_KINDS for fact in chosen) else []

    def statement(self, fact: Fact, row: DocumentResult) -> tuple[str, tuple[str, ...]] | None:
        """Word a fact with its page; returns text and marks, None where no evidence covers it."""
        marks = (self.borrow(fact, row).finding_id,)
        override, override_marks = self.override_of(fact, row)
        words = self.words[self.label(fact)]
        text, quoting = words.format(value=self.value(fact)), _VALUE.sub("{value}", self.quoting(fact))
        covered = self.covered(text, quoting, fact, f"({self.page(fact)}{override})", (*marks, *override_marks))
        return (covered, (*marks, *override_marks)) if covered else None

    def covered(self, text: str, quoting: str, fact: Fact, place: str, marks: tuple[str, ...]) -> str:
        """Return the text, or else the quote, with its place; "" (counted as dropped) where no evidence covers it."""
        problem = self.problem(f"{text} {place}", marks)
        if problem is None:
            return f"{text} {place}"
        quoted = quoting.format(value=self.words["quoted"].format(quote=one_line(fact.quote, QUOTED_CHARS + 20)))
        if len(fact.quote) <= QUOTED_CHARS and self.problem(f"{quoted} {place}", marks) is None:
            return f"{quoted} {place}"
        self.dropped.append(Dropped(text, problem))
        return ""

    def problem(self, text: str, marks: tuple[str, ...]) -> str | None:
        return check(Sentence(text, marks, "fact"), {**self.by_id, **self.evidence}, self.parties)

    def page(self, fact: Fact) -> str:
        return str(self.words["page"].format(unit=fact.unit, page=fact.page))

    def label(self, fact: Fact) -> str:
        if fact.kind == "notice_period":
            return f"notice_{fact.detail.get('for', 'termination')}"
        if fact.kind == "cap_amount" and fact.detail.get("per"):
            return f"cap_per_{fact.detail['per']}"
        return fact.kind

    def quoting(self, fact: Fact) -> str:
        """Return the label for a quoted sentence in place of a value: "renewed for" fits a length of time only."""
        label = self.label(fact)
        return str(self.words.get(f"{label}_quoted") or self.words[label])

    def value(self, fact: Fact) -> str:
        """Word a normalised value in the note's language; what a document wrote stays as it is."""
        detail = fact.detail
        if fact.kind.endswith("_date"):
            return self.day(fact.value)
        if "count" in detail and "unit" in detail:
            singular, plural = self.words[detail["unit"]]
            return f"{detail['count']} {singular if detail['count'] == '1' else plural}"
        if fact.kind == "cap_base":
            base = self.words["fees_months" if detail.get("months") else detail["of"]].format(
                months=detail.get("months")
            )
            return self.words["share"].format(share=detail["share"], of=base) if detail.get("share") else str(base)
        written = str(detail.get("written") or fact.value)
        return one_line(_figures(fact, written) if fact.kind == "cap_amount" else written, 160)

    def day(self, value: str) -> str:
        if self.language != "fr":
            return value
        # Late: its patterns take long to compile, and only a French note needs it.
        from nodes.domain.case_law.head.dates import french

        try:
            return french(date.fromisoformat(value))
        except ValueError:
            return value

    def changes(self, row: DocumentResult) -> Iterator[Sentence]:
        """Yield what an amendment does to which articles, with its page."""
        member = self.families.members.get(row.document)
        replacements = [fact for fact in self.facts.get(row.document, ()) if fact.kind == "replaces" and fact.page]
        if member is None or not replacements:
            return
        master, certain = self.families.main_agreements.get(row.document, ("", False))
        parts, marks = [], []
        for fact in replacements:
            borrowed = self.borrow(fact, row)
            marks.append(borrowed.finding_id)
            change = self.words["of"].format(
                article=", ".join(fact.detail["articles"]), action=self.words[fact.detail["action"]]
            )
            parts.append(self.covered(change, "{value}", fact, f"({self.page(fact)})", (borrowed.finding_id,)))
        key = "said" if not master else "of_master" if certain else "perhaps"
        names = {"document": one_line(row.document, NAME_LIMIT), "master": one_line(master, NAME_LIMIT)}
        if not any(parts):
            return
        text = self.words[key].format(statements=self.words["semicolon"].join(filter(None, parts)), **names)
        # The agreement is named by code, from the list of documents; what is said of articles is the amendment's.
        yield Sentence(text, (*marks, *self.name_evidence(master)), "fact", self.words["changes"])

    def name_evidence(self, document: str) -> tuple[str, ...]:
        """Return the evidence for the name of a document."""
        member = self.families.members.get(document)
        if member is None or member.named_at is None or not member.named_at.page:
            return ()
        return (self.borrow(member.named_at, member.row).finding_id,)

    def with_override(self, sentence: Sentence) -> Sentence:
        """Add to the sentence of an overridden finding that an amendment overrides it."""
        if sentence.kind != "fact" or len(sentence.finding_ids) != 1:
            return sentence
        finding = self.by_id.get(sentence.finding_ids[0])
        if finding is None or not finding.overridden:
            return sentence
        override_text, marks = self.override_text(finding)
        text = self.words["with_override"].format(text=sentence.text.rstrip("."), said=override_text)
        return replace(sentence, text=text, finding_ids=(*sentence.finding_ids, *marks))

    def override_of(self, fact: Fact, row: DocumentResult) -> tuple[str, tuple[str, ...]]:
        """Word the override of the clause in which a fact stands, certain or possible; returns text and marks."""
        overridden = [
            finding for finding in self.findings[row.document] if finding.overridden and _holds(finding, fact)
        ]
        finding = next(filter(is_void, overridden), next(iter(overridden), None))
        if finding is None:
            return "", ()
        text, marks = self.override_text(finding)
        return f"{self.words['semicolon']}{text}", marks

    def override_text(self, finding: Finding) -> tuple[str, tuple[str, ...]]:
        override = finding.overridden or {}
        text = self.words["overridden" if override.get("certain") else "may"].format(
            by=one_line(override["by"], NAME_LIMIT), unit=override.get("unit", "page"), page=override["page"]
        )
        place = override_as_finding(finding)
        if place.finding_id not in self.evidence:
            self.evidence[place.finding_id] = place
            if stated := self.stated_at(finding, place):
                self.links[place.finding_id] = stated.finding_id
        return text, (place.finding_id,)

    def stated_at(self, finding: Finding, place: Finding) -> Finding | None:
        """Find the amendment's stated finding that changes the article of `finding`; None where several may."""
        action = (finding.overridden or {}).get("action")
        replacements = [
            fact
            for fact in self.facts.get(place.document, ())
            if fact.kind == "replaces" and fact.page == place.page and fact.detail["action"] == action
        ]
        number = _ARTICLE.match(finding.quote)
        matching = [fact for fact in replacements if number and number[1] in fact.detail["articles"]] or replacements
        return self.finding_around(matching[0], place.document) if len(matching) == 1 else None

    def finding_around(self, fact: Fact, document: str) -> Finding | None:
        findings = self.findings[document]
        return next(
            (finding for finding in findings if not finding.about and is_stated(finding) and _holds(finding, fact)),
            None,
        )

    def borrow(self, fact: Fact, row: DocumentResult) -> Finding:
        """Register a fact as a finding, so that the check of sentences accepts it as evidence."""
        borrowed = fact_as_finding(fact, row)
        key = borrowed.finding_id
        if key not in self.evidence:
            self.evidence[key] = borrowed
            if stated := self.finding_around(fact, row.document):
                self.links[key] = stated.finding_id
        return self.evidence[key]


def _figures(fact: Fact, written: str) -> str:
    """Return a sum as the document writes it in figures, where figures stand beside the words."""
    amount = f"{fact.detail['amount']} {fact.detail['currency']}"
    return next(
        (match.group().strip() for match in _AMOUNT.finditer(fact.quote) if amount in numbers_in(match.group())),
        written,
    )


def _same_quote(first: str, second: str) -> bool:
    """Tell whether two statements rest on the same quote, given in full."""
    first_quote, second_quote = _QUOTE.search(first), _QUOTE.search(second)
    return bool(
        first_quote
        and second_quote
        and first_quote.group() == second_quote.group()
        and len(first_quote.group()) > SHORT_QUOTE_CHARS
    )


def _holds(finding: Finding, fact: Fact) -> bool:
    return bool(finding.spans and fact.spans) and (
        finding.spans[0][0] <= fact.spans[0][0] and fact.spans[-1][1] <= finding.spans[-1][1]
    )
