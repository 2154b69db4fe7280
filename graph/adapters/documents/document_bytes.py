"""The bytes of a document, be it a file or attached to one; lists what is attached. Runs in a worker."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from graph.adapters.documents.file_kind import skipped_because
from graph.adapters.documents.formats.attached_files import MOST_BYTES, attached_files
from graph.adapters.documents.pages import Refused

DEEPEST = 3
"""Files within files within files; what lies deeper is not looked for."""
MOST_FILES = 300


def load(path: str, options: dict[str, Any]) -> bytes:
    """Read the bytes that were frozen at ingest.

    options: sha256 (refused when the bytes differ), max_bytes; for an attached file also inside and keys.
    """
    data = file_bytes(path, options["max_bytes"])
    if inside := options.get("inside"):
        data = attached_bytes(data, inside, options.get("keys") or [])
    if hashlib.sha256(data).hexdigest() != options["sha256"]:
        raise Refused("changed")
    if not data:
        raise Refused("none")
    return data


def file_bytes(path: str, max_bytes: int) -> bytes:
    """Read the file as it is now."""
    try:
        size = Path(path).stat().st_size
        if size > max_bytes:
            raise Refused("large", str(size))
        return Path(path).read_bytes()
    except OSError as error:
        raise Refused("vanished", error.strerror or str(error)) from None


def attached_bytes(data: bytes, inside: Sequence[int], keys: Sequence[str]) -> bytes:
    """Take out the attached file at this place. Raises Refused("changed") when there is none."""
    for place in inside:
        files = enumerate(attached_files(data, keys))
        content = next((content for number, (_, content) in files if number == place), None)
        if content is None:
            raise Refused("changed")
        data = content
    return data


def list_attachments(path: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    """List the files attached to this one, those within them included; [] when it cannot be read.

    options: keys (passwords that may open it), max_bytes. Each row: name, within (row of the file around it, None for
    the file itself), inside (place for `attached_bytes`), sha256, bytes, skipped (why it is not read, or "").
    """
    rows: list[dict[str, Any]] = []
    with suppress(Refused):
        _list(file_bytes(path, options["max_bytes"]), options.get("keys") or [], [], None, rows)
    return rows


def _list(data: bytes, keys: Sequence[str], inside: list[int], within: int | None, rows: list[dict[str, Any]]) -> None:
    for place, (name, content) in enumerate(attached_files(data, keys)):
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
