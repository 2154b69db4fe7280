"""Store what a person decided, before the run goes on."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from nodes.domain.review.reply import read_reply
from nodes.domain.review.review import changes_scores, decided, undecided
from nodes.domain.shared.formats import count
from nodes.ports import Services
from nodes.steps.state_guard import enter, review_packet
from state import RunContext, RunState


async def record_review(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Read the reply and append its decisions; a bad one goes back to the gate with what is wrong with it."""
    given, run = await enter(state, runtime, services)
    packet, sha256 = await review_packet(given, run, services), given.packet
    # A reply that was put into the state by hand has no envelope: it is read all the same, and refused at the gate.
    inside = given.reply.get("value") if isinstance(given.reply, dict) and "value" in given.reply else given.reply
    reply = read_reply(inside, packet, sha256, decided(packet, await services.ledger.decisions(run.run_id)))
    if reply.error:
        return {"reply": None, "reply_error": reply.error, "headline": "needs_review: the last reply was refused"}
    if not reply.stored:
        await services.ledger.decide(run.run_id, reply.decisions(sha256, services.clock.now()))
    # What counts is what the ledger holds: the facade stores decisions before it resumes.
    decisions = await services.ledger.decisions(run.run_id)
    here = [decision for decision in decisions if decision.packet == sha256]
    earlier = [decision for decision in decisions if decision.packet != sha256]
    left = len(undecided(packet, decisions))
    return {
        "reply": None,
        "reply_error": "",
        "to_review": left,
        "rescore": bool(left) or changes_scores(here, earlier, packet.get("several")),
        "headline": f"record_review: {count(len(here), 'decision')}, {left} left",
    }
