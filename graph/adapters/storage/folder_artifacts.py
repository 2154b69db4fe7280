"""Artifacts in a folder, named by their sha256; and a twin in memory."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from nodes.domain.shared.errors import ArtifactMissing, StoreUnwritable

REMEDY = "resume its run, which makes it again where it can, or restore it from a backup."
"""What to do about bytes that are gone or differ."""


class FolderArtifacts:
    """Satisfies nodes.ports.Artifacts; an object is whole or absent, also after a crash of the machine."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, data: bytes) -> str:
        try:
            return await asyncio.to_thread(self._put, data)
        except OSError as error:
            raise unwritable(self._root, error) from error

    async def get(self, sha256: str) -> bytes:
        return await asyncio.to_thread(self._get, sha256)

    async def size(self, sha256: str) -> int | None:
        return await asyncio.to_thread(self._size, sha256)

    async def lacking(self, sizes: Mapping[str, int]) -> list[str]:
        return await asyncio.to_thread(lambda: [name for name, size in sizes.items() if self._size(name) != size])

    def uri(self, sha256: str) -> str:
        return self._path(sha256).as_uri()

    def _path(self, sha256: str) -> Path:
        return self._root / sha256[:2] / sha256

    def _put(self, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._path(sha256)
        if self._size(sha256) == len(data):
            # A purge leaves alone what was asked for a moment ago; has it just taken this one, it is written anew.
            with contextlib.suppress(FileNotFoundError):
                os.utime(path)
                if path.read_bytes() == data:  # one that was changed since it was stored is replaced
                    return sha256
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        # The ledger will name this object: its place in the folder must be on disk before that.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return sha256

    def _get(self, sha256: str) -> bytes:
        try:
            data = self._path(sha256).read_bytes()
        except OSError as error:
            raise ArtifactMissing(f"Artifact {sha256[:12]}… is not in {self._root}: {REMEDY}") from error
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ArtifactMissing(f"Artifact {self._path(sha256)} was changed after it was stored: {REMEDY}")
        return data

    def _size(self, sha256: str) -> int | None:
        try:
            return self._path(sha256).stat().st_size
        except OSError:
            return None


def unwritable(folder: Path, error: OSError) -> StoreUnwritable:
    """Error for a folder that nothing can be written to."""
    why = error.strerror or type(error).__name__
    return StoreUnwritable(f"Nothing can be written to {folder} ({why}): make room or mend its rights, then resume.")


class MemoryArtifacts:
    """The same in memory; `.objects` is what a test looks at."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    async def put(self, data: bytes) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        self.objects[sha256] = data
        return sha256

    async def get(self, sha256: str) -> bytes:
        if sha256 not in self.objects:
            raise ArtifactMissing(f"Artifact {sha256[:12]}… is not in memory: start the run anew.")
        return self.objects[sha256]

    async def size(self, sha256: str) -> int | None:
        data = self.objects.get(sha256)
        return None if data is None else len(data)

    async def lacking(self, sizes: Mapping[str, int]) -> list[str]:
        return [name for name, size in sizes.items() if len(self.objects.get(name, b"")) != size]

    def uri(self, sha256: str) -> str:
        return f"memory:{sha256}"
