"""SIGTERM and SIGINT with calls in flight: no new call begins, those in flight get the grace, a resume goes on."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run_here
from databases import number, rows
from processes import HELD, PATIENCE, PATIENT, begin, environment, heard, released, to_its_end, wait_until
from risky_contracts import risky

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint

MODELS = ("--engine", "openai", "--model", "extract=gpt-4.1-mini", "--model", "summarize=gpt-4.1-nano")


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(latency=HELD) as running:
        yield running


@pytest.fixture
def env(database: str, home: Path, endpoint: ScriptedEndpoint) -> dict[str, str]:
    return environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x", **PATIENT)


def asked(endpoint: ScriptedEndpoint, model: str = "") -> Counter[str]:
    return Counter(call["sha256"] for call in endpoint.calls("received") if model in ("", call["model"]))


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_in_a_long_batch_no_call_begins_after_the_signal_and_each_in_flight_gets_its_answer(
    sent: signal.Signals,
    code: int,
    endpoint: ScriptedEndpoint,
    env: dict[str, str],
    database: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Two documents pass. Of the four in flight one then meets trouble: its next attempt must not begin either.
    endpoint.script([{"delay": 0, "times": 2}, {"status": 500, "delay": HELD, "times": 1}])
    options = ["--thread", "t", "--batch-size", "40", "--concurrency", "4", "--review", "never", *MODELS]
    process = begin(["start", risky(tmp_path / "room", 40), *options], env)
    # All its places are taken, so nothing is on its way to the endpoint either.
    wait_until(lambda: endpoint.counts()["in_flight"] == 4 and endpoint.counts()["received"] == 6)
    process.send_signal(sent)
    heard(process)
    released(endpoint)
    stdout, stderr = to_its_end(process)
    assert process.returncode == code, stderr
    assert stdout.rstrip().endswith("Next: python run.py resume t") and "Traceback" not in stderr
    assert endpoint.counts()["received"] == 6
    assert endpoint.calls("disconnected") == []
    # Flushed: each answer is stored, each call has its outcome, no document was failed for it.
    ended = {row["state"] for row in rows(database, "SELECT DISTINCT state FROM reprise.calls")}
    assert ended <= {"completed", "failed"}
    assert number(database, "SELECT count(*) FROM reprise.run_document WHERE state = 'failed'") == 0
    assert number(database, "SELECT count(*) FROM reprise.answers WHERE state = 'claimed'") == 0

    resumed = run_here(["resume", "t", "--json"], env, capsys)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["documents"]["done"] == 40
    assert number(database, "SELECT count(*) FROM reprise.calls WHERE state = 'failed'") == 1
    assert sum(count - 1 for count in asked(endpoint).values()) == 1


def test_calls_that_outlast_the_grace_are_left_and_their_documents_stay_to_be_done(
    endpoint: ScriptedEndpoint, env: dict[str, str], database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--thread", "t", "--batch-size", "12", "--concurrency", "4", "--review", "never", *MODELS]
    room = risky(tmp_path / "room", 12)
    process = begin(["start", room, *options], {**env, "REPRISE_GRACE_SECONDS": "1"})
    wait_until(lambda: endpoint.counts()["in_flight"] == 4)
    process.send_signal(signal.SIGTERM)
    _, stderr = to_its_end(process)
    assert process.returncode == 143, stderr
    left = rows(database, "SELECT word, basis FROM reprise.calls WHERE state = 'abandoned'")
    # They may have been done and charged over there: their worst price is set aside.
    assert left == [{"word": "cancelled", "basis": "estimated"}] * 4
    assert {row["state"] for row in rows(database, "SELECT state FROM reprise.run_document")} == {"pending"}
    endpoint.script(latency=0.0)
    resumed = run_here(["resume", "t", "--json"], env, capsys)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["documents"]["done"] == 12
    assert endpoint.counts()["received"] == number(
        database, "SELECT count(*) FROM reprise.calls WHERE tool = 'model' AND state <> 'reused'"
    )


def test_a_note_that_is_being_written_drains_too(
    endpoint: ScriptedEndpoint, env: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script([{"match": '"risk": "', "delay": 0, "times": 2}, {"match": '"risk": "'}, {"delay": 0}])
    options = ["--thread", "t", "--concurrency", "2", "--review", "never", *MODELS]
    process = begin(["start", risky(tmp_path / "room", 10), *options], env)
    wait_until(lambda: endpoint.counts()["in_flight"] == 2)
    then = endpoint.counts()["received"]
    process.send_signal(signal.SIGTERM)
    heard(process)
    released(endpoint)
    stdout, stderr = to_its_end(process)
    assert process.returncode == 143, stderr
    assert stdout.rstrip().endswith("Next: python run.py resume t") and "Traceback" not in stderr
    assert endpoint.counts()["received"] == then
    assert sum(asked(endpoint, "gpt-4.1-nano").values()) == 4
    view = json.loads(run_here(["status", "t", "--json"], env, capsys).stdout)
    assert (view["status"], view["step"]) == ("interrupted", "summarize")
    resumed = run_here(["resume", "t", "--json"], env, capsys)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["status"] == "completed"
    assert set(asked(endpoint).values()) == {1} and sum(asked(endpoint, "gpt-4.1-nano").values()) == 10


async def test_a_signal_that_comes_as_a_batch_closes_gives_the_calls_of_the_next_ones_their_grace_too(
    endpoint: ScriptedEndpoint, database: str, home: Path, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"openai_base_url": endpoint.base_url, "openai_api_key": "x", "request_seconds": HELD}
    options: dict[str, Any] = {"engine": "openai", "batch_size": 1, "concurrency": 8, "review": "never"}
    async with Reprise.open(database_url=database, home=home, grace_seconds=PATIENCE, **settings) as reprise:

        def told(event: Mapping[str, Any]) -> None:
            if event["event"] == "batch" and event["index"] == 1:
                reprise.drain("SIGTERM")
                released(endpoint)

        starting = asyncio.create_task(reprise.start(risky(tmp_path / "room", 8), thread="t", on_event=told, **options))
        await asyncio.to_thread(wait_until, lambda: endpoint.counts()["in_flight"] == 8)
        endpoint.release("Firm 0 Ltd")
        view = await starting
        assert view.status == "interrupted" and endpoint.calls("disconnected") == []
        states = {call["state"] for call in await reprise.journal("t")}
        assert states <= {"completed", "reused"} and view.documents["done"] > 1
        assert (await reprise.resume("t")).documents["done"] == 8
    assert set(asked(endpoint).values()) == {1}
