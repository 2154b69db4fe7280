"""Checks file names against what the files are: extensions and embedded files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from nodes.domain.shared.formats import count

FILE_KINDS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "pdf": ((".pdf",), "a PDF"),
    "docx": ((".docx", ".docm"), "a Word document"),
    "html": ((".html", ".htm", ".xhtml"), "a web page (HTML)"),
    "eml": ((".eml",), "an e-mail"),
    "text": (("", ".txt", ".text", ".md", ".csv", ".log"), "plain text"),
}
"""By kind of file that is read: its extensions, and its name in a sentence."""
SHOWN_NAMES = 5
READABLE = tuple(extension for extensions, _ in FILE_KINDS.values() for extension in extensions if extension)


def extension_warning(document: str, kind: str) -> str:
    """Warn of an extension that does not belong to the content, in a sentence; "" when both agree."""
    extensions, wording = FILE_KINDS.get(kind, ((), ""))
    if not extensions or PurePosixPath(document).suffix.lower() in extensions:
        return ""
    return f"The file is {wording}, whatever its name says: see that it is the document that was meant."


def unopened_warning(embedded: Sequence[str], listed: int) -> str:
    """Warn of embedded files of which only `listed` became documents of the run, in a sentence; "" when all did."""
    if len(embedded) <= listed:
        return ""
    listed_names = ", ".join(embedded[:SHOWN_NAMES]) + (", …" if len(embedded) > SHOWN_NAMES else "")
    return (
        f"Of its {count(len(embedded), 'embedded file')}, {len(embedded) - listed} could not be opened: {listed_names}."
    )
