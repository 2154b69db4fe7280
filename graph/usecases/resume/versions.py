"""A run against this program: would what is left be done as the rest was, and if not, what would that mean."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from langgraph.types import StateSnapshot

from graph.composition import Container
from nodes.domain.playbook.model import Playbook
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import readable
from nodes.domain.runs.versions import PROMPT, Change, ReworkEstimate, compare, must_ask, what_changed, what_redone
from nodes.domain.shared.errors import ArtifactMissing, PlaybookError
from nodes.domain.shared.formats import one_line
from nodes.prompts.versions import versions_now

Left = Callable[[Run], Awaitable[Mapping[str, Any]]]
"""Documents that are left, and what they may cost and take; keys: documents, usd, seconds."""

PROMPTS = {"extract": f"{PROMPT}extract_clauses", "summarize": f"{PROMPT}write_note"}
"""Of runs that began before prompts were written down with them: the prompt by the step that asks."""


@dataclass(frozen=True, slots=True)
class VersionDiff:
    """A run against this program."""

    changes: Sequence[Change] = ()
    redo: ReworkEstimate = field(default_factory=ReworkEstimate)
    now: Mapping[str, str] | None = None
    """What this program would freeze; None when nothing could be compared."""
    playbook: str = ""
    """A sentence when the playbook that the run named is another one now; the run keeps the one that it froze."""

    @property
    def asks(self) -> bool:
        """A person has to agree before it goes on."""
        return must_ask(self.changes, self.redo)

    def to_json(self) -> dict[str, Any]:
        """Keys: changes [{name, before, now}], asks, documents, usd, answers, answers_usd, playbook."""
        redo = self.redo
        return {
            "changes": [{"name": one.name, "before": one.before, "now": one.now} for one in self.changes],
            "asks": self.asks,
            "documents": redo.documents,
            "usd": None if redo.usd is None else float(redo.usd),
            "answers": redo.answers,
            "answers_usd": float(redo.answers_usd),
            "playbook": self.playbook or None,
        }

    def sentences(self) -> list[str]:
        """For people: what is not as it was, and what that means."""
        said = [self.playbook] if self.playbook else []
        if self.changes:
            said.append(f"{what_changed(self.changes)} changed since it began: {what_redone(self.redo)}")
        return said


class VersionCheck:
    """Reads; writes nothing and needs no lease."""

    def __init__(self, parts: Container) -> None:
        self._parts = parts
        self._database = parts.outside.database

    async def compare(self, run: Run, head: StateSnapshot, left: Left, *, retry_failed: bool = False) -> VersionDiff:
        """The run against this program; reads what is left and the calls of the run only when something differs."""
        services = self._parts.outside.services
        named = str(readable(head.values).get("playbook") or "due-diligence")
        try:
            playbook = Playbook.model_validate_json(await services.artifacts.get(run.artifacts["playbook"]))
        except (ArtifactMissing, ValueError, KeyError):
            return VersionDiff()
        now = await asyncio.to_thread(versions_now, services, playbook)
        frozen = run.versions or await self._made_with(run)
        said = await self._playbook(run, named)
        changes = compare(frozen, now, run.workflow_version, models_asked=run.engine == "openai")
        if not changes:
            return VersionDiff((), ReworkEstimate(), now, said)
        return VersionDiff(changes, await self._redo(run, head, changes, await left(run), retry_failed), now, said)

    async def _made_with(self, run: Run) -> dict[str, str]:
        found: dict[str, str] = {}
        for row in await self._database.rows("made_with", run_id=run.run_id):
            if row["tool"] == "model" and row["prompt"] and row["step"] in PROMPTS:
                found[PROMPTS[row["step"]]] = row["prompt"]
            for name in ("reader", "rules", "facts"):
                if row["tool"] != "model" and row[name]:
                    found[name] = row[name]
        return found

    async def _playbook(self, run: Run, named: str) -> str:
        try:
            same = (await self._parts.outside.services.playbooks.load(named)).sha256 == run.playbook_sha256
        except PlaybookError:
            return f"the playbook {one_line(named, 200)} cannot be read now: the run keeps the one that it froze"
        return "" if same else f"the playbook {one_line(named, 200)} changed: the run keeps the one that it froze"

    async def _redo(
        self, run: Run, head: StateSnapshot, changes: Sequence[Change], left: Mapping[str, Any], retry_failed: bool
    ) -> ReworkEstimate:
        failed = (await self._parts.ledger.tally(run.run_id)).documents["failed"] if retry_failed else 0
        asked = await self._database.rows("prompts_asked", run_id=run.run_id)
        of_documents = {row["prompt"] for row in asked if row["step"] == "extract"}
        of_note = {row["prompt"] for row in asked if row["step"] != "extract"} | {_write_note(run)}
        touches = [one for one in changes if _touches_documents(one, of_documents, of_note)]
        stored = await self._database.row(
            "asked_anew",
            run_id=run.run_id,
            tools=sorted({tool for one in changes if not one.name.startswith(PROMPT) for tool in one.tools}),
            prompts=[one.before for one in changes if one.name.startswith(PROMPT)],
            unwritten=head.next in (("summarize",), ("hold",)),
        )
        assert stored is not None
        documents = (left["documents"] + failed) if touches else 0
        usd = None if left["usd"] is None else Decimal(str(left["usd"]))
        return ReworkEstimate(documents, usd, left["seconds"], int(stored["answers"]), Decimal(stored["usd"]))


def _write_note(run: Run) -> str:
    return run.versions.get(PROMPTS["summarize"], "")


def _touches_documents(change: Change, of_documents: set[str], of_note: set[str]) -> bool:
    """A prompt touches documents when they were asked about with it, or when none was asked about yet."""
    if not change.name.startswith(PROMPT):
        return True
    return change.before in of_documents or (not of_documents and change.before not in of_note)
