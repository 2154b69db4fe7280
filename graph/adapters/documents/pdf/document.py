"""Reads a PDF to text with the place of every word, repaired where it must be. Runs in a worker process."""

from __future__ import annotations

import ctypes
import io
from contextlib import suppress
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.documents.pages import Refused, bare_page
from graph.adapters.documents.pdf.annotations import flatten, read_annotations
from graph.adapters.documents.pdf.layers import hidden_text_objects, mark_hidden_layers
from graph.adapters.documents.pdf.page import LoadedPage, Page, read_pages

MAX_RECORDS = 100_000
"""A page count above this is a lie or an attack."""
BATCH_PAGES = 32
"""Pages that are read together."""
MAX_BATCH_WEIGHT = 100_000
"""Characters and drawn objects with which a batch ends earlier: all its pages are in memory at once."""
PASSWORD_NEEDED = 4


def read_pdf(data: bytes, password: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Read every page to exactly one state; "ocr" means that OCR has still to read it."""
    data, layered = mark_hidden_layers(data, password)
    pdf, repaired = open_pdf(data, password)
    try:
        with suppress(pdfium.PdfiumError):
            pdf.init_forms()
        count = len(pdf)
        if not 0 < count <= MAX_RECORDS:
            raise Refused("pages", str(count))
        pages: list[dict[str, Any]] = []
        chars = 0
        while len(pages) < min(count, options["max_pages"]) and chars < options["max_chars"]:
            batch_indices = range(len(pages), min(len(pages) + BATCH_PAGES, count, options["max_pages"]))
            batch = read_batch(pdf, batch_indices, layered)
            pages += batch
            chars += sum(len(page["text"]) for page in batch)
        limit = f"{options['max_chars']:,} characters"
        if len(pages) >= options["max_pages"]:
            limit = f"{options['max_pages']:,} pages"
        numbers_over_limit = range(len(pages) + 1, count + 1)
        pages += [bare_page(number, "skipped", f"over the limit of {limit}") for number in numbers_over_limit]
        return {"pages": pages, "repaired": repaired, "attachments": attachments(pdf)}
    finally:
        pdf.close()


def open_pdf(data: bytes, password: str | None) -> tuple[pdfium.PdfDocument, bool]:
    """Open the document; also returns whether it had to be repaired first."""
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
        # The code may be that of a file before this one: PDFium does not always set it.
        if error.err_code == PASSWORD_NEEDED and b"/Encrypt" in data:
            raise Refused("password" if password else "encrypted") from None
        raise


def repaired(data: bytes, password: str | None) -> bytes:
    """Write the file anew by qpdf, which finds the objects of a file whose table or end is lost."""
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


def read_batch(pdf: pdfium.PdfDocument, indices: range, layered: bool) -> list[dict[str, Any]]:
    """Read the first of these pages, as many as fit into a batch; one that cannot be loaded costs only itself."""
    loaded: list[LoadedPage] = []
    rows: dict[int, dict[str, Any]] = {}
    try:
        for index in indices:
            page = load_page(pdf, index, layered)
            if isinstance(page, LoadedPage):
                loaded.append(page)
            else:
                rows[index + 1] = page
            if sum(page.weight for page in loaded) > MAX_BATCH_WEIGHT:
                break
        rows |= {row["number"]: row for row in read_pages(loaded)}
    finally:
        for page in loaded:
            page.close()
    return [rows[number] for number in sorted(rows)]


def load_page(pdf: pdfium.PdfDocument, index: int, layered: bool) -> LoadedPage | dict[str, Any]:
    """Load the page with its text; returns its row when it has none. `layered`: hidden layers were marked."""
    try:
        page = Page(pdf, index)
    except pdfium.PdfiumError:
        return bare_page(index + 1, "failed", "the page is damaged and cannot be loaded")
    try:
        annotations = read_annotations(page)
        if annotations and flatten(page):
            page.close()
            page = Page(pdf, index)
        return LoadedPage(page, index + 1, annotations, hidden_text_objects(page) if layered else frozenset())
    except pdfium.PdfiumError as error:
        page.close()
        return bare_page(index + 1, "failed", f"the page cannot be read: {error}")


def attachments(pdf: pdfium.PdfDocument) -> list[dict[str, Any]]:
    """Name and size of the files embedded in the document."""
    rows = []
    for index in range(min(pdf.count_attachments(), 1000)):
        attachment = raw.FPDFDoc_GetAttachment(pdf, index)
        if not attachment:
            continue
        size = ctypes.c_ulong()
        raw.FPDFAttachment_GetFile(attachment, None, 0, size)
        length = raw.FPDFAttachment_GetName(attachment, None, 0)
        name = (ctypes.c_ushort * (length // 2 + 1))()
        raw.FPDFAttachment_GetName(attachment, name, length)
        file_name = bytes(name)[: max(length - 2, 0)].decode("utf-16-le", "replace")
        rows.append({"name": file_name or f"attachment {index + 1}", "bytes": size.value})
    return rows
