"""Playbooks that ship with Reprise, by name, and a user's own, by path."""

from __future__ import annotations

import asyncio
from importlib import resources
from pathlib import Path

from nodes.domain.errors import PlaybookError
from nodes.domain.playbook import Playbook, parse_playbook


class FilePlaybooks:
    """Satisfies nodes.ports.Playbooks."""

    async def load(self, name: str) -> Playbook:
        return await asyncio.to_thread(_load, name)


def shipped() -> list[str]:
    """Names of the playbooks in the package."""
    files = resources.files("nodes.playbooks").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def _load(name: str) -> Playbook:
    if name in shipped():
        text = resources.files("nodes.playbooks").joinpath(f"{name}.toml").read_text("utf-8")
        return parse_playbook(text, name)
    path = Path(name).expanduser()
    if not path.is_file():
        raise PlaybookError(f"There is no playbook {name}: name one of {', '.join(shipped())}, or a TOML file.")
    try:
        return parse_playbook(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise PlaybookError(f"The playbook {path} cannot be read ({error}).") from error
