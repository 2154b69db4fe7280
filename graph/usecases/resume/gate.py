"""How a waiting thread is answered: decisions are stored first, then the graph is told where they are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from langgraph.types import Command, StateSnapshot

from graph.composition import Container
from nodes.domain.review.reply import read_reply
from nodes.domain.review.review import decided, undecided
from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import ReplyError
from nodes.domain.shared.formats import count
from nodes.domain.shared.shell_quote import as_typed

WAIT: Final = object()
"""Nothing is to be handed to the graph: a person is waited for, or the thread is at its end."""


UNATTENDED: Final = "unattended"
"""The surface of a resume that no person asked for: it takes no cancellation back."""


class Replies:
    """Answers the two interrupts from the ledger; whether one is answered is read there too."""

    def __init__(self, parts: Container) -> None:
        self._parts = parts

    async def next_input(self, head: StateSnapshot, reply: Mapping[str, Any] | None, surface: str) -> Any:
        """What to hand to the graph: None goes on, a Command answers an interrupt, WAIT does nothing.

        Raises ReplyError for a bad reply; nothing is stored then.
        """
        if not head.next and _at_input(head):
            return None
        if not head.next or (surface == UNATTENDED and await self._cancelled(head)):
            return WAIT
        if at_gate(head):
            if reply is not None:
                await self.record(head, reply, surface)
            elif not await self._answered(head):
                return WAIT
            return Command(resume={head.interrupts[0].id: {"packet": head.values["packet"], "stored": True}})
        if head.next == ("hold",) and head.interrupts:
            if await self._still_held(head):
                return WAIT
            return Command(resume={head.interrupts[0].id: {"stored": True}})
        return None

    async def record(self, head: StateSnapshot, reply: Mapping[str, Any], surface: str) -> int:
        """Store what a reply decides and return how many decisions were new; a bad one changes nothing."""
        thread_id = str(head.config["configurable"]["thread_id"])
        if head.next != ("needs_review",) or not head.values.get("packet"):
            raise ReplyError(f"Thread {thread_id} waits for no review: see python run.py status {thread_id}.")
        sha256 = head.values["packet"]
        packet = json.loads(await self._parts.outside.services.artifacts.get(sha256))
        run_id = (await self._run(head)).run_id
        read = read_reply(reply, packet, sha256, decided(packet, await self._parts.ledger.decisions(run_id)))
        if read.error:
            raise ReplyError(f"{read.error} The run still waits.")
        stamped = read.decisions(sha256, self._parts.outside.services.clock.now())
        return await self._parts.ledger.decide(run_id, [replace(one, surface=surface) for one in stamped])

    async def refuse_late(self, head: StateSnapshot, decisions: Sequence[Mapping[str, Any]] | None) -> None:
        """Raise ReplyError for decisions on a run at its end, unless they are those that it was decided by: a person's
        word is not dropped in silence."""
        if not decisions or head.next or not head.values.get("run_id"):
            return
        run = await self._run(head)
        made = {(one.finding_id, one.verdict) for one in await self._parts.ledger.decisions(run.run_id)}
        asked = [(f"{one.get('finding_id')}", f"{one.get('verdict')}") for one in decisions if isinstance(one, Mapping)]
        late = len(decisions) - sum(one in made for one in asked)
        if late:
            name = run.name or run.thread_id
            raise ReplyError(
                f"Run {name} is at its end and waits for no review: {count(late, 'decision')} came too late. See what "
                f"was decided: python run.py decisions {as_typed(name)}"
            )

    async def _cancelled(self, head: StateSnapshot) -> bool:
        return bool(head.values.get("run_id")) and (await self._run(head)).cancelled_at is not None

    async def _answered(self, head: StateSnapshot) -> bool:
        packet = json.loads(await self._parts.outside.services.artifacts.get(head.values["packet"]))
        decisions = await self._parts.ledger.decisions((await self._run(head)).run_id)
        return bool(packet["findings"]) and not undecided(packet, decisions)

    async def _still_held(self, head: StateSnapshot) -> bool:
        """The limits are what they were when the run was held."""
        asked = head.interrupts[0].value
        settings = (await self._run(head)).settings
        budget = None if settings.budget_usd is None else str(settings.budget_usd)
        return bool(budget == asked.get("budget_usd") and settings.deadline_seconds == asked.get("deadline_seconds"))

    async def _run(self, head: StateSnapshot) -> Run:
        return await self._parts.ledger.run(head.values["run_id"])


def at_gate(head: StateSnapshot) -> bool:
    """A person is waited for; a thread that only comes to the gate next has not asked yet."""
    return head.next == ("needs_review",) and bool(head.interrupts)


def _at_input(head: StateSnapshot) -> bool:
    """Killed when LangGraph had stored the input and not yet gone to the first step: it shows no step as the next."""
    return (head.metadata or {}).get("source") == "input" and bool(head.tasks) and not head.values.get("run_id")
