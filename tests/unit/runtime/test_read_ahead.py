"""Documents in flight: never more than allowed, ahead across batches, left cleanly."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence

import pytest
from processes import PATIENCE

from graph.runtime.execution.read_ahead import PlainPool, ReadAhead
from nodes.domain.runs.settings import Run, Settings


def run_of(concurrency: int) -> Run:
    return Run(
        str(uuid.uuid4()), str(uuid.uuid4()), "", "m", "", "p", "x", "local", 1, Settings(concurrency=concurrency)
    )


class World:
    """Counts documents at work."""

    def __init__(self, seconds: float = 0.01) -> None:
        self.seconds = seconds
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.most = 0
        self.slow: dict[int, float] = {}

    async def work(self, ordinal: int) -> None:
        self.begun.append(ordinal)
        self.most = max(self.most, len(self.begun) - len(self.ended))
        await asyncio.sleep(self.slow.get(ordinal, self.seconds))
        self.ended.append(ordinal)


def ahead(ordinals: Sequence[int] = ()) -> Callable[[], Awaitable[Sequence[int]]]:
    async def following() -> Sequence[int]:
        return ordinals

    return following


def nothing(ordinal: int) -> None:
    return None


async def test_a_plain_pool_does_its_batch_and_leaves_the_next_alone() -> None:
    world = World()
    await PlainPool().process(run_of(3), range(10), ahead(range(10, 30)), world.work, nothing, lambda: False)
    assert sorted(world.ended) == list(range(10))
    assert world.most == 3


async def test_read_ahead_keeps_all_slots_busy_while_one_document_is_slow() -> None:
    world = World()
    pool = ReadAhead()

    async def work(ordinal: int) -> None:
        await world.work(ordinal)
        while ordinal == 0 and len(world.ended) < 40:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async with asyncio.timeout(PATIENCE):
        await pool.process(run_of(4), range(5), ahead(range(5, 40)), work, nothing, lambda: False)
    assert sorted(world.ended) == list(range(40))
    assert world.most == 4
    await pool.aclose()


async def test_what_was_read_ahead_is_not_done_again_in_its_batch() -> None:
    world = World()
    pool = ReadAhead()
    for first in range(0, 30, 10):
        await pool.process(
            run_of(4), range(first, first + 10), ahead(range(first + 10, 30)), world.work, nothing, lambda: False
        )
    assert sorted(world.begun) == list(range(30))
    await pool.aclose()


async def test_a_drain_begins_nothing_new_and_lets_those_in_flight_end() -> None:
    world = World(0.3)
    pool = ReadAhead(grace=5)
    await pool.process(run_of(4), range(20), ahead(), world.work, nothing, lambda: len(world.begun) >= 4)
    assert sorted(world.ended) == sorted(world.begun) == [0, 1, 2, 3]


async def test_a_drain_waits_no_longer_than_its_grace() -> None:
    world = World(60)
    pool = ReadAhead(grace=0.1)
    await asyncio.wait_for(
        pool.process(run_of(2), range(5), ahead(), world.work, nothing, lambda: bool(world.begun)), 30
    )
    assert world.ended == []


async def test_the_first_error_is_raised_after_those_in_flight_have_ended() -> None:
    world = World(0.1)

    async def work(ordinal: int) -> None:
        if ordinal == 1:
            raise RuntimeError("broken")
        await world.work(ordinal)

    pool = ReadAhead()
    with pytest.raises(RuntimeError, match="broken"):
        await pool.process(run_of(3), range(50), ahead(), work, nothing, lambda: False)
    assert sorted(world.ended) == sorted(world.begun)
    assert len(world.begun) <= 3


async def test_closing_cancels_what_is_left() -> None:
    world = World(60)
    pool = ReadAhead()
    settling = asyncio.create_task(pool.process(run_of(3), range(9), ahead(), world.work, nothing, lambda: False))
    await asyncio.sleep(0.05)
    settling.cancel()
    await asyncio.wait([settling])
    await pool.aclose()
    assert len(world.begun) == 3
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("document")]


async def test_a_batch_does_not_wait_for_ever_and_what_is_late_stays_in_flight() -> None:
    world = World()
    world.slow[1] = 60
    pool = ReadAhead()
    late = await pool.process(run_of(4), range(4), ahead(range(4, 20)), world.work, nothing, lambda: False, wait=2)
    assert late == [1] and pool.in_flight >= 1
    for first in range(4, 20, 4):
        wanted = range(first, first + 4)
        assert await pool.process(run_of(4), wanted, ahead(), world.work, nothing, lambda: False, wait=30) == []
    assert world.begun.count(1) == 1 and sorted(world.ended) == [n for n in range(20) if n != 1]
    await pool.aclose()


async def test_time_without_the_database_is_not_held_against_a_document() -> None:
    back, looks = asyncio.Event(), 0

    def away() -> bool:
        nonlocal looks
        looks += 1
        if looks == 5:
            back.set()
        return True

    async def work(ordinal: int) -> None:
        await back.wait()

    pool = ReadAhead(away=away)
    assert await pool.process(run_of(1), [0], ahead(), work, nothing, lambda: False, wait=0.1) == []
    await pool.aclose()


async def test_another_lane_does_again_what_the_first_has_done() -> None:
    world = World()
    pool = ReadAhead()
    await pool.process(run_of(4), range(3), ahead(), world.work, nothing, lambda: False)
    await pool.process(run_of(4), [1], ahead(), world.work, nothing, lambda: False, lane=1)
    assert sorted(world.begun) == [0, 1, 1, 2]


async def test_another_lane_waits_for_what_is_still_in_flight_and_then_looks_at_it_anew() -> None:
    world = World()
    pool = ReadAhead()
    looked_at = asyncio.Event()

    async def work(ordinal: int) -> None:
        await world.work(ordinal)
        if ordinal == 1:
            await looked_at.wait()

    assert await pool.process(run_of(4), range(3), ahead(), work, nothing, lambda: False, wait=2) == [1]
    second = asyncio.create_task(pool.process(run_of(4), [1], ahead(), work, nothing, lambda: False, lane=1))
    await asyncio.sleep(0.05)
    assert not second.done() and sorted(world.begun) == [0, 1, 2]
    looked_at.set()
    await second
    assert sorted(world.begun) == sorted(world.ended) == [0, 1, 1, 2]


async def test_documents_are_prepared_ahead_but_no_more_hold_a_slot_than_may() -> None:
    world = World()
    pool = ReadAhead()
    prepared: list[int] = []

    async def work(ordinal: int) -> None:
        prepared.append(ordinal)
        async with pool.slot():
            await world.work(ordinal)

    await pool.process(run_of(3), range(12), ahead(), work, nothing, lambda: False, ahead=3)
    assert world.most == 3


async def test_at_a_drain_a_document_that_waits_for_its_slot_is_left_there() -> None:
    world = World(0.3)
    pool = ReadAhead(grace=5)

    async def work(ordinal: int) -> None:
        async with pool.slot():
            await world.work(ordinal)

    await pool.process(run_of(2), range(12), ahead(), work, nothing, lambda: len(world.begun) >= 2, ahead=4)
    assert sorted(world.begun) == sorted(world.ended) == [0, 1]
