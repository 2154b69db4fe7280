"""Each fault of an endpoint, met once and met for ever: retries are bounded, a document fails by name or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from databases import number, rows
from faulty_runs import mix, run_under_faults
from risky_contracts import risky

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from nodes.prompts.questions import ANSWER_TOKENS

MODELS = {"extract": "gpt-4.1-mini", "summarize": "gpt-4.1-nano"}


@pytest.fixture(scope="module")
def running() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(retry_after=0.1) as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(running: ScriptedEndpoint) -> ScriptedEndpoint:
    running.reset()
    return running


PASSING = [
    ("429", "failed", "rate_limited"),
    ("500", "failed", "server_error"),
    ("503", "failed", "server_error"),
    ("reset", "failed", "connection"),
    ("reset_before", "failed", "connection"),
    ("truncated_stream", "failed", "connection"),
]
UNUSABLE = ["bad_json", "wrong_schema", "empty", "null", "refusal", "no_tool_call"]
CUT = ["cut_json", "early_close"]
HARMLESS = ["nul", "surrogate"]


async def under(
    fault: str, endpoint: ScriptedEndpoint, database: str, home: Path, folder: Path, **settings: Any
) -> tuple[Any, Counter[tuple[str, str]], list[dict[str, Any]]]:
    """A run of four documents: one meets the fault once, one for ever, two never.

    Returns the run, how often calls about documents ended with each state and word, and what became of each document.
    """
    endpoint.script([{"match": "Firm 1 Ltd", "fault": fault, "times": 1}, {"match": "Firm 2 Ltd", "fault": fault}])
    key: dict[str, Any] = {"openai_base_url": endpoint.base_url, "openai_api_key": "x", "attempts": 2}
    async with Reprise.open(database_url=database, home=home, **{**key, **settings}) as reprise:
        run = await reprise.start(risky(folder, 4), thread="t", engine="openai", models=MODELS, review="never")
    ended = Counter(
        (row["state"], row["word"])
        for row in rows(database, "SELECT state, word FROM reprise.calls WHERE tool = 'model' AND step = 'extract'")
    )
    assert endpoint.counts()["received"] == number(
        database, "SELECT count(*) FROM reprise.calls WHERE tool = 'model' AND state <> 'reused'"
    )
    return run, ended, rows(database, "SELECT document, state, reason FROM reprise.run_document ORDER BY ordinal")


def fails_by_name(documents: list[dict[str, Any]]) -> str:
    """Only the document that meets the fault for ever failed; its reason."""
    assert [document["state"] for document in documents] == ["done", "done", "failed", "done"]
    reason: str = documents[2]["reason"]
    assert reason and "Traceback" not in reason and "\n" not in reason
    return reason


@pytest.mark.parametrize(("fault", "state", "word"), PASSING)
async def test_what_passes_is_repeated_a_bounded_number_of_times_and_tried_once_more_at_the_end(
    fault: str, state: str, word: str, endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path
) -> None:
    run, ended, documents = await under(fault, endpoint, database, home, tmp_path / "room")
    assert "also at a second try" in fails_by_name(documents)
    # Once for the one, and two attempts in each of two lanes for the other.
    assert ended == {("completed", ""): 3, (state, word): 5}
    assert run.status == "completed_with_failures"
    price = "SELECT DISTINCT basis FROM reprise.calls WHERE word <> ''"
    # A 429 is refused before any work; of the others nobody can say whether they were charged.
    assert rows(database, price) == [{"basis": "reported" if fault == "429" else "estimated"}]


async def test_silence_is_left_after_its_time_and_not_repeated_at_once(
    endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for the others' answers on a busy machine, and no longer at the second try.
    monkeypatch.setattr("nodes.steps.extract_document.SLOW_FACTOR", 1.0)
    _, ended, documents = await under("hang", endpoint, database, home, tmp_path / "room", request_seconds=5.0)
    assert "also at a second try" in fails_by_name(documents)
    assert ended == {("completed", ""): 3, ("abandoned", "request_timeout"): 3}


@pytest.mark.parametrize("fault", UNUSABLE)
async def test_an_unusable_answer_goes_back_once_with_what_was_wrong(
    fault: str, endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path
) -> None:
    _, ended, documents = await under(fault, endpoint, database, home, tmp_path / "room")
    fails_by_name(documents)
    assert ended == {("completed", ""): 3, ("failed", "answer_invalid"): 3}
    again = [call for call in endpoint.calls("received") if str(call["idempotency_key"]).endswith("-again")]
    first = max(call["prompt_chars"] for call in endpoint.calls("received") if call not in again)
    assert len(again) == 2 and all(call["prompt_chars"] > first for call in again)


@pytest.mark.parametrize("fault", CUT)
async def test_a_cut_answer_of_a_passage_that_cannot_be_halved_is_asked_for_with_more_room_once(
    fault: str, endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path
) -> None:
    _, ended, documents = await under(fault, endpoint, database, home, tmp_path / "room")
    assert "longer than allowed" in fails_by_name(documents)
    assert ended == {("completed", ""): 3, ("failed", "answer_cut"): 3}
    asked = [call["max_tokens"] for call in endpoint.calls("received") if call["model"] == MODELS["extract"]]
    assert Counter(asked) == {ANSWER_TOKENS: 4, 2 * ANSWER_TOKENS: 2}


async def test_a_cut_answer_about_a_longer_text_is_asked_for_in_halves(
    endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path
) -> None:
    room = risky(tmp_path / "room", 1)
    long = "\n\n".join(f"{n}. The parties shall meet on the {n}th day of each month in Lyon." for n in range(5, 45))
    text = (room / "contract_000.txt").read_text() + "\n\n" + long
    (room / "contract_000.txt").write_text(text)
    endpoint.script([{"match": "Firm 0 Ltd", "fault": "cut_json", "times": 1}])
    key = {"openai_base_url": endpoint.base_url, "openai_api_key": "x"}
    async with Reprise.open(database_url=database, home=home, **key) as reprise:
        run = await reprise.start(room, thread="t", engine="openai", models=MODELS, review="never")
    assert run.status == "completed"
    asked = [call for call in endpoint.calls("received") if call["model"] == MODELS["extract"]]
    whole, *halves = [call["prompt_chars"] for call in asked]
    assert len(halves) == 2 and max(halves) < whole
    assert {call["max_tokens"] for call in asked} == {ANSWER_TOKENS}


async def test_a_prompt_that_is_too_long_for_the_model_is_not_asked_again_with_more_room(
    endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path
) -> None:
    _, ended, documents = await under("400", endpoint, database, home, tmp_path / "room")
    assert [document["state"] for document in documents] == ["done", "failed", "failed", "done"]
    assert "longer than gpt-4.1-mini can read" in documents[2]["reason"]
    assert ended == {("completed", ""): 2, ("failed", "answer_cut"): 2}


@pytest.mark.parametrize("fault", HARMLESS)
async def test_characters_that_no_database_takes_disturb_nobody(
    fault: str, endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path
) -> None:
    run, ended, _ = await under(fault, endpoint, database, home, tmp_path / "room")
    assert (run.status, run.documents["done"]) == ("completed", 4)
    assert ended == {("completed", ""): 4}
    assert endpoint.counts()["by_fault"][fault] >= 2


async def test_an_invented_quote_goes_to_a_person_and_fails_no_document(
    endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path
) -> None:
    run, ended, _ = await under("fabricated", endpoint, database, home, tmp_path / "room")
    assert run.documents["done"] == 4 and ended == {("completed", ""): 4}
    rejected = "SELECT count(*) FROM reprise.answers WHERE state = 'rejected'"
    assert number(database, rejected) == 2


@pytest.mark.slow
async def test_under_ten_percent_of_mixed_faults_300_documents_are_done_or_fail_by_name_and_the_books_agree(
    database: str, home: Path, tmp_path: Path
) -> None:
    lost = (7, 77, 177)
    books = await run_under_faults(tmp_path, database, home, 300, mix(0.1), lost)
    view = books.view
    assert view.status == "completed_with_failures"
    assert view.documents["done"] + view.documents["failed"] == 300
    assert {f"contract_{n:03d}.txt" for n in lost} <= books.failed.keys() and all(books.failed.values())
    # The mix alone fails next to nobody: a second and a third draw of one in ten must be bad as well.
    assert view.documents["failed"] <= len(lost) + 3
    assert set(books.faults) >= set(mix(0.1))
    assert books.received == books.journalled == view.cost["calls"] - _local(database)
    assert books.by_basis["reported"][1:] == books.endpoint
    assert books.by_basis["unknown"][0] == 0 and view.cost["basis"] == "estimated"
    # What the endpoint charged for answers that never came is within what we set aside for them.
    assert books.unseen <= books.by_basis["estimated"][3]
    assert books.most_asked <= 8


def _local(database: str) -> int:
    return number(database, "SELECT count(*) FROM reprise.calls WHERE tool <> 'model' AND state <> 'reused'")
