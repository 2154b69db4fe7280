"""Node hold: the interrupt at a reached budget or deadline; the run goes on with a higher limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from nodes.domain.runs.options import OptionError, apply
from nodes.ports import Services
from nodes.steps.state_guard import enter
from state import RunContext, RunState

RAISABLE = ("budget_usd", "deadline_seconds")


async def hold(state: RunState, runtime: Runtime[RunContext], *, services: Services) -> dict[str, Any]:
    """Wait for a limit: {"budget_usd": 5} or {"deadline_seconds": 3600}; a bad reply comes back to the hold."""
    run_state, run = await enter(state, runtime, services)
    budget = run.settings.budget_usd
    reply = interrupt(
        {
            "held_by": run_state.hold,
            "budget_usd": None if budget is None else str(budget),
            "spent_usd": str((await services.ledger.spent(run.run_id)).usd),
            "deadline_seconds": run.settings.deadline_seconds,
            "example": {"budget_usd": 5} if run_state.hold == "budget" else {"deadline_seconds": 3600},
            "reply_error": run_state.hold_error,
        }
    )
    problem = 'Reply with the limit to raise, for example {"budget_usd": 5}.'
    if isinstance(reply, Mapping) and reply.get("stored") is True:
        return {"hold": "", "hold_error": "", "headline": "hold: limit raised"}
    if isinstance(reply, Mapping) and any(name in reply for name in RAISABLE):
        try:
            raised = apply(run.settings, {name: reply[name] for name in RAISABLE if name in reply})
        except OptionError as error:
            problem = str(error)
        else:
            await services.ledger.change_settings(run.run_id, raised)
            return {"hold": "", "hold_error": "", "headline": "hold: limit raised"}
    return {"hold_error": problem, "headline": "hold: the last reply was refused"}
