"""Questions are asked once: the rules of the journal, over memory and over Postgres alike."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from journalled_tool import DOLLAR, Tool, a_run, question
from processes import HELD, PATIENCE

from graph.adapters.clock import ManualClock
from graph.runtime.calls.budget import Budget
from graph.runtime.calls.journal import Claim, Journal, JournalledCalls, StoredAnswer, call_key
from graph.runtime.calls.pricing import Prices
from graph.runtime.execution.read_ahead import ReadAhead
from graph.runtime.memory.journal import MemoryJournal
from graph.runtime.postgres.database import Database, connected_pool
from graph.runtime.postgres.journal import PostgresJournal
from graph.runtime.postgres.lease import OWNER
from nodes.domain.shared.errors import AnswerInvalid, EndpointRefused, LeaseLost, LimitReached, MissingPart, Transient
from nodes.ports import Timeouts, Usage


@pytest.fixture(params=["memory", "postgres"])
async def journal(request: pytest.FixtureRequest) -> AsyncIterator[Journal]:
    if request.param == "memory":
        yield MemoryJournal()
        return
    pool = await connected_pool(request.getfixturevalue("database"), OWNER, size=4)
    yield PostgresJournal(Database(pool))
    await pool.close()


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.setattr("graph.runtime.calls.attempts.FIRST_PAUSE", 0.01)
    return Tool()


@pytest.fixture
def calls(journal: Journal, tool: Tool) -> JournalledCalls:
    return JournalledCalls(
        journal, {"model": tool}, Prices(DOLLAR), Budget(ManualClock(datetime(2026, 1, 1, tzinfo=UTC)))
    )


async def test_a_question_that_was_answered_is_never_asked_again(calls: JournalledCalls, tool: Tool) -> None:
    run = a_run()
    first = await calls.call(run, question(1))
    again = await calls.call(run, question(1))
    assert (first.value, first.reused, again.value, again.reused) == ({"ok": 1}, False, {"ok": 1}, True)
    assert len(tool.asked) == 1


async def test_ten_callers_of_one_question_pay_for_it_once(calls: JournalledCalls, tool: Tool) -> None:
    tool.delay = 0.05
    answers = await asyncio.gather(*(calls.call(a_run(), question(1)) for _ in range(10)))
    assert [answer.value for answer in answers] == [{"ok": 1}] * 10
    assert sum(not answer.reused for answer in answers) == len(tool.asked) == 1


async def test_another_matter_reuses_nothing(calls: JournalledCalls, tool: Tool) -> None:
    await calls.call(a_run("one"), question(1))
    await calls.call(a_run("two"), question(1))
    assert len(tool.asked) == 2


async def test_a_fresh_run_reuses_no_answer_of_others_but_its_own(calls: JournalledCalls, tool: Tool) -> None:
    await calls.call(a_run(), question(1))
    fresh = a_run(fresh=True)
    await calls.call(fresh, question(1))
    await calls.call(fresh, question(1))
    assert len(tool.asked) == 2


async def test_an_answer_that_was_rejected_is_reused_by_its_own_run_only(calls: JournalledCalls, tool: Tool) -> None:
    run = a_run()
    await calls.reject(run, await calls.call(run, question(1)), "invented")
    assert (await calls.call(run, question(1))).reused
    other = a_run()
    assert not (await calls.call(other, question(1))).reused
    assert (await calls.call(a_run(), question(1))).reused
    assert len(tool.asked) == 2


async def test_a_passing_fault_is_repeated_and_each_attempt_is_priced(
    calls: JournalledCalls, tool: Tool, journal: Journal
) -> None:
    run = a_run()
    tool.script = [Transient("busy", word="rate_limited"), Transient("late", word="request_timeout", unknown=True)]
    assert (await calls.call(run, question(1))).value == {"ok": 1}
    assert len(tool.asked) == 3
    # Refused: nothing. Timed out: it may have been done, so its worst price. Answered: what was reported.
    assert await journal.spent(run.run_id) == Decimal(0 + 2 + 1)


async def test_attempts_are_bounded_and_then_the_question_is_free_again(calls: JournalledCalls, tool: Tool) -> None:
    tool.script = [Transient("busy", word="server_error") for _ in range(3)]
    with pytest.raises(Transient):
        await calls.call(a_run(), question(1))
    assert len(tool.asked) == 3
    assert (await asyncio.wait_for(calls.call(a_run(), question(1)), PATIENCE)).value == {"ok": 1}


async def test_an_invalid_answer_goes_back_once_with_what_was_wrong(calls: JournalledCalls, tool: Tool) -> None:
    tool.script = [
        AnswerInvalid("clauses: missing", usage=Usage(1, 0, 0)),
        AnswerInvalid("still", usage=Usage(1, 0, 0)),
    ]
    with pytest.raises(AnswerInvalid, match="still"):
        await calls.call(a_run(), question(1))
    assert [feedback for _, feedback in tool.asked] == ["", "clauses: missing"]


async def test_a_cut_answer_is_not_repeated_since_it_would_be_cut_again(calls: JournalledCalls, tool: Tool) -> None:
    tool.script = [AnswerInvalid("cut", usage=Usage(1, 0, 0), cut=True)]
    with pytest.raises(AnswerInvalid):
        await calls.call(a_run(), question(1))
    assert len(tool.asked) == 1


async def test_a_refused_key_is_not_repeated(calls: JournalledCalls, tool: Tool) -> None:
    tool.script = [EndpointRefused("no key")]
    with pytest.raises(EndpointRefused):
        await calls.call(a_run(), question(1))
    assert len(tool.asked) == 1


async def test_an_endpoint_where_nobody_listens_stops_the_run_and_fails_no_document(
    calls: JournalledCalls, tool: Tool
) -> None:
    tool.script = [Transient("nobody listens", word="connection") for _ in range(3)]
    with pytest.raises(EndpointRefused, match="nobody listens"):
        await calls.call(a_run(), question(1))


async def test_a_caller_that_is_cancelled_leaves_the_question_to_others(calls: JournalledCalls, tool: Tool) -> None:
    tool.delay = HELD
    asking = asyncio.create_task(calls.call(a_run(), question(1)))
    while not tool.asked:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    tool.delay = 0
    assert (await asyncio.wait_for(calls.call(a_run(), question(1)), PATIENCE)).value == {"ok": 1}


async def test_who_waits_for_the_answer_of_another_leaves_when_its_own_time_is_over(
    journal: Journal, calls: JournalledCalls, tool: Tool
) -> None:
    run = a_run()
    asked = replace(question(1), timeouts=Timeouts(until=asyncio.get_running_loop().time()))
    owned = await journal.claim(run, asked, call_key(run, asked), Decimal(2), uuid.uuid4())
    assert isinstance(owned, Claim)  # by somebody who never answers
    with pytest.raises(Transient) as left:
        await asyncio.wait_for(calls.call(run, asked), PATIENCE)
    assert (left.value.word, tool.asked) == ("document_timeout", [])


async def test_an_answer_that_an_overtaken_process_could_not_write_is_left_to_who_drives_next(
    journal: Journal, calls: JournalledCalls, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(*_: Any) -> None:
        raise LeaseLost("another process drives")

    run = a_run()
    monkeypatch.setattr(journal, "complete", refused)
    with pytest.raises(LeaseLost):
        await calls.call(run, question(1))
    assert len(tool.asked) == 1
    # Its claim stands: nobody asks anew as if nothing had been asked and charged.
    assert await journal.claim(run, question(1), call_key(run, question(1)), Decimal(2), uuid.uuid4()) is None


async def test_an_answer_that_came_is_written_down_though_its_asker_is_told_to_leave_meanwhile(
    journal: Journal, calls: JournalledCalls, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, go, complete = asyncio.Event(), asyncio.Event(), journal.complete

    async def held(*args: Any) -> None:
        writing.set()
        await go.wait()
        await complete(*args)

    run = a_run()
    monkeypatch.setattr(journal, "complete", held)
    asking = asyncio.create_task(calls.call(run, question(1)))
    await asyncio.wait_for(writing.wait(), PATIENCE)
    asking.cancel()
    await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    key = call_key(run, question(1))
    assert isinstance(await journal.claim(run, question(1), key, Decimal(2), uuid.uuid4()), StoredAnswer)
    assert len(tool.asked) == 1


async def test_at_a_drain_a_call_that_failed_in_passing_has_no_second_attempt(
    calls: JournalledCalls, tool: Tool
) -> None:
    tool.script = [Transient("busy", word="server_error")]
    run, pool = a_run(), ReadAhead(grace=PATIENCE)

    async def work(ordinal: int) -> None:
        await calls.call(run, question(ordinal))

    async def none() -> list[int]:
        return []

    await pool.process(run, [1], none, work, lambda _: None, lambda: bool(tool.asked))
    await pool.aclose()
    assert len(tool.asked) == 1


async def test_a_budget_is_not_passed_by_calls_in_flight_together(
    calls: JournalledCalls, tool: Tool, journal: Journal
) -> None:
    run = a_run(budget_usd=Decimal(7))
    tool.delay = 0.05
    ends = await asyncio.gather(*(calls.call(run, question(n)) for n in range(9)), return_exceptions=True)
    # Two dollars each at their worst, one in the end: six fit one after the other, a seventh might pass the seven.
    assert len(tool.asked) == sum(not isinstance(end, BaseException) for end in ends) == 6
    assert all(isinstance(end, LimitReached) and end.kind == "budget" for end in ends if isinstance(end, BaseException))
    assert await journal.spent(run.run_id) == 6


async def test_no_call_begins_after_the_deadline_of_its_run(journal: Journal, tool: Tool) -> None:
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    calls = JournalledCalls(journal, {"model": tool}, Prices(DOLLAR), Budget(clock))
    run = a_run(deadline_seconds=60.0)
    await calls.call(run, question(1))
    clock.advance(timedelta(seconds=61))
    with pytest.raises(LimitReached) as reached:
        await calls.call(run, question(2))
    assert reached.value.kind == "deadline"
    assert len(tool.asked) == 1


async def test_a_raised_budget_goes_on_from_what_was_spent(calls: JournalledCalls, tool: Tool) -> None:
    run = a_run(budget_usd=Decimal(2))
    await calls.call(run, question(1))
    with pytest.raises(LimitReached):
        await calls.call(run, question(2))
    raised = replace(run, settings=replace(run.settings, budget_usd=Decimal(3)))
    assert (await calls.call(raised, question(2))).value == {"ok": 2}
    assert len(tool.asked) == 2


async def test_a_tool_that_is_not_set_up_is_named_and_for_a_model_the_variable_to_set(calls: JournalledCalls) -> None:
    with pytest.raises(MissingPart, match="ocr2"):
        await calls.call(a_run(), replace(question(1), tool="ocr2"))
    without = JournalledCalls(calls.journal, {}, Prices(), Budget(ManualClock(datetime.now(UTC))))
    with pytest.raises(MissingPart, match="set OPENAI_API_KEY"):
        await without.call(a_run(), question(1))


async def test_a_cancel_that_comes_after_an_outcome_was_written_does_not_undo_it(journal: Journal) -> None:
    run = a_run()
    owned = await journal.claim(run, question(1), "k", Decimal(2), uuid.uuid4())
    assert isinstance(owned, Claim)
    await journal.complete(run, "k", owned.call_id, {"ok": 1}, (Usage(1, 0, 0), Decimal(1), "reported"))
    await journal.fail(owned.call_id, "abandoned", "cancelled", "late", (None, Decimal(2), "estimated"))
    await journal.unclaim(run, "k")
    assert await journal.spent(run.run_id) == 1
    assert isinstance(await journal.claim(run, question(1), "k", Decimal(2), uuid.uuid4()), StoredAnswer)
