"""kill -9, two processes at once, a database that vanishes: nothing paid is lost, nothing happens twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import run_here
from databases import number, rows
from processes import HELD, PATIENT, begin, environment, kill, passing, released, run, to_its_end, wait_until
from sample_contracts import contracts

from graph.testing.endpoint import ScriptedEndpoint

MODELS = ("--engine", "openai", "--model", "extract=gpt-4.1-mini", "--model", "summarize=gpt-4.1-mini")


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(latency=0.4) as running:
        yield running


@pytest.fixture
def env(database: str, home: Path, endpoint: ScriptedEndpoint) -> dict[str, str]:
    return environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x", **PATIENT)


def asked(endpoint: ScriptedEndpoint) -> Counter[str]:
    """How often each question reached the endpoint: its own log is the witness."""
    return Counter(call["sha256"] for call in endpoint.calls("received"))


def test_after_a_kill_9_with_eight_calls_in_flight_nothing_that_was_committed_is_asked_again(
    tmp_path: Path, database: str, endpoint: ScriptedEndpoint, env: dict[str, str]
) -> None:
    source = contracts(tmp_path / "room", 40)
    endpoint.script(passing(24))
    process = begin(["start", source, "--thread", "killed", *MODELS, "--concurrency", "8", "--json"], env)
    finished = "SELECT count(*) FROM reprise.run_document WHERE state = 'done'"
    wait_until(lambda: number(database, finished) == 24 and endpoint.counts()["in_flight"] == 8)
    kill(process)
    wait_until(lambda: endpoint.counts()["in_flight"] == 0)
    endpoint.script([])
    paid_for = {
        row["call_key"] for row in rows(database, "SELECT call_key FROM reprise.answers WHERE state = 'completed'")
    }
    before = asked(endpoint)
    assert number(database, finished) == 24

    resumed = run(["resume", "killed", "--accept-all", "--reviewer", "A. Martin", "--json"], env)
    assert resumed.returncode == 0, resumed.stderr
    end = json.loads(resumed.stdout)
    assert (end["status"], end["documents"]["done"], end["resumes"]) == ("completed", 40, 1)

    again = [count for count in asked(endpoint).values() if count > 1]
    lost = number(database, "SELECT count(*) FROM reprise.calls WHERE tool = 'model' AND state = 'lost_answer'")
    assert len(again) <= lost <= 8
    assert set(again) <= {2}
    assert end["cost"]["calls_lost"] >= lost
    # A question whose outcome was committed has one completed attempt, whatever happened after it.
    twice = "SELECT call_key FROM reprise.calls WHERE state = 'completed' GROUP BY call_key HAVING count(*) > 1"
    assert rows(database, twice) == []
    assert paid_for and sum(before.values()) + len(again) <= sum(asked(endpoint).values())


def test_sixteen_documents_are_in_flight_when_sixteen_are_asked_for(
    tmp_path: Path, endpoint: ScriptedEndpoint, env: dict[str, str]
) -> None:
    source = contracts(tmp_path / "room", 50)
    endpoint.script(latency=HELD)
    process = begin(["start", source, "--thread", "wide", *MODELS, "--concurrency", "16", "--json"], env)
    wait_until(lambda: endpoint.counts()["in_flight"] == 16)
    released(endpoint, 0.4)
    out, err = to_its_end(process)
    assert process.returncode == 0, err
    assert json.loads(out)["documents"] == {"total": 50, "done": 50, "failed": 0, "skipped": 0}
    # The batch is of ten: sixteen in flight means that the next one has been begun ahead.
    assert endpoint.counts()["max_in_flight"] == 16


def test_of_two_processes_that_start_one_thread_one_works_and_the_other_exits_5(
    tmp_path: Path, database: str, endpoint: ScriptedEndpoint, env: dict[str, str]
) -> None:
    source = contracts(tmp_path / "room", 12)
    endpoint.script(latency=HELD)  # the one that works is at it until the other has come
    both = [begin(["start", source, "--thread", "twins", *MODELS, "--json"], env) for _ in range(2)]
    wait_until(lambda: any(process.poll() is not None for process in both))
    released(endpoint)
    ends = [to_its_end(process) for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes == [0, 5], ends
    out, err = next(end for process, end in zip(both, ends, strict=True) if process.returncode == 5)
    assert out == "" and "is driven by process" in err and err.count("\n") <= 2
    assert set(asked(endpoint).values()) == {1}
    assert number(database, "SELECT count(*) FROM reprise.runs") == 1


def test_two_runs_of_one_matter_at_once_ask_each_question_once(
    tmp_path: Path, endpoint: ScriptedEndpoint, env: dict[str, str]
) -> None:
    source = contracts(tmp_path / "room", 12)
    both = [begin(["start", source, "--thread", name, *MODELS, "--json"], env) for name in ("one", "two")]
    ends = [to_its_end(process) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    assert set(asked(endpoint).values()) == {1}
    reused = [json.loads(out)["cost"]["calls_reused"] for out, _ in ends]
    assert sum(reused) > 0


def test_a_key_that_is_refused_stops_the_run_at_once_and_fails_no_document(
    tmp_path: Path, database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = contracts(tmp_path / "room", 12)
    with ScriptedEndpoint(key="right") as endpoint:
        env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="wrong")
        refused = run(["start", source, "--thread", "locked", *MODELS, "--json"], env)
        assert refused.returncode == 1 and refused.stdout == ""
        assert "OPENAI_API_KEY" in refused.stderr and "Traceback" not in refused.stderr
        assert "wrong" not in refused.stderr
        assert number(database, "SELECT count(*) FROM reprise.run_document WHERE state = 'failed'") == 0
        status = json.loads(run_here(["status", "locked", "--json"], env, capsys).stdout)
        assert status["status"] == "failed" and "OPENAI_API_KEY" in status["error"]
        mended = run_here(["resume", "locked", "--json"], {**env, "OPENAI_API_KEY": "right"}, capsys)
        assert json.loads(mended.stdout)["documents"]["done"] == 12


def test_an_endpoint_where_nobody_listens_is_named_and_the_run_can_be_resumed(
    tmp_path: Path, database: str, home: Path, endpoint: ScriptedEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    source = contracts(tmp_path / "room", 3)
    env = environment(database, home, OPENAI_BASE_URL="http://127.0.0.1:9/v1", OPENAI_API_KEY="x", REPRISE_ATTEMPTS="2")
    nobody = run_here(["start", source, "--thread", "deaf", *MODELS, "--json"], env, capsys)
    assert nobody.returncode == 1 and "127.0.0.1:9" in nobody.stderr and "Traceback" not in nobody.stderr
    resumed = run_here(["resume", "deaf", "--json"], {**env, "OPENAI_BASE_URL": endpoint.base_url}, capsys)
    assert json.loads(resumed.stdout)["documents"]["done"] == 3


def test_a_start_that_died_before_it_froze_its_inputs_can_be_resumed(
    tmp_path: Path, database: str, env: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    source = contracts(tmp_path / "room", 3)
    process = begin(["start", source, "--thread", "early", "--budget-usd", "5", "--json"], env)
    wait_until(lambda: number(database, "SELECT count(*) FROM reprise.leases") == 1)
    kill(process)
    resumed = run_here(["resume", "early", "--json"], env, capsys)
    if resumed.returncode == 2:  # it died before its first checkpoint: then the thread is not known and starts anew
        start = ["start", source, "--thread", "early", "--budget-usd", "5", "--json"]
        resumed = run_here(start, env, capsys)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["documents"]["done"] == 3
    assert rows(database, "SELECT settings->>'budget_usd' AS b FROM reprise.runs") == [{"b": "5"}]
