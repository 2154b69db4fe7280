"""What the outbox of a run still holds, for whoever looks at it."""

from __future__ import annotations

from typing import Any

from graph.runtime.postgres.database import Database
from nodes.domain.runs.effects import EFFECTS


async def effects(database: Database, run_id: str) -> list[dict[str, Any]]:
    """Every effect of a run, in order: kind, name, key, state, resolution, attempts (that failed), error, where."""
    return [
        {
            **{name: row[name] for name in ("kind", "key", "state", "attempts", "error")},
            "resolution": EFFECTS[row["kind"]].resolution if row["kind"] in EFFECTS else None,
            "name": row["payload"].get("name") or "",
            "where": row["payload"].get("where") or row["payload"].get("name") or "",
        }
        for row in await database.rows("effects", run_id=run_id)
    ]


async def undelivered(database: Database, run_id: str) -> str:
    """Why an effect of a run that has ended is not done, in a sentence; "" when all are."""
    # A note that was written anew has effects of its own: those of the note before it count no more.
    newest = {(one["kind"], one["name"]): one for one in await effects(database, run_id)}
    for one in newest.values():
        if one["state"] == "pending":
            return one["error"] or f"The {one['kind']} to {one['where']} is not done yet."
    return ""
