"""The part of the facade for whoever keeps the machine: taking up what was left, pruning, purging."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from graph.composition import Container, Drainable
from graph.runtime.postgres.checkpoints import postgres_saver
from graph.usecases.purge import Eraser
from graph.usecases.retention import DAY, Pruned, prune
from graph.usecases.sweep import ResumeAll as ResumeAll
from graph.usecases.sweep import ResumedRun
from graph.views.run_view import RunView, Views

if TYPE_CHECKING:
    pass


class Keeping:
    """Satisfied by `Reprise`, which brings the stores and drives."""

    parts: Container
    views: Views
    _drivers: set[Drainable]

    async def resume(self, thread: str, *, surface: str = "api", passwords: Mapping[str, str] | None = None) -> RunView:
        raise NotImplementedError

    async def resume_all(
        self, *, passwords: Mapping[str, str] | None = None, on_run: Callable[[ResumedRun], None] | None = None
    ) -> ResumeAll:
        """Take up every run that nobody drives and that waits for no person, one after another.

        Then purges that were cut off are finished and old checkpoints are pruned (REPRISE_RETENTION_DAYS). `on_run` is
        told of each run when it is done with. A run that fails is named in the result and keeps no other from its turn.
        """
        sweep = ResumeAll(self, passwords or {}, on_run or (lambda _: None))
        self._drivers.add(sweep)
        try:
            await sweep.run()
        finally:
            self._drivers.discard(sweep)
        if not sweep.drain_reason:
            await Eraser(self.parts, self.views).finish()
            if days := self.parts.settings.retention_days:
                sweep.pruned = await self.prune(days)
        return sweep

    async def prune(self, days: float | None = None, *, dry_run: bool = False) -> Pruned:
        """Keep the latest checkpoint alone of threads that ended so many days ago; by default as the setting says."""
        outside = self.parts.outside
        if days is None and not (days := self.parts.settings.retention_days):
            return Pruned(dry_run=dry_run)
        saver = postgres_saver(outside.saver_pool)
        return await prune(outside.database, saver, days * DAY, outside.lease_seconds, dry_run=dry_run)

    async def purge(
        self, thread: str = "", *, matter: str = "", by: str = "", reason: str = ""
    ) -> list[dict[str, Any]]:
        """Erase a thread, or a matter with all its threads, for good; returns the tombstones. See graph.usecases.purge."""
        return await Eraser(self.parts, self.views).purge(thread, matter, by, reason)

    async def purgeable(self, thread: str = "", *, matter: str = "") -> list[dict[str, Any]]:
        """What `purge` would erase: thread_id, name, matter, documents of each thread."""
        return await Eraser(self.parts, self.views).measure(thread, matter)

    async def tombstones(self, limit: int = 1000) -> list[dict[str, Any]]:
        """What was purged, newest first: see graph.usecases.purge."""
        return await Eraser(self.parts, self.views).tombstones(limit)
