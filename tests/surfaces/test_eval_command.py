"""The command eval: one engine or two side by side against golden sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import refused, run_here
from databases import number
from paths import SAMPLES
from processes import environment
from risky_contracts import risky

from graph.testing.endpoint import ScriptedEndpoint


def test_the_traps_of_the_samples_are_not_stepped_into(
    database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["eval", SAMPLES / "traps-gold.jsonl", "--min-f1", "0.6"]
    ended = run_here([*arguments, "--json"], environment(database, home), capsys)
    (side,) = json.loads(ended.stdout)["sides"]
    assert side["traps"] == {"set": 37, "fallen": []} and ended.returncode == 0, ended.stderr
    assert (side["documents"], side["took"]["calls"], side["unread"]) == (6, 0, [])


def test_two_engines_stand_side_by_side_and_each_is_asked_anew(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = risky(tmp_path / "room", 2)
    gold = tmp_path / "gold.jsonl"
    text = "This agreement is governed by the laws of France"
    lines = [{"document": name.stem, "clause_type": "governing_law", "text": text} for name in folder.iterdir()]
    gold.write_text("\n".join(map(json.dumps, lines)))
    with ScriptedEndpoint() as endpoint:
        env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="key")
        arguments = ["eval", gold, "--source", folder, "--against", "openai:scripted-1"]
        first = run_here([*arguments, "--json"], env, capsys)
        asked = len(endpoint.calls("received"))
        assert {call["model"] for call in endpoint.calls("received")} == {"scripted-1"}
        second = run_here(arguments, env, capsys)
        assert len(endpoint.calls("received")) == 2 * asked > 0
    local, openai = json.loads(first.stdout)["sides"]
    assert (local["side"], openai["side"]) == ("local", "openai scripted-1")
    assert local["types"]["governing_law"]["doc_f1"] == openai["types"]["governing_law"]["doc_f1"] == 1.0
    assert openai["took"]["calls"] == asked and openai["took"]["valid_answers"] == 1.0
    assert (openai["took"]["basis"], openai["took"]["calls_unpriced"]) == ("unknown", asked)
    assert f"at least $0.00 ({asked} calls unpriced)" in second.stdout
    assert "local | openai scripted-1" in second.stdout and "1.000 | 1.000" in second.stdout
    assert number(database, "SELECT count(*) AS n FROM reprise.calls WHERE state = 'reused' AND tool = 'model'") == 0


def test_what_is_wrong_with_the_golden_set_or_its_folder_is_one_sentence(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    gold = tmp_path / "gold.jsonl"
    assert "cannot be read" in refused(run_here(["eval", gold], env, capsys), 2)
    gold.write_text('{"document": "a", "clause_type": "cap_on_liability", "text": "x y"}')
    said = refused(run_here(["eval", gold], env, capsys), 2)
    assert "there is no folder gold/ or pdf/" in said and "--source" in said
    here = ["eval", gold, "--source", risky(tmp_path / "room", 1)]
    assert "openai:MODEL" in refused(run_here([*here, "--against", "x"], env, capsys), 2)
    assert "--types: foo is no clause type" in refused(run_here([*here, "--types", "foo"], env, capsys), 2)
    assert "extract alone" in refused(run_here([*here, "--model", "summarize=x"], env, capsys), 2)
    gold.write_text('{"document": "gold", "clause_type": "cap_on_libility", "must_not_find": true}')
    said = refused(run_here(here, env, capsys), 2)
    assert "cap_on_libility (gold.jsonl, line 1)" in said
    assert number(database, "SELECT count(*) AS n FROM reprise.runs") == 0


def test_both_sides_are_looked_at_before_the_first_one_reads(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"document": "contract_000", "clause_type": "governing_law", "text": "laws of France"}))
    arguments = ["eval", gold, "--source", risky(tmp_path / "room", 1), "--against", "openai:x"]
    assert "needs a key" in refused(run_here(arguments, environment(database, home), capsys), 1)
    assert number(database, "SELECT count(*) AS n FROM reprise.runs") == 0


def test_what_the_first_side_took_is_shown_where_the_second_one_fails(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"document": "contract_000", "clause_type": "governing_law", "text": "laws of France"}))
    arguments = ["eval", gold, "--source", risky(tmp_path / "room", 1), "--against", "openai:m", "--json"]
    with ScriptedEndpoint(key="another") as endpoint:
        env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="key")
        ended = run_here(arguments, env, capsys)
    (side,) = json.loads(ended.stdout)["sides"]
    assert (side["side"], side["types"]["governing_law"]["doc_f1"]) == ("local", 1.0)
    assert ended.returncode == 1 and "error: " in ended.stderr


def test_a_trap_that_was_not_tested_fails_the_command_in_one_sentence(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"document": "contract_000", "clause_type": "insurance", "must_not_find": True},
        {"document": "Renamed", "clause_type": "insurance", "must_not_find": True},
        {"document": "contract_000", "clause_type": "insurance", "text": "not in there", "must_not_find": True},
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text("\n".join(map(json.dumps, lines)))
    arguments = ["eval", gold, "--source", risky(tmp_path / "room", 1)]
    ended = run_here(arguments, environment(database, home), capsys)
    assert ended.returncode == 1 and "0 of 1 trap stepped into" in ended.stdout
    (said,) = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert "2 traps could not be tested: gold.jsonl, line 2 (no document of this name was there); " in said
    assert "gold.jsonl, line 3 (its words are not in contract_000.txt)" in said


def test_golden_sets_of_two_folders_are_each_compared_with_their_own(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    risky(tmp_path / "one", 2)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "contract_000.txt").write_text(
        'This Agreement is made between Firm 9 Ltd (the "Supplier") and Meridian Foods SA (the "Customer").\n\n'
        "1. Governing Law. This Agreement is governed by the laws of Ireland."
    )
    law = "This Agreement is governed by the laws of"
    trap = {"must_not_find": True, "clause_type": "uncapped_liability"}
    one = [{"document": f"contract_00{n}", "clause_type": "governing_law", "text": f"{law} France"} for n in range(2)]
    two = [{"document": "contract_000", "clause_type": "governing_law", "text": f"{law} Ireland"}]
    for name, lines in (("one", one), ("two", [*two, {"document": "contract_000.txt", **trap}])):
        (tmp_path / f"{name}-gold.jsonl").write_text("\n".join(map(json.dumps, lines)))
    arguments = ["eval", tmp_path / "one-gold.jsonl", tmp_path / "two-gold.jsonl", "--json"]
    ended = run_here(arguments, environment(database, home), capsys)
    said = json.loads(ended.stdout)
    (side,) = said["sides"]
    assert (said["gold"], said["source"].split("\n")) == (4, [str(tmp_path / "one"), str(tmp_path / "two")])
    assert (side["documents"], side["unread"], side["gold_not_in_text"]) == (3, [], 0)
    assert side["types"]["governing_law"]["documents_with"] == 3 and side["types"]["governing_law"]["doc_f1"] == 1.0
    assert side["traps"] == {"set": 1, "fallen": []} and ended.returncode == 0, ended.stderr


def test_a_side_that_its_budget_held_is_measured_on_what_it_read_and_exits_4(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"document": "contract_000", "clause_type": "governing_law", "text": "laws of France"}))
    arguments = ["eval", gold, "--source", risky(tmp_path / "room", 2), "--budget-usd", "0", "--json"]
    with ScriptedEndpoint() as endpoint:
        env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="key")
        ended = run_here([*arguments, "--engine", "openai"], env, capsys)
        assert endpoint.counts()["received"] == 0
    assert ended.returncode == 4
    assert json.loads(ended.stdout)["sides"][0]["took"]["status"] == "paused"
    (said,) = [line for line in ended.stderr.splitlines() if line.startswith("error: ")]
    assert "came to its limit with 0 of 2 documents read" in said and "--budget-usd" in said
