"""Contract families in a run: an amendment counts in score and note, a missing annex is reviewed."""

from __future__ import annotations

import re
from pathlib import Path

from paths import ROOT
from sample_families import (
    ATTACHED,
)

from graph import Reprise

ROOM = ROOT / "samples" / "data-room"


async def test_the_sample_amendment_takes_the_place_of_the_cap_in_score_and_note(reprise: Reprise) -> None:
    await reprise.start(ROOM / "Northwind Hosting", thread="n", review="never", language="en")
    findings = await reprise.findings("n")
    master = [finding for finding in findings if finding.document.startswith("Master") and finding.overridden]
    void = [finding for finding in master if finding.overridden and finding.overridden["certain"]]
    assert "cap_on_liability" in {finding.clause_type for finding in void}
    assert {(finding.score, finding.risk, finding.needs_review) for finding in void} == {(0, "low", False)}
    assert {finding.reasons[-1] for finding in void} == {"overridden by Amendment No 1.pdf, page 1"}
    assert "payment_terms" in {finding.clause_type for finding in master if finding not in void}
    assert all(
        "may be overridden by Amendment No 1.pdf, page 1" in finding.review_reason
        for finding in master
        if finding not in void
    )
    cap = next(
        finding
        for finding in findings
        if finding.document.startswith("Amendment") and finding.clause_type == "cap_on_liability"
    )
    assert cap.score > 0 and "150,000" in cap.quote
    note = await reprise.report("n")
    assert re.search(r"cap EUR 500,000 \(page 7; overridden by Amendment No 1\.pdf, page 1\)", note)
    assert "cap EUR 150,000 (page 1)" in note and "term 36 months (page 4)" in note
    assert "Amendment No 1.pdf of Master Services Agreement.pdf: 14.3 replaced (page 1)" in note
    page = await reprise.report("n", "html")
    assert "overridden by Amendment No 1.pdf, page 1" in page and "notice against renewal 90 days (page 4)" in page


async def test_a_missing_annex_is_scored_by_the_playbook_and_reviewed_like_any_finding(
    reprise: Reprise, tmp_path: Path
) -> None:
    (tmp_path / "contract.txt").write_text(ATTACHED.replace("\n", "\n\n"))
    await reprise.start(tmp_path, thread="a", review="never")
    (finding,) = [finding for finding in await reprise.findings("a") if finding.clause_type == "missing_annex"]
    assert finding.score == 30 and finding.reasons == (
        "+20 an annex of the contract was not given to us",
        "+10 it is about prices, service levels or data",
        "Annex 1 is said to be attached and is not there",
    )
    assert "**Missing annex**" in await reprise.report("a")
