"""The rate limit of an endpoint: all callers of its tool wait together, also when one of them is refused."""

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
    """Limits of an endpoint within this process; 0: no limit."""

    concurrency: int = 0
    requests_per_minute: int = 0
    tokens_per_minute: int = 0


class RateLimit:
    """The turns of one endpoint. Belongs to one event loop."""

    def __init__(self, rates: Rates) -> None:
        self.rates = rates
        self.quiet_until = 0.0
        """Time of the event loop before which no call is made."""
        self._refused = 0
        self._busy = 0
        self._turns: deque[_Turn] = deque()
        """Calls of the last minute, oldest first."""
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
        """Make every caller wait, since the endpoint asked to slow down."""
        self._refused += 1
        doubled = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (self._refused - 1)) * random.uniform(0.75, 1.0)
        self.quiet_until = max(self.quiet_until, _now() + (doubled if retry_after is None else retry_after))
        self._freed.set()

    def wake(self) -> None:
        """Have a waiting caller compute its waiting time anew."""
        self._freed.set()

    def answered(self) -> None:
        """Reset the doubling of pauses, since the endpoint has answered."""
        self._refused = 0

    def _wait(self, tokens: int) -> float:
        """Seconds until a call of so many tokens may be made; infinite until another call ends."""
        clock_time, rates = _now(), self.rates
        while self._turns and self._turns[0].at <= clock_time - WINDOW:
            self._turns.popleft()
        if rates.concurrency and self._busy >= rates.concurrency:
            return float("inf")
        waits = [self.quiet_until - clock_time]
        if rates.requests_per_minute and len(self._turns) >= rates.requests_per_minute:
            waits.append(self._turns[-rates.requests_per_minute].at + WINDOW - clock_time)
        if rates.tokens_per_minute:
            waits.append(self._wait_for_tokens(min(tokens, rates.tokens_per_minute), clock_time))
        return max(waits)

    def _wait_for_tokens(self, tokens: int, clock_time: float) -> float:
        over = sum(turn.tokens for turn in self._turns) + tokens - self.rates.tokens_per_minute
        for turn in self._turns:
            if over <= 0:
                break
            over -= turn.tokens
            if over <= 0:
                return turn.at + WINDOW - clock_time
        return 0.0


@dataclass(slots=True, eq=False)
class _Turn:
    at: float
    tokens: int
    """As estimated; as counted once the answer is there."""


class RateLimited:
    """A tool within the rate limit of its endpoint; satisfies nodes.ports.Tool."""

    def __init__(self, tool: Tool, rate_limit: RateLimit) -> None:
        self._tool = tool
        self._rate_limit = rate_limit

    @property
    def name(self) -> str:
        return self._tool.name

    @property
    def attempts(self) -> int:
        return self._tool.attempts

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return self._tool.worst_usage(question)

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        """Call the tool once, in turn. Raises what the tool raises."""
        worst = self._tool.worst_usage(question)
        asked_at = _now()
        async with self._rate_limit.turn(worst.tokens_in + worst.tokens_out if worst else 0) as turn:
            waited = _now() - asked_at
            try:
                answer = await self._tool.answer(question, feedback)
            except (Transient, AnswerInvalid) as error:
                slow_down = isinstance(error, Transient) and (
                    error.word == "rate_limited" or error.retry_after is not None
                )
                if slow_down and isinstance(error, Transient):
                    # A longer silence stops the run; a later run finds out for itself.
                    self._rate_limit.refused(None if (error.retry_after or 0) > LONGEST_SILENCE else error.retry_after)
                    turn.tokens = 0
                elif error.usage is not None:
                    turn.tokens = error.usage.tokens_in + error.usage.tokens_out
                raise
            self._rate_limit.answered()
            turn.tokens = answer.usage.tokens_in + answer.usage.tokens_out
            return replace(answer, waited=answer.waited + waited)


_rate_limits: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, RateLimit]] = WeakKeyDictionary()


def rate_limit_of(endpoint: str, rates: Rates) -> RateLimit:
    """The rate limit that this process shares for an endpoint; the rates of the last call hold."""
    rate_limits = _rate_limits.setdefault(asyncio.get_running_loop(), {})
    rate_limit = rate_limits.setdefault(endpoint, RateLimit(rates))
    rate_limit.rates = rates
    return rate_limit


def _now() -> float:
    return asyncio.get_running_loop().time()
