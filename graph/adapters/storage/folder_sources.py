"""Documents of a folder and the files embedded in them, listed and hashed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from graph.adapters.documents.document_bytes import list_attachments
from graph.adapters.documents.file_kind import HEAD_BYTES, skipped_because
from graph.adapters.processes.worker_pool import WorkerDied, WorkerError, WorkerTimeout
from nodes.domain.shared.errors import SourceError
from nodes.domain.shared.file_names import READABLE
from nodes.domain.text.documents import SourceDocument, passwords_for

LITTER = frozenset(("thumbs.db", "desktop.ini"))
"""What systems leave behind in folders; `~$…` are the lock files of Office."""
LISTING_SECONDS, LISTING_SECONDS_PER_MB = 60.0, 2.0
"""To list what is embedded in one file; one that takes longer is left to the reader, which says so."""
MAX_BYTES = 512 << 20


class Runner(Protocol):
    """The part of WorkerPool that this adapter needs."""

    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any: ...


class FolderSources:
    """Satisfies nodes.ports.Sources. Relative paths count from the working folder.

    Files are opened in child processes; without any, nothing is looked for within files.
    """

    def __init__(self, workers: Runner | None = None) -> None:
        self._workers = workers

    async def check(self, source: str) -> int:
        return await asyncio.to_thread(_check, source)

    async def scan(self, source: str, passwords: Mapping[str, str] | None = None) -> list[SourceDocument]:
        files = await asyncio.to_thread(_scan, source)
        attachments = await asyncio.gather(*(self._embedded(document, passwords or {}) for document in files))
        names = {document.document for document in files}
        documents: list[SourceDocument] = []
        for document, rows in zip(files, attachments, strict=True):
            documents += [document, *_attached_documents(document, rows, names)]
        return documents

    async def _embedded(self, document: SourceDocument, passwords: Mapping[str, str]) -> Sequence[Mapping[str, Any]]:
        if self._workers is None or document.skipped or not document.bytes:
            return ()
        options = {"keys": passwords_for(document.document, passwords), "max_bytes": MAX_BYTES}
        timeout = LISTING_SECONDS + LISTING_SECONDS_PER_MB * document.bytes / (1 << 20)
        try:
            rows: list[dict[str, Any]] = await self._workers.run(
                list_attachments, document.path, options, timeout=timeout
            )
        except (WorkerDied, WorkerTimeout, WorkerError):
            return ()  # the reader will find them again and say that they were not read
        return rows


def _attached_documents(
    document: SourceDocument, rows: Sequence[Mapping[str, Any]], taken_names: set[str]
) -> Iterator[SourceDocument]:
    """Yield attached files as documents of their own, each named below what carries it."""
    names: list[str] = []
    for row in rows:
        container = document.document if row["within"] is None else names[row["within"]]
        name = plain_name = f"{container}#{row['name']}"
        number = 1
        while name in taken_names:
            number += 1
            name = f"{plain_name} ({number})"
        taken_names.add(name)
        names.append(name)
        yield SourceDocument(
            name, row["sha256"], row["bytes"], document.modified_ns, document.path,
            container=container, inside=tuple(row["inside"]), skipped=row["skipped"],
        )  # fmt: skip


def _check(source: str) -> int:
    """Count the files; raises SourceError when none is of a kind that can be read."""
    files = _named_files(source)
    if all(skipped_because(name, _head(path)) for name, path in files.items()):
        raise _no_readable_file(source)
    return len(files)


def _scan(source: str) -> list[SourceDocument]:
    documents = [_document(path, name) for name, path in sorted(_named_files(source).items())]
    if all(document.skipped for document in documents):
        raise _no_readable_file(source)
    return documents


def _no_readable_file(source: str) -> SourceError:
    places = ", ".join(line.strip() for line in source.splitlines() if line.strip())
    return SourceError(f"Nothing in {places} can be read: Reprise reads {', '.join(READABLE)}.")


def _named_files(source: str) -> dict[str, Path]:
    """List all files by the name that people see."""
    places = [Path(line.strip()).expanduser() for line in source.splitlines() if line.strip()]
    if not places:
        raise SourceError("No source was given: name a folder or a file, for example samples/data-room.")
    named_files: dict[str, Path] = {}
    for place in places:
        if not place.exists():
            raise SourceError(f"There is no folder or file {place}: check the path.")
        files = list(_files(place))
        if not files:
            raise SourceError(f"The folder {place} is empty: put the documents there, or name another one.")
        for path, name in files:
            named_files[name if name not in named_files else f"{place.name}/{name}"] = path
    return named_files


def _files(place: Path) -> Iterator[tuple[Path, str]]:
    """Files below a place with their names below it; hidden ones and the litter of systems are left out."""
    if place.is_file():
        yield place, place.name
        return
    for path in sorted(place.rglob("*")):
        below = path.relative_to(place)
        litter = path.name.casefold() in LITTER or path.name.startswith("~$")
        if path.is_file() and not litter and not any(part.startswith(".") for part in below.parts):
            yield path, below.as_posix()


def _head(path: Path) -> bytes:
    """Beginning and end of a file, which tell its kind: the directory of an archive is its end."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            if size > HEAD_BYTES:
                file.seek(max(HEAD_BYTES, size - HEAD_BYTES))
                head += file.read()
    except OSError as error:
        raise SourceError(f"The file {path} cannot be opened ({error.strerror}): check its permissions.") from error
    return head


def _document(path: Path, name: str) -> SourceDocument:
    skipped = skipped_because(name, _head(path))
    try:
        state = path.stat()
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"The file {path} cannot be opened ({error.strerror}): check its permissions.") from error
    return SourceDocument(name, sha256, state.st_size, state.st_mtime_ns, str(path.resolve()), skipped=skipped)
