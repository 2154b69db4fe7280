"""Who must decide: two people who say the same, or the people that the playbook names; nobody else's word counts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sample_findings import PLAYBOOK, finding, result
from sample_playbooks import FOUR_EYES, SHIPPED

from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.review.reply import Reply, read_reply
from nodes.domain.review.review import Decision, freeze_packet, latest, sha256_of
from nodes.domain.review.review_request import gate_payload
from nodes.domain.scoring.risk import score

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
    return freeze_packet("run", playbook, 1, findings)


def test_accept_all_leaves_out_what_needs_two_people_and_the_gate_says_so() -> None:
    asked = waiting(FOUR_EYES)
    needs_two = [one["finding_id"] for one in asked["findings"] if one["reviewers_needed"] == 2]
    assert len(needs_two) == 1 and asked["several"] == {needs_two[0]: 2}
    reply = read_reply({"reviewer": "A", "accept_all": True}, asked, sha256_of(asked))
    assert (
        not reply.error
        and needs_two[0] not in {choice.finding_id for choice in reply.choices}
        and len(reply.choices) == 1
    )
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
