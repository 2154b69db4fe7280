"""Writer of the note from accepted findings: local, and verbatim by construction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodes.domain.evidence.coverage import coverage_sentences
from nodes.domain.evidence.findings import RISKS, Finding
from nodes.domain.evidence.note_check import TOO_MANY_CLAIMS
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
from nodes.domain.playbook.searched_types import SearchScope
from nodes.domain.playbook.titles import shipped_title
from nodes.domain.report.wording.reasons import grounds_of, rating_as_shown, reasons_in
from nodes.domain.report.wording.texts import texts
from nodes.domain.report.wording.verdicts import decision_words, reviewers_of
from nodes.domain.report.writers.absences import Absences
from nodes.domain.review.review import most_serious_first
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.scoring.absence import MISSING
from nodes.domain.shared.formats import NAME_LIMIT, count, one_line, risk_label
from nodes.domain.shared.messages import french
from nodes.domain.text.quantities import negated
from nodes.domain.text.supplier_names import display_names, spelling

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
    ratings: Sequence[SupplierRating]
    """As scored; a document that names no supplier stands under its own name."""
    language: str = "en"
    """en or fr."""
    model_sentences: Mapping[str, Sequence[Sentence]] = field(default_factory=dict)
    """Sentences of a model by supplier, put before our own; they are checked like all facts."""
    search_scope: SearchScope | None = None
    """What the documents were read for; None: for all that the playbook names."""
    parts: Collection[str] = ()
    """Documents that belong to another: no clause is missed in them."""


def write_note(note_input: NoteInput) -> Note:
    """Write a note: coverage first, then risk, each supplier, what is not stated and why, and the counts.

    Nothing in it depends on the time or on the order of the findings. Not checked yet: see note_check.drop_unsupported.
    """
    return _Writer(note_input).note()


class _Writer:
    def __init__(self, note_input: NoteInput) -> None:
        self.note_input = note_input
        self.language = "fr" if note_input.language == "fr" else "en"
        self.texts = texts(self.language)
        self.findings = sorted(note_input.findings, key=most_serious_first)
        self.titles = {
            clause.type: title_in(clause.title, clause.type, self.language)
            for clause in (*note_input.playbook.clauses, *note_input.playbook.across)
        }
        self.titles.setdefault(MISSING, self.say("missing_clause"))
        for name in {name for finding in self.findings for name in (finding.clause_type, finding.about) if name}:
            self.titles.setdefault(name, one_line(shipped_title(name, self.language), 80))
        ranked = sorted(note_input.ratings, key=lambda rating: (-_rank(rating.risk), -rating.score, rating.name))
        self.absent = self.absences()
        self.names = display_names(rating.name for rating in ranked)
        self.group = {row.document: self.canonical_name(row.supplier or row.document) for row in note_input.documents}
        # Suppliers of whom no document was read: their low score would say something that nobody knows.
        self.unread = {*self.group.values()} - {
            self.group[row.document] for row in note_input.documents if row.state == "done"
        }
        self.scoring_findings = self.by_group(finding for finding in self.findings if finding.score > 0)
        names = self.clause_names()
        self.ratings = [self.shown_rating(rating, names) for rating in ranked]

    def shown_rating(self, rating: SupplierRating, names: Mapping[str, str]) -> SupplierRating:
        grounds = grounds_of(
            rating, self.scoring_findings[rating.name], self.note_input.documents, self.note_input.playbook
        )
        done = [row.document for row in self.note_input.documents if row.state == "done"]
        supplier_documents = [document for document in done if self.group[document] == rating.name]
        return rating_as_shown(rating, grounds, self.language, names, supplier_documents)

    def clause_names(self) -> dict[str, str]:
        """Map the names of clause types in the scores to those in this note."""
        clauses = (*self.note_input.playbook.clauses, *self.note_input.playbook.across)
        score_titles = {clause.type: title_in(clause.title, clause.type) for clause in clauses}
        return {
            score_titles.get(clause_type) or shipped_title(clause_type): title
            for clause_type, title in self.titles.items()
        }

    def absences(self) -> Absences:
        types: dict[str, set[str]] = defaultdict(set)
        for finding in self.findings:
            if status_of(finding) != "rejected" and not finding.about:
                types[finding.document].add(finding.clause_type)
        return Absences(
            self.note_input.playbook,
            self.note_input.search_scope or SearchScope(self.note_input.playbook),
            self.note_input.parts,
            self.titles,
            types,
            {(finding.document, finding.about): finding for finding in self.findings if finding.about},
            self.say,
            self.count,
            self.texts["and"],
        )

    def say(self, key: str, **values: object) -> str:
        return self.texts[key].format(**values)

    def count(self, number: int, noun: str) -> str:
        return count(number, self.texts[noun], self.texts[noun + "s"], self.language)

    def note(self) -> Note:
        coverage, with_failures = coverage_sentences(
            self.localised_documents(), self.say, self.count, self.texts["and"]
        )
        sections = [
            Section("coverage", self.say("coverage"), (*coverage, *self.absent.unsought(self.note_input.documents))),
            Section("risk", self.say("risk"), tuple(self.risk_sentences())),
            *self.supplier_sections(),
        ]
        unstated: tuple[tuple[SectionKind, Callable[[Finding], Sentence]], ...] = (
            ("waiting", self.waiting_sentence),
            ("rejected", self.rejected_sentence),
            ("unlocated", self.unlocated_sentence),
        )
        for kind, sentence in unstated:
            sentences = tuple(sentence(finding) for finding in self.findings if status_of(finding) == kind)
            if sentences:
                sections.append(Section(kind, self.say(kind), sentences))
        sections.append(Section("about", self.say("about"), tuple(self.about_sentences())))
        read = tuple(
            replace(rating, waiting=self.unreviewed(rating.name))
            for rating in self.ratings
            if rating.name not in self.unread
        )
        findings = tuple(self.findings)
        return Note(self.note_input.title, self.language, tuple(sections), findings, read, self.titles, with_failures)

    def localised_documents(self) -> list[DocumentResult]:
        """Return the documents, with their reasons and warnings in the note's language."""
        if self.language != "fr":
            return list(self.note_input.documents)
        return [
            replace(row, reason=french(row.reason), warnings=tuple(map(french, row.warnings)))
            for row in self.note_input.documents
        ]

    def risk_sentences(self) -> Iterable[Sentence]:
        if not self.ratings:
            yield Sentence(self.say("no_standings"))
        for rating in self.ratings:
            grounds = [finding.finding_id for finding in self.scoring_findings[rating.name] if is_stated(finding)]
            lead = one_line(rating.name, NAME_LIMIT) or self.say("unnamed")
            if rating.name in self.unread:
                yield Sentence(self.say("not_scored"), lead=lead)
                continue
            shown_reasons = [one_line(reason, 300 + NAME_LIMIT).rstrip(".") for reason in rating.reasons[:MOST_REASONS]]
            if len(rating.reasons) > MOST_REASONS:
                shown_reasons.append(self.say("more_reasons", count=len(rating.reasons) - MOST_REASONS))
            reasons = self.texts["semicolon"].join(shown_reasons)
            key = "standing_reasons" if reasons else "standing"
            text = self.say(key, risk=risk_label(rating.risk, self.language), score=rating.score, reasons=reasons)
            waiting = self.unreviewed(rating.name)
            if waiting:
                text = f"{text} {self.say('standing_waiting', findings=self.count(waiting, 'finding'))}"
            yield Sentence(text, tuple(grounds[:10]), lead=lead)

    def unreviewed(self, name: str) -> int:
        return sum(status_of(finding) == "waiting" for finding in self.scoring_findings[name])

    def canonical_name(self, name: str) -> str:
        """Return the one spelling under which a supplier is listed."""
        return self.names.setdefault(spelling(name), name)

    def by_group(self, findings: Iterable[Finding]) -> dict[str, list[Finding]]:
        groups: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            groups[
                self.group.get(finding.document) or self.canonical_name(finding.supplier or finding.document)
            ].append(finding)
        return groups

    def supplier_sections(self) -> Iterable[Section]:
        stated = self.by_group(finding for finding in self.findings if is_stated(finding) and not finding.about)
        documents: dict[str, list[DocumentResult]] = defaultdict(list)
        for row in self.note_input.documents:
            if row.state == "done":
                documents[self.group[row.document]].append(row)
        order = {rating.name: place for place, rating in enumerate(self.ratings)}
        written: dict[str, list[Sentence]] = defaultdict(list)
        for name, sentences in self.note_input.model_sentences.items():
            written[self.canonical_name(name)] += sentences
        for name in sorted(
            {*stated, *documents, *written}, key=lambda supplier: (order.get(supplier, len(order)), supplier)
        ):
            facts = [*written.get(name, ()), *(self.stated_sentence(finding) for finding in stated.get(name, ()))]
            absences = list(self.absent.of(documents.get(name, [])))
            if facts or absences:
                none = [] if facts else [Sentence(self.say("nothing_stated"))]
                yield Section("supplier", one_line(name, NAME_LIMIT), tuple([*none, *facts, *absences]))

    def stated_sentence(self, finding: Finding) -> Sentence:
        text = self.say("stated", quote=self.quote(finding), place=self.place(finding), risk=self.risk(finding))
        return Sentence(text, (finding.finding_id,), "fact", self.title(finding))

    def waiting_sentence(self, finding: Finding) -> Sentence:
        about = self.about_clause(finding)
        reason = reasons_in(self.language, one_line(finding.review_reason, 300), about)
        reason = reason or self.say("waiting_default")
        if finding.about:
            placeholders = {"clause": about, "document": one_line(finding.document, NAME_LIMIT)}
            text = self.say("waiting_absent", risk=self.risk(finding), reason=reason, **placeholders)
            return Sentence(text, (finding.finding_id,), lead=self.titles[MISSING])
        text = self.say(
            "waiting_one", quote=self.quote(finding), place=self.place(finding), risk=self.risk(finding), reason=reason
        )
        return Sentence(text, (finding.finding_id,), lead=self.title(finding))

    def rejected_sentence(self, finding: Finding) -> Sentence:
        reviewer, at, reason = decision_words(finding, self.language)
        if finding.about:
            placeholders = {"clause": self.about_clause(finding), "document": one_line(finding.document, NAME_LIMIT)}
            why = reason or self.say("no_reason")
            text = self.say("rejected_absent", reviewer=reviewer, at=at, reason=why, **placeholders)
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

    def unlocated_sentence(self, finding: Finding) -> Sentence:
        reviewer, _, _ = decision_words(finding, self.language)
        accepted = self.say("unlocated_accepted", reviewer=reviewer) if finding.decision else ""
        text = self.say(
            "unlocated_one",
            quote=self.quote(finding),
            document=one_line(finding.document, NAME_LIMIT),
            accepted=accepted,
        )
        return Sentence(text, (finding.finding_id,), lead=self.title(finding))

    def about_sentences(self) -> Iterable[Sentence]:
        counts: dict[str, int] = dict.fromkeys(("accepted", "passed", "waiting", "rejected", "unlocated"), 0)
        for finding in self.findings:
            counts[status_of(finding)] += 1
        status_counts = {status: self.count(number, f"count_{status}") for status, number in counts.items()}
        yield Sentence(self.say("about_findings", findings=self.count(len(self.findings), "finding"), **status_counts))
        if reviewers := reviewers_of(self.findings, self.language):
            yield Sentence(self.say("about_decided", reviewers=reviewers))
        yield Sentence(self.say("about_check"))

    def quote(self, finding: Finding) -> str:
        short = one_line(finding.quote, QUOTE_LIMIT)
        # A cut that leaves out a "not" would say something else.
        text = short if negated(short) or not negated(finding.quote) else one_line(finding.quote, len(finding.quote))
        return self.say("quote", quote=text)

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
    repeated = sum(dropped.problem.startswith(TOO_MANY_CLAIMS.partition("{")[0]) for dropped in note.dropped)
    sentences = [
        Sentence(table[key].format(sentences=count(number, table["sentence"], table["sentences"], note.language)))
        for key, number in (("about_dropped", len(note.dropped) - repeated), ("about_repeated", repeated))
        if number
    ]
    sections = [
        replace(section, sentences=(*section.sentences, *sentences)) if section.kind == "about" else section
        for section in note.sections
    ]
    return replace(note, sections=tuple(sections))


def place(finding: Finding, language: str) -> str:
    """Word a document and its page: "master.pdf, page 3", "master.pdf, pages 3–4", "master.docx, section 3"."""
    placeholders = {"document": one_line(finding.document, NAME_LIMIT), "unit": finding.unit}
    if finding.page is None:
        return texts(language)["place_none"].format(**placeholders)
    last = finding.page_end
    if last and last > finding.page:
        return texts(language)["place_pages"].format(first=finding.page, last=last, **placeholders)
    return texts(language)["place"].format(page=finding.page, **placeholders)


def _rank(risk: str) -> int:
    return RISKS.index(risk) if risk in RISKS else -1
