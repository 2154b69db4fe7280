"""One playbook as TOML and as YAML, and the command that checks it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_runs import run_here

from nodes.domain.playbook.reading import read_playbook

TOML = """\
name = "leases"
version = 1
title = "Leases"

[[clauses]]
type = "pets"
title = { en = "Pets", fr = "Animaux" }
question = "Which sentences say whether animals may be kept?"
points = 50

[[clauses]]
type = "governing_law"
title = { en = "Law" }
question = "Which law governs?"

[[rules]]
language = "en"
type = "pets"
keywords = ["animal", "pet"]
strong = [{ pattern = '\\\\b(?:pets?|animals?)\\\\b.{0,80}\\\\b(?:kept|keep|allowed)\\\\b', confidence = 0.9 }]

[[rules]]
language = "fr"
type = "pets"
keywords = ["animaux", "animal"]
strong = [{ pattern = '\\\\banima(?:l|ux)\\\\b.{0,80}\\\\b(?:interdits?|admis|autorises?)\\\\b', confidence = 0.9 }]
""".replace("\\\\", "\\")


YAML = """\
name: leases
version: 1
title: Leases
clauses:
  - type: pets
    title: {en: Pets, fr: Animaux}
    question: Which sentences say whether animals may be kept?
    points: 50
  - type: governing_law
    title: {en: Law}
    question: Which law governs?
rules:
  - language: en
    type: pets
    keywords: [animal, pet]
    strong:
      - {pattern: '\\b(?:pets?|animals?)\\b.{0,80}\\b(?:kept|keep|allowed)\\b', confidence: 0.9}
  - language: fr
    type: pets
    keywords: [animaux, animal]
    strong:
      - {pattern: '\\banima(?:l|ux)\\b.{0,80}\\b(?:interdits?|admis|autorises?)\\b', confidence: 0.9}
"""


def read(text: str, name: str = "mine.toml") -> list[tuple[int, str]]:
    return [(one.line, one.key) for one in read_playbook(text.encode(), name).problems]


def checked(
    file: Path, capsys: pytest.CaptureFixture[str], *more: str, env: Mapping[str, str] | None = None
) -> tuple[int, str, list[str]]:
    ended = run_here(["playbook", "check", file, *more], env or {}, capsys)
    return ended.returncode, ended.stdout, ended.stderr.splitlines()
