"""Each resume is one row and one line: at which step, how it ended, what it kept, how long nothing was done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import objects, run_here
from cut_off_runs import cut_off
from databases import rows
from processes import environment
from risky_contracts import risky


def test_each_resume_is_a_row_with_what_it_kept_and_lost_and_all_of_them_add_up(
    tmp_path: Path, database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    room = risky(tmp_path / "room", 6)
    for name in ("one", "two"):
        matter = ("--matter", name, "--batch-size", "3", "--concurrency", "1")
        cut_off(room, env, "sql.finish_document:after:4", *matter, thread=name)
    # Their leases have not run out yet: that they drive nothing any more is told all the same, as by `status`.
    assert [row["success"] for row in objects(run_here(["resumes", "--json"], env, capsys))] == ["killed", "killed"]
    ended = run_here(["resume", "one"], env, capsys)
    assert ended.returncode == 0, ended.stderr
    line = next(line for line in ended.stderr.splitlines() if line.startswith("one: resumed at extract"))
    assert "4 documents kept" in line and "stopped since" in line
    answer = ["--accept-all", "--reviewer", "A. Martin", "--reason", "seen"]
    assert run_here(["resume", "one", *answer], env, capsys).returncode == 0

    listed = objects(run_here(["resumes", "one", "--json"], env, capsys))
    assert [(row["kind"], row["from_step"], row["success"]) for row in listed] == [
        ("start", "ingest", "killed"),
        ("resume", "extract", "ended"),
        ("resume", "needs_review", "ended"),
    ]
    assert [row["documents_kept"] for row in listed] == [0, 4, 6]
    # Only after the kill did nothing happen; the wait at the gate is no time lost.
    assert listed[1]["lost_seconds"] > 0 and listed[2]["lost_seconds"] is None
    assert listed[1]["changes"]["checked"]["as_frozen"] == 6

    everything = objects(run_here(["resumes", "--json"], env, capsys))
    assert len(everything) == len(rows(database, "SELECT 1 AS one FROM reprise.resumes")) == 4
    (summed,) = objects(run_here(["resumes", "--summary", "--json"], env, capsys))
    assert (summed["runs"], summed["resumes"], summed["documents_kept"]) == (1, 2, 10)
    assert summed["by_step"] == {"extract": 1, "needs_review": 1} and summed["by_success"] == {"ended": 2}
    told = " ".join(run_here(["resumes"], env, capsys).stdout.split())
    assert "2 resumes of 1 run, at extract 1, needs_review 1: 2 ended" in told and "killed" in told


def test_show_says_why_a_run_stopped_what_is_valid_and_what_a_resume_would_do(
    tmp_path: Path, database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    cut_off(risky(tmp_path / "room", 6), env, "sql.finish_document:after:4", "--batch-size", "3", "--concurrency", "1")
    shown = json.loads(run_here(["show", "t", "--json"], env, capsys).stdout)
    assert shown["stopped"] == "its process was killed"
    assert shown["versions"] == {
        "changes": [], "asks": False, "documents": 0, "usd": None, "answers": 0, "answers_usd": 0.0, "playbook": None,
    }  # fmt: skip
    assert (shown["inputs"]["as_frozen"], shown["inputs"]["lacking"], shown["stale"]) == (6, [], [])
    rows(database, 'UPDATE reprise.runs SET versions = versions || \'{"rules": "older"}\' RETURNING 1')
    said = run_here(["show", "t"], env, capsys).stdout
    for line in (
        "stopped its process was killed",
        "inputs 6 of 6 documents as frozen",
        "versions the rules or the model of the local engine changed since it began: 2 documents are still to do",
        "a resume needs --accept-version",
        "resume 2 documents to do",
    ):
        assert line in " ".join(said.split()), said
