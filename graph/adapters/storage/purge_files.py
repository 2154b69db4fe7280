"""Removes files of runs for good: artifacts by sha256, half-written ones of a killed process, released notes."""

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

ABANDONED_SECONDS = 3_600.0
"""A file that was never given its name is left by a dead process after this, whatever is in it."""

_ARTIFACT_NAME = re.compile(r"[0-9a-f]{64}")
_NAMES_IN_BYTES = re.compile(rb"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Removed:
    """Count and size of removed files."""

    files: int = 0
    bytes: int = 0

    def __add__(self, other: Removed) -> Removed:
        return Removed(self.files + other.files, self.bytes + other.bytes)


class PurgeFiles:
    """Purges the folders of folder_artifacts and folder_releases. Every method may be repeated."""

    def __init__(self, artifacts: Path, notes: Path) -> None:
        self._artifacts = artifacts
        self._notes = notes

    async def stored(self) -> set[str]:
        """Names of all artifacts."""
        return await asyncio.to_thread(
            lambda: {path.name for path in self._files() if _ARTIFACT_NAME.fullmatch(path.name)}
        )

    async def within(self, names: Iterable[str]) -> set[str]:
        """Follow references: these artifacts, and those that they name in turn."""
        return await asyncio.to_thread(self._within, set(names))

    async def marked(self, names: Iterable[str], marks: Collection[str]) -> set[str]:
        """Select the artifacts that contain one of the marks."""
        pattern = re.compile(b"|".join(re.escape(mark.encode()) for mark in marks)) if marks else None
        if pattern is None:
            return set()
        return await asyncio.to_thread(lambda: {name for name in names if pattern.search(_read(self._path(name)))})

    async def fresh(self, names: Iterable[str]) -> set[str]:
        """Select the artifacts that were stored within the last SETTLED_SECONDS."""
        limit = time.time() - SETTLED_SECONDS
        return await asyncio.to_thread(lambda: {name for name in names if _modified_at(self._path(name)) > limit})

    async def remove(self, names: Iterable[str]) -> Removed:
        """Remove artifacts."""
        return await asyncio.to_thread(_remove, [self._path(name) for name in names])

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
        reached, frontier = set[str](), names
        while frontier:
            reached |= frontier
            named_in = (_NAMES_IN_BYTES.findall(_read(self._path(name))) for name in frontier)
            new_names = {name.decode() for references in named_in for name in references} - reached
            frontier = {name for name in new_names if self._path(name).is_file()}
        return reached

    def _remove_unnamed(self, marks: list[bytes]) -> Removed:
        limit = time.time() - ABANDONED_SECONDS
        unnamed = [path for path in self._artifacts.glob("??/.new-*") if path.is_file()]
        return _remove(p for p in unnamed if _modified_at(p) < limit or any(mark in _read(p) for mark in marks))

    def _remove_released(self, places: list[str], thread_id: str) -> Removed:
        root = self._notes.resolve()
        files = [Path(unquote(urlsplit(place).path)) for place in places if place.startswith("file:")]
        files = [path for path in files if root in path.parents]
        folders = {path.parent for path in files}
        if thread_id and root.is_dir():
            suffix = f"-{thread_id[:8]}"
            run_folders = {path for path in root.iterdir() if path.name == thread_id or path.name.endswith(suffix)}
            folders |= run_folders
            files += [folder / name for folder in run_folders for name in places if name == Path(name).name]
            files += [path for folder in run_folders for path in folder.glob(".new-*")]
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


def _modified_at(path: Path) -> float:
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
