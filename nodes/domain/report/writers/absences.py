"""Sentences on missing clauses: with the extent of reading, and only for documents that could have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from nodes.domain.evidence.coverage import Phrasing, page_counts
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import Sentence, is_stated
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.searched_types import SearchScope
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.scoring.absence import AGREEMENT_TYPES, can_lack
from nodes.domain.shared.formats import NAME_LIMIT, one_line


@dataclass(frozen=True, slots=True)
class Absences:
    """Writer of the sentences on missing clauses."""

    playbook: Playbook
    search_scope: SearchScope
    parts: Collection[str]
    """Documents that belong to another."""
    titles: Mapping[str, str]
    """Clause type to its name in the note's language."""
    types: Mapping[str, set[str]]
    """Document to the types of its findings that nobody rejected."""
    lacking: Mapping[tuple[str, str], Finding]
    """Findings of missing clauses by document and type."""
    phrase: Phrasing
    count: Callable[[int, str], str]
    conjunction: str
    """" and "."""

    def of(self, documents: Sequence[DocumentResult]) -> Iterable[Sentence]:
        """Yield what the agreements among these documents lack; other documents lack nothing.

        Where that is a finding, it is cited; one that waits or was rejected is told where those are.
        """
        agreements = [document for document in documents if self._can_lack(document)]
        for clause in self.playbook.clauses:
            if not (clause.required or clause.points_if_missing > 0):
                continue
            without = [document for document in agreements if self._lacks(document, clause.type)]
            elsewhere = [document.document for document in documents if clause.type in self.types[document.document]]
            if without:
                text = self.phrase(
                    "absence_elsewhere" if elsewhere else "absence",
                    clause=self.titles[clause.type],
                    documents=self._joined([self._read_how_far(document) for document in without]),
                    elsewhere=self._joined([one_line(name, NAME_LIMIT) for name in elsewhere]),
                )
                missing = [self.lacking.get((document.document, clause.type)) for document in without]
                yield Sentence(text, tuple(finding.finding_id for finding in missing if finding), kind="absence")
        yield from self._left_out([document for document in documents if document not in agreements])

    def unsought(self, documents: Iterable[DocumentResult]) -> Iterable[Sentence]:
        """Yield the clause types that no engine looked for, and in how many documents: nothing is known about them."""
        counts: dict[tuple[str, ...], int] = defaultdict(int)
        for document in documents:
            if document.state == "done":
                sought = self.search_scope.types(document)
                counts[tuple(clause_type for clause_type in self.playbook.types if clause_type not in sought)] += 1
        for unsought, number in counts.items():
            if unsought:
                clauses = self._joined([self.titles[clause_type] for clause_type in unsought])
                yield Sentence(self.phrase("unsought", documents=self.count(number, "document"), clauses=clauses))

    def _can_lack(self, document: DocumentResult) -> bool:
        return can_lack(document, self._known(document), self.playbook, self.parts)

    def _known(self, document: DocumentResult) -> set[str]:
        return self.types[document.document] & set(self.playbook.types)

    def _lacks(self, document: DocumentResult, clause_type: str) -> bool:
        """Tell whether the note may say that nothing of this type was found in the document."""
        if clause_type in self.types[document.document] or clause_type not in self.search_scope.types(document):
            return False
        finding = self.lacking.get((document.document, clause_type))
        return finding is None or is_stated(finding)

    def _left_out(self, documents: Sequence[DocumentResult]) -> Iterable[Sentence]:
        """Yield the documents whose missing clauses are not listed, and why."""
        sparse = [document for document in documents if len(self._known(document)) < AGREEMENT_TYPES]
        for key, group in (("few", sparse), ("part", [document for document in documents if document not in sparse])):
            if group:
                listed = self._joined([self._read_how_far(document) for document in group])
                yield Sentence(self.phrase(key, documents=listed, types=AGREEMENT_TYPES), kind="absence")

    def _read_how_far(self, document: DocumentResult) -> str:
        read, total = page_counts(document)
        partly = "absence_partly" if read > 1 else "absence_partly_one"
        key = partly if read < total or not total else "absence_page" if total == 1 else "absence_pages"
        name = one_line(document.document, NAME_LIMIT)
        return self.phrase(key, document=name, read=read, count=total, unit=document.unit)

    def _joined(self, parts: Sequence[str]) -> str:
        return self.conjunction.join(
            [*([self.phrase("semicolon").join(parts[:-1])] if parts[:-1] else []), *parts[-1:]]
        )
