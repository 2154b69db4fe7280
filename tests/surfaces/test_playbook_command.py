"""The commands playbook check and playbook show."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import run_here
from sample_playbooks import STRANGE, STRANGE_PLACES, TOML, WRONG, checked

from graph.adapters.storage.playbook_files import shipped
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.reading import json_schema


def test_check_prints_them_all_and_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(WRONG)
    code, out, lines = checked(file, capsys)
    assert (code, out, len(lines)) == (2, "", 6)
    assert lines[2] == (
        f"error: {file}: line 13, clauses[0].points: it must be a whole number, not 'many': write digits alone, "
        "without quotation marks."
    )
    assert all(line.startswith(f"error: {file}: line ") and line.endswith(".") for line in lines)
    ended = run_here(["playbook", "check", file, "--json"], {}, capsys)
    said = json.loads(ended.stdout)
    assert (ended.returncode, said["ok"], [problem["line"] for problem in said["problems"]]) == (
        2,
        False,
        [1, 5, 13, 15, 20, 22],
    )


def test_what_ships_has_no_problem_and_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    for name in shipped():
        code, out, lines = checked(Path(name), capsys)
        assert (code, lines) == (0, []), lines
        assert "can be used" in out


def test_show_prints_the_playbook_its_json_and_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    shown = run_here(["playbook", "show", "due-diligence"], {}, capsys).stdout
    assert "cap_on_liability" in shown and "high from 45" in shown
    plain = json.loads(run_here(["playbook", "show", "due-diligence", "--json"], {}, capsys).stdout)
    assert Playbook.model_validate({name: plain[name] for name in plain if name != "sha256"}).sha256 == plain["sha256"]
    assert run_here(["playbook", "show", "--schema"], {}, capsys).stdout == json_schema()


def test_check_names_a_pattern_that_explodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        TOML.replace("points = 50", "points = 50\nmodifiers = [{ pattern = '(a+)+b', points = 1, reason = 'x' }]")
    )
    code, _, lines = checked(file, capsys)
    assert (code, len(lines)) == (2, 1)
    assert "line 10, clauses[0].modifiers[0].pattern: this pattern takes more than 2 s" in lines[0]


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
