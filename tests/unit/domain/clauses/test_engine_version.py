"""Answers of the local engine belong to its version: a stored answer is reused for as long as the version stays."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from paths import PLAYBOOKS, SAMPLES
from sample_clauses import document

from nodes.domain.clauses.engine_files import MODEL_CODE, RULES_CODE, local_sha256
from nodes.domain.clauses.local_engine import find_clauses
from nodes.domain.playbook.reading import parse_playbook

VERSIONS = (1, 1, "e17512855a51c97cdf261ee2d2d381a7f8f715833a3b2cc0852cefcbdad72ad9")
"""Of the code that applies the rules, of the code that applies the model, and the hash of both with all their data."""
ANSWERS = "43adfba5b2556d447e0c49793f2cec16da23f6805205665f4367b8e79cf79f62"
"""sha256 of what these versions find in the samples."""
LANGUAGES = ("en", "fr", "")
"""English asks the model and the rules, French the rules alone, no language the rules of both and the model."""


def candidates_in(path: Path, types: tuple[str, ...]) -> list[tuple[str, str, str, int | None, str, float]]:
    text = path.read_text(encoding="utf-8")
    return [
        (path.name, language, clause.clause_type, clause.start, clause.quote, round(clause.confidence, 6))
        for language in LANGUAGES
        for clause in find_clauses(document(text, language), types).candidates
    ]


def test_the_engine_gives_the_answers_that_belong_to_its_version() -> None:
    types = parse_playbook((PLAYBOOKS / "due-diligence.toml").read_text(encoding="utf-8"), "due-diligence").types
    texts = sorted([*SAMPLES.glob("texts/*.txt"), *SAMPLES.glob("traps/*.txt")])
    answers = [answer for path in texts for answer in candidates_in(path, types)]
    assert len(answers) > 100
    plain = json.dumps(answers, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(plain.encode()).hexdigest()
    assert (RULES_CODE, MODEL_CODE, local_sha256()) == VERSIONS, f"a new version: its answers are {digest}"
    assert digest == ANSWERS, "other answers, or other samples: raise RULES_CODE or MODEL_CODE if code gives them"
