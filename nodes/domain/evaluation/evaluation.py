"""Comparison of findings with a golden set, by clause type: documents, spans, pages, traps. Pure.

A finding meets a gold span when they share more than half of the shorter one and the quote is no page around a clause:
at most four times the span, or 800 characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from nodes.domain.evaluation.golden_set import Gold, matches
from nodes.domain.evidence.findings import Finding
from nodes.domain.text.normalise import LetterIndex, Span

MOST_QUOTE_CHARS, MOST_TIMES_LONGER = 800, 4


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document of a run: its text and findings."""

    document: str
    text: str
    """Its text; "" when it could not be read."""
    findings: Sequence[Finding]
    searched_types: frozenset[str] | None = None
    """Clause types that could have been found in it; None: any."""


@dataclass(frozen=True, slots=True)
class UntestedTrap:
    """A trap that could not be tested, since no finding could have matched it."""

    where: str
    """File and line of the golden set."""
    document: str
    clause_type: str
    why: str
    """For example: no document of this name was read."""

    def __str__(self) -> str:
        return f"{self.where or self.clause_type} ({self.why})"


@dataclass(frozen=True, slots=True)
class TrapHit:
    """A finding that matches a trap."""

    document: str
    clause_type: str
    quote: str
    page: int | None
    unit: str = "page"


@dataclass(slots=True)
class TypeCounts:
    """Counts of one clause type."""

    both: int = 0
    """Documents that have it and in which it was found."""
    only_found: int = 0
    only_gold: int = 0
    spans: int = 0
    """Gold spans, and of them those that a finding meets."""
    spans_met: int = 0
    quotes: int = 0
    """Findings with a place, and of them those that meet a gold span."""
    quotes_right: int = 0
    pages: int = 0
    """Of the findings that meet a gold span with a page, all, and those on that page."""
    pages_right: int = 0
    unlocated: int = 0
    """Findings whose quote is not in the document."""

    def plus(self, addend: TypeCounts) -> TypeCounts:
        return TypeCounts(*(getattr(self, column.name) + getattr(addend, column.name) for column in fields(self)))

    def rates(self) -> dict[str, Any]:
        """Return precision, recall and accuracy from 0 to 1; None where nothing was counted."""
        found_total, gold_total = self.both + self.only_found, self.both + self.only_gold
        return {
            "documents_with": gold_total,
            "doc_precision": _share(self.both, found_total),
            "doc_recall": _share(self.both, gold_total),
            "doc_f1": _share(2 * self.both, found_total + gold_total),
            "span_recall": _share(self.spans_met, self.spans),
            "span_precision": _share(self.quotes_right, self.quotes),
            "page_accuracy": _share(self.pages_right, self.pages),
            "unlocated": self.unlocated,
        }


@dataclass(frozen=True, slots=True)
class Scores:
    """Result of comparing a run with a golden set."""

    types: Mapping[str, TypeCounts]
    traps: int
    """Those that were tested."""
    fallen: Sequence[TrapHit]
    documents: int
    """Documents that were compared."""
    unread: Sequence[str] = ()
    """Golden documents that the run has no text of."""
    lost: int = 0
    """Gold spans that are not in the text as it was read; each counts as missed."""
    untested: Sequence[UntestedTrap] = ()
    silent: int = 0
    """Documents of which the golden set says nothing: what was found in them counts as wrong."""
    matched: int = 0
    """Golden documents that the run has a text of."""

    def mean(self) -> dict[str, float | None]:
        """Average the rates over the types that some golden document has."""
        rows = [counts.rates() for counts in self.types.values() if counts.both + counts.only_gold]
        names = ("doc_f1", "span_recall", "span_precision")
        return {name: _share(sum(row[name] or 0 for row in rows), len(rows)) for name in names}

    def to_json(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "mean": self.mean(),
            "types": {name: counts.rates() for name, counts in self.types.items()},
            "traps": {"set": self.traps, "fallen": [asdict(hit) for hit in self.fallen]},
            "unread": list(self.unread),
            "gold_not_in_text": self.lost,
            "documents_not_in_gold": self.silent,
            "traps_not_tested": [asdict(trap) for trap in self.untested],
        }


@dataclass(slots=True)
class _GoldSpans:
    """Gold spans of one document and type."""

    spans: list[tuple[Span, int | None]] = field(default_factory=list)
    uncertain_spans: list[Span] = field(default_factory=list)


def evaluate(gold: Sequence[Gold], read_documents: Iterable[ReadDocument], types: Sequence[str] = ()) -> Scores:
    """Compare findings with a golden set.

    `types` limits the clause types; without it those count that the golden set names outside its traps. Every document
    of `seen` counts, also one of which the set says nothing: it says that nothing is there. A trap is tested where its
    document has a text, its type could have been found and its words stand in the text.
    """
    counted = {
        name: TypeCounts() for name in types or sorted({line.clause_type for line in gold if not line.must_not_find})
    }
    why = {place: "no document of this name was there" for place, line in enumerate(gold) if line.must_not_find}
    tested: set[int] = set()
    fallen: list[TrapHit] = []
    documents = lost = silent = 0
    read: set[str] = set()
    for document in read_documents:
        own_lines = [(place, line) for place, line in enumerate(gold) if matches(line.document, document.document)]
        traps = [(place, line) for place, line in own_lines if line.must_not_find]
        if not document.text:
            why |= {place: "no text of its document could be read" for place, _ in traps}
            continue
        documents += 1
        silent += not own_lines
        read |= {line.document for _, line in own_lines}
        letters = LetterIndex(document.text)
        for name, counts in counted.items():
            lost += _count(counts, name, [line for _, line in own_lines], document, letters)
        for place, trap in traps:
            if unable := _untestable_reason(trap, document, letters):
                why[place] = unable
            else:
                tested.add(place)
                fallen += _trap_hits(trap, document, letters)
    gold_documents = {line.document for line in gold}
    untested = [
        UntestedTrap(gold[place].where, gold[place].document, gold[place].clause_type, why[place])
        for place in why
        if place not in tested
    ]
    unread = sorted(gold_documents - read)
    return Scores(counted, len(tested), fallen, documents, unread, lost, untested, silent, len(gold_documents & read))


def combine_scores(parts: Sequence[Scores]) -> Scores:
    """Add up the scores of several golden sets, each over its own documents."""
    types: dict[str, TypeCounts] = {}
    for part in parts:
        for name, counts in part.types.items():
            types[name] = types.get(name, TypeCounts()).plus(counts)
    return Scores(
        dict(sorted(types.items())),
        sum(part.traps for part in parts),
        [hit for part in parts for hit in part.fallen],
        sum(part.documents for part in parts),
        sorted({name for part in parts for name in part.unread}),
        sum(part.lost for part in parts),
        [trap for part in parts for trap in part.untested],
        sum(part.silent for part in parts),
        sum(part.matched for part in parts),
    )


def _count(counts: TypeCounts, name: str, lines: Sequence[Gold], document: ReadDocument, letters: LetterIndex) -> int:
    """Add one document to the counts of a type; returns how many of its gold spans are not in its text."""
    gold_spans, lost = _GoldSpans(), 0
    for line in lines:
        if line.clause_type != name or line.must_not_find:
            continue
        spans = letters.spans(line.text)
        if line.uncertain:
            gold_spans.uncertain_spans += spans
        elif spans:
            gold_spans.spans.append((spans[0] if len(spans) == 1 else _nearest(spans, document, name), line.page))
        else:
            gold_spans.spans.append(((-1, -1), line.page))
            lost += 1
    findings = [
        finding for finding in document.findings if finding.clause_type == name and finding.alignment != "absent"
    ]
    counts.unlocated += sum(not finding.spans for finding in findings)
    located = [(_span(finding), finding.page) for finding in findings if finding.spans]
    located = [
        (span, page)
        for span, page in located
        if any(meets(gold, span) for gold, _ in gold_spans.spans)
        or not any(meets(gold, span) for gold in gold_spans.uncertain_spans)
    ]
    if gold_spans.uncertain_spans and not gold_spans.spans:
        return lost
    counts.both += bool(gold_spans.spans) and bool(located)
    counts.only_found += bool(located) and not gold_spans.spans
    counts.only_gold += bool(gold_spans.spans) and not located
    counts.spans += len(gold_spans.spans)
    counts.spans_met += sum(any(meets(gold, span) for span, _ in located) for gold, _ in gold_spans.spans)
    for span, page in located:
        met = [gold_page for gold, gold_page in gold_spans.spans if meets(gold, span)]
        counts.quotes += 1
        counts.quotes_right += bool(met)
        gold_pages = [gold_page for gold_page in met if gold_page is not None]
        counts.pages += bool(gold_pages) and page is not None
        counts.pages_right += page is not None and page in gold_pages
    return lost


def _untestable_reason(trap: Gold, document: ReadDocument, letters: LetterIndex) -> str:
    """Explain why no finding in this document could match the trap; "" where one could."""
    if document.searched_types is not None and trap.clause_type not in document.searched_types:
        return f"{trap.clause_type} was not looked for in {document.document}"
    if trap.text.strip() and not letters.spans(trap.text):
        return f"its words are not in {document.document}"
    return ""


def _trap_hits(trap: Gold, document: ReadDocument, letters: LetterIndex) -> list[TrapHit]:
    """Return the findings of the trap's type that overlap it."""
    spans = letters.spans(trap.text) if trap.text.strip() else [(0, len(document.text))]
    return [
        TrapHit(document.document, trap.clause_type, finding.quote, finding.page, finding.unit)
        for finding in document.findings
        if finding.clause_type == trap.clause_type
        and any(span[0] < end and start < span[1] for span in spans for start, end in finding.spans)
    ]


def _span(finding: Finding) -> Span:
    return finding.spans[0][0], finding.spans[-1][1]


def _nearest(spans: Sequence[Span], document: ReadDocument, name: str) -> Span:
    """Choose among several places with the same words the one that was found, else the first."""
    found_spans = [_span(finding) for finding in document.findings if finding.clause_type == name and finding.spans]
    return next((span for span in spans if any(meets(span, found_span) for found_span in found_spans)), spans[0])


def meets(gold: Span, quote: Span) -> bool:
    """Tell whether a quote covers this gold span without much more text."""
    shared = min(gold[1], quote[1]) - max(gold[0], quote[0])
    gold_chars, quote_chars = gold[1] - gold[0], quote[1] - quote[0]
    return shared > 0.5 * min(gold_chars, quote_chars) and quote_chars <= max(
        MOST_TIMES_LONGER * gold_chars, MOST_QUOTE_CHARS
    )


def _share(part: float, total: float) -> float | None:
    return round(part / total, 3) if total else None
