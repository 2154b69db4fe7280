"""Files attached to a PDF, an e-mail or a Word document, taken out of its bytes. Runs in a worker."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from graph.adapters.documents.file_kind import kind_of

MOST_BYTES = 1 << 30
"""Of all files attached to one document."""
SIGNS = (b"/EmbeddedFile", b"/FileAttachment", b"/Filespec", b"/ObjStm")
"""A PDF with embedded files has one of these words outside its compressed parts."""

AttachedFile = tuple[str, bytes]


def attached_files(data: bytes, keys: Sequence[str]) -> Iterator[AttachedFile]:
    """Yield name and bytes of the files directly in this one, in a fixed order; damaged ones are left out."""
    kind, _ = kind_of(data) if data else ("foreign", "")
    if kind == "pdf" and any(sign in data for sign in SIGNS):
        yield from _of_pdf(data, keys)
    elif kind == "eml":
        yield from _of_mail(data)
    elif kind == "docx":
        yield from _of_docx(data)


def _of_pdf(data: bytes, keys: Sequence[str]) -> Iterator[AttachedFile]:
    import pikepdf

    for key in ("", *keys):
        try:
            pdf = pikepdf.open(io.BytesIO(data), password=key)
        except pikepdf.PasswordError:
            continue
        except (pikepdf.PdfError, ValueError, RuntimeError):
            return
        with pdf:
            yield from _specs(pdf)
        return


def _specs(pdf: Any) -> Iterator[AttachedFile]:
    """Yield the files in the document's list, then those pinned to its pages."""
    streams: set[tuple[int, int]] = set()
    for spec in _all_specs(pdf):
        with suppress(Exception):  # a damaged entry must not hide the others, and qpdf raises almost anything
            stream = spec.EF.get("/UF") or spec.EF.get("/F")
            if stream.objgen in streams and stream.objgen != (0, 0):
                continue
            streams.add(stream.objgen)
            name = str(spec.get("/UF") or spec.get("/F") or "")
            content = stream.read_bytes()
            yield attachment_name(name, len(streams)), content


def _all_specs(pdf: Any) -> Iterator[Any]:
    with suppress(Exception):
        yield from [spec.obj for _, spec in sorted(pdf.attachments.items())]
    with suppress(Exception):
        for page in pdf.pages:
            for annotation in page.obj.get("/Annots") or ():
                if annotation.get("/Subtype") == "/FileAttachment" and "/FS" in annotation:
                    yield annotation.FS


def _of_mail(data: bytes) -> Iterator[AttachedFile]:
    """Yield everything but the body; forwarded messages are e-mails again."""
    from graph.adapters.documents.formats.mail import body_of, leaves, parsed

    message = parsed(data)
    body = body_of(message)
    for number, part in enumerate(leaves(message), 1):
        forwarded = part.get_content_type() == "message/rfc822"
        is_attachment = bool(part.get_filename()) or part.get_content_disposition() == "attachment"
        if part is body or not (forwarded or is_attachment):
            continue
        if forwarded:
            inner = part.get_payload()
            content = inner[0].as_bytes() if isinstance(inner, list) and inner else b""
            subject = str(inner[0]["Subject"] or "") if content else ""
            yield attachment_name(part.get_filename() or f"{subject or f'message {number}'}.eml", number), content
        else:
            payload = part.get_payload(decode=True)
            yield attachment_name(part.get_filename() or "", number), payload if isinstance(payload, bytes) else b""


def _of_docx(data: bytes) -> Iterator[AttachedFile]:
    import zipfile

    with (
        suppress(zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError),
        zipfile.ZipFile(io.BytesIO(data)) as archive,
    ):
        for member in archive.infolist():
            if member.filename.startswith("word/embeddings/") and 0 < member.file_size <= MOST_BYTES:
                yield attachment_name(member.filename, 0), archive.read(member)


def attachment_name(name: str, number: int) -> str:
    """Clean a name of what could pass for a folder or break a line; "attachment N" for none."""
    base_name = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    plain = "".join(char for char in base_name if char.isprintable()).strip()
    return plain[-200:] or f"attachment {number}"
