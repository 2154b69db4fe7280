"""What a file really is, by its content; its name says nothing."""

from __future__ import annotations

import codecs

OFFICE = ((b"word/", "a Word document"), (b"xl/", "an Excel workbook"), (b"ppt/", "a PowerPoint presentation"))
MAGIC = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (doc, xls, ppt or msg)"),
    (b"{\\rtf", "a rich text (RTF) document"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"II*\x00", "a picture (TIFF)"),
    (b"MM\x00*", "a picture (TIFF)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"<!doctype html", "a web page (HTML)"),
    (b"<html", "a web page (HTML)"),
    (b"<?xml", "an XML file"),
)
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1b")


def kind_of(data: bytes) -> tuple[str, str]:
    """("pdf" | "text" | "foreign", how to call it with its article)."""
    if b"%PDF-" in data[:1024]:  # readers accept rubbish before the header
        return "pdf", "a PDF"
    start = data[:1024].lstrip().lower()
    if data.startswith(b"PK\x03\x04"):
        for part, wording in OFFICE:
            if part in data:
                return "foreign", wording
        return "foreign", "a ZIP archive"
    for magic, wording in MAGIC:
        if data.startswith(magic) or start.startswith(magic):
            return "foreign", wording
    if is_text(data):
        return "text", "a text"
    return "foreign", "a file of an unknown kind"


def is_text(data: bytes) -> bool:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    sample = data[:65536]
    controls = sum(1 for byte in sample if byte < 32 and byte not in TEXT_CONTROLS)
    return controls <= max(3, len(sample) / 1000)


def text_of(data: bytes) -> str:
    """Decoded by its mark, else as UTF-8, else as Windows-1252, which takes any byte."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")
