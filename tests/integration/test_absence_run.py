"""A missing clause in a run: a finding, in the packet and in the note, and outside the measure of found clauses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from databases import rows
from paths import DATA, ROOT
from risky_contracts import risky
from sample_absences import lacking, others
from shared_data import needs_shared

from graph import Reprise


async def test_a_missing_cap_is_in_the_findings_the_packet_and_the_note_of_a_run(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    view = await reprise.start(risky(tmp_path / "room", 2), thread="caps")
    found = await reprise.findings("caps")
    absent = [finding for finding in found if finding.about]
    assert [(finding.about, finding.document) for finding in absent] == [
        ("cap_on_liability", "contract_000.txt"),
        ("cap_on_liability", "contract_001.txt"),
    ]
    assert view.findings["total"] == len(found) == sum(view.findings["by_risk"].values())
    stored = rows(database, "SELECT sum(findings) AS n FROM reprise.run_document")[0]["n"]
    assert stored == len(found) - 2
    packet = await reprise.packet(view.thread_id)
    assert {finding.finding_id for finding in absent} <= {finding["finding_id"] for finding in packet["findings"]}
    assert packet["counts"]["by_alignment"]["absent"] == 2
    reason = "the liability clause is in annex 3"
    decisions = [{"finding_id": absent[0].finding_id, "verdict": "reject", "reason": reason}]
    view = await reprise.resume("caps", decisions=decisions, accept_all=True, reviewer="A. Martin", reason="checked")
    assert view.status == "completed"
    first, second = [finding for finding in await reprise.findings("caps") if finding.about]
    assert first.decision is not None and first.decision["verdict"] == "reject" and first.score == 0
    assert second.decision is not None and second.decision["verdict"] == "accept"
    note = await reprise.report("caps")
    assert f"A. Martin says on {first.decision['at'][:10]}" in note and reason in note
    assert "No clause on “Cap on liability” was found in contract_001.txt (its one section read)" in note


@needs_shared(DATA / "contracts" / "gold.jsonl")
def test_the_measure_of_found_clauses_is_not_moved_by_missing_ones(tmp_path: Path) -> None:
    import subprocess
    import sys

    tool = ROOT.parent / "shared" / "tools" / "clause_metrics.py"
    if not tool.exists():
        pytest.skip("the tool that measures clauses is not here")
    gold = [json.loads(line) for line in (DATA / "contracts" / "gold.jsonl").read_text("utf-8").splitlines()[:400]]
    found = [{"document": row["doc"], "clause_type": row["clause_type"], "quote": row["text"]} for row in gold]
    names = sorted({one["document"] for one in found})
    absent = [{**lacking(others())[0].to_json(), "document": name} for name in names]
    said = []
    for name, lines in (("without", found), ("with", [*found, *absent])):
        file = tmp_path / name
        file.write_text("\n".join(json.dumps(line) for line in lines))
        arguments = [sys.executable, str(tool), str(DATA / "contracts"), str(file), "--json"]
        said.append(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
    assert said[0] == said[1]
