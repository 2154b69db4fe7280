"""Two people decide in a run: it waits for the second, and for a third where they differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from databases import rows
from risky_contracts import risky
from sample_playbooks import FOUR_EYES, SHIPPED

from graph import Reprise
from nodes.domain.review.review import sha256_of, undecided
from nodes.domain.review.review_request import gate_payload
from nodes.domain.shared.errors import ReplyError


async def test_one_decision_leaves_it_waiting_and_a_second_person_settles_it(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SHIPPED.replace('from_risk = "high"\n', FOUR_EYES))
    view = await reprise.start(risky(tmp_path / "room", 1), thread="two", playbook=str(file))
    asked = await reprise.packet(view.thread_id)
    assert asked["several"]
    every = [{"finding_id": finding["finding_id"], "verdict": "accept"} for finding in asked["findings"]]
    view = await reprise.resume("two", decisions=every, reviewer="A. Martin")
    assert (view.status, view.findings["to_review"]) == ("needs_review", len(asked["several"]))
    second = await reprise.packet(view.thread_id)
    assert set(second["said"]) == set(asked["several"])
    payload = gate_payload(second, sha256_of(second))
    assert payload["second_wanted"] == len(second["said"])
    assert "decided by A. Martin still wait for another person who decides alike" in payload["description"]
    left = [one for one in every if one["finding_id"] in second["said"]]
    with pytest.raises(ReplyError, match=r"(?i)was accepted by A\. Martin before: another person must decide"):
        await reprise.resume("two", decisions=left, reviewer="a. martin")
    assert (await reprise.resume("two")).status == "needs_review"
    view = await reprise.resume("two", decisions=left, reviewer="B. Dupont")
    assert view.status == "completed"
    decided = [finding for finding in await reprise.findings("two") if finding.reviewers_needed == 2]
    assert {finding.decision["reviewer"] for finding in decided if finding.decision} == {"A. Martin, B. Dupont"}
    assert "by A. Martin, B. Dupont" in await reprise.report("two")
    assert len(rows(database, "SELECT 1 FROM reprise.decisions")) == len(every) + len(left)


async def test_two_who_differ_leave_it_waiting_and_a_third_settles_it(reprise: Reprise, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SHIPPED.replace('from_risk = "high"\n', FOUR_EYES))
    view = await reprise.start(risky(tmp_path / "room", 1), thread="differ", playbook=str(file))
    one = next(iter((await reprise.packet(view.thread_id))["several"]))
    for reviewer, verdict in (("A", "accept"), ("B", "reject")):
        said = [{"finding_id": one, "verdict": verdict, "reason": "because"}]
        assert await reprise.decide("differ", said, reviewer=reviewer) == 1
    asked = await reprise.packet(view.thread_id)
    assert one in undecided(asked, await reprise.decisions("differ"))
    assert await reprise.decide("differ", [{"finding_id": one, "verdict": "reject", "reason": "x"}], reviewer="C") == 1
    assert one not in undecided(asked, await reprise.decisions("differ"))
    await reprise.resume("differ", accept_all=True, reviewer="D")
    (found,) = [each for each in await reprise.findings("differ") if each.finding_id == one]
    assert found.decision is not None and (found.decision["verdict"], found.score) == ("reject", 0)
