"""Rates of an endpoint: all callers keep to them together, and a refusal slows every one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from graph.runtime.calls import rate_limit as paced
from graph.runtime.calls.rate_limit import RateLimit, RateLimited, Rates, rate_limit_of
from nodes.domain.shared.errors import Transient
from nodes.ports import ToolAnswer, ToolRequest, Usage


class HandTime:
    """A clock that moves only when everybody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Tool:
    """Notes when it was asked, by the hand clock."""

    clock: HandTime
    script: list[Any] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    most: int = 0
    busy: int = 0
    gate: asyncio.Event | None = None
    name: str = "model"
    attempts: int = 3

    def worst_usage(self, question: ToolRequest) -> Usage:
        return Usage(80, 0, 20)

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        self.asked.append(self.clock.now)
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            if self.gate is not None:
                await self.gate.wait()
            turn = self.script.pop(0) if self.script else Usage(80, 0, 20)
            if isinstance(turn, Exception):
                raise turn
            return ToolAnswer({}, turn)
        finally:
            self.busy -= 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[HandTime]:
    hand = HandTime()
    monkeypatch.setattr(paced, "_now", hand)
    yield hand


def question(n: int = 1) -> ToolRequest:
    return ToolRequest("model", "extract", {"n": n})


async def settled() -> None:
    """Let every task run until it waits."""
    for _ in range(50):
        await asyncio.sleep(0)


async def until_all(tasks: list[asyncio.Task[Any]], clock: HandTime, pace: RateLimit, steps: int = 400) -> None:
    """Move the clock by a second at a time until all tasks have ended."""
    for _ in range(steps):
        await settled()
        if all(task.done() for task in tasks):
            return
        clock.now += 1.0
        pace.wake()
    raise AssertionError("they never had their turn")


async def test_no_more_calls_than_allowed_are_under_way_at_once(clock: HandTime) -> None:
    tool = Tool(clock, gate=asyncio.Event())
    pace = RateLimit(Rates(concurrency=3))
    asking = [asyncio.create_task(RateLimited(tool, pace).answer(question(n))) for n in range(10)]
    await settled()
    assert len(tool.asked) == 3
    assert tool.gate is not None
    tool.gate.set()
    await asyncio.gather(*asking)
    assert (tool.most, len(tool.asked)) == (3, 10)


async def test_requests_a_minute_are_kept_by_all_callers_together(clock: HandTime) -> None:
    tool, pace = Tool(clock), RateLimit(Rates(requests_per_minute=5))
    asking = [asyncio.create_task(RateLimited(tool, pace).answer(question(n))) for n in range(12)]
    await until_all(asking, clock, pace)
    for at in tool.asked:
        assert sum(at <= other < at + 60 for other in tool.asked) <= 5
    assert tool.asked[-1] - tool.asked[0] >= 120


async def test_tokens_a_minute_are_kept_and_what_was_not_used_is_given_back(clock: HandTime) -> None:
    tool, pace = Tool(clock), RateLimit(Rates(tokens_per_minute=200))
    asking = [asyncio.create_task(RateLimited(tool, pace).answer(question(n))) for n in range(4)]
    await until_all(asking, clock, pace)
    assert [round(at - tool.asked[0]) for at in tool.asked] == [0, 0, 60, 60]
    frugal = Tool(clock, [Usage(10, 0, 0)] * 4)
    pace = RateLimit(Rates(tokens_per_minute=200))
    for n in range(4):
        await RateLimited(frugal, pace).answer(question(n))
    assert frugal.asked[-1] == frugal.asked[0]


async def test_a_question_that_is_larger_than_the_rate_is_asked_by_itself(clock: HandTime) -> None:
    tool, pace = Tool(clock), RateLimit(Rates(tokens_per_minute=50))
    asking = [asyncio.create_task(RateLimited(tool, pace).answer(question(n))) for n in range(2)]
    await until_all(asking, clock, pace)
    assert len(tool.asked) == 2


async def test_a_refusal_with_retry_after_stops_every_caller_for_that_long(clock: HandTime) -> None:
    tool = Tool(clock, [Transient("slow down", word="rate_limited", retry_after=30.0)])
    pace = RateLimit(Rates())
    with pytest.raises(Transient):
        await RateLimited(tool, pace).answer(question(0))
    others = [asyncio.create_task(RateLimited(tool, pace).answer(question(n))) for n in range(1, 6)]
    await settled()
    assert len(tool.asked) == 1
    await until_all(others, clock, pace)
    assert all(at - tool.asked[0] >= 30 for at in tool.asked[1:])


async def test_refusals_without_a_time_make_the_silence_longer_until_an_answer_comes(clock: HandTime) -> None:
    pace = RateLimit(Rates())
    waits = []
    for _ in range(4):
        pace.refused(None)
        waits.append(pace.quiet_until - clock.now)
        clock.now = pace.quiet_until
    assert all(after > 1.4 * before for before, after in pairwise(waits))
    pace.answered()
    pace.refused(None)
    assert pace.quiet_until - clock.now <= 1.0


async def test_what_a_call_waited_for_its_turn_is_told_apart(clock: HandTime) -> None:
    tool, pace = Tool(clock), RateLimit(Rates(requests_per_minute=1))
    asking = [asyncio.create_task(RateLimited(tool, pace).answer(question(n))) for n in range(2)]
    await until_all(asking, clock, pace)
    assert [round(task.result().waited) for task in asking] == [0, 60]


async def test_a_caller_that_leaves_while_it_waits_blocks_nobody(clock: HandTime) -> None:
    tool = Tool(clock, gate=asyncio.Event())
    pace = RateLimit(Rates(concurrency=1))
    first, second, third = (asyncio.create_task(RateLimited(tool, pace).answer(question(n))) for n in range(3))
    await settled()
    second.cancel()
    await settled()
    assert tool.gate is not None
    tool.gate.set()
    await asyncio.gather(first, third)
    assert len(tool.asked) == 2


async def test_an_endpoint_has_one_pace_in_a_process_whoever_asks() -> None:
    assert rate_limit_of("http://one", Rates(concurrency=2)) is rate_limit_of("http://one", Rates(concurrency=4))
    assert rate_limit_of("http://one", Rates()) is not rate_limit_of("http://two", Rates())
