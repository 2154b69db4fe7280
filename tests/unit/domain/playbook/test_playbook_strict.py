"""A file of a user is taken as strictly as its schema says, and all that is wrong is said at once."""

from __future__ import annotations

import json

import pytest
from sample_playbooks import STRANGE, STRANGE_PLACES, TOML, YAML, read

from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.reading import parse_playbook


def test_values_have_their_type_and_nothing_is_empty_or_there_twice_and_all_of_it_is_said_at_once() -> None:
    assert sorted(read(STRANGE, "strange.yaml")) == STRANGE_PLACES


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
