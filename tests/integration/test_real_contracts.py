"""The main job on real documents: thirty contracts in, a note out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from cli_runs import objects, run_here
from paths import DATA
from processes import environment, run
from shared_data import needs_shared

CONTRACTS = DATA / "contracts" / "pdf"


@needs_shared(CONTRACTS)
def test_thirty_real_contracts_become_a_reviewed_note(
    database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    started = run(["start", CONTRACTS, "--thread", "real-1", "--json"], env, timeout=900)
    assert started.returncode == 0, started.stderr
    assert json.loads(started.stdout)["documents"] == {"total": 30, "done": 30, "failed": 0, "skipped": 0}

    found = objects(run_here(["findings", "real-1", "--json"], env, capsys))
    alignments = Counter(finding["alignment"] for finding in found)
    assert len(found) > 100 and alignments["not_found"] == 0
    placed = [finding for finding in found if finding["alignment"] != "absent"]
    assert all(finding["quote"] and finding["page"] >= 1 and finding["boxes"] for finding in placed)
    assert {finding["clause_type"] for finding in found if finding not in placed} <= {"missing_clause"}

    accept = ["resume", "real-1", "--accept-all", "--reviewer", "A. Martin", "--reason", "test", "--json"]
    ended = run_here(accept, env, capsys)
    assert ended.returncode == 0, ended.stderr
    end = json.loads(ended.stdout)
    assert end["status"] == "completed" and end["pages"]["failed"] == 0
    assert {"note.md", "note.html"} <= {artifact["name"] for artifact in end["artifacts"]}
    note = run_here(["report", "real-1"], env, capsys).stdout
    assert all(finding["finding_id"] in note for finding in found)

    decisions = objects(run_here(["decisions", "real-1", "--json"], env, capsys))
    waited = [finding for finding in found if finding["needs_review"]]
    assert len(decisions) == len(waited) > 0
    assert {(decision["reviewer"], decision["reason"], decision["verdict"]) for decision in decisions} == {
        ("A. Martin", "test", "accept")
    }
