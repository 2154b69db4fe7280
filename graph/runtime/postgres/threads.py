"""Names of threads: a name, a UUID, a unique prefix or `last`."""

from __future__ import annotations

import uuid

from graph.runtime.postgres.database import Database
from nodes.domain.shared.errors import PurgedThread, UnknownThread, UserError

NAMESPACE = uuid.UUID("72657072-6973-4500-8000-000000000001")
"""Namespace of the uuid5 that a name maps to; never change it, or every named thread is lost."""


def thread_id_of(name: str) -> str:
    """The thread id of a name; a UUID is its own."""
    try:
        return str(uuid.UUID(name))
    except ValueError:
        return str(uuid.uuid5(NAMESPACE, name))


def checked_name(name: str) -> str:
    """Strip a name of a thread. Raises UserError for one that could not be found again."""
    stripped = name.strip()
    # With a minus at its head it could not be typed after a command: it would be taken for an option.
    if (
        not stripped
        or len(stripped) > 120
        or stripped == "last"
        or stripped.startswith("-")
        or not stripped.isprintable()
    ):
        raise UserError(
            f"A thread cannot be named {name!r}: use 1 to 120 printable characters, no minus at the beginning, and not "
            "the word last."
        )
    return stripped


async def find_thread(database: Database, text: str) -> str:
    """Find the thread id for a name, an id, a unique prefix of either, or `last`.

    Raises UnknownThread: none, several, or an empty text; PurgedThread for one that was erased.
    """
    # Every name begins with nothing: an empty variable of a script must not mean whichever run there is.
    if not text.strip():
        raise UnknownThread(
            "No thread is named: give its name, its id, a unique beginning of either, or the word last."
        )
    if text == "last":
        row = await database.row("last_thread")
        if row is None:
            raise UnknownThread("There is no run yet: begin one with python run.py start samples/data-room.")
        return str(row["thread_id"])
    escaped = text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
    rows = await database.rows("find_thread", text=text, thread_id=thread_id_of(text), prefix=f"{escaped}%")
    exact = [row["thread_id"] for row in rows if row["exact"]]
    if not exact:
        await _refuse_purged(database, text)
    thread_ids = exact or [row["thread_id"] for row in rows]
    if len(thread_ids) == 1 or exact:
        return str(thread_ids[0])
    if not thread_ids:
        raise UnknownThread(f"No run is named {text}: list them with python run.py runs.")
    raise UnknownThread(
        f"{len(thread_ids)} runs begin with {text}: name one of them whole, as python run.py runs shows them."
    )


async def _refuse_purged(database: Database, text: str) -> None:
    """Raise PurgedThread when a purged thread has exactly this name or id; a prefix is no match."""
    tombstone = await database.row("tombstone_of_thread", text=text, thread_id=thread_id_of(text))
    if tombstone is None:
        return
    thread_id, at = str(tombstone["thread_id"]), tombstone["begun_at"]
    subject = f"{tombstone['name'] or thread_id} was purged on {at:%Y-%m-%d %H:%M} UTC by {tombstone['by']}"
    cause = f" ({tombstone['reason']})" if tombstone["reason"] else ""
    finished = tombstone["purged_at"] is not None
    remainder = (
        "nothing of it is left." if finished else f"not to its end, go on with python run.py purge {thread_id} --yes"
    )
    raise PurgedThread(f"{subject}{cause}: {remainder}", thread_id=thread_id, finished=finished)
