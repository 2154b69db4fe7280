"""Calls of tools: made once, journalled before and after, priced, limited in time, retried when that can help."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, Protocol
from uuid import UUID, uuid4

from graph.runtime.calls.attempts import abandoned_at_limit, is_last, pause_before_next, stops_the_run
from graph.runtime.calls.budget import Budget, Reservation
from graph.runtime.calls.pricing import Prices
from graph.runtime.cancel import draining
from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import (
    AnswerInvalid,
    DatabaseUnreachable,
    LeaseLost,
    MissingPart,
    RepriseError,
    Transient,
)
from nodes.ports import Tool, ToolAnswer, ToolRequest, ToolResponse, Usage

LATE = ("request_timeout", "document_timeout", "run_deadline", "parsing_timeout")
"""Codes of calls that were abandoned: each names the limit that was passed."""

Spent = tuple[Usage | None, Decimal | None, str | None]


@dataclass(frozen=True, slots=True)
class Claim:
    """Ownership of a call by this process; `call_id` is its first attempt."""

    call_id: int


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """Answer of a call that has been made before, with its price."""

    value: Mapping[str, Any]
    usd: Decimal | None


class Journal(Protocol):
    """The tables of answers and calls, in Postgres or in memory."""

    async def claim(
        self, run: Run, question: ToolRequest, key: str, worst_usd: Decimal | None, token: UUID
    ) -> Claim | StoredAnswer | None:
        """Claim the call, or return its stored answer, or None while another owner makes it.

        `token` is the caller's: a claim that was made but not acknowledged is recognised by it.
        """

    async def attempt(
        self, run: Run, question: ToolRequest, key: str, number: int, worst_usd: Decimal | None
    ) -> int: ...

    async def complete(
        self, run: Run, key: str, call_id: int, value: Mapping[str, Any], spent: Spent, waited: float = 0.0
    ) -> None: ...

    async def fail(self, call_id: int, state: str, word: str, error: str, spent: Spent) -> None: ...

    async def unclaim(self, run: Run, key: str) -> None: ...

    async def reject(self, run: Run, key: str, reason: str) -> None: ...

    async def forget(self, run: Run, key: str) -> None: ...

    async def reused(self, run: Run, question: ToolRequest, key: str, usd: Decimal | None) -> None: ...

    async def spent(self, run_id: str) -> Decimal: ...


def call_key(run: Run, question: ToolRequest) -> str:
    """Hash of everything that determines the answer; a fresh run has keys of its own and so reuses nothing."""
    parts = [question.tool, question.model, question.key, run.run_id if run.settings.fresh else ""]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


class JournalledCalls:
    """Satisfies nodes.ports.Calls: every call goes through the journal and the budget."""

    def __init__(self, journal: Journal, tools: Mapping[str, Tool], prices: Prices, budget: Budget) -> None:
        self.journal = journal
        self._tools = tools
        self._prices = prices
        self._budget = budget

    async def call(self, run: Run, question: ToolRequest) -> ToolResponse:
        """See `nodes.ports.Calls`."""
        tool = self._tools.get(question.tool)
        if tool is None:
            requirements = (
                "a key and address of its endpoint: set OPENAI_API_KEY, and OPENAI_BASE_URL for one of your own"
            )
            hint = f", which takes {requirements}" if question.tool == "model" else ""
            raise MissingPart(
                f"No tool named {question.tool} is set up{hint}. Check it with python run.py doctor, then resume."
            )
        key = call_key(run, question)
        question = replace(question, call_key=key)
        worst = self._worst(tool, question)
        token = uuid4()
        pause = 0.02
        while True:
            # Reserved before the claim, so that a call that the budget forbids leaves no trace.
            async with self._budget.reserved(run, worst, self.journal.spent) as reservation:
                claim = await self._claim(run, question, key, worst, token)
                if isinstance(claim, Claim):
                    attempts = _Attempts(self, run, tool, question, key, worst, reservation, claim.call_id)
                    return ToolResponse(key, await attempts.until_usable(), reused=False)
            if isinstance(claim, StoredAnswer):
                await self.journal.reused(run, question, key, claim.usd)
                return ToolResponse(key, claim.value, reused=True)
            await asyncio.sleep(pause)
            self.require_time(run, question)
            pause = min(1.0, pause * 1.5)

    async def _claim(
        self, run: Run, question: ToolRequest, key: str, worst: Decimal | None, token: UUID
    ) -> Claim | StoredAnswer | None:
        """Claim in the journal; a cancel leaves no claim behind, for which the next caller would wait for ever."""
        claiming = asyncio.ensure_future(self.journal.claim(run, question, key, worst, token))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            with suppress(Exception):
                if isinstance(claim := await claiming, Claim):
                    no_cost: Spent = (None, Decimal(0), "reported")
                    await self.journal.fail(claim.call_id, "abandoned", "cancelled", "left before it asked", no_cost)
                    await self.journal.unclaim(run, key)
            raise

    async def reject(self, run: Run, answer: ToolResponse, reason: str) -> None:
        """See `nodes.ports.Calls`."""
        await self.journal.reject(run, answer.call_key, reason)

    async def forget(self, run: Run, answer: ToolResponse) -> None:
        """See `nodes.ports.Calls`."""
        await self.journal.forget(run, answer.call_key)

    def _worst(self, tool: Tool, question: ToolRequest) -> Decimal | None:
        usage = tool.worst_usage(question)
        return Decimal(0) if usage is None else self._prices.price(question.model, usage)[0]

    def spent(self, tool: Tool, question: ToolRequest, usage: Usage | None) -> Spent:
        if tool.worst_usage(question) is None:
            return None, Decimal(0), "reported"
        if usage is None:
            return None, None, "unknown"
        usd, basis = self._prices.price(question.model, usage)
        return usage, usd, basis

    def seconds_left(self, run: Run, question: ToolRequest) -> tuple[float | None, str]:
        """Seconds that an answer may still take, None without a limit, and the code of the limit that ends them."""
        seconds, word = self._budget.seconds_left(run), "run_deadline"
        if question.timeouts.until is not None:
            document_seconds = question.timeouts.until - asyncio.get_running_loop().time()
            if seconds is None or document_seconds < seconds:
                seconds, word = document_seconds, "document_timeout"
        return seconds, word

    def require_time(self, run: Run, question: ToolRequest, wait: float = 0.0) -> None:
        """Raise Transient, with the code of the limit, unless there is time left after so many seconds."""
        seconds, word = self.seconds_left(run, question)
        if seconds is not None and seconds <= wait:
            raise abandoned_at_limit(question, word)


@dataclass
class _Attempts:
    """The attempts of one claimed call; the claim is released when none of them is usable."""

    calls: JournalledCalls
    run: Run
    tool: Tool
    question: ToolRequest
    key: str
    worst: Decimal | None
    reservation: Reservation
    call_id: int
    open: bool = True
    """Whether the row of the present attempt has no outcome yet."""

    async def until_usable(self) -> Mapping[str, Any]:
        """Make attempts until an answer is usable. Raises what `Calls.call` raises."""
        journal = self.calls.journal
        try:
            answer = await self._usable_answer()
            spent = self.calls.spent(self.tool, self.question, answer.usage)
            await self._record_answer(answer, spent)
            return answer.value
        except (DatabaseUnreachable, LeaseLost):
            raise  # the next driver records the outcome of the attempt: it may have been answered and charged
        except asyncio.CancelledError:
            await asyncio.shield(self._abandon())
            raise
        except RepriseError as error:
            with suppress(RepriseError):
                if self.open:
                    word = getattr(error, "word", "") or type(error).__name__
                    state = "abandoned" if word in LATE else "failed"
                    await journal.fail(self.call_id, state, word, str(error), (None, Decimal(0), "reported"))
            with suppress(RepriseError):
                await journal.unclaim(self.run, self.key)
            raise

    async def _record_answer(self, answer: ToolAnswer, spent: Spent) -> None:
        """Record an answer, which is paid for: also when this task is cancelled while the database is away."""
        complete = self.calls.journal.complete
        writing = asyncio.ensure_future(complete(self.run, self.key, self.call_id, answer.value, spent, answer.waited))
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            with suppress(RepriseError):
                await writing
            raise
        finally:
            if writing.done() and not writing.cancelled() and writing.exception() is None:
                self.reservation.record(spent[1] or Decimal(0))

    async def _usable_answer(self) -> ToolAnswer:
        number, invalid, feedback = 1, 0, ""
        while True:
            try:
                return await self._attempt(feedback)
            except (Transient, AnswerInvalid) as error:
                await self._record_failure(error)
                invalid += isinstance(error, AnswerInvalid)
                if is_last(error, number, self.tool.attempts, invalid, self.question.timeouts):
                    raise (stops_the_run(error) or error) from error.__cause__
                feedback = str(error) if isinstance(error, AnswerInvalid) else feedback
                pause = pause_before_next(error, number)
            self.calls.require_time(self.run, self.question, pause)
            await asyncio.sleep(pause)
            if draining():
                raise asyncio.CancelledError  # as one that waits for its slot: its document stays to be done
            self.reservation.renew()
            number += 1
            journal = self.calls.journal
            self.call_id = await journal.attempt(self.run, self.question, self.key, number, self.worst)
            self.open = True

    async def _attempt(self, feedback: str) -> ToolAnswer:
        """Make one attempt, for no longer than there is time."""
        seconds, word = self.calls.seconds_left(self.run, self.question)
        try:
            async with asyncio.timeout(seconds) as limit:
                return await self.tool.answer(self.question, feedback)
        except TimeoutError:
            if not limit.expired():
                raise
            raise abandoned_at_limit(self.question, word) from None

    async def _record_failure(self, error: Transient | AnswerInvalid) -> None:
        """Record a failed attempt with its cost: as reported, the worst price when unknown, else nothing."""
        if error.usage is not None:
            spent = self.calls.spent(self.tool, self.question, error.usage)
        elif isinstance(error, Transient) and error.unknown:
            spent = (None, self.worst, "unknown" if self.worst is None else "estimated")
        else:
            spent = (None, Decimal(0), "reported")
        word = error.word if isinstance(error, Transient) else ("answer_cut" if error.cut else "answer_invalid")
        state = "abandoned" if word in LATE else "failed"
        await self.calls.journal.fail(self.call_id, state, word, str(error), spent)
        self.open = False
        self.reservation.record(spent[1] or Decimal(0))

    async def _abandon(self) -> None:
        with suppress(RepriseError):
            if self.open:
                basis: Literal["unknown", "estimated"] = "unknown" if self.worst is None else "estimated"
                spent = (None, self.worst, basis)
                await self.calls.journal.fail(
                    self.call_id, "abandoned", "cancelled", "left before an answer came", spent
                )
            await self.calls.journal.unclaim(self.run, self.key)
