"""What a person reads at the gate in LangGraph Studio: each finding by its name, and why it waits."""

from __future__ import annotations

from sample_packets import make_packet

from nodes.domain.review.review import sha256_of
from nodes.domain.review.review_request import PAYLOAD_BYTES, gate_payload


def shown(count: int = 1, **changes: object) -> str:
    made = make_packet(count, **changes)
    return gate_payload(made, sha256_of(made))["description"]


def test_the_gate_calls_clauses_by_their_names_and_says_why_each_waits() -> None:
    said = shown(clause_type="non_compete", review_reason="confidence 0.41 is below 0.50; a box in it is not ticked")
    assert " · Non-compete · " in said and "non_compete" not in said
    assert " · to review: confidence 0.41 is below 0.50; a box in it is not ticked" in said
    assert "Missing clause: Cap on liability" in shown(clause_type="missing_clause", about="cap_on_liability")


def test_a_reason_to_review_has_no_meaning_as_markdown_and_yields_where_room_is_short() -> None:
    assert "to review: \\*\\*never\\*\\*" in shown(review_reason="**never**")
    long = shown(40, review_reason="why " * 400, quote="word " * 400, document="d" * 300)
    assert len(long) < PAYLOAD_BYTES and long.count("\n1. ") == 1 and long.count("\n10. ") == 1
