"""From the pages that the children read to one DocumentText, its bytes and the warnings that people see. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from graph.adapters.furniture import furniture
from graph.adapters.language import language_of
from nodes.domain.documents import PAGE_BREAK, DocumentText, Page
from nodes.domain.words import from_json as words_from_json

NAMES = {"pdf": ((".pdf",), "a PDF"), "text": (("", ".txt", ".text", ".md", ".csv", ".log"), "plain text")}
SHOWN_NAMES = 5


def assemble(sha256: str, document: str, answer: Mapping[str, Any], language: str) -> DocumentText:
    """Join the pages and shift their offsets; `language` "" lets the text tell."""
    pages = answer["pages"]
    parts: list[str] = []
    made: list[Page] = []
    fixed: list[tuple[int, int]] = []
    at = 0
    for page, spans in zip(pages, furniture(pages), strict=True):
        text = page["text"]
        words = words_from_json(page["words"], at)
        size = (page["width"], page["height"])
        made.append(Page(page["number"], page["state"], page["reason"], at, at + len(text), *size, words))
        fixed += [(at + start, at + end) for start, end in spans]
        parts.append(text)
        at += len(text) + len(PAGE_BREAK)
    text = PAGE_BREAK.join(parts)
    hidden = tuple((page["number"], why, found) for page in pages for why, found in page["hidden"])
    said = tuple(warnings(document, answer))
    return DocumentText(sha256, text, tuple(made), language or language_of(text), said, tuple(fixed), hidden)


def encoded(text: DocumentText) -> bytes:
    """The canonical bytes of a DocumentText: the same text is the same artifact."""
    return json.dumps(text.to_json(), ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def warnings(document: str, answer: Mapping[str, Any]) -> list[str]:
    """What the reader of the note should know about how this text came about, a sentence each."""
    pages: Sequence[Mapping[str, Any]] = answer["pages"]
    found: list[str] = []
    extensions, wording = NAMES[answer["kind"]]
    if PurePosixPath(document).suffix.lower() not in extensions:
        found.append(f"The file is {wording}, whatever its name says.")
    if answer["repaired"]:
        found.append("The file is damaged and was read after a repair; parts of it may be missing.")
    for why in dict.fromkeys(why for page in pages for why, _ in page["hidden"]):
        numbers = [page["number"] for page in pages if any(why == other for other, _ in page["hidden"])]
        found.append(f"Text that a person does not see ({why}) was kept apart, on {spoken(numbers)}.")
    layers = [page["number"] for page in pages if page["ocr_layer"]]
    if layers:
        found.append(f"The text of {spoken(layers)} is the OCR layer that came with the scan; it was not checked.")
    if files := answer["attachments"]:
        names = ", ".join(item["name"] for item in files[:SHOWN_NAMES]) + (", …" if len(files) > SHOWN_NAMES else "")
        count = f"{len(files)} embedded file{'s' if len(files) > 1 else ''}"
        found.append(f"It contains {count} that {'were' if len(files) > 1 else 'was'} not read: {names}.")
    return found


def spoken(numbers: Iterable[int]) -> str:
    """Page numbers as words: "page 3" or "pages 1–4, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs[:20])
    many = len(runs) > 1 or (runs and runs[0][0] != runs[0][1])
    return f"{'pages' if many else 'page'} {text}{', …' if len(runs) > 20 else ''}"
