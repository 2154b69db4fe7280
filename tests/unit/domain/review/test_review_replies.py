from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from sample_packets import make_finding, make_packet, make_playbook

from nodes.domain.evidence.findings import RISKS
from nodes.domain.review.reply import Choice, Reply, read_reply
from nodes.domain.review.review import Decision, changes_scores, freeze_packet, latest, sha256_of, to_bytes, undecided
from nodes.domain.review.review_request import PAYLOAD_BYTES, gate_payload

AT = datetime(2026, 11, 29, 3, 12, tzinfo=UTC)


PACKET = make_packet()
SHA = sha256_of(PACKET)
IDS = [finding["finding_id"] for finding in PACKET["findings"]]


def read(value: object) -> Reply:
    return read_reply(value, PACKET, SHA)


def decided(finding_id: str, verdict: Any, reviewer: str = "A. Martin") -> Decision:
    return Decision(finding_id, verdict, reviewer, "", SHA, AT)


def test_the_same_findings_in_another_order_give_the_same_packet_bytes() -> None:
    findings = [make_finding(n, score=n % 3, risk=RISKS[n % 4]) for n in range(20)]
    first = freeze_packet("run-1", make_playbook(), 1, findings)
    assert to_bytes(first) == to_bytes(freeze_packet("run-1", make_playbook(), 1, reversed(findings)))
    assert first == json.loads(to_bytes(first))
    assert [finding["risk"] for finding in first["findings"]] == sorted(
        (finding["risk"] for finding in first["findings"]), key=RISKS.index, reverse=True
    )


def test_a_packet_survives_surrogates_and_a_confidence_that_is_no_number() -> None:
    made = make_packet(1, quote="a\x00b\ud800", confidence=float("nan"))
    assert made["findings"][0]["confidence"] == 0.0
    assert json.loads(to_bytes(made)) == made


def test_a_packet_holds_only_what_waits_and_names_what_is_decided() -> None:
    findings = [make_finding(0), make_finding(1), make_finding(2, needs_review=False)]
    made = freeze_packet("run-1", make_playbook(), 2, findings, [decided("000000000000", "reject")])
    assert [finding["finding_id"] for finding in made["findings"]] == ["000000000001"]
    assert made["decided"] == {"000000000000": "reject"}
    assert made["counts"]["to_review"] == 1
    reply = read_reply(
        {"reviewer": "A", "decisions": [{"finding_id": "000000000000", "verdict": "accept"}]}, made, sha256_of(made)
    )
    assert reply.choices == (Choice("000000000000", "accept"),)


def test_the_last_decision_on_a_finding_holds_and_the_rest_is_undecided() -> None:
    decisions = [decided(IDS[0], "accept"), decided(IDS[0], "reject")]
    assert latest(decisions)[IDS[0]].verdict == "reject"
    assert undecided(PACKET, decisions) == tuple(IDS[1:])


def test_scores_change_only_with_a_rejection_or_one_taken_back() -> None:
    assert not changes_scores([decided(IDS[0], "accept")])
    assert changes_scores([decided(IDS[0], "reject")])
    assert not changes_scores([decided(IDS[0], "reject")], [decided(IDS[0], "reject")])
    assert changes_scores([decided(IDS[0], "accept")], [decided(IDS[0], "reject")])


def test_a_partial_reply_is_good_and_the_node_stamps_it() -> None:
    reply = read({"reviewer": "A. Martin", "decisions": [{"finding_id": IDS[0], "verdict": "accept"}]})
    assert reply == Reply("A. Martin", (Choice(IDS[0], "accept"),))
    assert reply.decisions(SHA, AT) == (Decision(IDS[0], "accept", "A. Martin", "", SHA, AT, "api"),)


def test_accept_all_covers_what_one_person_may_accept_and_named_decisions_win() -> None:
    findings = [make_finding(0, risk="critical"), make_finding(1, risk="low"), make_finding(2, risk="medium")]
    made = freeze_packet("run-1", make_playbook("low", "medium"), 1, findings)
    value = {
        "reviewer": "A",
        "accept_all": True,
        "reason": "seen",
        "decisions": [{"finding_id": "000000000001", "verdict": "reject", "reason": "wrong clause"}],
    }
    reply = read_reply(value, made, sha256_of(made))
    assert set(reply.choices) == {
        Choice("000000000001", "reject", "wrong clause"),
        Choice("000000000002", "accept", "seen"),
    }


def test_a_verdict_on_all_at_once_is_about_those_that_nobody_has_decided() -> None:
    made = freeze_packet("run-1", make_playbook("low"), 1, [make_finding(place, risk="low") for place in range(3)])
    ids = [finding["finding_id"] for finding in made["findings"]]
    for value in (
        {"reviewer": "A", "accept_all": True},
        [{"type": "accept"}],
        {"decisions": [{"type": "approve"}]},
        {"decisions": [{"type": "reject", "message": "no"}]},
    ):
        reply = read_reply(value, made, sha256_of(made), decided={ids[1]})
        assert [choice.finding_id for choice in reply.choices] == [ids[0], ids[2]]
        assert read_reply(value, made, sha256_of(made), decided=set(ids)).error == ""
    again = {"reviewer": "A", "decisions": [{"finding_id": ids[1], "verdict": "accept"}]}
    assert read_reply(again, made, sha256_of(made), decided={ids[1]}).choices == (Choice(ids[1], "accept"),)


def test_accept_all_of_nothing_acceptable_says_so() -> None:
    made = make_packet(2, "low")
    error = read_reply({"reviewer": "A", "accept_all": True}, made, sha256_of(made)).error
    assert error.startswith("None of the 2 findings may be accepted all at once")


def test_a_gate_without_findings_is_passed_by_any_signed_reply() -> None:
    made = make_packet(0)
    for value in ({"reviewer": "A", "decisions": []}, {"reviewer": "A", "accept_all": True}, [{"type": "accept"}]):
        assert read_reply(value, made, sha256_of(made)).error == ""


def test_a_reference_to_stored_decisions_is_read_for_the_packet_that_waits() -> None:
    assert read({"packet": SHA, "stored": True}) == Reply(stored=True)
    stale = read({"packet": "0" * 64, "stored": True}).error
    assert "review packet 00000000000" in stale and SHA[:12] in stale


FOREIGN: list[tuple[object, str, int]] = [
    ([{"type": "accept", "args": None}], "agent-inbox", 3),
    ({"type": "accept", "args": {"action": "review_findings", "args": {}}}, "agent-inbox", 3),
    (
        [
            {
                "type": "edit",
                "args": {
                    "action": "review_findings",
                    "args": {"decisions_json": json.dumps([{"finding_id": IDS[0], "verdict": "accept"}])},
                },
            }
        ],
        "agent-inbox",
        1,
    ),
    (
        [{"type": "response", "args": json.dumps({"decisions": [{"finding_id": IDS[0], "verdict": "accept"}]})}],
        "agent-inbox",
        1,
    ),
    ({"decisions": [{"type": "approve"}]}, "middleware", 3),
    ({"decisions": [{"type": "reject", "message": "none of these are caps"}]}, "middleware", 3),
    (
        {
            "decisions": [
                {
                    "type": "edit",
                    "edited_action": {
                        "name": "review_findings",
                        "args": {"decisions_json": json.dumps([{"finding_id": IDS[1], "verdict": "accept"}])},
                    },
                }
            ]
        },
        "middleware",
        1,
    ),
]


@pytest.mark.parametrize(("value", "surface", "count"), FOREIGN)
def test_replies_of_agent_inbox_and_of_middleware_are_read(value: object, surface: str, count: int) -> None:
    reply = read(value)
    assert (reply.error, reply.surface, reply.reviewer, len(reply.choices)) == ("", surface, surface, count)


def test_an_edit_may_name_its_reviewer() -> None:
    text = json.dumps({"reviewer": "B. Roy", "decisions": [{"finding_id": IDS[0], "verdict": "accept"}]})
    assert read([{"type": "edit", "args": {"args": {"decisions_json": text}}}]).reviewer == "B. Roy"


def test_the_json_text_of_a_reply_is_read() -> None:
    assert read(json.dumps({"reviewer": "A", "accept_all": True})).choices == tuple(Choice(i, "accept") for i in IDS)


def one(**entry: Any) -> dict[str, Any]:
    return {"reviewer": "A", "decisions": [{"finding_id": IDS[0], "verdict": "accept", **entry}]}


BAD: list[tuple[object, str]] = [
    (None, "The reply is nothing"),
    (True, "The reply is true"),
    ("yes", "The reply is the text “yes”"),
    ("", "The reply is an empty text"),
    ("\x00\ud800", "The reply is the text"),
    ("[" * 100_000, "The reply is the text"),
    ("9" * 5_000, "The reply is the text"),
    (3, "The reply is a number"),
    ({}, "does not say who decides"),
    ([], "The reply is a list of 0"),
    ([1], "no Agent Inbox response"),
    (b"x", "something that is not JSON"),
    (one(verdict="approve"), "verdict is the text “approve”"),
    (one(verdict=None), "verdict is nothing"),
    (one(verdict="reject"), "rejects without a reason"),
    (one(verdict="reject", reason=" \x00\u200b"), "rejects without a reason"),
    (one(verdict="reject", reason=7), "reason is a number"),
    (one(reason="x" * 5_000), "reason is longer than 4000"),
    (one(finding_id="ffffffffffff"), "Not in this review packet: ffffffffffff"),
    (one(finding_id=12), "finding_id is a number"),
    ({"decisions": [{"finding_id": IDS[0], "verdict": "accept"}]}, "reviewer is missing"),
    ({"reviewer": " \u202e", "accept_all": True}, "reviewer is missing"),
    ({"reviewer": ["A"], "accept_all": True}, "reviewer is a list"),
    ({"reviewer": "A" * 300, "accept_all": True}, "reviewer is longer"),
    ({"reviewer": "A", "accept_all": "true"}, "accept_all is the text “true”"),
    ({"reviewer": "A", "accept_all": 1}, "accept_all is a number"),
    ({"reviewer": "A", "accept_all": False}, "holds no decision; 3 findings"),
    ({"reviewer": "A", "decisions": {}}, "not a list"),
    ({"reviewer": "A", "decisions": ["accept"]}, "Decision 1 is the text “accept”"),
    ({"reviewer": "A", "packet": "f" * 64, "accept_all": True}, "is for review packet fffffffffff"),
    ({"packet": SHA, "stored": "yes"}, "stored is the text"),
    ({"stored": True}, "not for which packet"),
    ([{"type": "ignore", "args": None}], "cannot be ignored"),
    ([{"type": "response", "args": "looks fine to me"}], "the text “looks fine to me”"),
    ([{"type": "accept"}, {"type": "accept"}], "a list of 2"),
    ({"decisions": [{"type": "reject"}]}, "without a message"),
    ({"decisions": [{"type": "approve"}, {"type": "approve"}]}, "2 middleware decisions"),
    (
        {
            "reviewer": "A",
            "decisions": [
                {"finding_id": IDS[0], "verdict": "accept"},
                {"finding_id": IDS[0], "verdict": "reject", "reason": "no"},
            ],
        },
        "both accepted and rejected",
    ),
]


@pytest.mark.parametrize(("value", "sentence"), BAD)
def test_a_bad_reply_gets_a_sentence_and_an_example(value: object, sentence: str) -> None:
    reply = read(value)
    assert sentence in reply.error
    assert '"verdict": "accept"' in reply.error
    assert reply.choices == () and not reply.stored
    assert "\x00" not in reply.error and len(reply.error) < 1_000


def test_many_unknown_findings_are_named_up_to_five() -> None:
    entries = [{"finding_id": f"unknown-{n}", "verdict": "accept"} for n in range(12)]
    error = read({"reviewer": "A", "decisions": entries}).error
    assert "unknown-4 and 7 more" in error and "unknown-5" not in error


def test_objects_of_strange_classes_are_no_reason_to_raise() -> None:
    class Strange(dict):  # type: ignore[type-arg]
        def get(self, *_: object) -> Any:
            raise RuntimeError("boom")

    class Stranger:
        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise RuntimeError("boom")

    loop: list[Any] = []
    loop.append(loop)
    for value in (Strange(), Stranger(), loop, [{"type": loop}], {"decisions": loop}, {1, 2}, object()):
        assert read(value).error
    assert read(OrderedDict(reviewer="A", accept_all=True)).error == ""


KEYS = st.sampled_from(
    ["reviewer", "decisions", "finding_id", "verdict", "reason", "accept_all", "packet", "stored", "type", "args"]
)
WORDS = st.sampled_from(["accept", "reject", "approve", "edit", "response", "ignore", SHA, *IDS, "", "\x00", "\ud800"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | WORDS
JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=5),
    max_leaves=25,
)


def as_it_is(value: object) -> object:
    return value


@pytest.mark.parametrize("form", [as_it_is, json.dumps])
@settings(max_examples=400, deadline=None)
@given(value=JSON_VALUES)
def test_any_json_value_gives_decisions_or_a_sentence(form: Callable[[object], object], value: object) -> None:
    reply = read(form(value))
    if reply.error:
        assert "A good reply:" in reply.error and not reply.choices
        assert not reply.error.startswith("The reply cannot be read.")
        reply.error.encode()
    else:
        assert reply.stored or reply.reviewer
        assert {choice.finding_id for choice in reply.choices} <= set(IDS)
        assert all(choice.reason for choice in reply.choices if choice.verdict == "reject")


def test_the_payload_stays_below_8_kb_for_5000_findings_with_10_kb_quotes() -> None:
    for text in ("x" * 10_000, "é" * 10_000, "\U0001f600" * 10_000, "<&*_[" * 2_000, "\ud800\x00 a" * 2_500):
        made = freeze_packet(
            "r" * 500,
            make_playbook(),
            1,
            [make_finding(n, quote=text, document=text, supplier=text) for n in range(5_000 if text[0] == "x" else 20)],
        )
        payload = gate_payload(made, sha256_of(made), text)
        assert len(json.dumps(payload).encode()) <= PAYLOAD_BYTES
        assert len(payload["top"]) == 10
        assert payload["to_review"] == len(made["findings"])


def test_the_payload_is_one_human_interrupt_and_its_example_is_a_good_reply() -> None:
    payload = gate_payload(PACKET, SHA)
    assert payload["action_request"]["action"] == "review_findings"
    assert all(isinstance(value, (str, int)) for value in payload["action_request"]["args"].values())
    assert payload["config"]["allow_ignore"] is False
    pasted = payload["description"].split("```json\n")[1].split("```")[0]
    assert read(json.loads(pasted)).error == "" and read(pasted).error == "" and read(payload["example_reply"])
    assert payload["reply_error"] == "" and payload["packet"] == SHA


def test_the_payload_shows_why_the_last_reply_was_not_used() -> None:
    payload = gate_payload(PACKET, SHA, read("yes").error)
    assert "“yes”" in payload["reply_error"]
    assert payload["description"].startswith("**The last reply was not used:** ")


def test_hostile_quotes_have_no_meaning_in_the_description() -> None:
    quote = "<script>alert(1)</script> [click](https://evil.example) \x1b[31mred\x1b[0m \u202egnp"
    made = make_packet(1, quote=quote, document="**bold**`x`.pdf")
    description = gate_payload(made, sha256_of(made))["description"]
    shown = MarkdownIt().render(description)
    assert not any(bad in shown for bad in ("<script", "<a ", "\x1b", "\u202e", "<strong>bold"))
    assert "://" not in description
    assert "&lt;script&gt;" in shown and "**bold**`x`.pdf" in shown
