"""Node record_review: stores a person's decisions before the run goes on."""

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
    run_state, run = await enter(state, runtime, services)
    packet, sha256 = await review_packet(run_state, run, services), run_state.packet
    # A reply that was put into the state by hand has no envelope: it is read all the same, and refused at the gate.
    content = (
        run_state.reply.get("value")
        if isinstance(run_state.reply, dict) and "value" in run_state.reply
        else run_state.reply
    )
    reply = read_reply(content, packet, sha256, decided(packet, await services.ledger.decisions(run.run_id)))
    if reply.error:
        return {"reply": None, "reply_error": reply.error, "headline": "needs_review: the last reply was refused"}
    if not reply.stored:
        await services.ledger.decide(run.run_id, reply.decisions(sha256, services.clock.now()))
    # What counts is what the ledger holds: the facade stores decisions before it resumes.
    decisions = await services.ledger.decisions(run.run_id)
    new_decisions = [decision for decision in decisions if decision.packet == sha256]
    earlier = [decision for decision in decisions if decision.packet != sha256]
    remaining = len(undecided(packet, decisions))
    return {
        "reply": None,
        "reply_error": "",
        "to_review": remaining,
        "rescore": bool(remaining) or changes_scores(new_decisions, earlier, packet.get("several")),
        "headline": f"record_review: {count(len(new_decisions), 'decision')}, {remaining} left",
    }
