"""Stored bytes that a run needs next and that were lost: made again from the ledger, or named and the run stops.

Texts, findings of a document and batches are made again by the step that meets the loss. Here is the rest: the frozen
playbook and list, by reading them where they came from, and what score and summarize made, by going back to them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langgraph.types import StateSnapshot

from graph.composition import Container
from graph.driver import Driver
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import readable
from nodes.domain.shared.errors import ArtifactMissing, PlaybookError, SourceError

NOTES = ("note.json", "note.md", "note.html")


class Repair:
    """`frozen` and `lost` need no lease; `go_back` does."""

    def __init__(self, parts: Container) -> None:
        self._parts = parts
        self._artifacts = parts.outside.services.artifacts

    async def frozen(self, run: Run, playbook: str, passwords: Mapping[str, str]) -> list[str]:
        """Make the frozen playbook and document list again where they are lost; the names of those that were.

        Raises ArtifactMissing when what they came from is another one now.
        """
        services, made = self._parts.outside.services, []
        for name in ("playbook", "inputs"):
            if await self._there(run.artifacts.get(name, "")):
                continue
            again = b""
            try:
                if name == "playbook":
                    again = (await services.playbooks.load(playbook)).model_dump_json().encode()
                else:
                    listed = await services.sources.scan(run.source, passwords)
                    again = json.dumps([one.to_json() for one in listed], ensure_ascii=True).encode()
            except (PlaybookError, SourceError):
                pass
            if not again or await self._artifacts.put(again) != run.artifacts.get(name):
                raise _gone(run, name, playbook)
            made.append(name)
        return made

    async def lost(self, head: StateSnapshot, run: Run) -> str:
        """packet, findings or note: what the next step of the thread needs and does not find; "" when all is there.

        A state that names what this run never stored was edited: the step itself says so.
        """
        state = readable(head.values)
        match head.next:
            case ("needs_review",) | ("record_review",):
                wanted: tuple[str, ...] = ("packet", "findings")
            case ("summarize",):
                wanted = ("findings",)
            case ("publish",) | ():
                return await self._note(run) if head.next or state.get("published") else ""
            case _:
                wanted = ()
        stored = {ref.sha256 for ref in await self._parts.ledger.artifacts(run.run_id)} if wanted else ()
        for name in wanted:
            if state.get(name) in stored and not await self._there(str(state[name])):
                return name
        return ""

    async def go_back(self, driver: Driver, head: StateSnapshot, lost: str) -> None:
        """Put the thread before the step that makes what was lost; decisions are in the ledger and stay."""
        state = readable(head.values)
        changes: dict[str, Any] = {"reply": None, "reply_error": "", "rescore": False, "published": False, "hold": ""}
        if lost == "note" and await self._there(str(state.get("findings") or "")):
            await driver.graph.aupdate_state(driver.config, changes, as_node="record_review")
            return
        changes["review_round"] = max(0, (state.get("review_round") or 0) - 1)
        await driver.graph.aupdate_state(driver.config, changes, as_node="extract")

    async def _note(self, run: Run) -> str:
        named = {ref.name: ref.sha256 for ref in await self._parts.ledger.artifacts(run.run_id) if ref.name in NOTES}
        for sha256 in named.values():
            if not await self._there(sha256):
                return "note"
        return ""

    async def _there(self, sha256: str) -> bool:
        try:
            await self._artifacts.get(sha256)
        except ArtifactMissing:
            return False
        return True


def _gone(run: Run, name: str, playbook: str) -> ArtifactMissing:
    what, source = ("playbook", playbook) if name == "playbook" else ("list of documents", run.source)
    return ArtifactMissing(
        f"The {what} that run {run.name or run.thread_id} froze (artifact {run.artifacts.get(name, '')[:12]}) is lost, "
        f"and {' and '.join(source.split(chr(10)))} is not what it was: restore the artifacts, or start a new run."
    )
