"""The scripted endpoint, seen through the client the product calls a model with."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import psutil
import pydantic
import pytest
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import OpenAIRefusalError

from graph.adapters.scripted_answers import minimal, sentences
from graph.adapters.scripted_endpoint import FAULTS, ScriptedEndpoint

LIABILITY = "The Supplier's total liability under this Agreement shall not exceed EUR 100,000."
LAW = "Le présent contrat est régi par le droit français."
PARTIES = 'This Agreement is made between Acme Inc. (the "Customer") and Nordlicht GmbH (the "Supplier").'
PROMPT = f"""Find these clauses: cap_on_liability, governing_law.
<document id="acme-7">
<passage id="4" page="1">
{PARTIES} {LIABILITY}
</passage>
<passage id="5" page="2">
12. Droit
{LAW} The Supplier shall maintain insurance at its own cost.
</passage>
"""


class Clause(pydantic.BaseModel):
    clause_type: str
    passage_id: int
    quote: str
    confidence: float


class Supplier(pydantic.BaseModel):
    name: str
    quote: str


class Reading(pydantic.BaseModel):
    clauses: list[Clause]
    supplier: Supplier | None


Model = Callable[..., ChatOpenAI]


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
    async with contextlib.AsyncExitStack() as clients:

        def build(timeout: float = 5.0, **options: Any) -> ChatOpenAI:
            client = openai.DefaultAsyncHttpxClient(timeout=timeout, trust_env=False)
            clients.push_async_callback(client.aclose)
            given = {"model": "scripted-1", "api_key": "x"} | options
            return ChatOpenAI(
                base_url=endpoint.base_url, max_retries=0, timeout=timeout, http_async_client=client, **given
            )

        yield build


async def ask(model: ChatOpenAI, prompt: str = PROMPT, method: str = "json_schema") -> dict[str, Any]:
    reader = model.with_structured_output(Reading, method=method, include_raw=True)  # type: ignore[arg-type]
    answer: Any = await reader.ainvoke(prompt)
    return dict(answer)


async def left(endpoint: ScriptedEndpoint, event: str = "disconnected") -> list[dict[str, Any]]:
    """The calls the endpoint has seen end that way; it may notice a moment after the client."""
    for _ in range(100):
        if calls := endpoint.calls(event):
            return calls
        await asyncio.sleep(0.01)
    return []


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
async def test_an_answer_quotes_the_passages_to_the_letter(model: Model, method: str) -> None:
    answer = await ask(model(), method=method)
    reading = answer["parsed"]
    assert [(c.clause_type, c.passage_id, c.quote) for c in reading.clauses] == [
        ("cap_on_liability", 4, LIABILITY),
        ("governing_law", 5, LAW),
    ]
    assert reading.supplier == Supplier(name="Nordlicht GmbH", quote=PARTIES)
    usage = answer["raw"].usage_metadata
    assert usage["input_tokens"] == -(-len(PROMPT) // 4)
    assert usage["output_tokens"] > 0


async def test_without_a_list_of_wanted_clauses_every_known_clause_is_answered(model: Model) -> None:
    answer = await ask(model(), PROMPT.replace("cap_on_liability, governing_law", "all"))
    assert [c.clause_type for c in answer["parsed"].clauses] == ["cap_on_liability", "governing_law", "insurance"]


async def test_every_call_is_in_the_log_with_its_body_document_and_tokens(
    endpoint: ScriptedEndpoint, model: Model
) -> None:
    answer = await ask(model(max_completion_tokens=900))
    await ask(model(max_completion_tokens=900))
    first, second = endpoint.calls("received")
    assert first["sha256"] == second["sha256"] and first["id"] != second["id"]
    assert (first["document"], first["prompt_chars"], first["max_tokens"]) == ("acme-7", len(PROMPT), 900)
    assert answer["raw"].response_metadata["id"] == first["id"]
    counts = endpoint.counts()
    assert counts["received"] == len(endpoint.calls("received")) == 2
    assert counts["answered"] == len(endpoint.calls("answered")) == 2
    assert counts["in_flight"] == 0 and counts["by_status"] == {"200": 2}
    assert counts["tokens"]["prompt"] == sum(c["prompt_tokens"] for c in endpoint.calls("answered"))


async def test_a_streamed_answer_is_the_same_answer_with_its_usage(model: Model) -> None:
    streaming = model(stream_usage=True).bind(response_format={"type": "json_object"})
    chunks = [chunk async for chunk in streaming.astream(PROMPT)]
    whole: Any = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert len(chunks) > 3
    assert Reading.model_validate_json(str(whole.content)).clauses[0].quote == LIABILITY
    assert whole.usage_metadata["input_tokens"] == -(-len(PROMPT) // 4)
    assert whole.response_metadata["finish_reason"] == "stop"


STATUS_FAULTS: list[tuple[str, type[openai.APIStatusError], int, str | None]] = [
    ("400", openai.BadRequestError, 400, "context_length_exceeded"),
    ("401", openai.AuthenticationError, 401, "invalid_api_key"),
    ("404", openai.NotFoundError, 404, "model_not_found"),
    ("429", openai.RateLimitError, 429, "rate_limit_exceeded"),
    ("quota", openai.RateLimitError, 429, "insufficient_quota"),
    ("500", openai.InternalServerError, 500, None),
    ("503", openai.InternalServerError, 503, None),
]


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
        await ask(model(timeout=0.3))
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


async def test_a_body_cut_short_is_a_connection_error_but_a_stream_cut_short_just_ends(
    endpoint: ScriptedEndpoint, model: Model
) -> None:
    endpoint.script(faults={"truncated_stream": 1.0})
    with pytest.raises(openai.APIConnectionError):
        await ask(model())
    streaming = model(stream_usage=True).bind(response_format={"type": "json_object"})
    chunks = [chunk async for chunk in streaming.astream(PROMPT)]
    assert not any(chunk.response_metadata.get("finish_reason") for chunk in chunks)
    assert not any(chunk.usage_metadata for chunk in chunks)


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


async def test_sixteen_calls_at_once_are_sixteen_in_flight(endpoint: ScriptedEndpoint, model: Model) -> None:
    endpoint.script(latency=0.3)
    client = model()
    await asyncio.gather(*(ask(client, f"{PROMPT}{n}") for n in range(16)))
    counts = endpoint.counts()
    assert counts["max_in_flight"] == 16
    assert (counts["received"], counts["answered"], counts["in_flight"]) == (16, 16, 0)


async def test_a_client_that_leaves_early_is_written_down(endpoint: ScriptedEndpoint, model: Model) -> None:
    endpoint.script(latency=5.0)
    asking = asyncio.create_task(ask(model()))
    await left(endpoint, "received")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(await left(endpoint)) == 1
    assert endpoint.calls("answered") == []


def test_a_request_may_come_in_pieces_and_two_at_once(endpoint: ScriptedEndpoint) -> None:
    host, port = endpoint.base_url.removeprefix("http://").removesuffix("/v1").split(":")
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hello"}]}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(body)
    with socket.create_connection((host, int(port)), timeout=5) as line:
        line.sendall(head[:30])
        time.sleep(0.05)
        line.sendall(head[30:] + b"\r\n" + body + head + b"Connection: close\r\n\r\n" + body)
        answers = b"".join(iter(lambda: line.recv(65536), b""))
    assert answers.count(b"HTTP/1.1 200 OK") == 2
    assert answers.count(b"Scripted answer to a prompt of 5 characters.") == 2


def test_it_ends_with_the_process_that_started_it_even_when_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from graph.adapters.scripted_endpoint import ScriptedEndpoint\n"
        f"endpoint = ScriptedEndpoint(log={str(tmp_path / 'calls.jsonl')!r}).start()\n"
        "sys.stdout.write(f'{endpoint.pid}\\n'); sys.stdout.flush()\n"
        "time.sleep(60)\n"
    )
    root = str(Path(__file__).resolve().parents[1])
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=root, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        assert child.is_running()
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        gone, alive = psutil.wait_procs([child], timeout=5)
    assert gone and not alive


def test_it_comes_back_at_the_same_address_with_the_same_log(tmp_path: Path) -> None:
    with ScriptedEndpoint(log=tmp_path / "calls.jsonl") as endpoint:
        address, pid = endpoint.base_url, endpoint.pid
        endpoint.stop()
        assert not psutil.pid_exists(pid)
        endpoint.start()
        assert endpoint.base_url == address
        assert endpoint.counts()["received"] == 0
    with pytest.raises(RuntimeError):
        _ = endpoint.pid


def test_it_can_be_run_by_hand(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('[{"match": "x", "status": 418}]')
    command = [sys.executable, "-m", "graph.adapters.scripted_endpoint", "--script", str(rules)]
    options = ["--latency", "0.01", "--latency-p95", "0.05", "--fault", "429=0.1", "--fault", "hang=0.1"]
    root = str(Path(__file__).resolve().parents[1])
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, cwd=root, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("READY http://127.0.0.1:")
        process.terminate()
    wrong = subprocess.run([*command, "--fault", "flood=1"], cwd=root, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "no such fault: flood" in wrong.stderr


def test_a_schema_it_doesnt_know_gets_the_smallest_instance() -> None:
    class Inner(pydantic.BaseModel):
        kind: str = pydantic.Field(json_schema_extra={"enum": ["b", "a"]})
        size: int = pydantic.Field(ge=3)

    class Outer(pydantic.BaseModel):
        inner: Inner
        many: list[Inner] = pydantic.Field(min_length=1)
        maybe: Inner | None
        name: str
        sure: bool
        share: float

    value = minimal(Outer.model_json_schema())
    inner = {"kind": "b", "size": 3}
    assert value == {"inner": inner, "many": [inner], "maybe": None, "name": "", "sure": False, "share": 0}
    Outer.model_validate(value)


def test_sentences_are_parts_of_the_text_and_survive_numbers_and_wrapped_lines() -> None:
    text = f"7. LIABILITY\n7.1 Under Sec. 4 the\nSupplier pays. {LIABILITY}\n\nan item without an end\n\n{LAW}"
    assert sentences(text) == (
        "7. LIABILITY",
        "7.1 Under Sec. 4 the\nSupplier pays.",
        LIABILITY,
        "an item without an end",
        LAW,
    )


def test_every_fault_is_shown_in_this_file() -> None:
    shown = Path(__file__).read_text(encoding="utf-8")
    assert [fault for fault in sorted(FAULTS) if f'"{fault}"' not in shown] == []
