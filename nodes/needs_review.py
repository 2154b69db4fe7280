"""Node needs_review: the gate, one interrupt and nothing else; it waits without a process."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from nodes.domain.review.review_request import gate_payload
from nodes.ports import Services
from nodes.steps.state_guard import enter, review_packet
from state import RunContext, RunState


async def needs_review(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Show the frozen packet and hand on what comes back, unread: code behind an interrupt must not raise."""
    run_state, run = await enter(state, runtime, services)
    packet = await review_packet(run_state, run, services)
    reply = interrupt(gate_payload(packet, run_state.packet, run_state.reply_error))
    return {"reply": {"value": reply}, "headline": "needs_review: a reply came in"}
