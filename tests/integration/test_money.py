"""What a run costs: before it, while it goes on, afterwards; and which model is asked."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from databases import number, rows
from journalled_tool import DOLLAR, Tool, a_run, question
from processes import environment, run
from sample_contracts import contracts

from graph import Reprise
from graph.adapters.clock import SystemClock
from graph.runtime.calls.budget import Budget
from graph.runtime.calls.journal import JournalledCalls
from graph.runtime.calls.pricing import Prices
from graph.runtime.memory.journal import MemoryJournal
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.runs.options import OptionError, apply
from nodes.domain.runs.settings import Settings, chain
from nodes.domain.shared.errors import LimitReached, Transient

MODELS = {"extract": "gpt-4.1-mini", "summarize": "gpt-4.1-nano"}
CHAIN = {"extract": "gpt-4.1-mini,gpt-4.1", "summarize": "gpt-4.1-nano"}
OPENAI: dict[str, Any] = {"engine": "openai", "review": "never"}


def models_asked(endpoint: ScriptedEndpoint) -> Counter[str]:
    """Calls about documents by model, as the endpoint wrote them down."""
    return Counter(call["model"] for call in endpoint.calls("received") if call["model"] != MODELS["summarize"])


async def test_the_next_model_is_asked_where_the_first_gives_no_usable_answer(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path, database: str
) -> None:
    endpoint.script([{"match": "Firm 2 Ltd", "times": 2, "respond": "this is no JSON"}])
    run = await asking.start(contracts(tmp_path / "room", 5), thread="t", models=CHAIN, **OPENAI)
    assert run.documents["done"] == 5
    assert models_asked(endpoint) == {"gpt-4.1-mini": 6, "gpt-4.1": 1}
    done_by = rows(database, "SELECT document, model FROM reprise.run_document ORDER BY ordinal")
    assert [row["model"] for row in done_by] == ["gpt-4.1-mini"] * 2 + ["gpt-4.1"] + ["gpt-4.1-mini"] * 2
    keys = rows(
        database,
        "SELECT model, parameters->>'model' AS named, parameters ? 'prompt' AS prompt, "
        "parameters ? 'max_tokens' AS limits FROM reprise.calls WHERE tool = 'model'",
    )
    assert all(row["model"] == row["named"] and row["prompt"] and row["limits"] for row in keys)


async def test_a_document_that_no_model_of_the_chain_can_do_fails_with_what_each_said(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path, database: str
) -> None:
    endpoint.script([{"match": "Firm 2 Ltd", "respond": "this is no JSON"}])
    run = await asking.start(contracts(tmp_path / "room", 3), thread="t", models=CHAIN, **OPENAI)
    assert (run.documents["done"], run.documents["failed"]) == (2, 1)
    reason = rows(database, "SELECT reason FROM reprise.run_document WHERE state = 'failed'")[0]["reason"]
    assert "gpt-4.1-mini answered" in reason and "gpt-4.1 answered" in reason


async def test_models_are_changed_on_resume_and_what_is_done_stays_done(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    room = contracts(tmp_path / "room", 24)
    whole = await asking.start(room, thread="whole", matter="other", models=MODELS, concurrency=1, **OPENAI)
    half = Decimal(str(whole.cost["usd"])) / 2
    endpoint.reset()
    held = await asking.start(room, thread="t", models=MODELS, concurrency=1, budget_usd=half, **OPENAI)
    assert held.status == "paused" and 0 < held.documents["done"] < 24
    await asking.resume("t", budget_usd=10, models={"extract": "gpt-4.1"})
    done = held.documents["done"]
    assert models_asked(endpoint) == {"gpt-4.1-mini": done, "gpt-4.1": 24 - done}


def test_a_chain_of_models_is_one_text_a_step_and_names_at_least_one() -> None:
    settings = apply(Settings(), {"models": {"extract": " gpt-4.1-mini , gpt-4.1 "}})
    assert chain(settings.models, "extract") == ("gpt-4.1-mini", "gpt-4.1")
    assert chain(settings.models, "summarize") == ()
    with pytest.raises(OptionError, match="names no model for extract"):
        apply(Settings(), {"models": {"extract": " , "}})


async def test_each_model_of_a_chain_needs_a_price_when_there_is_a_budget(asking: Reprise, tmp_path: Path) -> None:
    models = {"extract": "gpt-4.1-mini,house-7b"}
    with pytest.raises(OptionError, match="price of house-7b is not known"):
        await asking.start(contracts(tmp_path / "room", 1), thread="t", models=models, budget_usd=1, **OPENAI)


async def test_cost_by_step_model_and_document_add_up_and_failed_calls_are_in_it(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script([{"match": "Firm 1 Ltd", "times": 1, "respond": "this is no JSON"}])
    run = await asking.start(contracts(tmp_path / "room", 4), thread="t", models=MODELS, **OPENAI)
    cost = await asking.cost(run.thread_id)
    sums = [sum(row["usd"] for row in cost[level]) for level in ("by_step", "by_model", "by_document")]
    assert (
        sums[0] == sums[1] == sums[2]
        and isinstance(sums[0], Decimal)
        and float(sums[0]) == pytest.approx(cost["usd"], abs=1e-6)
    )
    extract = next(row for row in cost["by_model"] if (row["step"], row["tool"]) == ("extract", "model"))
    assert (extract["calls"], extract["failed"], extract["success_rate"]) == (5, 1, 0.8)
    mine = {call["id"] for call in endpoint.calls("received") if call["model"] == MODELS["extract"]}
    answered = [call for call in endpoint.calls("answered") if call["id"] in mine]
    assert extract["tokens_in"] == sum(call["prompt_tokens"] for call in answered)
    assert 0 < extract["median_seconds"] <= extract["p95_seconds"] and extract["calls_per_second"] > 0


async def test_calls_without_a_price_are_counted_and_never_nothing(asking: Reprise, tmp_path: Path) -> None:
    models = {"extract": "house-7b", "summarize": "gpt-4.1-nano"}
    run = await asking.start(contracts(tmp_path / "room", 3), thread="t", models=models, **OPENAI)
    cost = await asking.cost(run.thread_id)
    assert (cost["basis"], cost["calls_unpriced"]) == ("unknown", 3)
    assert sum(row["unpriced"] for row in cost["by_document"]) == 3


async def test_a_dry_run_asks_no_model_and_what_it_read_is_not_read_again(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path, database: str
) -> None:
    room = contracts(tmp_path / "room", 6)
    estimate = await asking.estimate(room, engine="openai", models=MODELS)
    assert endpoint.counts()["received"] == 0
    assert (estimate["documents"], estimate["pages"]) == ({"total": 6, "unreadable": 0}, 6)
    assert number(database, "SELECT count(*) FROM reprise.runs") == 0
    run = await asking.start(room, thread="t", models=MODELS, **OPENAI)
    read = rows(database, "SELECT state FROM reprise.calls WHERE run_id = %s AND tool = 'reader'", run.run_id)
    assert [row["state"] for row in read] == ["reused"] * 6
    cost = await asking.cost(run.thread_id)
    kept = cost["estimate"]
    assert kept["usd"] == estimate["usd"] and kept["made_at"]
    asked = endpoint.counts()["received"]
    assert estimate["calls"]["model"] <= asked <= estimate["calls"]["model_most"]
    assert estimate["usd"]["low"] <= cost["usd"] <= estimate["usd"]["high"]
    again = await asking.estimate(room, engine="openai", models=MODELS)
    assert again["calls"]["known"] == 6 and again["usd"]["high"] < estimate["usd"]["high"]


async def test_a_budget_of_the_highest_estimate_is_never_reached(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path, database: str
) -> None:
    room = contracts(tmp_path / "room", 6)
    estimate = await asking.estimate(room, engine="openai", models=MODELS)
    most = Decimal(str(estimate["usd"]["high"]))
    run = await asking.start(room, thread="t", models=MODELS, budget_usd=most, **OPENAI)
    assert (run.status, run.documents["done"], run.documents["failed"]) == ("completed", 6, 0)
    calls = rows(database, "SELECT state, usd, worst_usd FROM reprise.calls WHERE tool = 'model'")
    assert {call["state"] for call in calls} == {"completed"} and len(calls) == estimate["calls"]["model"]
    assert 0 < sum(call["usd"] for call in calls) <= sum(call["worst_usd"] for call in calls) <= most


async def test_an_estimate_of_the_local_engine_costs_nothing(asking: Reprise, tmp_path: Path) -> None:
    estimate = await asking.estimate(contracts(tmp_path / "room", 2))
    assert estimate["calls"]["model"] == 0 and estimate["usd"]["high"] == 0
    assert json.loads(json.dumps(estimate)) == estimate


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> tuple[JournalledCalls, Tool]:
    monkeypatch.setattr("graph.runtime.calls.attempts.FIRST_PAUSE", 0.01)
    tool = Tool()
    return JournalledCalls(MemoryJournal(), {"model": tool}, Prices(DOLLAR), Budget(SystemClock())), tool


async def test_a_repeated_call_does_not_pass_the_budget_that_its_first_attempt_may_have_used(
    paid: tuple[JournalledCalls, Tool],
) -> None:
    calls, tool = paid
    tool.script = [Transient("late", word="request_timeout", unknown=True)]
    with pytest.raises(LimitReached):
        await calls.call(a_run(budget_usd=Decimal(3)), question(1))
    assert len(tool.asked) == 1


async def test_a_model_without_a_price_is_not_asked_while_there_is_a_budget(paid: tuple[JournalledCalls, Tool]) -> None:
    tool = paid[1]
    calls = JournalledCalls(MemoryJournal(), {"model": tool}, Prices(), Budget(SystemClock()))
    with pytest.raises(LimitReached, match="price of a model is not known"):
        await calls.call(a_run(budget_usd=Decimal(3)), question(1))
    assert tool.asked == []


def test_a_dry_run_on_the_command_line_is_one_object_and_begins_no_run(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
    told = run(["start", contracts(tmp_path / "room", 2), "--engine", "openai", "--dry-run", "--json"], env)
    assert told.returncode == 0, told.stderr
    estimate = json.loads(told.stdout)
    assert estimate["documents"]["total"] == 2 and 0 < estimate["usd"]["low"] < estimate["usd"]["high"]
    assert endpoint.counts()["received"] == number(database, "SELECT count(*) FROM reprise.runs") == 0
