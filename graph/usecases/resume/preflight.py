"""Compare documents and artifacts of a run with what it froze, before it goes on. Cheap: no document is read.

Sizes and times tell what is as it was; only a file of which they differ is hashed, and of those that are not done yet
not even that: whoever reads one compares its bytes with the hash that was frozen. What is done stays done.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graph.composition import Container
from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import ArtifactMissing, SourceError
from nodes.domain.shared.formats import count, one_line

STALE = "its file was changed after it was read: what is said of it here is what it said before"
"""The warning on a document that is done; coverage and note show it."""
HASHED = 64 << 20
"""Bytes of done documents with another date that are hashed before the work goes on: a fifth of a second."""
LISTED_NAMES = 3
"""Documents that a line names; the others are counted."""


@dataclass(frozen=True, slots=True)
class PreflightReport:
    """How documents and artifacts stand to what was frozen; names of documents as people see them."""

    documents: int = 0
    as_frozen: int = 0
    open_changed: Sequence[str] = ()
    """Not done yet, and of another size or gone: they fail by name."""
    open_touched: int = 0
    """Not done yet, with another time only: their bytes are compared before they are read."""
    done_touched: int = 0
    """Done, with another time only, and more bytes than are hashed before the work goes on: not compared."""
    done_changed: Sequence[str] = ()
    """Done, and their bytes are others now."""
    done_gone: Sequence[str] = ()
    """Done, and not where they were."""
    artifacts: int = 0
    lacking: Sequence[str] = ()
    """Names of artifacts that are gone or of another size; they are made again when they are needed."""
    stale: Sequence[int] = field(default=())
    """Ordinals of `done_changed`."""

    def words(self) -> str:
        """The report in one line: 120 documents as frozen, 12 artifacts present."""
        parts = [f"{count(self.as_frozen, 'document')} as frozen"]
        parts += _counted("changed or gone before they were read, to fail by name", self.open_changed)
        if self.open_touched:
            parts.append(f"{self.open_touched} with another date, to be compared before they are read")
        if self.done_touched:
            parts.append(f"{self.done_touched} done with another date, not compared")
        parts += _counted("changed after they were read", self.done_changed)
        parts += _counted("done and not there any more", self.done_gone)
        parts.append(f"{count(self.artifacts - len(self.lacking), 'artifact')} present")
        parts += _counted("missing or changed, to be made again when needed", self.lacking)
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Keys: documents, as_frozen, open_changed, open_touched, done_touched, done_changed, done_gone, artifacts,
        lacking."""
        lists = ("open_changed", "done_changed", "done_gone", "lacking")
        counts = ("documents", "as_frozen", "open_touched", "done_touched", "artifacts")
        return {name: getattr(self, name) for name in counts} | {name: list(getattr(self, name)) for name in lists}


async def survey(container: Container, run: Run) -> PreflightReport:
    """Compare documents and artifacts of a run with what it froze; writes nothing.

    Raises SourceError when the place of documents that are still to be read is gone as a whole.
    """
    database, artifacts = container.database, container.artifacts
    states = await database.row("input_states", run_id=run.run_id) or {}
    rows = await database.rows("artifacts_named", run_id=run.run_id)
    lacking = set(await artifacts.lacking({row["sha256"]: int(row["bytes"]) for row in rows}))
    lost = [name for row in rows if row["sha256"] in lacking for name in row["names"]]
    present = PreflightReport(run.documents_total, artifacts=sum(len(row["names"]) for row in rows), lacking=lost)
    try:
        documents = json.loads(await artifacts.get(run.artifacts["inputs"]))
    except (ArtifactMissing, KeyError):
        return present  # the list itself is lost: whoever needs it makes it again or says so
    if states.get("open"):
        await asyncio.to_thread(_require_places, run)
    return await asyncio.to_thread(_compared, present, documents, frozenset(states["open"]), frozenset(states["done"]))


async def mark_stale(container: Container, run: Run, report: PreflightReport) -> None:
    """Mark documents that are done and whose files changed since; unmark those that are as they were."""
    await container.database.execute(
        "mark_stale", run_id=run.run_id, ordinals=list(report.stale), reason=STALE if report.stale else ""
    )


def _require_places(run: Run) -> None:
    for place in filter(None, map(str.strip, run.source.splitlines())):
        if not Path(place).expanduser().exists():
            raise SourceError(
                f"The documents of this run are not done, and {place} is not there any more: connect it again and "
                "resume, or put an empty folder there to go on without them."
            )


def _compared(
    present: PreflightReport, documents: Sequence[Mapping[str, Any]], still_open: frozenset[int], done: frozenset[int]
) -> PreflightReport:
    open_changed: list[str] = []
    done_changed: list[str] = []
    done_gone: list[str] = []
    stale: list[int] = []
    as_frozen = touched = done_touched = 0
    to_hash = HASHED
    conditions: dict[str, str] = {}
    for ordinal, document in enumerate(documents):
        # What is embedded lies in a file that is listed before it, and is as that is.
        if not document.get("inside"):
            condition = _condition(document)
            if condition == "touched" and ordinal in done and document["bytes"] <= to_hash:
                to_hash -= document["bytes"]
                condition = _condition_by_hash(document)
            conditions[document["path"]] = condition
        condition = conditions.get(document["path"], "gone")
        if condition == "as frozen" or document.get("skipped"):
            as_frozen += 1
        elif ordinal in still_open:
            touched += condition == "touched"
            open_changed += [] if condition == "touched" else [document["document"]]
        elif condition == "touched":
            done_touched += 1
        elif ordinal in done and condition == "gone":
            done_gone.append(document["document"])
        elif ordinal in done:
            done_changed.append(document["document"])
            stale.append(ordinal)
    return replace(
        present,
        as_frozen=as_frozen,
        open_changed=open_changed,
        open_touched=touched,
        done_touched=done_touched,
        done_changed=done_changed,
        done_gone=done_gone,
        stale=stale,
    )


def _condition(document: Mapping[str, Any]) -> str:
    """as frozen, changed, gone; touched when only the time of the file is another."""
    try:
        status = os.stat(document["path"])
        if status.st_size != document["bytes"]:
            return "changed"
    except OSError:
        return "gone"
    return "as frozen" if status.st_mtime_ns == document["modified_ns"] else "touched"


def _condition_by_hash(document: Mapping[str, Any]) -> str:
    """as frozen, changed, gone: by the bytes of the file."""
    try:
        with open(document["path"], "rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == document["sha256"]
    except OSError:
        return "gone"
    return "as frozen" if same else "changed"


def _counted(condition: str, names: Sequence[str]) -> list[str]:
    """3 changed after they were read (a.pdf, b.pdf, c.pdf); nothing where there are none."""
    if not names:
        return []
    first = ", ".join(one_line(name, 80) for name in names[:LISTED_NAMES])
    remainder = f" and {len(names) - LISTED_NAMES} more" if len(names) > LISTED_NAMES else ""
    return [f"{len(names)} {condition} ({first}{remainder})"]
