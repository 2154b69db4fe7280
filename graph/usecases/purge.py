"""Erase a thread or a matter from tables and folders; a tombstone says what, when, by whom and why.

The rows of a thread go in one transaction, which also sets the tombstone with the list of its files. The files go after
that, each unless something that is left still names it. A purge that dies in between is finished by the next one, or by
`resume --all`. What people put beside a run stays: the documents themselves, copies of notes, backups.
"""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any, TypedDict, cast

from graph.adapters.storage.purge_files import SETTLED_SECONDS, PurgeFiles, Removed
from graph.composition import Container
from graph.runtime.fault_points import fault_point
from graph.runtime.postgres.lease import OWNER, Lease
from graph.runtime.postgres.threads import find_thread
from graph.views.threads import has_begun, read_head, read_run, refuse_busy
from nodes.domain.shared.errors import OperatorError, PurgedThread, UnknownThread, UserError


class PurgeableThread(TypedDict):
    """A thread that a purge would erase."""

    thread_id: str
    name: str
    matter: str
    documents: int


class Tombstone(TypedDict):
    """What a purge leaves: what was erased, when, by whom and why."""

    thread_id: str
    name: str
    matter: str
    by: str
    reason: str
    begun_at: datetime
    purged_at: datetime | None
    """None while files are still to be removed."""
    documents: int
    rows: int
    files: int
    bytes: int


async def purge(container: Container, thread: str, matter: str, by: str, reason: str) -> list[Tombstone]:
    """Erase a thread, or a matter with all its threads; returns the tombstones, as `tombstones` lists them.

    Raises ThreadBusy while a process drives one of them, UnknownThread (also for what is purged already),
    UserError, OperatorError when a file cannot be removed; run it again then.
    """
    if bool(thread) == bool(matter):
        raise UserError("Name one thread to purge, or a whole matter with --matter, not both.")
    by = by or getpass.getuser()
    threads = [await _find(container, thread)] if thread else await _threads(container, matter)
    tombstone_ids = [tombstone_id for tombstone_id in await _erase(container, threads, by, reason) if tombstone_id]
    while matter and (of_matter := await _erase_matter(container, matter, by, reason)) is None:
        tombstone_ids += await _erase(container, await _threads(container, matter), by, reason)
    if matter and of_matter:
        tombstone_ids.append(of_matter)
    finished = await finish_purges(container)
    if not tombstone_ids and not finished:
        raise UnknownThread(f"There is nothing of matter {matter}: list the runs with python run.py runs.")
    return [
        await _read_tombstone(container, tombstone_id) for tombstone_id in dict.fromkeys([*tombstone_ids, *finished])
    ]


async def read_purgeable(container: Container, thread: str, matter: str) -> list[PurgeableThread]:
    """Read what a purge would erase. Raises as `purge` does."""
    threads: list[PurgeableThread] = []
    for thread_id in [await _find(container, thread)] if thread else await _threads(container, matter):
        await refuse_busy(container, thread_id)
        name, of_matter, documents = await _identity(container, thread_id)
        threads.append({"thread_id": thread_id, "name": name, "matter": of_matter, "documents": documents})
    return threads


async def finish_purges(container: Container) -> list[int]:
    """Remove the files of every purge whose rows are gone; returns the tombstones that are whole now."""
    rows = await container.database.rows("unfinished_purges")
    for row in rows:
        try:
            removed = await _remove_files(container, row["thread_id"], row["pending"])
        except OSError as error:
            raise OperatorError(
                f"The file {error.filename} cannot be removed ({error.strerror}): mend that, then purge again."
            ) from error
        await container.database.execute(
            "finish_purge", tombstone_id=row["tombstone_id"], files=removed.files, bytes=removed.bytes
        )
    return [int(row["tombstone_id"]) for row in rows]


async def read_tombstones(container: Container, limit: int) -> list[Tombstone]:
    """Read what was purged, newest first."""
    return [_tombstone(row) for row in await container.database.rows("tombstones", limit=limit)]


async def _find(container: Container, thread: str) -> str:
    """Find the thread id, also of a thread of which a purge was cut off."""
    try:
        return await find_thread(container.database, thread)
    except PurgedThread as purged:
        if purged.finished:
            raise
        return purged.thread_id


async def _threads(container: Container, matter: str) -> list[str]:
    threads = [row["thread_id"] for row in await container.database.rows("threads_of_matter", matter=matter)]
    # A start that died before it froze its inputs has a state alone.
    for row in await container.database.rows("unfrozen_threads"):
        if ((await read_head(container, row["thread_id"])).values or {}).get("matter") == matter:
            threads.append(row["thread_id"])
    return threads


async def _erase(container: Container, threads: Collection[str], by: str, reason: str) -> list[int]:
    """Erase the rows of the threads; returns the tombstones.

    All leases are taken before anything is erased: one that is driven stops it all.
    """
    tombstone_ids = []
    async with AsyncExitStack() as stack:
        for thread_id in threads:
            lease = Lease(container.database, thread_id, ttl=container.lease_seconds)
            await lease.take()
            stack.push_async_callback(lease.release)
            lease.keep(lambda: None, lambda: None)
        for thread_id in threads:
            name, matter, _ = await _identity(container, thread_id)
            if not matter:
                continue
            row = await container.database.row(
                "erase_thread", thread_id=thread_id, owner=OWNER, name=name, matter=matter, by=by, reason=reason
            )
            tombstone_ids.append(int((row or {})["tombstone_id"]))
    return tombstone_ids


async def _identity(container: Container, thread_id: str) -> tuple[str, str, int]:
    """Read name, matter and number of documents of a thread; no matter when nothing of it is left."""
    run = await read_run(container, thread_id)
    if run is not None:
        return run.name, run.matter, run.documents_total
    head = await read_head(container, thread_id)
    if not has_begun(head):
        return "", "", 0
    values = head.values or {}
    return str((values.get("options") or {}).get("name") or ""), values.get("matter") or "default", 0


async def _erase_matter(container: Container, matter: str, by: str, reason: str) -> int | None:
    """Erase what the matter has beside its runs; returns the tombstone, 0 when there was nothing, None when a run of it
    has been begun."""
    kinds = await container.database.row("kept_of_matter", matter=matter) or {}
    if not any(kinds.values()):
        return 0
    row = await container.database.row("erase_matter", matter=matter, by=by, reason=reason) or {}
    tombstone_id = row.get("tombstone_id")
    return None if tombstone_id is None else int(tombstone_id)


async def _read_tombstone(container: Container, tombstone_id: int) -> Tombstone:
    row = await container.database.row("tombstone", tombstone_id=tombstone_id)
    assert row is not None
    return _tombstone(row)


def _tombstone(row: Mapping[str, Any]) -> Tombstone:
    """A row of reprise.tombstones, as it is."""
    return cast(Tombstone, row)


async def _remove_files(container: Container, thread_id: str, pending: Mapping[str, Any]) -> Removed:
    """Remove the files of a purge, each unless something that is left still names it."""
    files = PurgeFiles(container.settings.home / "artifacts", container.settings.home / "notes")
    stored = await files.stored()
    removable = await files.within(stored.intersection(pending["sha256"]))
    marks = set(pending["marks"]) - await _still_named(container, pending["marks"])
    nameless = stored - removable
    removable |= await files.marked(nameless - await _still_named(container, nameless), marks)
    removed = Removed()
    while removable:
        removable -= await _still_named(container, removable)
        fresh = await files.fresh(removable)
        with fault_point("files.remove"):
            removed += await files.remove(removable - fresh)
        removable = fresh
        if removable:  # another run may have asked for the same bytes just now, and will name them in a moment
            await asyncio.sleep(SETTLED_SECONDS)
    begun_anew = thread_id and await read_run(container, thread_id) is not None
    in_use = {row["uri"] for row in await container.database.rows("places_in_use", places=pending["places"])}
    with fault_point("files.remove_released"):
        removed += await files.remove_unnamed(marks)
        places = [place for place in pending["places"] if place not in in_use]
        removed += await files.remove_released(places, "" if begun_anew else thread_id)
    return removed


async def _still_named(container: Container, hashes: Collection[str]) -> set[str]:
    """Those of the hashes that a row of what is left names."""
    if not hashes:
        return set()
    return {row["sha256"] for row in await container.database.rows("still_named", hashes=sorted(hashes))}
