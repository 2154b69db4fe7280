"""Names of threads: a name, a UUID, a unique prefix or `last`."""

from __future__ import annotations

import uuid

from graph.runtime.postgres.database import Database
from nodes.domain.shared.errors import PurgedThread, UnknownThread, UserError

NAMESPACE = uuid.UUID("72657072-6973-4500-8000-000000000001")
"""Of the uuid5 that a name maps to; never change it, or every named thread is lost."""


def thread_id_of(name: str) -> str:
    """The thread id of a name; a UUID is its own."""
    try:
        return str(uuid.UUID(name))
    except ValueError:
        return str(uuid.uuid5(NAMESPACE, name))


def checked_name(name: str) -> str:
    """The name as it is kept. Raises UserError for one that cannot be found again."""
    kept = name.strip()
    # With a minus at its head it could not be typed after a command: it would be taken for an option.
    if not kept or len(kept) > 120 or kept == "last" or kept.startswith("-") or not kept.isprintable():
        raise UserError(
            f"A thread cannot be named {name!r}: use 1 to 120 printable characters, no minus at the beginning, and not "
            "the word last."
        )
    return kept


async def find_thread(database: Database, text: str) -> str:
    """The thread that a person means.

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
    found = exact or [row["thread_id"] for row in rows]
    if len(found) == 1 or exact:
        return str(found[0])
    if not found:
        raise UnknownThread(f"No run is named {text}: list them with python run.py runs.")
    raise UnknownThread(
        f"{len(found)} runs begin with {text}: name one of them whole, as python run.py runs shows them."
    )


async def _refuse_purged(database: Database, text: str) -> None:
    """A run that only begins with the name of one that was erased is not taken for it."""
    stone = await database.row("tombstone_of_thread", text=text, thread_id=thread_id_of(text))
    if stone is None:
        return
    thread_id, at = str(stone["thread_id"]), stone["begun_at"]
    what = f"{stone['name'] or thread_id} was purged on {at:%Y-%m-%d %H:%M} UTC by {stone['by']}"
    why = f" ({stone['reason']})" if stone["reason"] else ""
    finished = stone["purged_at"] is not None
    left = "nothing of it is left." if finished else f"not to its end, go on with python run.py purge {thread_id} --yes"
    raise PurgedThread(f"{what}{why}: {left}", thread_id=thread_id, finished=finished)
