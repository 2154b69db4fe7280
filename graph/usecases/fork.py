"""The part of the facade for a second opinion: score a run anew by another playbook, and compare two runs."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from graph.composition import Container
from graph.driver import STEPS_BEYOND_BATCHES, Driver, OnEvent
from graph.runtime.postgres.threads import checked_name, thread_id_of
from graph.usecases.request_args import absolute, plain
from graph.views.comparison import Comparison, compare
from graph.views.run_view import RunView, Views
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.searched_types import SearchScope, own_rules_differ
from nodes.domain.review.decision_carryover import count_unfinished
from nodes.domain.runs.options import apply
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.shared.errors import KnownThread, NotForkable
from nodes.domain.shared.formats import count
from nodes.domain.shared.shell_quote import shell_word
from nodes.steps.fork_inputs import require_kind
from state import RunInput


class Forking:
    """Satisfied by `Reprise`, which brings the stores and drives."""

    parts: Container
    views: Views

    def _drive(
        self, thread_id: str, kind: str, step: str, passwords: Mapping[str, str] | None
    ) -> AbstractAsyncContextManager[Driver]:
        raise NotImplementedError

    async def find(self, thread: str) -> str:
        raise NotImplementedError

    async def _run(self, thread_id: str) -> Run:
        raise NotImplementedError

    async def fork(
        self, thread: str, *, playbook: str, name: str | None = None, on_event: OnEvent | None = None, **options: Any
    ) -> RunView:
        """Score the documents of a run by another playbook, as a new thread of the same matter, and drive it.

        No document is read and no model asked; what this playbook looks for and the run did not is named in the note
        as not looked for. Decisions hold where a finding has the same score and reasons as before. `options` are
        settings that may differ: review. Raises UnknownThread, PlaybookError, KnownThread, NotForkable, OptionError.
        """
        parent = await self._run(await self.find(thread))
        chosen = checked_name(name) if name is not None else ""
        thread_id = thread_id_of(chosen) if chosen else thread_id_of(os.urandom(16).hex())
        _, playbook = await asyncio.to_thread(absolute, (), playbook)
        await self._refuse(parent, playbook, thread_id, chosen, options)
        given: RunInput = {
            "source": parent.source,
            "playbook": playbook,
            "engine": parent.engine,
            "matter": parent.matter,
            "options": {**plain(options), "name": "" if chosen == thread_id else chosen, "fork": parent.run_id},
        }
        async with self._drive(thread_id, "start", "ingest", None) as driver:
            if on_event is not None:
                total = parent.documents_total
                event = {"event": "run", "thread_id": thread_id, "name": chosen, "total": total, "done": total}
                on_event(event)
            await driver.run(given, on_event, steps=parent.documents_total + STEPS_BEYOND_BATCHES)
        return await self.views.run(thread_id)

    async def unsought(self, thread: str) -> list[str]:
        """Sentences on what the playbook of a run asks for and its documents were not read for; [] for most runs."""
        run = await self._run(await self.find(thread))
        playbook = await self._playbook(run.artifacts["playbook"])
        forked = "looked_for" in run.artifacts
        read_by = await self._playbook(run.artifacts["looked_for"]) if forked else playbook
        looked_for = SearchScope(read_by)
        sentences = []
        documents = await self.parts.ledger.documents(run.run_id, 0, run.documents_total)
        sought = [looked_for.types(one) for one in documents if one.state == "done"]
        missed = {each: sum(each not in types for types in sought) for each in playbook.types}
        for clause_type, number in missed.items():
            if number:
                why = "start a new run to look for it" if forked else "only a model will find it"
                sentences.append(f"{clause_type} was not looked for in {count(number, 'document')}: {why}.")
        if own_rules_differ(playbook, read_by):
            sentences.append("The rules of this playbook were not applied: start a new run to look with them.")
        return sentences

    async def compare(self, first: str, second: str) -> Comparison:
        """What differs between two runs: documents, findings, suppliers. Raises UnknownThread."""
        sides = []
        for thread in (first, second):
            run = await self._run(await self.find(thread))
            state = valid_part((await self.views.head(run.thread_id)).values)
            documents = await self.parts.ledger.documents(run.run_id, 0, run.documents_total)
            suppliers = {}
            if state.get("findings"):
                suppliers = json.loads(await self.parts.outside.services.artifacts.get(state["findings"]))["suppliers"]
            sides.append((run, documents, await self.views.findings(run, state), suppliers))
        return await asyncio.to_thread(compare, *sides)

    async def _refuse(self, parent: Run, playbook: str, thread_id: str, name: str, options: Mapping[str, Any]) -> None:
        """What can be said before anything is begun."""
        apply(parent.settings, options)
        services = self.parts.outside.services
        await require_kind(parent, await services.playbooks.load(playbook), services)
        if (await self.views.head(thread_id)).config["configurable"].get("checkpoint_id"):
            await self.views.refuse_busy(thread_id)
            known = name or thread_id
            raise KnownThread(f"Thread {known} has begun already: python run.py resume {shell_word(known)}")
        left = count_unfinished(await self.parts.ledger.documents(parent.run_id, 0, parent.documents_total))
        if left:
            who = parent.name or parent.thread_id
            raise NotForkable(
                f"{count(left, 'document')} of {who} are still to be read: python run.py resume {shell_word(who)}, "
                "then fork it."
            )

    async def _playbook(self, sha256: str) -> Playbook:
        return Playbook.model_validate_json(await self.parts.outside.services.artifacts.get(sha256))
