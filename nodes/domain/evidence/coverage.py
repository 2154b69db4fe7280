"""Coverage of a run in sentences, the opening of every note: what was read and what was not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from nodes.domain.evidence.note_model import Sentence
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.shared.formats import NAME_LIMIT, one_line
from nodes.domain.text.documents import PAGE_STATES


class Phrasing(Protocol):
    """Function that fills in a sentence of the text table."""

    def __call__(self, key: str, **values: object) -> str: ...


def page_counts(document: DocumentResult) -> tuple[int, int]:
    """Count (fully read pages, all pages); an empty page has been read."""
    fully_known = sum(state in ("read", "ocr", "empty") for _, state, _ in document.pages)
    return fully_known, len(document.pages)


def coverage_sentences(
    documents: Sequence[DocumentResult], phrase: Phrasing, count: Callable[[int, str], str], conjunction: str
) -> tuple[tuple[Sentence, ...], bool]:
    """Write the sentences, the most important first; and was anything not read? `conjunction` is " and "."""

    def counted(*states: str) -> str:
        """Count pages and sections in these states, without states in any: "3 pages and 1 section", "" for none."""
        units = Counter(
            document.unit
            for document in documents
            if document.state == "done"
            for _, state, _ in document.pages
            if state in (states or PAGE_STATES)
        )
        return conjunction.join(count(units[unit], unit) for unit in sorted(units))

    unread = [document for document in documents if document.state != "done"]
    lost_pages = counted("failed", "skipped")
    if unread:
        done = len(documents) - len(unread)
        opening = [phrase("with_failures", done=done, documents=count(len(documents), "document"))]
    elif lost_pages:
        opening = [phrase("pages_lost", pages=lost_pages)]
    elif documents:
        key = "all_read_one" if len(documents) == 1 else "all_read"
        opening = [phrase(key, documents=count(len(documents), "document"), pages=counted() or count(0, "page"))]
    else:
        opening = [phrase("no_documents")]
    details = [*_unread_documents(unread, phrase), *_unread_pages(documents, phrase)]
    details += [phrase(state, pages=pages) for state in ("ocr", "empty") if (pages := counted(state))]
    details += [
        phrase("warning", document=one_line(document.document, NAME_LIMIT), warning=one_line(warning, 300))
        for document in documents
        for warning in document.warnings
    ]
    return tuple(Sentence(text) for text in [*opening, *details]), bool(unread or lost_pages)


def _unread_documents(documents: Iterable[DocumentResult], phrase: Phrasing) -> Iterable[str]:
    for document in documents:
        reason = one_line(document.reason, 300 + NAME_LIMIT).rstrip(".") or phrase("no_reason")
        if reason.startswith(f"{document.document} "):
            reason = phrase("it") + reason.removeprefix(document.document)
        yield phrase(
            "document_lost",
            document=one_line(document.document, NAME_LIMIT),
            state=phrase(f"state_{document.state}"),
            reason=reason,
        )


def _unread_pages(documents: Iterable[DocumentResult], phrase: Phrasing) -> Iterable[str]:
    for document in documents:
        if document.state != "done":
            continue
        unread: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, state, reason in document.pages:
            if state in ("failed", "skipped"):
                unread[state, one_line(reason, 300).rstrip(".") or phrase("no_reason")].append(number)
        for (state, reason), numbers in unread.items():
            values = {
                "document": one_line(document.document, NAME_LIMIT),
                "unit": document.unit,
                "pages": ranges(numbers),
            }
            key = "page_lost" if len(numbers) == 1 else "pages_lost_of"
            yield phrase(key, state=phrase(f"state_{state}"), reason=reason, **values)


def ranges(numbers: Iterable[int]) -> str:
    """Join numbers in order, neighbours as ranges: "1–3, 7"."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in parts)
