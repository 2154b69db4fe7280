"""Who must decide: two people who say the same, or the people that the playbook names; nobody else's word counts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from databases import rows
from paths import ROOT
from risky_contracts import risky
from sample_findings import PLAYBOOK, finding, result

from graph import Reprise
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.review.reply import Reply, read_reply
from nodes.domain.review.review import Decision, latest, packet, sha256_of, undecided
from nodes.domain.review.review_request import gate_payload
from nodes.domain.scoring.risk import score
from nodes.domain.shared.errors import ReplyError

SHIPPED = (ROOT / "nodes" / "playbooks" / "due-diligence.toml").read_text("utf-8")
FOUR_EYES = 'from_risk = "high"\nfour_eyes = ["high", "critical"]\n'
NAMED = '[[review.reviewers]]\nnames = ["A. Martin", "Legal"]\nrisks = ["critical"]\n'


def by(reviewer: str, verdict: Any = "accept", finding_id: str = "f") -> Decision:
    return Decision(finding_id, verdict, reviewer, "", "p", datetime(2026, 11, 29, tzinfo=UTC))


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ([by("A")], None),
        ([by("A"), by("a "), by("A")], None),
        ([by("A"), by("B")], ("accept", "A, B")),
        ([by("A"), by("B", "reject")], None),
        ([by("A"), by("B", "reject"), by("C")], ("accept", "A, C")),
        ([by("A"), by("B", "reject"), by("A", "reject")], ("reject", "B, A")),
        ([by("A"), by("B"), by("C", "reject")], ("accept", "A, B")),
        ([by("A"), by("B"), by("C", "reject"), by("D", "reject")], ("reject", "C, D")),
        ([by("A"), by("B"), by("B", "reject")], None),
    ],
)
def test_a_decision_of_two_holds_once_two_different_people_say_the_same(
    said: list[Decision], holds: tuple[str, str] | None
) -> None:
    found = latest(said, {"f": 2}).get("f")
    assert (found and (found.verdict, found.reviewer)) == holds
    assert latest(said)["f"] == said[-1]


def waiting(keys: str = "", reviewers: str = "") -> dict[str, Any]:
    text = SHIPPED.replace('from_risk = "high"\n', keys or 'from_risk = "high"\n')
    playbook = parse_playbook(text.replace("[[clauses]]", f"{reviewers}[[clauses]]", 1), "x")
    quote = "The Customer’s liability under this Agreement shall be unlimited."
    findings = score(
        [finding("uncapped_liability", quote), finding("renewal_term", confidence=0.1)], [result()], playbook
    ).findings
    return packet("run", playbook, 1, findings)


def test_accept_all_leaves_out_what_needs_two_people_and_the_gate_says_so() -> None:
    asked = waiting(FOUR_EYES)
    needs_two = [one["finding_id"] for one in asked["findings"] if one["reviewers_needed"] == 2]
    assert len(needs_two) == 1 and asked["several"] == {needs_two[0]: 2}
    reply = read_reply({"reviewer": "A", "accept_all": True}, asked, sha256_of(asked))
    assert not reply.error and needs_two[0] not in {one.finding_id for one in reply.choices} and len(reply.choices) == 1
    assert "1 finding must be decided by two people alike" in gate_payload(asked, sha256_of(asked))["description"]
    one = asked["findings"][0]
    assert one["review_reason"].endswith("2 reviewers must decide the same")


def test_a_form_that_names_no_reviewer_is_nobody_of_two() -> None:
    asked = waiting(FOUR_EYES)
    reply = read_reply({"decisions": [{"type": "reject", "message": "no"}]}, asked, sha256_of(asked))
    assert "must be decided by two people: the reply must say who decides" in reply.error


def test_who_spoke_first_may_take_back_their_own_word_but_not_say_it_twice() -> None:
    asked = waiting(FOUR_EYES)
    (both,) = asked["several"]
    asked["said"] = {both: {"A. Martin": "accept"}}

    def reply(verdict: str) -> Reply:
        one = {"finding_id": both, "verdict": verdict, "reason": "seen again"}
        return read_reply({"reviewer": "a. martin", "decisions": [one]}, asked, sha256_of(asked))

    assert "was accepted by a. martin before: another person must decide" in reply("accept").error
    assert [choice.verdict for choice in reply("reject").choices] == ["reject"]


def test_what_only_some_may_decide_is_refused_from_others_and_left_out_of_accept_all() -> None:
    asked = waiting(reviewers=NAMED)
    (named,) = asked["reviewers"]
    one = [{"finding_id": named, "verdict": "accept"}]
    refused = read_reply({"reviewer": "B. Stranger", "decisions": one}, asked, sha256_of(asked))
    assert f"Finding {named} may be decided by A. Martin, Legal only, not by B. Stranger." in refused.error
    taken = read_reply({"reviewer": "a.  MARTIN", "decisions": one}, asked, sha256_of(asked))
    assert not taken.error
    everything = read_reply({"reviewer": "B. Stranger", "accept_all": True}, asked, sha256_of(asked))
    assert named not in {choice.finding_id for choice in everything.choices} and everything.choices


def test_the_first_entry_that_fits_says_who_may_decide() -> None:
    asked = waiting(
        reviewers='[[review.reviewers]]\nnames = ["X"]\ntypes = ["renewal_term"]\n[[review.reviewers]]\nnames = ["Y"]\n'
    )
    by_type = {one["clause_type"]: asked["reviewers"][one["finding_id"]] for one in asked["findings"]}
    assert by_type == {"renewal_term": ["X"], "uncapped_liability": ["Y"]}


def test_a_rejected_finding_still_needs_the_people_that_it_needed() -> None:
    playbook = PLAYBOOK.model_copy(update={"review": PLAYBOOK.review.model_copy(update={"four_eyes": ("critical",)})})
    (found,) = score(
        [finding("cap_on_liability", "three months", decision={"verdict": "reject"})], [result()], playbook
    ).findings
    assert (found.risk, found.reviewers_needed) == ("low", 2)


async def test_one_decision_leaves_it_waiting_and_a_second_person_settles_it(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SHIPPED.replace('from_risk = "high"\n', FOUR_EYES))
    view = await reprise.start(risky(tmp_path / "room", 1), thread="two", playbook=str(file))
    asked = await reprise.support.packet(view.thread_id)
    assert asked["several"]
    every = [{"finding_id": one["finding_id"], "verdict": "accept"} for one in asked["findings"]]
    view = await reprise.resume("two", decisions=every, reviewer="A. Martin")
    assert (view.status, view.findings["to_review"]) == ("needs_review", len(asked["several"]))
    second = await reprise.support.packet(view.thread_id)
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
    decided = [one for one in await reprise.findings("two") if one.reviewers_needed == 2]
    assert {one.decision["reviewer"] for one in decided if one.decision} == {"A. Martin, B. Dupont"}
    assert "by A. Martin, B. Dupont" in await reprise.report("two")
    assert len(rows(database, "SELECT 1 FROM reprise.decisions")) == len(every) + len(left)


async def test_two_who_differ_leave_it_waiting_and_a_third_settles_it(reprise: Reprise, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(SHIPPED.replace('from_risk = "high"\n', FOUR_EYES))
    view = await reprise.start(risky(tmp_path / "room", 1), thread="differ", playbook=str(file))
    one = next(iter((await reprise.support.packet(view.thread_id))["several"]))
    for reviewer, verdict in (("A", "accept"), ("B", "reject")):
        said = [{"finding_id": one, "verdict": verdict, "reason": "because"}]
        assert await reprise.decide("differ", said, reviewer=reviewer) == 1
    asked = await reprise.support.packet(view.thread_id)
    assert one in undecided(asked, await reprise.decisions("differ"))
    assert await reprise.decide("differ", [{"finding_id": one, "verdict": "reject", "reason": "x"}], reviewer="C") == 1
    assert one not in undecided(asked, await reprise.decisions("differ"))
    await reprise.resume("differ", accept_all=True, reviewer="D")
    (found,) = [each for each in await reprise.findings("differ") if each.finding_id == one]
    assert found.decision is not None and (found.decision["verdict"], found.score) == ("reject", 0)
