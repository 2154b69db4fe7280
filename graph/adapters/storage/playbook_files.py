"""Playbooks that ship with Reprise, by name, and a user's own, by path."""

from __future__ import annotations

import asyncio
from importlib import resources
from pathlib import Path

from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.reading import MAX_BYTES, read_playbook, require_playbook
from nodes.domain.shared.errors import PlaybookError


class FilePlaybooks:
    """Satisfies nodes.ports.Playbooks."""

    async def load(self, name: str) -> Playbook:
        return await asyncio.to_thread(_load, name)


def shipped() -> list[str]:
    """Names of the playbooks in the package."""
    files = resources.files("nodes.playbooks").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def playbook_bytes(name: str) -> tuple[bytes, str]:
    """The bytes of a playbook, at most one more than a playbook may have, and what its file is called.

    Raises PlaybookError when there is no such file or it cannot be read.
    """
    if name in shipped():
        return resources.files("nodes.playbooks").joinpath(f"{name}.toml").read_bytes(), f"{name}.toml"
    path = Path(name).expanduser()
    if not path.is_file():
        raise PlaybookError(f"There is no playbook {name}: name one of {', '.join(shipped())}, or a TOML or YAML file.")
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1), str(path)
    except OSError as error:
        raise PlaybookError(f"The playbook {path} cannot be read ({error.strerror}): check the path.") from error


def _load(name: str) -> Playbook:
    data, file = playbook_bytes(name)
    return require_playbook(read_playbook(data, file), name)
