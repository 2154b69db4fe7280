import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from model_question import question
from odd_endpoint import Body, Reply, completion, odd_endpoint, refusal
from processes import HELD, PATIENCE, wait_until

from graph.adapters.openai.model import OpenAIModel
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.shared.errors import AnswerInvalid, EndpointRefused, RepriseError, Transient
from nodes.ports import Usage

KEY = "sk-test-0123456789abcdef"
FOUND = '{"clauses": [], "supplier": {"name": "Acme", "quote": "Acme"}}'


@pytest.fixture(scope="module")
def running() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(retry_after=7) as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(running: ScriptedEndpoint) -> ScriptedEndpoint:
    running.reset()
    return running


@asynccontextmanager
async def model(url: str, **settings: Any) -> AsyncIterator[OpenAIModel]:
    opened = OpenAIModel(base_url=url, api_key=KEY, **{"timeout": PATIENCE, **settings})
    try:
        yield opened
    finally:
        await opened.aclose()


async def failure(url: str, **settings: Any) -> RepriseError:
    async with model(url, **settings) as asked:
        with pytest.raises(RepriseError) as raised:
            await asked.answer(question())
    assert KEY not in str(raised.value)
    return raised.value


@pytest.mark.parametrize(
    ("fault", "word", "wait", "unknown"),
    [
        ("429", "rate_limited", 7, False),
        ("500", "server_error", None, True),
        ("503", "server_error", 7, True),
        ("reset", "connection", None, True),
        ("reset_before", "connection", None, True),
        ("truncated_stream", "connection", None, True),
    ],
)
async def test_trouble_on_the_way_is_worth_repeating(
    endpoint: ScriptedEndpoint, fault: str, word: str, wait: float | None, unknown: bool
) -> None:
    endpoint.script(faults={fault: 1})
    error = await failure(endpoint.base_url)
    assert isinstance(error, Transient)
    assert (error.word, error.retry_after, error.unknown) == (word, wait, unknown)
    assert len(endpoint.calls("received")) == 1, "the client must not repeat by itself"


@pytest.mark.parametrize("fault", ["hang", "slow"])
async def test_silence_ends_at_the_timeout(endpoint: ScriptedEndpoint, fault: str) -> None:
    endpoint.script(faults={fault: 1})
    error = await failure(endpoint.base_url, timeout=1.0)
    assert isinstance(error, Transient) and error.word == "request_timeout" and error.unknown
    assert "did not answer within 1 s" in str(error)


async def test_an_endpoint_that_trickles_bytes_ends_at_the_timeout() -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n")
        while not asked.is_set():
            writer.write(b" ")
            await asyncio.sleep(0.05)
        writer.close()
        ended.set()

    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    error = await failure(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", timeout=1.0)
    asked.set()
    await ended.wait()
    server.close()
    assert isinstance(error, Transient) and error.word == "request_timeout" and error.unknown


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("401", ["refused the key (401)", "set OPENAI_API_KEY and resume"]),
        ("404", ["knows no model 'scripted-1' (404)", "--model"]),
        ("quota", ["no credit left (429)"]),
    ],
)
async def test_a_refusal_that_no_repetition_mends_is_the_operators(
    endpoint: ScriptedEndpoint, fault: str, words: list[str]
) -> None:
    endpoint.script(faults={fault: 1})
    error = await failure(endpoint.base_url)
    assert isinstance(error, EndpointRefused)
    assert all(word in str(error) for word in [*words, "127.0.0.1:"])


async def test_a_prompt_that_is_too_long_is_cut(endpoint: ScriptedEndpoint) -> None:
    endpoint.script(context_tokens=10)
    error = await failure(endpoint.base_url)
    assert isinstance(error, AnswerInvalid) and error.cut


async def test_a_wrong_address_gets_a_clear_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        error = await failure(f"http://127.0.0.1:{port}/v1")
    assert isinstance(error, Transient) and error.word == "connection"
    assert not error.unknown, "nothing was sent"
    assert str(error) == (
        f"Nothing answers at 127.0.0.1:{port} (the connection was refused): check OPENAI_BASE_URL and resume."
    )


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ((403, refusal(f"Key {KEY} may not")), EndpointRefused, "refused the key (403)"),
        ((403, refusal("Your input was flagged by moderation")), AnswerInvalid, "flagged"),
        ((402, refusal("Insufficient credits")), EndpointRefused, "no credit left (402)"),
        ((404, {"detail": "Not Found"}), EndpointRefused, "check OPENAI_BASE_URL"),
        ((307, b"", {"Location": "http://127.0.0.1:9/v1"}), EndpointRefused, "sends us elsewhere"),
        ((400, refusal(f"top_p is odd, Bearer {KEY}")), AnswerInvalid, "top_p is odd"),
        ((200, b"<html>hello</html>", {"Content-Type": "text/html"}), Transient, "no chat completion"),
        ((200, {"error": {"code": 429, "message": "slow down"}}), Transient, "slow down (429)"),
        ((200, {"error": {"code": 401, "message": "no"}}), EndpointRefused, "refused the key (401)"),
        ((200, {**completion(), "choices": None}), Transient, ""),
        ((200, {**completion(), "choices": []}), Transient, ""),
        ((200, completion(finish_reason=None)), Transient, "broke off"),
        ((200, completion("", finish_reason="content_filter")), AnswerInvalid, "content filter"),
        ((529, refusal("overloaded")), Transient, "has trouble (529)"),
    ],
)
async def test_what_else_endpoints_say(answer: Reply, kind: type[RepriseError], words: str) -> None:
    async with odd_endpoint(lambda _: answer) as odd:
        error = await failure(odd.url)
    assert isinstance(error, kind), repr(error)
    assert words in str(error)


async def test_a_retry_date_becomes_seconds() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    async with odd_endpoint(lambda _: (429, refusal("slow down"), {"Retry-After": date})) as odd:
        error = await failure(odd.url)
    assert isinstance(error, Transient) and error.retry_after is not None and 30 < error.retry_after <= 90


async def test_a_form_that_an_endpoint_lacks_is_left_for_the_next_one_and_not_tried_again() -> None:
    def reply(body: Body) -> Reply:
        form = body.get("response_format", {}).get("type")
        if form == "json_schema":
            return 400, refusal("'response_format' of type 'json_schema' is not supported with this model")
        if body.get("tools"):
            return 400, refusal("tool_choice is not supported by this server")
        return 200, completion(f"```json\n{FOUND}\n```")

    async with odd_endpoint(reply) as odd, model(odd.url) as asked:
        for method in ("json_schema", "function_calling"):
            with pytest.raises(Transient, match=method) as raised:
                await asked.answer(question())
            assert (raised.value.word, raised.value.retry_after) == ("structured_output_unsupported", 0)
        for _ in range(2):
            assert (await asked.answer(question())).value == json.loads(FOUND)
        assert [body.get("response_format", {}).get("type", "tools") for body in odd.bodies] == [
            "json_schema",
            "tools",
            "json_object",
            "json_object",
        ]


async def test_refusals_of_calls_in_flight_together_leave_one_form_only() -> None:
    def reply(body: Body) -> Reply:
        if "response_format" in body:
            return 400, refusal("response_format is not supported")
        called = {"id": "t", "type": "function", "function": {"name": "ClauseAnswers", "arguments": FOUND}}
        return 200, completion(None, tool_calls=[called], finish_reason="tool_calls")

    async with odd_endpoint(reply) as odd, model(odd.url) as asked:
        first = await asyncio.gather(*(asked.answer(question()) for _ in range(5)), return_exceptions=True)
        assert all(isinstance(error, Transient) for error in first)
        assert (await asked.answer(question())).value == json.loads(FOUND)


async def test_a_model_that_calls_no_tool_is_asked_in_json_mode() -> None:
    def reply(body: Body) -> Reply:
        if body.get("response_format", {}).get("type") == "json_schema":
            return 400, refusal("json_schema: unknown")
        return 200, completion("I see no clauses." if body.get("tools") else FOUND)

    async with odd_endpoint(reply) as odd, model(odd.url) as asked:
        with pytest.raises(Transient):
            await asked.answer(question())
        with pytest.raises(Transient, match="function_calling") as raised:
            await asked.answer(question())
        assert raised.value.usage == Usage(100, 0, 10), "this one was paid"
        assert (await asked.answer(question())).value == json.loads(FOUND)


async def test_a_model_without_any_form_is_refused_by_name() -> None:
    unknown = refusal("response_format and tools are unknown")
    async with odd_endpoint(lambda _: (400, unknown)) as odd, model(odd.url) as asked:
        for _ in range(2):
            with pytest.raises(Transient):
                await asked.answer(question())
        with pytest.raises(EndpointRefused, match=r"'scripted-1'.*no form of structured output"):
            await asked.answer(question())


async def test_parameters_that_a_model_refuses_are_left_out() -> None:
    def reply(body: Body) -> Reply:
        if "temperature" in body:
            return 400, refusal("Unsupported value: 'temperature' does not support 0 with this model.")
        if "max_tokens" in body:
            return 400, refusal("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return 200, completion(FOUND)

    async with odd_endpoint(reply) as odd, model(odd.url) as asked:
        for _ in range(2):
            with pytest.raises(Transient) as raised:
                await asked.answer(question())
            assert raised.value.word == "parameter_unsupported"
        assert (await asked.answer(question())).value == json.loads(FOUND)
        assert odd.bodies[-1]["max_completion_tokens"] == 1000


async def test_a_request_says_what_the_question_says() -> None:
    async with odd_endpoint(lambda _: (200, completion())) as odd, model(odd.url) as asked:
        await asked.answer(question())
        (body,) = odd.bodies
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("scripted-1", 0, 1000)
    form = body["response_format"]["json_schema"]
    assert form["strict"] is True
    item = form["schema"]["$defs"]["ClauseAnswer"]
    assert item["properties"]["clause_type"]["enum"] == ["cap_on_liability", "governing_law", "exclusivity"]
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


async def test_the_second_prompt_holds_the_answer_and_what_was_wrong_with_it() -> None:
    replies = iter([completion('{"results": [1]}'), completion(FOUND)])
    async with odd_endpoint(lambda _: (200, next(replies))) as odd, model(odd.url) as asked:
        with pytest.raises(AnswerInvalid) as raised:
            await asked.answer(question())
        await asked.answer(question(), str(raised.value))
        first, second = (body["messages"] for body in odd.bodies)
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": '{"results": [1]}'}
    assert second[3]["role"] == "user" and "clauses: Field required" in second[3]["content"]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "prompt_tokens_details": {"cached_tokens": 80},
                "completion_tokens_details": {"reasoning_tokens": 40},
            },
            Usage(100, 80, 50),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "total_tokens": 150,
                "completion_tokens_details": {"reasoning_tokens": 40},
            },
            Usage(100, 0, 50),
        ),
        (
            {"prompt_tokens": 20, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 80}},
            Usage(100, 80, 10),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 10, "prompt_cache_hit_tokens": 60}, Usage(100, 60, 10)),
    ],
    ids=["inside the others", "reasoning beside", "cached beside", "another name"],
)
async def test_cached_and_reasoning_tokens_are_counted_once(usage: Body, expected: Usage) -> None:
    async with odd_endpoint(lambda _: (200, completion(usage=usage))) as odd, model(odd.url) as asked:
        assert (await asked.answer(question())).usage == expected


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, {"completion_tokens": 5}])
async def test_missing_counts_are_estimated_and_say_so(usage: Body | None) -> None:
    async with odd_endpoint(lambda _: (200, completion(FOUND, usage=usage))) as odd, model(odd.url) as asked:
        used = (await asked.answer(question())).usage
    assert not used.reported
    assert used.tokens_in > 500 and used.tokens_out in (-(-len(FOUND) // 4), 5)


async def test_many_calls_are_in_flight_at_once(endpoint: ScriptedEndpoint) -> None:
    endpoint.script(latency=HELD)
    async with model(endpoint.base_url) as asked:
        asking = [asyncio.create_task(asked.answer(question(f"Text number {number}."))) for number in range(40)]
        await asyncio.to_thread(wait_until, lambda: endpoint.counts()["in_flight"] == 40)
        endpoint.release()
        await asyncio.gather(*asking)
    assert endpoint.counts()["max_in_flight"] == 40


async def test_nothing_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-someone-else")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:9/v1")
    async with odd_endpoint(lambda _: (200, completion())) as odd, model(odd.url) as asked:
        await asked.answer(question())
        assert len(odd.bodies) == 1
