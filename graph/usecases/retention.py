"""Prune old checkpoints of finished threads: only the latest is kept, from which everything is still shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from graph.composition import Container
from graph.runtime.fault_points import fault_point
from graph.runtime.postgres.lease import Lease
from nodes.domain.shared.errors import ThreadBusy

DAY = 86_400.0
LONGEST = 36_525 * DAY
"""A hundred years: Postgres cannot look back for as long as a person may type."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed, or would be."""

    threads: int = 0
    checkpoints: int = 0
    """Rows of LangGraph's three tables, each by itself."""
    writes: int = 0
    blobs: int = 0
    dry_run: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def prune(container: Container, days: float | None = None, *, dry_run: bool = False) -> Pruned:
    """Keep the latest checkpoint alone of every thread that ended or was cancelled so many days ago; by default as the
    setting says.

    A thread that is driven just then is left for the next time. `dry_run` counts checkpoints and removes nothing.
    """
    total = Pruned(dry_run=dry_run)
    if days is None and not (days := container.settings.retention_days):
        return total
    for row in await container.database.rows("ripe", seconds=min(days * DAY, LONGEST)):
        if dry_run:
            total = replace(total, threads=total.threads + 1, checkpoints=total.checkpoints + row["checkpoints"] - 1)
            continue
        lease = Lease(container.database, row["thread_id"], ttl=container.lease_seconds)
        try:
            await lease.take()
        except ThreadBusy:
            continue
        try:
            total = await _keep_latest(container, row["thread_id"], total)
        finally:
            await lease.release()
    return total


async def _keep_latest(container: Container, thread_id: str, total: Pruned) -> Pruned:
    database = container.database
    before = await database.row("checkpoint_rows", thread_id=thread_id) or {}
    with fault_point("saver.prune"):
        await container.saver.aprune([thread_id], strategy="keep_latest")
    after = await database.row("checkpoint_rows", thread_id=thread_id) or {}
    removed = {name: getattr(total, name) + before[name] - after[name] for name in ("checkpoints", "writes", "blobs")}
    return replace(total, threads=total.threads + 1, **removed)
