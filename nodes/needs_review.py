"""The gate: one interrupt and nothing else. It waits for ever; no process has to live."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from nodes.domain.gate import gate_payload
from nodes.entry import enter, review_packet
from nodes.ports import Services
from state import RunContext, RunState


async def needs_review(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Show the frozen packet and hand on what comes back, unread: code behind an interrupt must not raise."""
    given, run = await enter(state, runtime, services)
    packet = await review_packet(given, run, services)
    reply = interrupt(gate_payload(packet, given.packet, given.reply_error))
    return {"reply": {"value": reply}, "headline": "needs_review: a reply came in"}
