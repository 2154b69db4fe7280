"""Titles of clause types from the shipped playbooks and rules, for use where a run's playbook is not at hand."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from types import MappingProxyType

from nodes.domain.evidence.note_model import words_of
from nodes.domain.playbook.prompt_injection import load_hostile_rules
from nodes.domain.shared.errors import MissingPart

SHIPPED = ("due-diligence", "case-law")
_NONE: Mapping[str, str] = MappingProxyType({})


@lru_cache(maxsize=1)
def _shipped() -> Mapping[str, Mapping[str, str]]:
    """Load the titles of clause types by language. Raises MissingPart when a shipped file cannot be read."""
    names: dict[str, Mapping[str, str]] = {
        clause.type: {str(key): title for key, title in clause.title.items()} for clause in load_hostile_rules().clause
    }
    for name in SHIPPED:
        try:
            playbook = tomllib.loads(resources.files("nodes.playbooks").joinpath(f"{name}.toml").read_text("utf-8"))
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise MissingPart(f"The playbook {name}.toml cannot be read: {error}.") from error
        names |= {clause["type"]: clause["title"] for clause in (*playbook["clauses"], *playbook.get("across", ()))}
    return names


def shipped_title(clause_type: str, language: str = "en") -> str:
    """Title of a type in this language; the words of a type that no shipped playbook has."""
    return _shipped().get(clause_type, _NONE).get(language) or words_of(clause_type)


def clause_name(clause_type: str, about: str = "") -> str:
    """Name a finding in English without its playbook: "Missing clause: Cap on liability"."""
    name = shipped_title(clause_type)
    return f"{name}: {shipped_title(about)}" if about else name
