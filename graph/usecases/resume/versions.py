"""A run against this program: would what is left be done as the rest was, and if not, what would that mean."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from langgraph.types import StateSnapshot

from graph.composition import Container
from graph.views.remaining import RemainingWork, remaining_work
from graph.views.run_records import RunRecords
from nodes.domain.playbook.model import Playbook
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.runs.versions import (
    PROMPT,
    Change,
    ReworkEstimate,
    compare,
    describe_changes,
    describe_rework,
    needs_consent,
)
from nodes.domain.shared.errors import ArtifactMissing, PlaybookError
from nodes.domain.shared.formats import one_line
from nodes.prompts.versions import versions_now

PROMPTS = {"extract": f"{PROMPT}extract_clauses", "summarize": f"{PROMPT}write_note"}
"""The prompt by the step that asks with it, for runs that began before prompts were written down with them."""


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """What differs between the versions that a run began with and those of this program."""

    changes: Sequence[Change] = ()
    redo: ReworkEstimate = field(default_factory=ReworkEstimate)
    current: Mapping[str, str] | None = None
    """What this program would freeze; None when nothing could be compared."""
    playbook: str = ""
    """A sentence when the playbook that the run named is another one now; the run keeps the one that it froze."""

    @property
    def asks(self) -> bool:
        """Whether a person has to agree before it goes on."""
        return needs_consent(self.changes, self.redo)

    def to_json(self) -> dict[str, Any]:
        """Keys: changes [{name, before, now}], asks, documents, usd, answers, answers_usd, playbook."""
        redo = self.redo
        return {
            "changes": [
                {"name": change.name, "before": change.before, "now": change.current} for change in self.changes
            ],
            "asks": self.asks,
            "documents": redo.documents,
            "usd": None if redo.usd is None else float(redo.usd),
            "answers": redo.answers,
            "answers_usd": float(redo.answers_usd),
            "playbook": self.playbook or None,
        }

    def sentences(self) -> list[str]:
        """For people: what is not as it was, and what that means."""
        sentences = [self.playbook] if self.playbook else []
        if self.changes:
            sentences.append(f"{describe_changes(self.changes)} changed since it began: {describe_rework(self.redo)}")
        return sentences


def playbook_name(head: StateSnapshot) -> str:
    """The name or path of the playbook with which the thread was started."""
    return str(valid_part(head.values).get("playbook") or "due-diligence")


async def compare_versions(
    container: Container, records: RunRecords, remaining: RemainingWork | None = None, *, retry_failed: bool = False
) -> VersionDiff:
    """Compare the run with this program; what is left and the run's calls are read only when something differs.

    `remaining` is what is left, where that is known already.
    """
    services, run = container.services, records.run
    assert run is not None
    try:
        playbook = Playbook.model_validate_json(await services.artifacts.get(run.artifacts["playbook"]))
    except (ArtifactMissing, ValueError, KeyError):
        return VersionDiff()
    current = await asyncio.to_thread(versions_now, services, playbook)
    frozen = run.versions or await _versions_of_calls(container, run)
    sentence = await _playbook_sentence(container, run, playbook_name(records.head))
    changes = compare(frozen, current, run.workflow_version, models_asked=run.engine == "openai")
    if not changes:
        return VersionDiff((), ReworkEstimate(), current, sentence)
    redo = await _rework(container, records, run, changes, remaining, retry_failed=retry_failed)
    return VersionDiff(changes, redo, current, sentence)


async def _versions_of_calls(container: Container, run: Run) -> dict[str, str]:
    versions: dict[str, str] = {}
    for row in await container.database.rows("made_with", run_id=run.run_id):
        if row["tool"] == "model" and row["prompt"] and row["step"] in PROMPTS:
            versions[PROMPTS[row["step"]]] = row["prompt"]
        for name in ("reader", "rules", "facts"):
            if row["tool"] != "model" and row[name]:
                versions[name] = row[name]
    return versions


async def _playbook_sentence(container: Container, run: Run, name: str) -> str:
    try:
        same = (await container.services.playbooks.load(name)).sha256 == run.playbook_sha256
    except PlaybookError:
        return f"the playbook {one_line(name, 200)} cannot be read now: the run keeps the one that it froze"
    return "" if same else f"the playbook {one_line(name, 200)} changed: the run keeps the one that it froze"


async def _rework(
    container: Container,
    records: RunRecords,
    run: Run,
    changes: Sequence[Change],
    remaining: RemainingWork | None,
    *,
    retry_failed: bool,
) -> ReworkEstimate:
    database, tally = container.database, records.tally
    if remaining is None:
        usd = float(round(Decimal(records.cost["usd"] or 0), 6))
        remaining = await remaining_work(database, run, tally, usd)
    rows = await database.rows("prompts_asked", run_id=run.run_id)
    of_documents = {row["prompt"] for row in rows if row["step"] == "extract"}
    of_note = {row["prompt"] for row in rows if row["step"] != "extract"} | {run.versions.get(PROMPTS["summarize"], "")}
    asked_anew = await database.row(
        "asked_anew",
        run_id=run.run_id,
        tools=sorted({tool for change in changes if not change.name.startswith(PROMPT) for tool in change.tools}),
        prompts=[change.before for change in changes if change.name.startswith(PROMPT)],
        unwritten=records.head.next in (("summarize",), ("hold",)),
    )
    assert asked_anew is not None
    documents = 0
    if any(_touches_documents(change, of_documents, of_note) for change in changes):
        documents = remaining.documents + (tally.documents["failed"] if retry_failed else 0)
    usd_left = None if remaining.usd is None else Decimal(str(remaining.usd))
    return ReworkEstimate(
        documents, usd_left, remaining.seconds, int(asked_anew["answers"]), Decimal(asked_anew["usd"])
    )


def _touches_documents(change: Change, of_documents: set[str], of_note: set[str]) -> bool:
    """Whether a change touches documents: a prompt does when they, or nothing yet, were asked about with it."""
    if not change.name.startswith(PROMPT):
        return True
    return change.before in of_documents or (not of_documents and change.before not in of_note)
