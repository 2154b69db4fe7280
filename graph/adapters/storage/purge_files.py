"""Files of runs, removed for good: artifacts by sha256, what a killed process left of them, released notes."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

SETTLED_SECONDS = 2.0
"""A file that was stored or asked for a moment ago may be about to be named by another run: look again after this."""

LEFT_SECONDS = 3_600.0
"""A file that was never given its name is left by a dead process after this, whatever is in it."""

_NAME = re.compile(r"[0-9a-f]{64}")
_NAMES = re.compile(rb"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Removed) -> Removed:
        return Removed(self.files + other.files, self.bytes + other.bytes)


class PurgeFiles:
    """Over the folders of graph.adapters.storage.folder_artifacts and folder_releases. Every method may be repeated."""

    def __init__(self, artifacts: Path, notes: Path) -> None:
        self._artifacts = artifacts
        self._notes = notes

    async def stored(self) -> set[str]:
        """Names of all artifacts."""
        return await asyncio.to_thread(lambda: {path.name for path in self._files() if _NAME.fullmatch(path.name)})

    async def within(self, names: Iterable[str]) -> set[str]:
        """These artifacts, and those that they name in turn."""
        return await asyncio.to_thread(self._within, set(names))

    async def marked(self, names: Iterable[str], marks: Collection[str]) -> set[str]:
        """Those of some artifacts in which one of the marks stands."""
        found = re.compile(b"|".join(re.escape(mark.encode()) for mark in marks)) if marks else None
        if found is None:
            return set()
        return await asyncio.to_thread(lambda: {one for one in names if found.search(_read(self._path(one)))})

    async def fresh(self, names: Iterable[str]) -> set[str]:
        """Those that were stored a moment ago."""
        limit = time.time() - SETTLED_SECONDS
        return await asyncio.to_thread(lambda: {one for one in names if _touched(self._path(one)) > limit})

    async def remove(self, names: Iterable[str]) -> Removed:
        """Remove artifacts."""
        return await asyncio.to_thread(_remove, [self._path(one) for one in names])

    async def remove_unnamed(self, marks: Collection[str]) -> Removed:
        """Remove what was being written when its process died: files with a mark in them, and any that are old."""
        return await asyncio.to_thread(self._remove_unnamed, [mark.encode() for mark in marks])

    async def remove_released(self, places: Iterable[str], thread_id: str) -> Removed:
        """Remove released files by their addresses.

        With `thread_id` also those of its folder that are known by their name alone or are half-written.
        """
        return await asyncio.to_thread(self._remove_released, list(places), thread_id)

    def _path(self, name: str) -> Path:
        return self._artifacts / name[:2] / name

    def _files(self) -> Iterable[Path]:
        return (path for path in self._artifacts.glob("??/*") if path.is_file())

    def _within(self, names: set[str]) -> set[str]:
        known, new = set[str](), names
        while new:
            known |= new
            inside = (_NAMES.findall(_read(self._path(name))) for name in new)
            named = {name.decode() for each in inside for name in each} - known
            new = {name for name in named if self._path(name).is_file()}
        return known

    def _remove_unnamed(self, marks: list[bytes]) -> Removed:
        limit = time.time() - LEFT_SECONDS
        unnamed = [path for path in self._artifacts.glob("??/.new-*") if path.is_file()]
        return _remove(p for p in unnamed if _touched(p) < limit or any(mark in _read(p) for mark in marks))

    def _remove_released(self, places: list[str], thread_id: str) -> Removed:
        root = self._notes.resolve()
        files = [Path(unquote(urlsplit(place).path)) for place in places if place.startswith("file:")]
        files = [path for path in files if root in path.parents]
        folders = {path.parent for path in files}
        if thread_id and root.is_dir():
            labelled = f"-{thread_id[:8]}"
            mine = {path for path in root.iterdir() if path.name == thread_id or path.name.endswith(labelled)}
            folders |= mine
            files += [folder / name for folder in mine for name in places if name == Path(name).name]
            files += [path for folder in mine for path in folder.glob(".new-*")]
        removed = _remove(files)
        for folder in folders:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        return removed


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _touched(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _remove(paths: Iterable[Path]) -> Removed:
    removed = Removed()
    for path in paths:
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            continue
        removed += Removed(1, size)
    return removed
