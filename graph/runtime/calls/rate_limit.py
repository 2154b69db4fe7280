"""A tool that keeps to the rates of its endpoint: all its callers wait together, also when one of them is refused."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from nodes.domain.shared.errors import AnswerInvalid, Transient
from nodes.ports import Tool, ToolAnswer, ToolRequest, Usage

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds of silence after a refusal that names no time: doubled with each further one, until an answer comes."""

LONGEST_SILENCE = 1_800.0
"""Seconds that an endpoint may ask for; a call that is asked for more ends at once."""

WINDOW = 60.0


@dataclass(frozen=True, slots=True)
class Rates:
    """What an endpoint takes within this process; 0: no limit."""

    concurrency: int = 0
    requests_per_minute: int = 0
    tokens_per_minute: int = 0


class RateLimit:
    """The turns of one endpoint. Belongs to one event loop."""

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self.quiet_until = 0.0
        """By the clock of the event loop: nobody asks before."""
        self._refused = 0
        self._busy = 0
        self._turns: deque[_Turn] = deque()
        """Of the last minute, oldest first."""
        self._gate = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[_Turn]:
        """Wait until a call of about so many tokens may be made; callers have their turns in order."""
        async with self._gate:
            while (wait := self._wait(tokens)) > 0:
                self._freed.clear()
                # A slot that gets free, or one more refusal, changes how long there is to wait.
                try:
                    async with asyncio.timeout(None if wait == float("inf") else wait):
                        await self._freed.wait()
                except TimeoutError:
                    pass
            turn = _Turn(_now(), tokens)
            self._turns.append(turn)
            self._busy += 1
        try:
            yield turn
        finally:
            self._busy -= 1
            self._freed.set()

    def refused(self, retry_after: float | None) -> None:
        """The endpoint asked to slow down: everybody does."""
        self._refused += 1
        doubled = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (self._refused - 1)) * random.uniform(0.75, 1.0)
        self.quiet_until = max(self.quiet_until, _now() + (doubled if retry_after is None else retry_after))
        self._freed.set()

    def look_again(self) -> None:
        """Let whoever waits work out anew how long there is to wait."""
        self._freed.set()

    def answered(self) -> None:
        """The endpoint is at ease again."""
        self._refused = 0

    def _wait(self, tokens: int) -> float:
        """Seconds until such a call may be made; infinite until another one ends."""
        now, rates = _now(), self.rates
        while self._turns and self._turns[0].at <= now - WINDOW:
            self._turns.popleft()
        if rates.concurrency and self._busy >= rates.concurrency:
            return float("inf")
        waits = [self.quiet_until - now]
        if rates.requests_per_minute and len(self._turns) >= rates.requests_per_minute:
            waits.append(self._turns[-rates.requests_per_minute].at + WINDOW - now)
        if rates.tokens_per_minute:
            waits.append(self._wait_for_tokens(min(tokens, rates.tokens_per_minute), now))
        return max(waits)

    def _wait_for_tokens(self, tokens: int, now: float) -> float:
        over = sum(turn.tokens for turn in self._turns) + tokens - self.rates.tokens_per_minute
        for turn in self._turns:
            if over <= 0:
                break
            over -= turn.tokens
            if over <= 0:
                return turn.at + WINDOW - now
        return 0.0


@dataclass(slots=True, eq=False)
class _Turn:
    at: float
    tokens: int
    """As estimated; as counted once the answer is there."""


class RateLimited:
    """Satisfies ports.Tool around another one."""

    def __init__(self, tool: Tool, pace: RateLimit) -> None:
        self._tool = tool
        self._pace = pace

    @property
    def name(self) -> str:
        return self._tool.name

    @property
    def attempts(self) -> int:
        return self._tool.attempts

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return self._tool.worst_usage(question)

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        """Ask once, in turn. Raises what the tool raises."""
        worst = self._tool.worst_usage(question)
        began = _now()
        async with self._pace.turn(worst.tokens_in + worst.tokens_out if worst else 0) as turn:
            waited = _now() - began
            try:
                answer = await self._tool.answer(question, feedback)
            except (Transient, AnswerInvalid) as error:
                slow_down = isinstance(error, Transient) and (
                    error.word == "rate_limited" or error.retry_after is not None
                )
                if slow_down and isinstance(error, Transient):
                    # A longer silence stops the run; who asks again after that, asks for himself.
                    self._pace.refused(None if (error.retry_after or 0) > LONGEST_SILENCE else error.retry_after)
                    turn.tokens = 0
                elif error.usage is not None:
                    turn.tokens = error.usage.tokens_in + error.usage.tokens_out
                raise
            self._pace.answered()
            turn.tokens = answer.usage.tokens_in + answer.usage.tokens_out
            return replace(answer, waited=answer.waited + waited)


_paces: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, RateLimit]] = WeakKeyDictionary()


def pace_of(endpoint: str, rates: Rates) -> RateLimit:
    """The one pace of an endpoint in this process; the rates that were named last hold."""
    paces = _paces.setdefault(asyncio.get_running_loop(), {})
    pace = paces.setdefault(endpoint, RateLimit(rates))
    pace.rates = rates
    return pace


def _now() -> float:
    return asyncio.get_running_loop().time()
