"""The bytes of a document: of a file, or of a file within a file. Runs in a child."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class Refused(Exception):
    """The file gives no text: `kind`, and a detail for the sentence."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


def load(path: str, options: dict[str, Any]) -> bytes:
    """The bytes that were frozen at ingest.

    options: sha256 (refused when the bytes differ), max_bytes; for an embedded file also inside and keys.
    """
    data = whole(path, options["max_bytes"])
    if inside := options.get("inside"):
        from graph.adapters.documents.attachments import dug_out

        data = dug_out(data, inside, options.get("keys") or [])
    if hashlib.sha256(data).hexdigest() != options["sha256"]:
        raise Refused("changed")
    if not data:
        raise Refused("none")
    return data


def whole(path: str, max_bytes: int) -> bytes:
    """The bytes of the file as it is now."""
    try:
        size = Path(path).stat().st_size
        if size > max_bytes:
            raise Refused("large", str(size))
        return Path(path).read_bytes()
    except OSError as error:
        raise Refused("vanished", error.strerror or str(error)) from None


def bare_page(number: int, state: str, reason: str, text: str = "") -> dict[str, Any]:
    """A page or section without boxes, in the form in which all readers answer."""
    return {
        "number": number,
        "state": state,
        "reason": reason,
        "width": 0.0,
        "height": 0.0,
        "text": text,
        "words": "",
        "edges": [],
        "hidden": [],
        "ocr_layer": False,
    }


def sections(parts: Sequence[tuple[str, list[list[str]]]], max_chars: int) -> list[dict[str, Any]]:
    """Texts with what is hidden in them as numbered sections, none beyond the limit of characters."""
    pages = []
    chars = 0
    for number, (text, hidden) in enumerate(parts, 1):
        if chars >= max_chars:
            pages.append(bare_page(number, "skipped", f"over the limit of {max_chars:,} characters"))
            continue
        chars += len(text)
        state, reason = ("read", "") if text.strip() else ("empty", "nothing in the section")
        pages.append({**bare_page(number, state, reason, text[:max_chars]), "hidden": hidden})
    return pages
