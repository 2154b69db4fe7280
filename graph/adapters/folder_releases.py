"""Finished notes in a folder of their own, under the name of the run."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from pathlib import Path

from nodes.domain.run import Run


class FolderReleases:
    """Satisfies nodes.ports.Releases; a file is replaced whole or not at all."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, run: Run, name: str, data: bytes) -> str:
        return await asyncio.to_thread(self._put, run, name, data)

    def _put(self, run: Run, name: str, data: bytes) -> str:
        # A run's name is the user's own text: only what is safe in a path is kept of it.
        label = re.sub(r"[^\w.-]+", "_", run.name).strip("._")[:60]
        folder = self._root / (f"{label}-{run.thread_id[:8]}" if label else run.thread_id)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
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
