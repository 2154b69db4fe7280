"""The effects of a run, and those that are not done yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from nodes.domain.runs.effects import EFFECTS

if TYPE_CHECKING:
    from graph.composition import Container


class EffectRow(TypedDict):
    """One effect of a run."""

    kind: str
    key: str
    state: str
    attempts: int
    """Those that failed."""
    error: str
    resolution: str | None
    name: str
    where: str


def effect_row(row: Mapping[str, Any]) -> EffectRow:
    """Turn a row of reprise.effects into what people are shown."""
    payload = row["payload"]
    return {
        "kind": row["kind"],
        "key": row["key"],
        "state": row["state"],
        "attempts": row["attempts"],
        "error": row["error"],
        "resolution": EFFECTS[row["kind"]].resolution if row["kind"] in EFFECTS else None,
        "name": payload.get("name") or "",
        "where": payload.get("where") or payload.get("name") or "",
    }


async def read_effects(container: Container, run_id: str) -> list[EffectRow]:
    """Read every effect of a run, oldest first."""
    return [effect_row(row) for row in await container.database.rows("effects", run_id=run_id)]


def undelivered(effects: Sequence[EffectRow]) -> str:
    """Say why an effect of a run that has ended is not done, in a sentence; "" when all are."""
    # A note that was written anew has effects of its own: those of the note before it count no more.
    newest = {(effect["kind"], effect["name"]): effect for effect in effects}
    for effect in newest.values():
        if effect["state"] == "pending":
            return effect["error"] or f"The {effect['kind']} to {effect['where']} is not done yet."
    return ""
