"""Tells the kind of a file by its content; its name is not trusted."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath
from typing import Literal

from nodes.domain.shared.file_names import READABLE

Kind = Literal["pdf", "docx", "html", "eml", "text", "foreign"]

OFFICE = ((b"xl/workbook", "an Excel workbook"), (b"ppt/presentation", "a PowerPoint presentation"))
ZIPPED = (*OFFICE, (b"opendocument.text", "an OpenDocument text"), (b"opendocument", "an OpenDocument file"))
MAGIC = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (doc, xls, ppt or msg)"),
    (b"{\\rtf", "a rich text (RTF) document"),
    (b"\x89png", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"gif8", "a picture (GIF)"),
    (b"ii*\x00", "a picture (TIFF)"),
    (b"mm\x00*", "a picture (TIFF)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"rar!", "a RAR archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"<?xml", "an XML file"),
)
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1b")
HEAD_BYTES = 65_536
MAIL_FIELD = re.compile(
    rb"""
    (?:
        from | to | cc | date | subject | received | return-path | delivered-to | mime-version
        | message-id | content-type | reply-to | x-[\w-]+ | dkim-signature | authentication-results
    )
    [ \t]*:
    """,
    re.I | re.X,
)
"""Such as "Subject:" or "X-Mailer :"."""
MAIL_FIELDS = 3


def kind_of(data: bytes) -> tuple[Kind, str]:
    """The kind, and how to call it with its article; "foreign" for what is not read."""
    if b"%PDF-" in data[:1024]:  # readers accept rubbish before the header
        return "pdf", "a PDF"
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if data.startswith(b"PK\x03\x04"):
        if b"word/document.xml" in data:
            return "docx", "a Word document"
        return "foreign", next((wording for part, wording in ZIPPED if part in data), "a ZIP archive")
    if start.startswith((b"<!doctype html", b"<html")) or (start.startswith((b"<?xml", b"<!--")) and b"<html" in start):
        return "html", "a web page (HTML)"
    for magic, wording in MAGIC:
        if start.startswith(magic) or data[:8].lower().startswith(magic):
            return "foreign", wording
    if not is_text(data):
        return "foreign", "a file of an unknown kind"
    return ("eml", "an e-mail") if is_mail(data) else ("text", "plain text")


def is_text(data: bytes) -> bool:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    sample = data[:HEAD_BYTES]
    controls = sum(1 for byte in sample if byte < 32 and byte not in TEXT_CONTROLS)
    return controls <= max(3, len(sample) / 1000)


def is_mail(data: bytes) -> bool:
    """Whether it opens with the header of a message: nothing but fields, and several that every message has."""
    head = re.split(rb"\r?\n\r?\n", data[:HEAD_BYTES], maxsplit=1)[0]
    lines = [line for line in head.splitlines() if line[:1] not in b" \t"]
    fields = sum(1 for line in lines if MAIL_FIELD.match(line))
    return fields >= MAIL_FIELDS and all(re.match(rb"[!-9;-~]+[ \t]*:", line) for line in lines)


def skipped_because(name: str, data: bytes) -> str:
    """Why a file of a folder is not among the documents that are read; "" for one that is.

    What claims by its name to be readable, or is so by its content, is left to the reader.
    """
    kind, wording = kind_of(data)
    extension = PurePosixPath(name).suffix.lower()
    if extension in READABLE or kind in ("pdf", "docx", "html", "eml"):
        return ""
    if kind == "text":
        return f"text of another kind ({extension}), which is not read" if extension else ""
    return f"{wording}, which is not read"


def text_of(data: bytes) -> str:
    """Decode by the byte order mark, else as UTF-8, else as Windows-1252, which takes any byte."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
