"""Joins the pages that workers read to one DocumentText, its stored bytes and its warnings. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.adapters.documents.language import language_of
from graph.adapters.documents.layout.running_headers import find_running_headers
from nodes.domain.shared.messages import english
from nodes.domain.text.documents import PAGE_BREAK, DocumentText, Page
from nodes.domain.text.word_boxes import from_json as words_from_json

KEPT_APART = {"comment": "comments_apart", "struck out": "struck_out_apart"}
"""Codes of warnings about text kept apart that is no attempt to hide, by the reason that its reader names."""


def assemble(sha256: str, answer: Mapping[str, Any], language: str) -> DocumentText:
    """Join the pages and shift their offsets; `language` is taken where the text does not tell its own."""
    pages = answer["pages"]
    parts: list[str] = []
    text_pages: list[Page] = []
    running_spans: list[tuple[int, int]] = []
    offset = 0
    for page, spans in zip(pages, find_running_headers(pages), strict=True):
        text = page["text"]
        words = words_from_json(page["words"], offset)
        size = (page["width"], page["height"])
        text_pages.append(Page(page["number"], page["state"], page["reason"], offset, offset + len(text), *size, words))
        running_spans += [(offset + start, offset + end) for start, end in spans]
        parts.append(text)
        offset += len(text) + len(PAGE_BREAK)
    text = PAGE_BREAK.join(parts)
    hidden = tuple((page["number"], reason, hidden_text) for page in pages for reason, hidden_text in page["hidden"])
    own_language, sentences = language_of(text) or language, tuple(warnings(answer))
    return DocumentText(
        sha256, text, tuple(text_pages), own_language, sentences, tuple(running_spans), hidden, answer["unit"]
    )


def reading_summary(text: DocumentText) -> dict[str, Any]:
    """Summarise a text for the reader's answer: pages, unit, language, warnings; JSON-plain."""
    pages = [[page.number, page.state, page.reason] for page in text.pages]
    return {"pages": pages, "unit": text.unit, "language": text.language, "warnings": list(text.warnings)}


def encode(text: DocumentText) -> bytes:
    """The canonical bytes of a DocumentText: the same text is the same artifact."""
    data = text.to_json()
    pages = data.pop("pages")
    # Words are most of it and need no escaping: they are put in as they are.
    rows = b",".join(b'%b,"%b"]' % (_canonical(page[:-1])[:-1], page[-1].encode()) for page in pages)
    head = _canonical({key: value for key, value in data.items() if key < "pages"})
    tail = _canonical({key: value for key, value in data.items() if key > "pages"})
    return b'%b,"pages":[%b],%b' % (head[:-1], rows, tail[1:])


def _canonical(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def warnings(answer: Mapping[str, Any]) -> list[str]:
    """List what the reader of the note should know about how this text came about, a sentence each.

    Nothing in them depends on the document's name: another document may be the same bytes.
    """
    pages: Sequence[Mapping[str, Any]] = answer["pages"]
    unit: str = answer["unit"]
    sentences: list[str] = []
    if answer["repaired"]:
        sentences.append(english("repaired"))
    for reason in dict.fromkeys(reason for page in pages for reason, _ in page["hidden"]):
        places = page_list(
            (page["number"] for page in pages if any(reason == page_reason for page_reason, _ in page["hidden"])), unit
        )
        sentences.append(english(KEPT_APART.get(reason, "hidden_apart"), reason=reason, places=places))
    layers = [page["number"] for page in pages if page["ocr_layer"]]
    if layers:
        sentences.append(english("ocr_layer", places=page_list(layers)))
    if unit != "page" and len(pages) > 1:
        sentences.append(english("sections", unit=unit, count=len(pages)))
    return sentences


def page_list(numbers: Iterable[int], unit: str = "page") -> str:
    """Page numbers as words: "page 3" or "pages 1–4, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs[:20])
    plural = len(runs) > 1 or (runs and runs[0][0] != runs[0][1])
    return f"{unit}{'s' if plural else ''} {text}{', …' if len(runs) > 20 else ''}"
