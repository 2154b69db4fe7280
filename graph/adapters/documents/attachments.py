"""Files within files: what a PDF, an e-mail or a Word document carries. Runs in a child."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from graph.adapters.documents.document_bytes import Refused, whole
from graph.adapters.documents.file_kind import kind_of, skipped_because

DEEPEST = 3
"""Files within files within files; what lies deeper is not looked for."""
MOST_FILES = 300
MOST_BYTES = 1 << 30
"""Of all files embedded in one document."""
SIGNS = (b"/EmbeddedFile", b"/FileAttachment", b"/Filespec", b"/ObjStm")
"""A PDF with embedded files has one of these words outside its compressed parts."""

Item = tuple[str, bytes]


def list_embedded(path: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Name, place, size, hash of every file embedded in this one, those within them included; [] when none can be had.

    options: keys (passwords that may open it), max_bytes. Each row: name, within (row of the file around it, None for
    the file itself), inside (place for `dug_out`), sha256, bytes, skipped (why it is not read, or "").
    """
    rows: list[dict[str, Any]] = []
    with suppress(Refused):
        _list(whole(path, options["max_bytes"]), options.get("keys") or [], [], None, rows)
    return rows


def _list(data: bytes, keys: Sequence[str], inside: list[int], within: int | None, rows: list[dict[str, Any]]) -> None:
    for place, (name, content) in enumerate(items(data, keys)):
        if len(rows) >= MOST_FILES or sum(row["bytes"] for row in rows) + len(content) > MOST_BYTES:
            return
        rows.append(
            {
                "name": name,
                "within": within,
                "inside": [*inside, place],
                "sha256": hashlib.sha256(content).hexdigest(),
                "bytes": len(content),
                "skipped": skipped_because(name, content) if content else "",
            }
        )
        if len(inside) + 1 < DEEPEST:
            _list(content, keys, [*inside, place], len(rows) - 1, rows)


def dug_out(data: bytes, inside: Sequence[int], keys: Sequence[str]) -> bytes:
    """The embedded file at this place. Raises Refused("changed") when there is none."""
    for place in inside:
        found = next((content for number, (_, content) in enumerate(items(data, keys)) if number == place), None)
        if found is None:
            raise Refused("changed")
        data = found
    return data


def items(data: bytes, keys: Sequence[str]) -> Iterator[Item]:
    """Name and bytes of the files directly in this one, always in the same order; damaged ones are left out."""
    kind, _ = kind_of(data) if data else ("foreign", "")
    if kind == "pdf" and any(sign in data for sign in SIGNS):
        yield from _of_pdf(data, keys)
    elif kind == "eml":
        from graph.adapters.documents.formats.mail import attached

        yield from attached(data)
    elif kind == "docx":
        yield from _of_docx(data)


def _of_pdf(data: bytes, keys: Sequence[str]) -> Iterator[Item]:
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


def _specs(pdf: Any) -> Iterator[Item]:
    """Of the document's list of embedded files, then those pinned to its pages."""
    seen: set[tuple[int, int]] = set()
    for spec in _all_specs(pdf):
        with suppress(Exception):  # a damaged entry must not hide the others, and qpdf raises almost anything
            stream = spec.EF.get("/UF") or spec.EF.get("/F")
            if stream.objgen in seen and stream.objgen != (0, 0):
                continue
            seen.add(stream.objgen)
            name = str(spec.get("/UF") or spec.get("/F") or "")
            content = stream.read_bytes()
            yield shown_name(name, len(seen)), content


def _all_specs(pdf: Any) -> Iterator[Any]:
    with suppress(Exception):
        yield from [spec.obj for _, spec in sorted(pdf.attachments.items())]
    with suppress(Exception):
        for page in pdf.pages:
            for note in page.obj.get("/Annots") or ():
                if note.get("/Subtype") == "/FileAttachment" and "/FS" in note:
                    yield note.FS


def _of_docx(data: bytes) -> Iterator[Item]:
    import zipfile

    with (
        suppress(zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError),
        zipfile.ZipFile(io.BytesIO(data)) as archive,
    ):
        for entry in archive.infolist():
            if entry.filename.startswith("word/embeddings/") and 0 < entry.file_size <= MOST_BYTES:
                yield shown_name(entry.filename, 0), archive.read(entry)


def shown_name(name: str, number: int) -> str:
    """The name without what could pass for a folder or break a line; "attachment N" for none."""
    last = name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    plain = "".join(char for char in last if char.isprintable()).strip()
    return plain[-200:] or f"attachment {number}"
