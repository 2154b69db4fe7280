"""Purging: a thread or a matter is erased from tables and folders; a tombstone says what, when, by whom and why.

The rows of a thread go in one transaction, which also sets the tombstone with the list of its files. The files go after
that, each unless something that is left still names it. A purge that dies in between is finished by the next one, or by
`resume --all`. What people put beside a run stays: the documents themselves, copies of notes, backups.
"""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from typing import Any

from graph.adapters.storage.purge_files import SETTLED_SECONDS, PurgeFiles, Removed
from graph.composition import Container
from graph.runtime.fault_points import boundary
from graph.runtime.postgres.lease import OWNER, Lease
from graph.runtime.postgres.threads import find_thread
from graph.views.run_view import Views
from nodes.domain.shared.errors import OperatorError, PurgedThread, UnknownThread, UserError


class Eraser:
    """Erases for good; nothing asks again. Every method may be repeated after a death."""

    def __init__(self, parts: Container, views: Views) -> None:
        self._parts = parts
        self._views = views
        self._database = parts.outside.database
        self._files = PurgeFiles(parts.settings.home / "artifacts", parts.settings.home / "notes")

    async def purge(self, thread: str = "", matter: str = "", by: str = "", reason: str = "") -> list[dict[str, Any]]:
        """Erase a thread, or a matter with all its threads; returns the tombstones, as `tombstones` lists them.

        Raises ThreadBusy while a process drives one of them, UnknownThread (also for what is purged already),
        UserError, OperatorError when a file cannot be removed; run it again then.
        """
        if bool(thread) == bool(matter):
            raise UserError("Name one thread to purge, or a whole matter with --matter, not both.")
        by = by or getpass.getuser()
        threads = [await self._found(thread)] if thread else await self._threads(matter)
        made = [one for one in await self._erase(threads, by, reason) if one]
        while matter and (rest := await self._rest(matter, by, reason)) is None:
            made += await self._erase(await self._threads(matter), by, reason)
        if matter and rest:
            made.append(rest)
        finished = await self.finish()
        if not made and not finished:
            raise UnknownThread(f"There is nothing of matter {matter}: list the runs with python run.py runs.")
        return [await self._tombstone(one) for one in dict.fromkeys([*made, *finished])]

    async def measure(self, thread: str = "", matter: str = "") -> list[dict[str, Any]]:
        """What a purge would erase: thread_id, name, matter, documents of each thread. Raises as `purge` does."""
        found = []
        for thread_id in [await self._found(thread)] if thread else await self._threads(matter):
            await self._views.refuse_busy(thread_id)
            name, of_matter, documents = await self._known(thread_id)
            found.append({"thread_id": thread_id, "name": name, "matter": of_matter, "documents": documents})
        return found

    async def finish(self) -> list[int]:
        """Remove the files of every purge whose rows are gone; returns the tombstones that are whole now."""
        rows = await self._database.rows("unfinished_purges")
        for row in rows:
            try:
                removed = await self._remove(row["thread_id"], row["pending"])
            except OSError as error:
                raise OperatorError(
                    f"The file {error.filename} cannot be removed ({error.strerror}): mend that, then purge again."
                ) from error
            await self._database.execute(
                "finish_purge", tombstone_id=row["tombstone_id"], files=removed.files, bytes=removed.bytes
            )
        return [int(row["tombstone_id"]) for row in rows]

    async def tombstones(self, limit: int = 1000) -> list[dict[str, Any]]:
        """What was purged, newest first: thread_id, name, matter, by, reason, begun_at, purged_at, documents, rows,
        files, bytes. `purged_at` is None while files are still to be removed."""
        return await self._database.rows("tombstones", limit=limit)

    async def _found(self, thread: str) -> str:
        """The thread; a purge of it that was cut off is one more reason to find it."""
        try:
            return await find_thread(self._database, thread)
        except PurgedThread as purged:
            if purged.finished:
                raise
            return purged.thread_id

    async def _threads(self, matter: str) -> list[str]:
        threads = [row["thread_id"] for row in await self._database.rows("threads_of_matter", matter=matter)]
        # A start that died before it froze its inputs has a state alone.
        for row in await self._database.rows("unfrozen_threads"):
            if ((await self._views.head(row["thread_id"])).values or {}).get("matter") == matter:
                threads.append(row["thread_id"])
        return threads

    async def _erase(self, threads: Collection[str], by: str, reason: str) -> list[int]:
        """The rows of the threads. All leases are taken before anything is erased: one that is driven stops it all."""
        made = []
        async with AsyncExitStack() as stack:
            for thread_id in threads:
                lease = Lease(self._database, thread_id, ttl=self._parts.outside.lease_seconds)
                await lease.take()
                stack.push_async_callback(lease.release)
                lease.keep(lambda: None, lambda: None)
            for thread_id in threads:
                name, matter, _ = await self._known(thread_id)
                if not matter:
                    continue
                row = await self._database.row(
                    "erase_thread", thread_id=thread_id, owner=OWNER, name=name, matter=matter, by=by, reason=reason
                )
                made.append(int((row or {})["tombstone_id"]))
        return made

    async def _known(self, thread_id: str) -> tuple[str, str, int]:
        """Name, matter and documents of a thread; no matter when nothing of it is left."""
        run = await self._views.run_of(thread_id)
        if run is not None:
            return run.name, run.matter, run.documents_total
        head = await self._views.head(thread_id)
        if not head.config["configurable"].get("checkpoint_id"):
            return "", "", 0
        values = head.values or {}
        return str((values.get("options") or {}).get("name") or ""), values.get("matter") or "default", 0

    async def _rest(self, matter: str, by: str, reason: str) -> int | None:
        """What the matter kept beside its runs; 0 when that was nothing, None when a run of it has been begun."""
        kept = await self._database.row("kept_of_matter", matter=matter) or {}
        if not any(kept.values()):
            return 0
        row = await self._database.row("erase_matter", matter=matter, by=by, reason=reason) or {}
        made = row.get("tombstone_id")
        return None if made is None else int(made)

    async def _tombstone(self, tombstone_id: int) -> dict[str, Any]:
        row = await self._database.row("tombstone", tombstone_id=tombstone_id)
        assert row is not None
        return row

    async def _remove(self, thread_id: str, pending: Mapping[str, Any]) -> Removed:
        files = self._files
        stored = await files.stored()
        named = await files.within(stored.intersection(pending["sha256"]))
        marks = set(pending["marks"]) - await self._still_named(pending["marks"])
        nameless = stored - named
        named |= await files.marked(nameless - await self._still_named(nameless), marks)
        removed = Removed()
        while named:
            named -= await self._still_named(named)
            fresh = await files.fresh(named)
            with boundary("files.remove"):
                removed += await files.remove(named - fresh)
            named = fresh
            if named:  # another run may have asked for the same bytes just now, and will name them in a moment
                await asyncio.sleep(SETTLED_SECONDS)
        again = thread_id and await self._views.run_of(thread_id) is not None
        in_use = {row["uri"] for row in await self._database.rows("places_in_use", places=pending["places"])}
        with boundary("files.remove_released"):
            removed += await files.remove_unnamed(marks)
            places = [place for place in pending["places"] if place not in in_use]
            removed += await files.remove_released(places, "" if again else thread_id)
        return removed

    async def _still_named(self, hashes: Collection[str]) -> set[str]:
        if not hashes:
            return set()
        return {row["sha256"] for row in await self._database.rows("still_named", hashes=sorted(hashes))}
