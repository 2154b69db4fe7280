"""Write the note from accepted findings: the local writer, verbatim by construction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodes.domain.evidence.coverage import covered
from nodes.domain.evidence.findings import RISKS, Finding
from nodes.domain.evidence.note_check import OVERUSED
from nodes.domain.evidence.note_model import (
    Note,
    Section,
    SectionKind,
    Sentence,
    SupplierRating,
    is_stated,
    status_of,
    title_in,
    words_of,
)
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.searched_types import LookedFor
from nodes.domain.playbook.titles import shipped_title
from nodes.domain.report.wording.french_reasons import french_reading
from nodes.domain.report.wording.ratings import as_shown, grounded
from nodes.domain.report.wording.reasons import reasons_in
from nodes.domain.report.wording.texts import texts
from nodes.domain.report.wording.verdicts import decided, reviewers_of
from nodes.domain.report.writers.absences import Absences
from nodes.domain.review.review import most_serious_first
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.scoring.absence import MISSING
from nodes.domain.shared.formats import NAME_LIMIT, count, one_line, risk_label
from nodes.domain.text.quantities import negated
from nodes.domain.text.supplier_names import names_of, spelling

MOST_REASONS = 5
"""Reasons of a supplier's risk in its line, the gravest first; the findings below have them all."""
QUOTE_LIMIT = 600
"""Characters of a quote in a sentence; the evidence has all of it."""


@dataclass(frozen=True, slots=True)
class NoteInput:
    """Everything a note is written from."""

    title: str
    findings: Sequence[Finding]
    """All of the run, scored, each with its decision."""
    documents: Sequence[DocumentResult]
    playbook: Playbook
    standings: Sequence[SupplierRating]
    """As scored; a document that names no supplier stands under its own name."""
    language: str = "en"
    """en or fr."""
    written: Mapping[str, Sequence[Sentence]] = field(default_factory=dict)
    """Sentences of a model by supplier, put before our own; they are checked like all facts."""
    looked_for: LookedFor | None = None
    """What the documents were read for; None: for all that the playbook names."""
    parts: Collection[str] = ()
    """Documents that belong to another: no clause is missed in them."""


def write_note(given: NoteInput) -> Note:
    """Write a note: coverage first, then risk, each supplier, what is not stated and why, and the counts.

    Nothing in it depends on the time or on the order of the findings. Not checked yet: see note_check.verified.
    """
    return _Writer(given).note()


class _Writer:
    def __init__(self, given: NoteInput) -> None:
        self.given = given
        self.language = "fr" if given.language == "fr" else "en"
        self.texts = texts(self.language)
        self.findings = sorted(given.findings, key=most_serious_first)
        self.titles = {
            clause.type: title_in(clause.title, clause.type, self.language)
            for clause in (*given.playbook.clauses, *given.playbook.across)
        }
        self.titles.setdefault(MISSING, self.say("missing_clause"))
        for name in {name for one in self.findings for name in (one.clause_type, one.about) if name}:
            self.titles.setdefault(name, one_line(shipped_title(name, self.language), 80))
        ranked = sorted(given.standings, key=lambda one: (-_rank(one.risk), -one.score, one.name))
        self.absent = self.absences()
        self.names = names_of(one.name for one in ranked)
        self.group = {one.document: self.named(one.supplier or one.document) for one in given.documents}
        # Suppliers of whom no document was read: their low score would say something that nobody knows.
        self.unread = {*self.group.values()} - {
            self.group[one.document] for one in given.documents if one.state == "done"
        }
        self.behind = self.by_group(finding for finding in self.findings if finding.score > 0)
        called = self.called()
        self.standings = [self.standing(one, called) for one in ranked]

    def standing(self, one: SupplierRating, called: Mapping[str, str]) -> SupplierRating:
        grounds = grounded(one, self.behind[one.name], self.given.documents, self.given.playbook)
        done = [row.document for row in self.given.documents if row.state == "done"]
        mine = [document for document in done if self.group[document] == one.name]
        return as_shown(one, grounds, self.language, called, mine)

    def called(self) -> dict[str, str]:
        """What the scores call a clause type → what this note calls it."""
        known = (*self.given.playbook.clauses, *self.given.playbook.across)
        named = {one.type: title_in(one.title, one.type) for one in known}
        return {named.get(each) or shipped_title(each): title for each, title in self.titles.items()}

    def absences(self) -> Absences:
        types: dict[str, set[str]] = defaultdict(set)
        for finding in self.findings:
            if status_of(finding) != "rejected" and not finding.about:
                types[finding.document].add(finding.clause_type)
        return Absences(
            self.given.playbook,
            self.given.looked_for or LookedFor(self.given.playbook),
            self.given.parts,
            self.titles,
            types,
            {(one.document, one.about): one for one in self.findings if one.about},
            self.say,
            self.count,
            self.texts["and"],
        )

    def say(self, key: str, **values: object) -> str:
        return self.texts[key].format(**values)

    def count(self, number: int, noun: str) -> str:
        return count(number, self.texts[noun], self.texts[noun + "s"], self.language)

    def note(self) -> Note:
        coverage, with_failures = covered(self.read(), self.say, self.count, self.texts["and"])
        sections = [
            Section("coverage", self.say("coverage"), (*coverage, *self.absent.unsought(self.given.documents))),
            Section("risk", self.say("risk"), tuple(self.risks())),
            *self.suppliers(),
        ]
        unstated: tuple[tuple[SectionKind, Callable[[Finding], Sentence]], ...] = (
            ("waiting", self.waits),
            ("rejected", self.is_rejected),
            ("unlocated", self.is_lost),
        )
        for kind, sentence in unstated:
            sentences = tuple(sentence(one) for one in self.findings if status_of(one) == kind)
            if sentences:
                sections.append(Section(kind, self.say(kind), sentences))
        sections.append(Section("about", self.say("about"), tuple(self.about())))
        read = tuple(
            replace(one, waiting=self.unreviewed(one.name)) for one in self.standings if one.name not in self.unread
        )
        findings = tuple(self.findings)
        return Note(self.given.title, self.language, tuple(sections), findings, read, self.titles, with_failures)

    def read(self) -> list[DocumentResult]:
        """The documents, with what is said of their reading in the note's language."""
        if self.language != "fr":
            return list(self.given.documents)
        return [
            replace(one, reason=french_reading(one.reason), warnings=tuple(map(french_reading, one.warnings)))
            for one in self.given.documents
        ]

    def risks(self) -> Iterable[Sentence]:
        if not self.standings:
            yield Sentence(self.say("no_standings"))
        for one in self.standings:
            grounds = [finding.finding_id for finding in self.behind[one.name] if is_stated(finding)]
            lead = one_line(one.name, NAME_LIMIT) or self.say("unnamed")
            if one.name in self.unread:
                yield Sentence(self.say("not_scored"), lead=lead)
                continue
            said = [one_line(reason, 300 + NAME_LIMIT).rstrip(".") for reason in one.reasons[:MOST_REASONS]]
            if len(one.reasons) > MOST_REASONS:
                said.append(self.say("more_reasons", count=len(one.reasons) - MOST_REASONS))
            reasons = self.texts["semicolon"].join(said)
            key = "standing_reasons" if reasons else "standing"
            text = self.say(key, risk=risk_label(one.risk, self.language), score=one.score, reasons=reasons)
            waiting = self.unreviewed(one.name)
            if waiting:
                text = f"{text} {self.say('standing_waiting', findings=self.count(waiting, 'finding'))}"
            yield Sentence(text, tuple(grounds[:10]), lead=lead)

    def unreviewed(self, name: str) -> int:
        return sum(status_of(finding) == "waiting" for finding in self.behind[name])

    def named(self, name: str) -> str:
        """The one spelling under which a supplier stands."""
        return self.names.setdefault(spelling(name), name)

    def by_group(self, findings: Iterable[Finding]) -> dict[str, list[Finding]]:
        groups: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            groups[self.group.get(finding.document) or self.named(finding.supplier or finding.document)].append(finding)
        return groups

    def suppliers(self) -> Iterable[Section]:
        stated = self.by_group(finding for finding in self.findings if is_stated(finding) and not finding.about)
        documents: dict[str, list[DocumentResult]] = defaultdict(list)
        for one in self.given.documents:
            if one.state == "done":
                documents[self.group[one.document]].append(one)
        order = {one.name: place for place, one in enumerate(self.standings)}
        written: dict[str, list[Sentence]] = defaultdict(list)
        for name, sentences in self.given.written.items():
            written[self.named(name)] += sentences
        for name in sorted({*stated, *documents, *written}, key=lambda one: (order.get(one, len(order)), one)):
            facts = [*written.get(name, ()), *(self.fact(one) for one in stated.get(name, ()))]
            absences = list(self.absent.of(documents.get(name, [])))
            if facts or absences:
                none = [] if facts else [Sentence(self.say("nothing_stated"))]
                yield Section("supplier", one_line(name, NAME_LIMIT), tuple([*none, *facts, *absences]))

    def fact(self, finding: Finding) -> Sentence:
        text = self.say("stated", quote=self.quote(finding), place=self.place(finding), risk=self.risk(finding))
        return Sentence(text, (finding.finding_id,), "fact", self.title(finding))

    def waits(self, finding: Finding) -> Sentence:
        about = self.about_clause(finding)
        reason = reasons_in(self.language, one_line(finding.review_reason, 300), about)
        reason = reason or self.say("waiting_default")
        if finding.about:
            where = {"clause": about, "document": one_line(finding.document, NAME_LIMIT)}
            text = self.say("waiting_absent", risk=self.risk(finding), reason=reason, **where)
            return Sentence(text, (finding.finding_id,), lead=self.titles[MISSING])
        text = self.say(
            "waiting_one", quote=self.quote(finding), place=self.place(finding), risk=self.risk(finding), reason=reason
        )
        return Sentence(text, (finding.finding_id,), lead=self.title(finding))

    def is_rejected(self, finding: Finding) -> Sentence:
        reviewer, at, reason = decided(finding, self.language)
        if finding.about:
            where = {"clause": self.about_clause(finding), "document": one_line(finding.document, NAME_LIMIT)}
            why = reason or self.say("no_reason")
            text = self.say("rejected_absent", reviewer=reviewer, at=at, reason=why, **where)
            return Sentence(text, (finding.finding_id,), lead=self.titles[MISSING])
        text = self.say(
            "rejected_one",
            quote=self.quote(finding),
            place=self.place(finding),
            reviewer=reviewer,
            at=at,
            reason=reason or self.say("no_reason"),
        )
        return Sentence(text, (finding.finding_id,), lead=self.title(finding))

    def is_lost(self, finding: Finding) -> Sentence:
        reviewer, _, _ = decided(finding, self.language)
        accepted = self.say("unlocated_accepted", reviewer=reviewer) if finding.decision else ""
        text = self.say(
            "unlocated_one",
            quote=self.quote(finding),
            document=one_line(finding.document, NAME_LIMIT),
            accepted=accepted,
        )
        return Sentence(text, (finding.finding_id,), lead=self.title(finding))

    def about(self) -> Iterable[Sentence]:
        counts: dict[str, int] = dict.fromkeys(("accepted", "passed", "waiting", "rejected", "unlocated"), 0)
        for finding in self.findings:
            counts[status_of(finding)] += 1
        said = {status: self.count(number, f"count_{status}") for status, number in counts.items()}
        yield Sentence(self.say("about_findings", findings=self.count(len(self.findings), "finding"), **said))
        if reviewers := reviewers_of(self.findings, self.language):
            yield Sentence(self.say("about_decided", reviewers=reviewers))
        yield Sentence(self.say("about_check"))

    def quote(self, finding: Finding) -> str:
        short = one_line(finding.quote, QUOTE_LIMIT)
        # A cut that leaves out a "not" would say something else.
        whole = short if negated(short) or not negated(finding.quote) else one_line(finding.quote, len(finding.quote))
        return self.say("quote", quote=whole)

    def place(self, finding: Finding) -> str:
        return place(finding, self.language)

    def risk(self, finding: Finding) -> str:
        return risk_label(finding.risk, self.language)

    def title(self, finding: Finding) -> str:
        return self.titles.get(finding.clause_type) or one_line(words_of(finding.clause_type), 80)

    def about_clause(self, finding: Finding) -> str:
        return self.titles.get(finding.about) or one_line(words_of(finding.about), 80)


def with_dropped(note: Note) -> Note:
    """Add to the note's last section how many sentences were dropped and why; nothing when none was."""
    if not note.dropped:
        return note
    table = texts(note.language)
    repeated = sum(one.problem.startswith(OVERUSED.partition("{")[0]) for one in note.dropped)
    said = [
        Sentence(table[key].format(sentences=count(number, table["sentence"], table["sentences"], note.language)))
        for key, number in (("about_dropped", len(note.dropped) - repeated), ("about_repeated", repeated))
        if number
    ]
    sections = [
        replace(one, sentences=(*one.sentences, *said)) if one.kind == "about" else one for one in note.sections
    ]
    return replace(note, sections=tuple(sections))


def place(finding: Finding, language: str) -> str:
    """Document and page in words: "master.pdf, page 3", "master.pdf, pages 3–4", "master.docx, section 3"."""
    named = {"document": one_line(finding.document, NAME_LIMIT), "unit": finding.unit}
    if finding.page is None:
        return texts(language)["place_none"].format(**named)
    last = finding.page_end
    if last and last > finding.page:
        return texts(language)["place_pages"].format(first=finding.page, last=last, **named)
    return texts(language)["place"].format(page=finding.page, **named)


def _rank(risk: str) -> int:
    return RISKS.index(risk) if risk in RISKS else -1
