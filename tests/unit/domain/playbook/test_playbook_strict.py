"""A file of a user is taken as strictly as its schema says, and all that is wrong is said at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_playbooks import TOML, YAML, checked, read

from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.reading import parse_playbook

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


def test_values_have_their_type_and_nothing_is_empty_or_there_twice_and_all_of_it_is_said_at_once() -> None:
    assert sorted(read(STRANGE, "strange.yaml")) == STRANGE_PLACES


def test_the_words_are_those_of_the_file_and_not_of_a_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "strange.yaml"
    file.write_text(STRANGE)
    code, _, lines = checked(file, capsys)
    said = [line.removeprefix(f"error: {file}: ") for line in lines]
    assert (code, len(said)) == (2, len(STRANGE_PLACES) + 1), "the pattern that explodes is named with the others"
    assert sum("takes more than 2 s" in line for line in said) == 1
    assert "line 2, version: it must be a whole number, not '1': write digits alone, without quotation marks." in said
    assert "line 13, clauses[1].type: the clause type pets is named twice, first on line 5: keep one." in said
    assert "line 17, clauses[1].points: the key points stands here twice, first on line 16: keep one." in said
    assert not any(word in line for line in said for word in ("input", "instance", "[key]", "valid", "True"))


@pytest.mark.parametrize("number", ["010", "0x10", "0o10", "1_0", "1:30", "0b11", "+010"])
def test_a_number_that_yaml_reads_in_its_own_way_is_refused(number: str) -> None:
    assert read(YAML.replace("points: 50", f"points: {number}"), "mine.yaml") == [(8, "clauses[0].points")]


@pytest.mark.parametrize("number", ["10", "-10", "0", "10.0", "+5"])
def test_a_plain_number_is_taken(number: str) -> None:
    found = parse_playbook(YAML.replace("points: 50", f"points: {number}"), "mine.yaml")
    assert found.clauses[0].points == float(number)


def test_a_key_that_stands_twice_in_toml_hides_nothing_else() -> None:
    text = TOML.replace("points = 50", 'points = 50\nrequired = "no"\npoints = 60').replace('"Law"', '"Law", en = "L"')
    assert read(text + "points = 1\n") == [
        (10, "clauses[0].required"),
        (11, "clauses[0].points"),
        (15, "clauses[1].title.en"),
        (29, "rules[1].points"),
    ]


def test_what_a_run_has_frozen_is_taken_as_an_older_program_let_it_pass() -> None:
    plain = parse_playbook(TOML, "mine.toml").model_dump(mode="json")
    plain["clauses"][0] |= {"question": "", "points": "50", "required": "no"}
    assert Playbook.model_validate_json(json.dumps(plain)).clauses[0].points == 50
