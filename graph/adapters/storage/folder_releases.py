"""Finished notes in a folder of their own, under the name of the run."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
from pathlib import Path

from graph.adapters.storage.folder_artifacts import unwritable
from nodes.domain.runs.settings import Run

_TEMPORARY_PREFIX = ".new-"
"""Begins the name of a file that is not whole yet; one driver a thread, so that whoever finds one may remove it."""


class FolderReleases:
    """Satisfies nodes.ports.Releases; a file is replaced whole or not at all."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, run: Run, name: str, data: bytes) -> str:
        try:
            return await asyncio.to_thread(self._put, run, name, data)
        except OSError as error:
            raise unwritable(self._root, error) from error

    async def find(self, run: Run, name: str, sha256: str) -> str | None:
        return await asyncio.to_thread(self._find, run, name, sha256)

    def _folder(self, run: Run) -> Path:
        # A run's name is the user's own text: only what is safe in a path is kept of it.
        label = re.sub(r"[^\w.-]+", "_", run.name).strip("._")[:60]
        return self._root / (f"{label}-{run.thread_id[:8]}" if label else run.thread_id)

    def _find(self, run: Run, name: str, sha256: str) -> str | None:
        path = self._folder(run) / name
        try:
            is_same = hashlib.sha256(path.read_bytes()).hexdigest() == sha256
        except FileNotFoundError:
            return None
        return path.resolve().as_uri() if is_same else None

    def _put(self, run: Run, name: str, data: bytes) -> str:
        folder = self._folder(run)
        folder.mkdir(parents=True, exist_ok=True)
        for leftover in folder.glob(f"{_TEMPORARY_PREFIX}*"):  # of a process that was killed while it wrote
            leftover.unlink(missing_ok=True)
        path = folder / name
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=_TEMPORARY_PREFIX)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        return path.resolve().as_uri()


class MemoryReleases:
    """The same in memory; `.files` by run and name."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], bytes] = {}

    async def put(self, run: Run, name: str, data: bytes) -> str:
        self.files[run.run_id, name] = data
        return f"memory:{run.run_id}/{name}"

    async def find(self, run: Run, name: str, sha256: str) -> str | None:
        data = self.files.get((run.run_id, name))
        is_same = data is not None and hashlib.sha256(data).hexdigest() == sha256
        return f"memory:{run.run_id}/{name}" if is_same else None
