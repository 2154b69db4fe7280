"""Threads of an older program go on: what was done is not read or asked again, what was decided stays decided."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cli_runs import objects, refused, run_here
from cut_off_runs import everything
from databases import number, rows
from old_threads import lay_out_the_room, restore
from processes import environment

from graph.runtime.postgres.migrations import migrate
from graph.testing.endpoint import ScriptedEndpoint


@pytest.fixture(autouse=True)
def _room() -> None:
    lay_out_the_room()


def brought_back(kind: str, database: str, home: Path) -> dict[str, Any]:
    facts = restore(kind, database, home)
    asyncio.run(migrate(database))
    return facts


def asked_about(database: str, since: int) -> Counter[str]:
    """Documents of the calls that are newer than `since`, with how many there were."""
    found = rows(database, "SELECT document FROM reprise.calls WHERE call_id > %s AND state <> 'reused'", since)
    return Counter(row["document"] for row in found)


def test_a_thread_at_its_gate_finishes_with_the_decisions_that_were_stored_and_asks_nothing(
    empty_database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = brought_back("gate", empty_database, home)
    env = environment(empty_database, home)
    shown = run_here(["show", "gate", "--json"], env, capsys)
    assert json.loads(shown.stdout)["run"]["status"] == "needs_review"
    waiting = objects(run_here(["findings", "gate", "--to-review", "--json"], env, capsys))
    rest = [{"finding_id": finding["finding_id"], "verdict": "accept", "reason": "checked"} for finding in waiting]
    assert len(rest) == facts["findings"]["to_review"] == 6
    (tmp_path / "rest.json").write_text(json.dumps(rest))
    calls = number(empty_database, "SELECT max(call_id) FROM reprise.calls")

    # Every document is done, so nothing would be done in another way: nobody has to agree to anything.
    answer = ["--decisions", tmp_path / "rest.json", "--reviewer", "B. Roy"]
    ended = run_here(["resume", "gate", *answer, "--json"], env, capsys)
    assert ended.returncode == 0, ended.stderr
    view = json.loads(ended.stdout)
    assert (view["status"], view["documents"]) == ("completed", facts["documents"])
    assert asked_about(empty_database, calls) == {}
    decided = rows(empty_database, "SELECT finding_id, verdict, reviewer FROM reprise.decisions ORDER BY decision_id")
    kept = [(decision["finding_id"], decision["verdict"]) for decision in facts["decisions"]]
    assert [(row["finding_id"], row["verdict"]) for row in decided[:2]] == kept
    assert {row["reviewer"] for row in decided} == {"A. Martin", "B. Roy"}
    assert len(decided) == len({row["finding_id"] for row in decided}) == 8


def test_a_thread_that_was_killed_in_the_middle_of_a_batch_asks_only_about_what_was_not_done(
    empty_database: str, home: Path, endpoint: ScriptedEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = brought_back("killed", empty_database, home)
    env = environment(empty_database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
    calls = number(empty_database, "SELECT max(call_id) FROM reprise.calls")

    ended = run_here(["resume", "killed", "--accept-version", "--json"], env, capsys)
    assert ended.returncode == 0, ended.stderr
    view = json.loads(ended.stdout)
    assert (view["status"], view["documents"]["done"]) == ("completed", 8)
    again = asked_about(empty_database, calls)
    assert not set(facts["done"]) & set(again)
    assert view["cost"]["calls_lost"] == facts["running"]["model"]
    completed = "SELECT count(*) FROM reprise.calls WHERE state = 'completed' AND call_id <= %s"
    assert number(empty_database, completed, calls) == facts["completed"]
    twice = "SELECT call_key FROM reprise.calls WHERE state = 'completed' GROUP BY call_key HAVING count(*) > 1"
    assert rows(empty_database, twice) == []


def test_a_thread_that_was_held_by_its_budget_goes_on_with_a_higher_one(
    empty_database: str, home: Path, endpoint: ScriptedEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = brought_back("hold", empty_database, home)
    env = environment(empty_database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
    calls = number(empty_database, "SELECT max(call_id) FROM reprise.calls")

    ended = run_here(["resume", "hold", "--budget-usd", "5", "--accept-version", "--json"], env, capsys)
    assert ended.returncode == 0, ended.stderr
    view = json.loads(ended.stdout)
    assert (view["status"], view["documents"]["done"]) == ("completed", 8)
    assert not set(facts["done"]) & set(asked_about(empty_database, calls))
    assert view["cost"]["usd"] > facts["cost"]["usd"]


@pytest.mark.parametrize("kind", ["killed", "hold"])
def test_an_old_thread_whose_rest_would_be_done_otherwise_says_so_and_is_left_as_it_is(
    kind: str, empty_database: str, home: Path, endpoint: ScriptedEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    brought_back(kind, empty_database, home)
    env = environment(empty_database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
    # What an old thread was made with is read from its calls; here they were made with another reader.
    otherwise = """UPDATE reprise.calls SET parameters = jsonb_set(parameters, '{reader}', '"1 pdfium 4.30"')
                    WHERE tool = 'reader' RETURNING 1"""
    assert rows(empty_database, otherwise)
    before = everything(empty_database)
    said = refused(run_here(["resume", kind, "--budget-usd", "5", "--json"], env, capsys), 2)
    assert "the reader (1 pdfium 4.30 → " in said and "4 documents are still to do" in said
    assert f"python run.py resume {kind} --accept-version" in said
    assert everything(empty_database) == before and endpoint.counts()["received"] == 0
