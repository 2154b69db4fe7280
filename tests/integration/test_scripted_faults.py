"""Every fault of the scripted endpoint, as the client the product calls a model with meets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import openai
import pydantic
import pytest
from langchain_openai.chat_models.base import OpenAIRefusalError
from scripted_client import LIABILITY, PROMPT, Model, Reading, ask, clients, left

from graph.testing.endpoint import FAULTS, ScriptedEndpoint

STATUS_FAULTS: list[tuple[str, type[openai.APIStatusError], int, str | None]] = [
    ("400", openai.BadRequestError, 400, "context_length_exceeded"),
    ("401", openai.AuthenticationError, 401, "invalid_api_key"),
    ("404", openai.NotFoundError, 404, "model_not_found"),
    ("429", openai.RateLimitError, 429, "rate_limit_exceeded"),
    ("quota", openai.RateLimitError, 429, "insufficient_quota"),
    ("500", openai.InternalServerError, 500, None),
    ("503", openai.InternalServerError, 503, None),
]


@pytest.fixture(scope="module")
def running() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(running: ScriptedEndpoint) -> ScriptedEndpoint:
    running.reset()
    return running


@pytest.fixture
async def model(endpoint: ScriptedEndpoint) -> AsyncIterator[Model]:
    async with clients(endpoint) as build:
        yield build


@pytest.mark.parametrize(("fault", "error", "status", "code"), STATUS_FAULTS, ids=[f[0] for f in STATUS_FAULTS])
async def test_a_refused_call_is_an_error_of_its_status_and_costs_nothing(
    endpoint: ScriptedEndpoint,
    model: Model,
    fault: str,
    error: type[openai.APIStatusError],
    status: int,
    code: str | None,
) -> None:
    endpoint.script(faults={fault: 1.0}, retry_after=7)
    with pytest.raises(error) as caught:
        await ask(model())
    assert (caught.value.status_code, caught.value.code) == (status, code)
    assert caught.value.response.headers.get("retry-after") == ("7" if fault in ("429", "503") else None)
    assert endpoint.calls("answered")[0]["status"] == status
    assert endpoint.counts()["tokens"] == {"prompt": 0, "completion": 0}


async def test_a_wrong_key_an_unknown_model_and_too_long_a_prompt_are_turned_away(
    endpoint: ScriptedEndpoint, model: Model
) -> None:
    endpoint.script(key="secret", models=["scripted-1"], context_tokens=500)
    with pytest.raises(openai.AuthenticationError):
        await ask(model())
    with pytest.raises(openai.NotFoundError):
        await ask(model(api_key="secret", model="other"))
    with pytest.raises(openai.BadRequestError, match="maximum context length is 500 tokens"):
        await ask(model(api_key="secret"), PROMPT * 5)
    assert (await ask(model(api_key="secret")))["parsed"].clauses


async def test_a_reset_after_the_work_is_billed_and_one_before_it_is_not(
    endpoint: ScriptedEndpoint, model: Model
) -> None:
    endpoint.script([{"fault": "reset", "times": 1}, {"fault": "reset_before", "times": 1}])
    for _ in range(2):
        with pytest.raises(openai.APIConnectionError) as caught:
            await ask(model())
        assert not isinstance(caught.value, openai.APITimeoutError)
    (billed,), (unserved,) = endpoint.calls("answered"), endpoint.calls("disconnected")
    assert billed["fault"] == "reset" and billed["completion_tokens"] > 0
    assert unserved["fault"] == "reset_before" and unserved["completion_tokens"] == 0


async def test_a_hang_is_a_timeout_and_the_client_is_seen_to_leave(endpoint: ScriptedEndpoint, model: Model) -> None:
    endpoint.script(faults={"hang": 1.0})
    with pytest.raises(openai.APITimeoutError):
        await ask(model(timeout=1.0))
    assert (await left(endpoint))[0]["fault"] == "hang"
    assert endpoint.counts()["in_flight"] == 0


async def test_a_slow_answer_arrives_when_waited_for(endpoint: ScriptedEndpoint, model: Model) -> None:
    endpoint.script(faults={"slow": 1.0}, slow_seconds=0.4)
    with pytest.raises(openai.APITimeoutError):
        await ask(model(timeout=0.1))
    assert (await ask(model()))["parsed"].clauses


@pytest.mark.parametrize("fault", ["cut_json", "early_close"])
async def test_an_answer_out_of_length_is_an_error_even_where_it_is_valid_json(
    endpoint: ScriptedEndpoint, model: Model, fault: str
) -> None:
    endpoint.script(faults={fault: 1.0})
    with pytest.raises(openai.LengthFinishReasonError) as caught:
        await ask(model())
    content = caught.value.completion.choices[0].message.content or ""
    if fault == "early_close":
        assert len(Reading.model_validate_json(content).clauses) == 1
    else:
        with pytest.raises(pydantic.ValidationError):
            Reading.model_validate_json(content)
    assert caught.value.completion.usage is not None


async def test_an_answer_is_cut_at_the_length_the_request_allows(model: Model) -> None:
    with pytest.raises(openai.LengthFinishReasonError) as caught:
        await ask(model(max_completion_tokens=5))
    usage = caught.value.completion.usage
    assert usage is not None and usage.completion_tokens == 5


@pytest.mark.parametrize("fault", ["bad_json", "wrong_schema", "surrogate", "no_tool_call"])
async def test_an_answer_that_is_no_reading_is_an_error_of_the_content(
    endpoint: ScriptedEndpoint, model: Model, fault: str
) -> None:
    endpoint.script(faults={fault: 1.0})
    with pytest.raises(pydantic.ValidationError):
        await ask(model())
    assert endpoint.calls("answered")[0]["completion_tokens"] > 0


@pytest.mark.parametrize("fault", ["empty", "null"])
async def test_an_empty_answer_is_a_parsing_error(endpoint: ScriptedEndpoint, model: Model, fault: str) -> None:
    endpoint.script(faults={fault: 1.0})
    answer = await ask(model())
    assert answer["parsed"] is None and isinstance(answer["parsing_error"], ValueError)


async def test_a_refusal_is_a_parsing_error_of_its_own_kind(endpoint: ScriptedEndpoint, model: Model) -> None:
    endpoint.script(faults={"refusal": 1.0})
    answer = await ask(model())
    assert isinstance(answer["parsing_error"], OpenAIRefusalError)
    assert answer["raw"].additional_kwargs["refusal"].startswith("I'm sorry")


async def test_a_nul_character_and_an_invented_tail_come_through_as_if_nothing_were_wrong(
    endpoint: ScriptedEndpoint, model: Model
) -> None:
    endpoint.script([{"fault": "nul", "times": 1}, {"fault": "fabricated", "times": 1}])
    first, second = await ask(model()), await ask(model())
    assert "\x00" in first["parsed"].clauses[0].quote
    assert second["parsed"].clauses[0].quote.startswith(LIABILITY)
    assert second["parsed"].clauses[0].quote != LIABILITY


async def test_a_missing_tool_call_leaves_nothing_parsed_and_no_error(endpoint: ScriptedEndpoint, model: Model) -> None:
    endpoint.script(faults={"no_tool_call": 1.0})
    answer = await ask(model(), method="function_calling")
    assert answer["parsed"] is None and answer["parsing_error"] is None


async def test_a_body_cut_short_is_a_connection_error(endpoint: ScriptedEndpoint, model: Model) -> None:
    endpoint.script(faults={"truncated_stream": 1.0})
    with pytest.raises(openai.APIConnectionError):
        await ask(model())


async def test_rules_of_a_script_go_by_the_prompt_and_wear_out(endpoint: ScriptedEndpoint, model: Model) -> None:
    nothing: dict[str, Any] = {"clauses": [], "supplier": None}
    endpoint.script([{"match": "acme-[0-9]", "times": 1, "respond": nothing}, {"match": "never there", "status": 502}])
    assert (await ask(model()))["parsed"].clauses == []
    assert len((await ask(model()))["parsed"].clauses) == 2
    with pytest.raises(openai.InternalServerError):
        await ask(model(), PROMPT + "never there")
    with pytest.raises(ValueError, match="no such fault"):
        endpoint.script([{"fault": "earthquake"}])


async def test_the_same_seed_fails_the_same_calls_in_whatever_order_they_come(
    endpoint: ScriptedEndpoint, model: Model
) -> None:
    async def outcomes(order: list[int]) -> dict[int, bool]:
        endpoint.reset()
        endpoint.script(faults={"500": 0.5}, seed=11)
        client = model()
        answers = await asyncio.gather(*(ask(client, f"{PROMPT}{n}") for n in order), return_exceptions=True)
        return {n: isinstance(answer, dict) for n, answer in zip(order, answers, strict=True)}

    there, back = await outcomes(list(range(12))), await outcomes(list(range(11, -1, -1)))
    assert there == back
    assert set(there.values()) == {True, False}


def test_every_fault_is_shown_in_this_file() -> None:
    shown = Path(__file__).read_text(encoding="utf-8")
    assert [fault for fault in sorted(FAULTS) if f'"{fault}"' not in shown] == []
