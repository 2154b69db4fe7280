"""Documents of a folder, listed and hashed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from pathlib import Path

from nodes.domain.documents import SourceDocument
from nodes.domain.errors import SourceError

READABLE = (".pdf", ".txt")
"""By name; what a file really is, the reader finds out."""


class FolderSources:
    """Satisfies nodes.ports.Sources. Relative paths count from the working folder."""

    async def check(self, source: str) -> int:
        return len(await asyncio.to_thread(_listed, source))

    async def scan(self, source: str) -> list[SourceDocument]:
        return await asyncio.to_thread(_scan, source)


def _scan(source: str) -> list[SourceDocument]:
    return [_document(path, name) for name, path in sorted(_listed(source).items())]


def _listed(source: str) -> dict[str, Path]:
    """Readable files by the name that people see."""
    places = [Path(line.strip()).expanduser() for line in source.splitlines() if line.strip()]
    if not places:
        raise SourceError("No source was given: name a folder or a file, for example samples/data-room.")
    found: dict[str, Path] = {}
    for place in places:
        if not place.exists():
            raise SourceError(f"There is no folder or file {place}: check the path.")
        files = list(_files(place))
        if not files:
            raise SourceError(f"The folder {place} is empty: put the documents there, or name another one.")
        for path, name in files:
            if path.suffix.lower() in READABLE:
                found[name if name not in found else f"{place.name}/{name}"] = path
    if not found:
        kinds = ", ".join(READABLE)
        raise SourceError(f"Nothing in {', '.join(map(str, places))} can be read: Reprise reads {kinds}.")
    return found


def _files(place: Path) -> Iterator[tuple[Path, str]]:
    """Files below a place with their names below it; hidden ones are left out."""
    if place.is_file():
        yield place, place.name
        return
    for path in sorted(place.rglob("*")):
        below = path.relative_to(place)
        if path.is_file() and not any(part.startswith(".") for part in below.parts):
            yield path, below.as_posix()


def _document(path: Path, name: str) -> SourceDocument:
    try:
        state = path.stat()
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"The file {path} cannot be opened ({error.strerror}): check its permissions.") from error
    return SourceDocument(name, sha256, state.st_size, state.st_mtime_ns, str(path.resolve()))
