"""The main job on real documents: thirty contracts in, a note out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from world import DATA, environment, run

CONTRACTS = DATA / "contracts" / "pdf"


@pytest.mark.skipif(not CONTRACTS.is_dir(), reason="the shared contracts are not beside this checkout")
def test_thirty_real_contracts_become_a_reviewed_note(database: str, home: Path) -> None:
    env = environment(database, home)
    started = run(["start", CONTRACTS, "--thread", "real-1", "--json"], env, timeout=240)
    assert started.returncode == 0, started.stderr
    assert json.loads(started.stdout)["documents"] == {"total": 30, "done": 30, "failed": 0, "skipped": 0}

    found = [json.loads(line) for line in run(["findings", "real-1", "--json"], env).stdout.splitlines()]
    alignments = Counter(finding["alignment"] for finding in found)
    assert len(found) > 100 and alignments["not_found"] == 0
    placed = [finding for finding in found if finding["alignment"] != "absent"]
    assert all(finding["quote"] and finding["page"] >= 1 and finding["boxes"] for finding in placed)
    assert {finding["clause_type"] for finding in found if finding not in placed} <= {"missing_clause"}

    accept = ["resume", "real-1", "--accept-all", "--reviewer", "A. Martin", "--reason", "test", "--json"]
    ended = run(accept, env, timeout=120)
    assert ended.returncode == 0, ended.stderr
    end = json.loads(ended.stdout)
    assert end["status"] == "completed" and end["pages"]["failed"] == 0
    assert {"note.md", "note.html"} <= {artifact["name"] for artifact in end["artifacts"]}
    note = run(["report", "real-1"], env).stdout
    assert all(finding["finding_id"] in note for finding in found)

    decisions = [json.loads(line) for line in run(["decisions", "real-1", "--json"], env).stdout.splitlines()]
    waited = [finding for finding in found if finding["needs_review"]]
    assert len(decisions) == len(waited) > 0
    assert {(one["reviewer"], one["reason"], one["verdict"]) for one in decisions} == {("A. Martin", "test", "accept")}
