"""What endpoints say in ways of their own: each ends as what it is, is paid once, and stops what must be stopped."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from databases import rows
from model_question import question
from odd_endpoint import Body, Reply, completion, odd_endpoint, refusal
from risky_contracts import risky

from graph import Reprise
from graph.adapters.openai.answers import parsed
from graph.adapters.openai.model import OpenAIModel
from graph.adapters.retry_after import retry_after
from nodes.domain.shared.errors import AnswerInvalid, EndpointRefused, RepriseError, Transient

FOUND = '{"clauses": [], "supplier": null}'
VALUE = {"clauses": [], "supplier": None}


@pytest.mark.parametrize(
    "said",
    [
        f"```json {FOUND} ```",
        f"Here is the JSON:\n```json\n{FOUND}\n```\nI hope this helps.",
        f"Sure! {FOUND}",
        f"{FOUND}\n\nNothing else was found.",
        f"Let me look at passage 1 first.\n</think>\n\n{FOUND}",
        f"<think>Perhaps {{'clauses': 1}}?</think>{FOUND}",
        f"\ufeff{FOUND}",
    ],
)
def test_words_around_the_one_object_of_an_answer_cost_no_second_call(said: str) -> None:
    assert parsed(said) == (VALUE, "")


@pytest.mark.parametrize(
    "said",
    [
        FOUND + FOUND,
        f"First {{}}, then {FOUND}",
        f"{FOUND}}}",
        f"<think>a draft: {FOUND}",
        f"Sure: {FOUND[:-1]},,",
        f"Sure: {FOUND[:12]}",
        "I cannot help with that.",
    ],
)
def test_what_holds_no_object_or_more_than_one_is_not_guessed_at(said: str) -> None:
    value, wrong = parsed(said)
    assert value is None and "no JSON" in wrong


def test_a_quote_that_closes_a_thought_is_no_thought() -> None:
    value, _ = parsed('{"clauses": [{"quote": "the tag </think> ends it"}]}')
    assert value == {"clauses": [{"quote": "the tag </think> ends it"}]}


@pytest.mark.parametrize(
    "message",
    [
        {"content": FOUND, "reasoning_content": "Let me see."},
        {"content": [{"type": "text", "text": FOUND}]},
        {"content": [{"type": "thinking", "thinking": "Let me see."}, {"type": "text", "text": FOUND}]},
    ],
    ids=["thoughts beside it", "one part", "thoughts as a part"],
)
async def test_an_answer_in_parts_or_beside_thoughts_is_read_without_a_warning(message: Body) -> None:
    said = completion(FOUND)
    said["choices"][0]["message"] = {"role": "assistant", **message}
    async with odd_endpoint(lambda _: (200, said)) as odd:
        asked = OpenAIModel(base_url=odd.url, api_key="x", timeout=10)
        with warnings.catch_warnings(record=True) as told:
            assert (await asked.answer(question())).value == VALUE
        await asked.aclose()
    assert told == []


async def failure(answer: Reply) -> RepriseError:
    async with odd_endpoint(lambda _: answer) as odd:
        asked = OpenAIModel(base_url=odd.url, api_key="sk-test-0123456789abcdef", timeout=10)
        with pytest.raises(RepriseError) as raised:
            await asked.answer(question())
        await asked.aclose()
    return raised.value


def ending(finish: str) -> Body:
    return completion(FOUND, finish_reason=finish)


SELLING = "Limit 6000, Used 5900. Please try again in 10.5s. Need more tokens? Upgrade at https://example.org/billing"
TOO_LARGE = "Request too large on tokens per min (TPM): Limit 6000, Requested 8000. The tokens must be reduced."


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ((400, refusal("The model `scripted-1` does not exist", "model_not_found")), EndpointRefused, "knows no model"),
        ((400, refusal("scripted-1 is not a valid model ID")), EndpointRefused, "knows no model 'scripted-1' (400)"),
        ((403, refusal("No access to model x", "model_not_found")), EndpointRefused, "lets us not use model"),
        ((403, refusal("Country not supported")), EndpointRefused, "(403): Country not supported; check"),
        ((400, [{"error": {"code": 400, "message": "API key not valid."}}]), EndpointRefused, "the key (400)"),
        ((400, [{"error": {"code": 400, "message": "top_k is odd"}}]), AnswerInvalid, "top_k is odd"),
        ((400, b"<html>no</html>", {"Content-Type": "text/html"}), AnswerInvalid, "(400): no reason given"),
        ((429, refusal(SELLING, "rate_limit_exceeded")), Transient, "slow down for 11s (429)"),
        ((429, [{"error": {"code": 429, "message": "See billing. Retry in 22s."}}]), Transient, "for 22s (429)"),
        ((429, refusal("Check your plan and billing details")), EndpointRefused, "no credit left"),
        ((200, {"error": {"code": "insufficient_quota", "message": "none"}}), EndpointRefused, "no credit left"),
        ((200, {"error": {"code": "rate_limit_exceeded", "message": "x"}}), Transient, "slow down (429)"),
        ((200, {"error": {"code": "429", "message": "x"}}), Transient, "slow down (429)"),
        ((200, {"object": "error", "message": "model x not found", "code": 404}), EndpointRefused, "knows no model"),
        ((503, refusal("down"), {"Retry-After": "7200"}), Transient, "has trouble and asks to wait 2h00m (503)"),
        ((200, {"error": "overloaded"}), Transient, "has trouble (500)"),
        ((200, ending("error")), Transient, "broke off"),
    ],
)
async def test_refusals_in_every_dress_are_told_apart(answer: Reply, kind: type[RepriseError], words: str) -> None:
    error = await failure(answer)
    assert isinstance(error, kind), repr(error)
    assert words in str(error)


@pytest.mark.parametrize(
    "answer",
    [
        (429, refusal(TOO_LARGE, "rate_limit_exceeded")),
        (500, refusal("the request exceeds the available context size")),
        (200, {"error": {"code": "context_length_exceeded", "message": "maximum context length is 10 tokens"}}),
        (200, ending("max_tokens")),
        (200, ending("model_length")),
    ],
    ids=["larger than a minute's rate", "in a 500", "in a 200", "ended as max_tokens", "ended as model_length"],
)
async def test_what_asking_about_less_can_mend_is_cut(answer: Reply) -> None:
    error = await failure(answer)
    assert isinstance(error, AnswerInvalid) and error.cut, repr(error)


@pytest.mark.parametrize("refused", ["rate_limit_exceeded", "insufficient_quota"])
async def test_a_refusal_in_the_body_of_a_200_costs_nothing(refused: str) -> None:
    error = await failure((200, {"error": {"code": refused, "message": "x"}}))
    assert not getattr(error, "unknown", False)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Please try again in 10.566s.", 10.566),
        ("Please try again in 1m20.5s. Visit us.", 80.5),
        ("retry after 2h3m5s", 7385),
        ("try again in 260ms", 0.26),
        ("Please try again in 20 seconds.", 20),
        ("Please retry in 6 minutes", 360),
        ("Try again later.", None),
    ],
)
def test_a_time_to_wait_is_read_from_a_sentence_where_no_header_names_one(said: str, seconds: float | None) -> None:
    assert retry_after({}, said) == (None if seconds is None else pytest.approx(seconds))
    assert retry_after({"retry-after": "7"}, said) == 7


@pytest.mark.parametrize("count", [10**12, -1])
async def test_a_count_that_cannot_be_is_none(count: int) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": 10, "total_tokens": 10}
    async with odd_endpoint(lambda _: (200, completion(usage=usage))) as odd:
        asked = OpenAIModel(base_url=odd.url, api_key="x", timeout=10)
        used = (await asked.answer(question())).usage
        await asked.aclose()
    assert not used.reported and 500 < used.tokens_in < 5_000


async def test_a_quota_that_is_used_up_for_the_day_stops_the_run_and_fails_no_document(
    database: str, home: Path, tmp_path: Path
) -> None:
    spent = True

    def reply(body: Body) -> Reply:
        if spent and body["model"] == "gpt-4.1-mini":
            return 429, refusal("Rate limit reached for tokens per day"), {"Retry-After": "86400"}
        return 200, completion()

    models = {"extract": "gpt-4.1-mini"}
    async with odd_endpoint(reply) as odd:
        key: dict[str, Any] = {"openai_base_url": odd.url, "openai_api_key": "x"}
        async with Reprise.open(database_url=database, home=home, **key) as reprise:
            room = risky(tmp_path / "room", 6)
            with pytest.raises(EndpointRefused, match=r"slow down for 1d00h \(429\): resume then, or now with another"):
                await reprise.start(room, thread="t", engine="openai", models=models, review="never", concurrency=2)
            asked = [str(body["messages"]) for body in odd.bodies]
            assert len(set(asked)) == len(asked), "nothing was asked twice"
            documents = rows(database, "SELECT state FROM reprise.run_document")
            assert {row["state"] for row in documents} == {"pending"}
            run = await reprise.resume("t", models={"extract": "gpt-4.1-nano"})
            assert (run.documents["done"], run.documents["failed"]) == (6, 0)
        spent = False
