"""Effects on the outside world: the intent is committed, the effect done, then its outcome committed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nodes.domain.runs.effects import EFFECTS
from nodes.domain.runs.settings import Run
from nodes.ports import Services

Outcome = Mapping[str, Any]


async def perform_once(
    services: Services,
    run: Run,
    kind: str,
    key: str,
    payload: Mapping[str, Any],
    act: Callable[[], Awaitable[Outcome]],
    find_outcome: Callable[[], Awaitable[Outcome | None]] | None = None,
) -> None:
    """Perform an effect unless its outcome is committed; an unknown outcome is resolved as its kind declares.

    `find_outcome` asks the target by key, for confirmed kinds. Raises what `act` raises; the intent then stays.
    """
    resolution = EFFECTS[kind].resolution
    done = await services.ledger.intend(run.run_id, kind, key, payload) == "done"
    outcome = None
    if resolution == "confirm":
        # Asked also when it was done once: another effect may have replaced it at the target since.
        assert find_outcome is not None, f"nothing asks the target of a {kind}"
        outcome = await find_outcome()
        done = done and outcome is not None
    if not done:
        await services.ledger.record_effect(run.run_id, key, await act() if outcome is None else outcome)
