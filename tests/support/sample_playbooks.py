"""One playbook as TOML and as YAML, and the command that checks it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from cli_runs import run_here
from paths import ROOT

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
    return [(problem.line, problem.key) for problem in read_playbook(text.encode(), name).problems]


def checked(
    file: Path, capsys: pytest.CaptureFixture[str], *options: str, env: Mapping[str, str] | None = None
) -> tuple[int, str, list[str]]:
    ended = run_here(["playbook", "check", file, *options], env or {}, capsys)
    return ended.returncode, ended.stdout, ended.stderr.splitlines()


SHIPPED = (ROOT / "nodes" / "playbooks" / "due-diligence.toml").read_text("utf-8")


FOUR_EYES = 'from_risk = "high"\nfour_eyes = ["high", "critical"]\n'


WRONG = """\
name = "Leases"
version = 1
title = "Leases"

[thresholds]
medium = 50
high = 40

[[clauses]]
type = "pets"
title = { en = "Pets" }
question = "Pets?"
points = "many"

[[clauses]]
type = "law"
title = { en = "Law" }
modifiers = [
  { pattern = 'fine', points = 5, reason = "x" },
  { pattern = '(', points = 5, reason = "x" },
]
colour = "red"
"""


STRANGE = """\
name: strange
version: "1"
title: " "
clauses:
  - type: pets
    title: {en: Pets}
    question: ""
    points: 010
    required: "yes"
    modifiers:
      - {pattern: "", points: true, reason: ""}
      - {pattern: (a+)+b, points: 1_000, reason: slow}
  - type: pets
    title: {}
    question: "?"
    points: 1
    points: 2
across:
  - {type: missing_annex, title: Annex, question: "?"}
title: [Twice]
on: 1
rules:
  - {language: en, type: cats, keywords: [""]}
"""


STRANGE_PLACES = [
    (2, "version"),
    (7, "clauses[0].question"),
    (8, "clauses[0].points"),
    (9, "clauses[0].required"),
    (11, "clauses[0].modifiers[0].pattern"),
    (11, "clauses[0].modifiers[0].points"),
    (11, "clauses[0].modifiers[0].reason"),
    (12, "clauses[0].modifiers[1].points"),
    (12, "clauses[0].modifiers[1].points"),
    (13, "clauses[1].type"),
    (14, "clauses[1].title"),
    (17, "clauses[1].points"),
    (19, "across[0].title"),
    (20, "title"),
    (20, "title"),
    (21, "on"),
    (23, "rules[0].keywords[0]"),
    (23, "rules[0].type"),
]
