"""Versions with which a run that begins now is made."""

from __future__ import annotations

from importlib import resources

from nodes.domain.playbook.fact_readers import facts_version
from nodes.domain.playbook.model import Playbook
from nodes.domain.runs.versions import PROMPT
from nodes.ports import Services
from nodes.prompts import load_prompt


def versions_now(services: Services, playbook: Playbook) -> dict[str, str]:
    """Return by name the versions of reader, local rules and facts, and the sha256 of each prompt. Reads files."""
    files = resources.files("nodes.prompts").iterdir()
    prompts = sorted(file.name.removesuffix(".md") for file in files if file.name.endswith(".md"))
    return {
        "reader": services.reader_version,
        "rules": services.rules_sha256,
        "facts": facts_version(playbook),
        **{f"{PROMPT}{name}": load_prompt(name).sha256 for name in prompts},
    }
