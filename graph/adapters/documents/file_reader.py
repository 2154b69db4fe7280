"""Entry point of the workers that read: a file of any kind in, its pages or sections out."""

from __future__ import annotations

from typing import Any

from graph.adapters.documents.document_bytes import load
from graph.adapters.documents.document_text import assemble, encode, reading_summary
from graph.adapters.documents.file_kind import kind_of, text_of
from graph.adapters.documents.layout.running_text import lay_out_plain
from graph.adapters.documents.pages import Refused, sections


def read_document(path: str, password: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Read a document to its stored bytes where it needs no OCR; else return what `read_file` answers.

    options: as for `read_file`, and language. Beside kind and attachments: the `reading_summary` of the text, and its
    stored bytes; they are made here, since they are most of an answer and the parent has only to put them away.
    """
    answer = read_file(path, password, options)
    if "refused" in answer or any(page["state"] == "ocr" for page in answer["pages"]):
        return answer
    text = assemble(options["sha256"], answer, options["language"])
    common = {key: answer[key] for key in ("kind", "attachments")}
    return {**common, "told": reading_summary(text), "stored": encode(text)}


def read_file(path: str, password: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Read the pages of a file as JSON-plain data, or {"refused": kind, "detail": …}.

    options: as for `load`, and max_pages, max_chars. Beside the pages: kind, unit ("page" or "section"), repaired,
    attachments (name and size of each embedded file that the PDF library sees).
    Kinds of refusal: vanished, changed, large, none (0 bytes), foreign, encrypted, password, corrupt, pages.
    """
    try:
        data = load(path, options)
        kind, wording = kind_of(data)
        if kind == "foreign":
            raise Refused("foreign", wording)
        answer: dict[str, Any] = {"kind": kind, "unit": "section", "repaired": False, "attachments": []}
        return {**answer, **_read(kind, data, password, options)}
    except Refused as refusal:
        return {"refused": refusal.kind, "detail": refusal.detail}


def _read(kind: str, data: bytes, password: str | None, options: dict[str, Any]) -> dict[str, Any]:
    chars = options["max_chars"]
    if kind == "pdf":
        from graph.adapters.documents.pdf.document import read_pdf

        return {**read_pdf(data, password, options), "unit": "page"}
    if kind == "docx":
        from graph.adapters.documents.formats.docx import read_docx

        return {"pages": read_docx(data, chars)}
    if kind == "html":
        from graph.adapters.documents.formats.html import read_html

        return {"pages": read_html(data, chars)}
    if kind == "eml":
        from graph.adapters.documents.formats.mail import read_mail

        return {"pages": read_mail(data, chars)}
    # Form feeds part plain text; a word has no place on a page that nobody laid out.
    return {"pages": sections([(lay_out_plain(part), []) for part in text_of(data).split("\f")], chars)}
