"""Reads a file to text with the place of every word. Runs in a child process; `read_file` is the entry."""

from __future__ import annotations

import ctypes
import hashlib
import io
from pathlib import Path
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.file_kind import kind_of, text_of
from graph.adapters.layout import lay_out_plain
from graph.adapters.pdf_page import read_page

MAX_RECORDS = 100_000
"""A page count above this is a lie or an attack."""
PASSWORD_NEEDED = 4


class Refused(Exception):
    """The file gives no text: `kind`, and a detail for the sentence."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


def read_file(path: str, password: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """The pages of a file as JSON-plain data, or {"refused": kind, "detail": …}.

    options: sha256 (refused when the bytes differ), max_bytes, max_pages, max_chars.
    Kinds: vanished, changed, large, none (0 bytes), foreign, encrypted, password, corrupt, pages.
    """
    try:
        data = load(path, options)
        kind, wording = kind_of(data)
        if kind == "pdf":
            answer = read_pdf(data, password, options)
        elif kind == "text":
            answer = read_text(data, options)
        else:
            raise Refused("foreign", wording)
    except Refused as refusal:
        return {"refused": refusal.kind, "detail": refusal.detail}
    return {**answer, "kind": kind}


def load(path: str, options: dict[str, Any]) -> bytes:
    """The bytes that were frozen at ingest."""
    try:
        size = Path(path).stat().st_size
        if size > options["max_bytes"]:
            raise Refused("large", str(size))
        data = Path(path).read_bytes()
    except OSError as error:
        raise Refused("vanished", error.strerror or str(error)) from None
    if hashlib.sha256(data).hexdigest() != options["sha256"]:
        raise Refused("changed")
    if not data:
        raise Refused("none")
    return data


def read_text(data: bytes, options: dict[str, Any]) -> dict[str, Any]:
    """Plain text: form feeds split it into pages; words have no boxes."""
    pages = []
    for number, part in enumerate(text_of(data)[: options["max_chars"]].split("\f"), 1):
        text = lay_out_plain(part)
        state, reason = ("read", "") if text.strip() else ("empty", "nothing on the page")
        pages.append({**bare_page(number, state, reason), "text": text})
    return {"pages": pages, "repaired": False, "attachments": []}


def read_pdf(data: bytes, password: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Every page in exactly one state; "ocr" means that OCR has still to read it."""
    pdf, repaired = open_pdf(data, password)
    try:
        count = len(pdf)
        if not 0 < count <= MAX_RECORDS:
            raise Refused("pages", str(count))
        pages = []
        chars = 0
        for index in range(count):
            if index >= options["max_pages"]:
                page = bare_page(index + 1, "skipped", f"over the limit of {options['max_pages']:,} pages")
            elif chars >= options["max_chars"]:
                page = bare_page(index + 1, "skipped", f"over the limit of {options['max_chars']:,} characters")
            else:
                page = one_page(pdf, index)
                chars += len(page["text"])
            pages.append(page)
        return {"pages": pages, "repaired": repaired, "attachments": attachments(pdf)}
    finally:
        pdf.close()


def open_pdf(data: bytes, password: str | None) -> tuple[pdfium.PdfDocument, bool]:
    """The document, and whether it had to be repaired first."""
    try:
        return opened(data, password), False
    except pdfium.PdfiumError:
        pass
    try:
        pdf = opened(repaired(data, password), password)
    except pdfium.PdfiumError as error:
        raise Refused("corrupt", str(error)) from None
    return pdf, True


def opened(data: bytes, password: str | None) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data, password=password)
    except pdfium.PdfiumError as error:
        if error.err_code == PASSWORD_NEEDED:
            raise Refused("password" if password else "encrypted") from None
        raise


def repaired(data: bytes, password: str | None) -> bytes:
    """Written anew by qpdf, which finds the objects of a file whose table or end is lost."""
    import pikepdf

    try:
        with pikepdf.open(io.BytesIO(data), password=password or "") as pdf:
            if not len(pdf.pages):
                raise Refused("corrupt", "no page is left in it")
            target = io.BytesIO()
            pdf.save(target)
    except pikepdf.PasswordError:
        raise Refused("password" if password else "encrypted") from None
    except (pikepdf.PdfError, ValueError, RuntimeError, TypeError, KeyError, AttributeError) as error:
        raise Refused("corrupt", str(error).split(": ")[-1]) from None
    return target.getvalue()


def one_page(pdf: pdfium.PdfDocument, index: int) -> dict[str, Any]:
    try:
        page = pdf[index]
    except pdfium.PdfiumError:
        return bare_page(index + 1, "failed", "the page is damaged and cannot be loaded")
    try:
        return read_page(page, index + 1)
    except pdfium.PdfiumError as error:
        return bare_page(index + 1, "failed", f"the page cannot be read: {error}")
    finally:
        page.close()


def bare_page(number: int, state: str, reason: str) -> dict[str, Any]:
    return {
        "number": number,
        "state": state,
        "reason": reason,
        "width": 0.0,
        "height": 0.0,
        "text": "",
        "words": "",
        "edges": [],
        "hidden": [],
        "ocr_layer": False,
    }


def attachments(pdf: pdfium.PdfDocument) -> list[dict[str, Any]]:
    """Name and size of the files embedded in the document."""
    found = []
    for index in range(min(pdf.count_attachments(), 1000)):
        item = raw.FPDFDoc_GetAttachment(pdf, index)
        if not item:
            continue
        size = ctypes.c_ulong()
        raw.FPDFAttachment_GetFile(item, None, 0, size)
        length = raw.FPDFAttachment_GetName(item, None, 0)
        name = (ctypes.c_ushort * (length // 2 + 1))()
        raw.FPDFAttachment_GetName(item, name, length)
        text = bytes(name)[: max(length - 2, 0)].decode("utf-16-le", "replace")
        found.append({"name": text or f"attachment {index + 1}", "bytes": size.value})
    return found
