"""A playbook is data: a user writes one without code, is told all that is wrong with it, and it does as it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paths import ROOT
from sample_findings import finding, result
from sample_playbooks import TOML, WRONG, YAML, read

from graph.adapters.storage.playbook_files import FilePlaybooks
from nodes.domain.playbook.check import warnings_about
from nodes.domain.playbook.reading import MAX_BYTES, json_schema, parse_playbook, read_playbook
from nodes.domain.scoring.risk import score
from nodes.domain.shared.errors import PlaybookError


def test_toml_and_yaml_say_the_same() -> None:
    assert parse_playbook(TOML, "mine.toml").sha256 == parse_playbook(YAML, "mine.yaml").sha256


def test_every_problem_is_named_at_once_with_its_line_and_key() -> None:
    assert read(WRONG) == [
        (1, "name"),
        (5, "thresholds"),
        (13, "clauses[0].points"),
        (15, "clauses[1].question"),
        (20, "clauses[1].modifiers[1].pattern"),
        (22, "clauses[1].colour"),
    ]


def test_the_same_in_yaml() -> None:
    text = YAML.replace("points: 50", "points: many").replace("version: 1", "version: 0").replace("Law}", "Law, de: x}")
    assert read(text, "mine.yml") == [(2, "version"), (8, "clauses[0].points"), (10, "clauses[1].title.de")]


def test_a_start_with_a_wrong_playbook_names_the_file_and_the_first_problems(tmp_path: Path) -> None:
    with pytest.raises(PlaybookError) as refused:
        parse_playbook(WRONG, "mine.toml")
    said = str(refused.value)
    assert said.startswith("Playbook mine.toml: line 1, name: ") and said.count("\n") == 0
    assert "; and 3 more. See all with: python run.py playbook check mine.toml" in said


@pytest.mark.parametrize(
    ("data", "name", "what"),
    [
        (b"x" * (MAX_BYTES + 1), "a.toml", "larger than"),
        (b"\xff\xfe\x00", "a.toml", "not UTF-8"),
        (b"name = ", "a.toml", "not TOML"),
        (b"a: [1", "a.yaml", "not YAML"),
        (b"a: &x [1]\nb: *x", "a.yaml", "alias"),
        (b"a: 1\na: 2", "a.yaml", "twice"),
        (b"a = 1\na = 2", "a.toml", "twice"),
        (b"[a]\n[a]", "a.toml", "not TOML"),
        (b"name: !!python/object/apply:os.system [ls]", "a.yaml", "not YAML"),
        (b"a: " + b"[" * 5_000 + b"]" * 5_000, "a.yaml", "nest"),
        (b"a = " + b"[" * 5_000 + b"]" * 5_000, "a.toml", "nested too deep"),
        (b"", "a.yaml", "missing"),
        (b"- 1\n- 2", "a.yaml", "dictionary"),
        (b"a: 2026-13-45", "a.yaml", "cannot be"),
    ],
)
def test_a_hostile_or_broken_file_is_refused_in_a_sentence(data: bytes, name: str, what: str) -> None:
    problems = read_playbook(data, name).problems
    assert problems and any(what in str(problem) for problem in problems), problems


def test_a_yaml_bomb_is_refused_before_it_is_unfolded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (problem,) = read_playbook("\n".join(lines).encode(), "bomb.yaml").problems
    assert problem.line == 2 and "alias" in problem.text


async def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "huge.toml"
    with file.open("wb") as out:
        out.truncate(1 << 40)
    with pytest.raises(PlaybookError, match="larger than"):
        await FilePlaybooks().load(str(file))


def test_the_shipped_json_schema_is_that_of_the_model() -> None:
    assert (ROOT / "nodes" / "playbooks" / "playbook.schema.json").read_text("utf-8") == json_schema()
    properties = json.loads(json_schema())["properties"]
    assert {"name", "clauses", "rules", "thresholds", "review"} <= properties.keys()


def warned(text: str) -> list[tuple[int, str]]:
    reading = read_playbook(text.encode(), "mine.toml")
    assert reading.playbook is not None, reading.problems
    return [(warning.line, warning.key) for warning in warnings_about(reading.playbook, reading.lines)]


def test_a_clause_type_that_only_a_model_finds_is_named() -> None:
    assert warned(TOML) == []
    without = TOML.split("[[rules]]")[0]
    assert warned(without) == [(6, "clauses[0].type")]
    only_english = "[[rules]]".join(TOML.split("[[rules]]")[:2])
    reading = read_playbook(only_english.encode(), "mine.toml")
    assert reading.playbook is not None
    (one,) = warnings_about(reading.playbook, reading.lines)
    assert "unknown to the local engine in fr: only a model will find it" in one.text


def test_rules_that_can_never_match_are_named() -> None:
    text = TOML.replace("strong = [{ pattern = '\\banima", "weak = [{ pattern = '\\banima")
    text = text.replace('"animaux", "animal"', '"animaux", "bête"').replace("(?:pets?|", "(?:pets?|bête|")
    text = text.replace("confidence = 0.9 }]\n\n", "confidence = 0.1 }]\n\n")
    assert warned(text) == [
        (20, "rules[0].strong[0].confidence"),
        (20, "rules[0].strong[0].pattern"),
        (22, "rules[1]"),
        (25, "rules[1].keywords[1]"),
    ]


def test_reviewers_of_whom_nobody_can_decide_are_named() -> None:
    text = TOML.replace(
        "[[clauses]]",
        '[review]\nfour_eyes = ["critical"]\n[[review.reviewers]]\nnames = ["A. Martin"]\ntypes = ["cats"]\n'
        '[[review.reviewers]]\nnames = ["A"]\nrisks = ["low"]\n[[review.reviewers]]\nnames = ["B"]\nrisks = ["low"]\n'
        "[[clauses]]",
        1,
    )
    assert [key for _, key in warned(text)] == [
        "review.reviewers[0].names",
        "review.reviewers[0].types",
        "review.reviewers[2]",
    ]


def test_a_run_is_not_held_up_by_a_pattern_that_explodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodes.domain.scoring.points.SEARCH_SECONDS", 0.2)
    text = TOML.replace(
        "points = 50", "points = 50\nmodifiers = [{ pattern = '(\\w+\\s?)+[$%]', points = 1, reason = 'x' }]"
    )
    with pytest.raises(PlaybookError, match=r"clause pets takes more than 0\.2 s on one quote: make it simpler"):
        score([finding("pets", "a" * 3_000 + "!")], [result()], parse_playbook(text, "mine.toml"))


def test_a_playbook_keeps_its_hash_when_the_program_learns_new_keys() -> None:
    plain = parse_playbook(TOML.split("[[rules]]")[0], "x.toml")
    assert plain.sha256 == "765a4f3310d7663b27e6020a25ddb5581f66954f12742824c45ee2e465972aa8"


def test_the_example_of_the_documentation_is_right() -> None:
    text = (ROOT / "docs" / "how-to" / "write-a-playbook.md").read_text("utf-8")
    example, review = (block.split("```")[0] for block in text.split("```toml\n")[1:])
    review = review.replace("cap_on_liability", "pets")
    reading = read_playbook((example + review).encode(), "example.toml")
    assert reading.playbook is not None, reading.problems
    remarks = [str(warning) for warning in warnings_about(reading.playbook, reading.lines)]
    assert len(remarks) == 2, remarks
    assert "unknown to the local engine in fr" in remarks[0] and "--accept-all leaves it out" in remarks[1]
