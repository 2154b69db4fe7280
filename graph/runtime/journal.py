"""Every question to a tool: asked once, journalled before and after, priced, bounded, repeated when that can help."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, Protocol

from graph.runtime.budget import Budget
from graph.runtime.pricing import Prices
from nodes.domain.errors import AnswerInvalid, EndpointRefused, LimitReached, MissingPart, RepriseError, Transient
from nodes.domain.run import Run
from nodes.ports import Answer, Question, Tool, Usage

INVALID_ATTEMPTS = 2
"""A second try shows the model what was wrong with its first answer."""

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds between attempts: doubled each time, jittered, unless the endpoint names a time."""

Spent = tuple[Usage | None, Decimal | None, str | None]


@dataclass(frozen=True, slots=True)
class Claimed:
    """This process owns the question; `call_id` is its first attempt."""

    call_id: int


@dataclass(frozen=True, slots=True)
class Stored:
    """The question has been answered."""

    value: Mapping[str, Any]
    usd: Decimal | None


class Journal(Protocol):
    """The answers and calls tables, real or in memory."""

    async def claim(self, run: Run, question: Question, key: str, worst_usd: Decimal | None) -> Claimed | Stored | None:
        """Own the question, or its stored answer, or None while another owner is asking."""

    async def attempt(self, run: Run, question: Question, key: str, number: int, worst_usd: Decimal | None) -> int: ...

    async def complete(self, run: Run, key: str, call_id: int, value: Mapping[str, Any], spent: Spent) -> None: ...

    async def fail(self, call_id: int, state: str, word: str, error: str, spent: Spent) -> None: ...

    async def unclaim(self, run: Run, key: str) -> None: ...

    async def reject(self, run: Run, key: str, reason: str) -> None: ...

    async def reused(self, run: Run, question: Question, key: str, usd: Decimal | None) -> None: ...

    async def spent(self, run_id: str) -> Decimal: ...


def call_key(run: Run, question: Question) -> str:
    """Hash of everything that determines the answer; a fresh run has keys of its own and so reuses nothing."""
    parts = [question.tool, question.model, question.key, run.run_id if run.settings.fresh else ""]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


class JournalledCalls:
    """The `Calls` port."""

    def __init__(self, journal: Journal, tools: Mapping[str, Tool], prices: Prices, budget: Budget) -> None:
        self._journal = journal
        self._tools = tools
        self._prices = prices
        self._budget = budget

    async def ask(self, run: Run, question: Question) -> Answer:
        """See `nodes.ports.Calls`."""
        tool = self._tools.get(question.tool)
        if tool is None:
            raise MissingPart(f"No tool named {question.tool} is set up: check the engine with python run.py doctor.")
        key = call_key(run, question)
        question = replace(question, call_key=key)
        worst = self._worst(tool, question)
        pause = 0.02
        while True:
            # Reserved before the claim, so that a call that the budget forbids leaves no trace.
            async with self._budget.reserved(run, worst, self._journal.spent) as reservation:
                owned = await self._journal.claim(run, question, key, worst)
                if isinstance(owned, Claimed):
                    value = await self._ask(run, tool, question, key, owned.call_id, worst, reservation.settle)
                    return Answer(key, value, reused=False)
            if isinstance(owned, Stored):
                await self._journal.reused(run, question, key, owned.usd)
                return Answer(key, owned.value, reused=True)
            await asyncio.sleep(pause)
            pause = min(1.0, pause * 1.5)

    async def reject(self, run: Run, answer: Answer, reason: str) -> None:
        """See `nodes.ports.Calls`."""
        await self._journal.reject(run, answer.call_key, reason)

    def _worst(self, tool: Tool, question: Question) -> Decimal | None:
        usage = tool.worst_usage(question)
        return Decimal(0) if usage is None else self._prices.price(question.model, usage)[0]

    def _spent(self, tool: Tool, question: Question, usage: Usage | None) -> Spent:
        if tool.worst_usage(question) is None:
            return None, Decimal(0), "reported"
        if usage is None:
            return None, None, "unknown"
        usd, basis = self._prices.price(question.model, usage)
        return usage, usd, basis

    async def _ask(
        self,
        run: Run,
        tool: Tool,
        question: Question,
        key: str,
        call_id: int,
        worst: Decimal | None,
        settle: Callable[[Decimal], None],
    ) -> Mapping[str, Any]:
        """Attempts until one is usable; the claim is given back when none is."""
        number, invalid, feedback = 1, 0, ""
        try:
            while True:
                try:
                    answer = await tool.answer(question, feedback)
                except (Transient, AnswerInvalid) as error:
                    await self._failed(tool, question, call_id, error, worst, settle)
                    invalid += isinstance(error, AnswerInvalid)
                    if _give_up(error, number, tool.attempts, invalid):
                        raise (_stops_the_run(error) or error) from error.__cause__
                    feedback = str(error) if isinstance(error, AnswerInvalid) else feedback
                    await asyncio.sleep(_pause(error, number))
                    number += 1
                    call_id = await self._journal.attempt(run, question, key, number, worst)
                    continue
                spent = self._spent(tool, question, answer.usage)
                await self._journal.complete(run, key, call_id, answer.value, spent)
                settle(spent[1] or Decimal(0))
                return answer.value
        except asyncio.CancelledError:
            await asyncio.shield(self._abandon(run, key, call_id, worst))
            raise
        except RepriseError as error:
            if not isinstance(error, Transient | AnswerInvalid):
                with suppress(RepriseError):
                    await self._journal.fail(
                        call_id, "failed", type(error).__name__, str(error), (None, Decimal(0), "reported")
                    )
            with suppress(RepriseError):
                await self._journal.unclaim(run, key)
            raise

    async def _failed(
        self,
        tool: Tool,
        question: Question,
        call_id: int,
        error: Transient | AnswerInvalid,
        worst: Decimal | None,
        settle: Callable[[Decimal], None],
    ) -> None:
        """A failed call is part of the cost: as reported, at its worst when unknown, else nothing."""
        if error.usage is not None:
            spent = self._spent(tool, question, error.usage)
        elif isinstance(error, Transient) and error.unknown:
            spent = (None, worst, "unknown" if worst is None else "estimated")
        else:
            spent = (None, Decimal(0), "reported")
        word = error.word if isinstance(error, Transient) else ("answer_cut" if error.cut else "answer_invalid")
        state = "abandoned" if word == "request_timeout" else "failed"
        await self._journal.fail(call_id, state, word, str(error), spent)
        settle(spent[1] or Decimal(0))

    async def _abandon(self, run: Run, key: str, call_id: int, worst: Decimal | None) -> None:
        with suppress(RepriseError):
            basis: Literal["unknown", "estimated"] = "unknown" if worst is None else "estimated"
            spent = (None, worst, basis)
            await self._journal.fail(call_id, "abandoned", "cancelled", "left before an answer came", spent)
            await self._journal.unclaim(run, key)


def _give_up(error: RepriseError, number: int, attempts: int, invalid: int) -> bool:
    if isinstance(error, AnswerInvalid):
        # A cut answer is cut again; the caller asks about less instead.
        return error.cut or invalid >= INVALID_ATTEMPTS
    return number >= attempts or isinstance(error, LimitReached)


def _stops_the_run(error: RepriseError) -> EndpointRefused | None:
    """Nobody listens at the endpoint: no document can be done, so none is to be marked as failed."""
    if isinstance(error, Transient) and error.word == "connection" and not error.unknown:
        return EndpointRefused(str(error))
    return None


def _pause(error: RepriseError, number: int) -> float:
    """Seconds before the next attempt; jitter keeps callers that failed together from returning together."""
    if isinstance(error, AnswerInvalid):
        return 0.0
    if isinstance(error, Transient) and error.retry_after is not None:
        return min(LONGEST_PAUSE, error.retry_after) + random.uniform(0, 0.1)
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (number - 1)) * random.uniform(0.5, 1.0)
