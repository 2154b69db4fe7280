"""Postgres goes away: the run waits and goes on, or stops with one sentence and resumes; nothing is paid twice."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from cli_runs import run_here
from databases import named, number
from outage_server import MODELS, Server, asked, begun, half_done, nothing_twice, restarted
from processes import HELD, PATIENT, begin, environment, passing, released, to_its_end, until, wait_until
from risky_contracts import risky
from sample_contracts import contracts

from graph.testing.endpoint import ScriptedEndpoint

RESUME = ("--accept-all", "--reviewer", "A. Martin", "--reason", "checked", "--json")


def test_a_server_that_restarts_at_once_interrupts_nothing(
    own_server: Server, outage_url: str, home: Path, tmp_path: Path
) -> None:
    source = contracts(tmp_path / "room", 24)
    with ScriptedEndpoint(script=passing(8)) as endpoint:
        process, _ = begun(outage_url, home, endpoint, source)
        half_done(outage_url, 6)
        own_server.restart()
        released(endpoint)
        out, err = to_its_end(process)
        assert process.returncode == 0, err
        assert json.loads(out)["status"] == "completed"
        assert "Traceback" not in err and "error" not in err
        nothing_twice(outage_url, endpoint, 24)


@pytest.mark.parametrize("seconds", [6, pytest.param(20, marks=pytest.mark.slow)])
def test_answers_that_were_paid_while_the_server_was_away_are_kept(
    seconds: int, own_server: Server, outage_url: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = contracts(tmp_path / "room", 24)
    with ScriptedEndpoint(script=passing(8)) as endpoint:
        process, env = begun(outage_url, home, endpoint, source, REPRISE_DATABASE_WAIT_SECONDS="600")
        half_done(outage_url, 8)
        wait_until(lambda: endpoint.counts()["in_flight"] == 8)
        own_server.stop()
        released(endpoint)
        wait_until(lambda: endpoint.counts()["in_flight"] == 0)  # all are answered, and nobody can write it down
        first = until(process, "does not answer since")
        time.sleep(seconds)
        own_server.start()
        out, err = to_its_end(process)
        assert process.returncode == 0, err
        assert json.loads(out)["status"] == "completed"
        said = [line for line in (first + err).splitlines() if "database" in line]
        assert len(said) == 2 and "does not answer since" in said[0] and "answers again after" in said[1], err
        nothing_twice(outage_url, endpoint, 24)
        assert json.loads(run_here(["status", "t", "--json"], env, capsys).stdout)["resumes"] == 0


def test_a_server_that_stays_away_stops_the_run_with_one_sentence_and_a_resume_completes_it(
    own_server: Server, outage_url: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = contracts(tmp_path / "room", 16)
    with ScriptedEndpoint(script=passing(8)) as endpoint:
        process, env = begun(outage_url, home, endpoint, source, REPRISE_DATABASE_WAIT_SECONDS="2")
        half_done(outage_url, 8)
        wait_until(lambda: endpoint.counts()["in_flight"] == 8)
        own_server.stop()
        try:
            released(endpoint)
            out, err = to_its_end(process)
        finally:
            own_server.start()
        assert (process.returncode, out) == (1, "")
        errors = [line for line in err.splitlines() if line.startswith("error:")]
        assert len(errors) == 1 and "does not answer since" in errors[0] and "then resume" in errors[0], err
        assert "Traceback" not in err and err.splitlines()[-1].startswith("Next: ")
        before = asked(endpoint)
        resumed = run_here(["resume", "t", *RESUME], env, capsys)
        assert resumed.returncode == 0, resumed.stderr
        end = json.loads(resumed.stdout)
        assert (end["status"], end["documents"]["done"]) == ("completed", 16)
        again = sum(count - 1 for count in asked(endpoint).values())
        # What was being read is lost with the rest, at no price: paid twice are at most the eight calls in flight.
        assert again <= min(8, end["cost"]["calls_lost"]) and set(before.values()) == {1}


def test_a_resume_at_the_gate_that_meets_an_outage_applies_its_decisions_once(
    own_server: Server, outage_url: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(outage_url, home, REPRISE_DATABASE_WAIT_SECONDS="300")
    start = ["start", risky(tmp_path / "room", 3), "--thread", "t", "--review", "always"]
    assert run_here(start, env, capsys).returncode == 0
    process = begin(["resume", "t", *RESUME], env)
    wait_until(lambda: number(outage_url, "SELECT count(*) FROM reprise.decisions"))
    own_server.restart()
    out, err = to_its_end(process)
    assert process.returncode == 0, err
    assert json.loads(out)["status"] == "completed"
    assert (
        number(outage_url, "SELECT max(n) FROM (SELECT count(*) AS n FROM reprise.decisions GROUP BY finding_id) x")
        == 1
    )
    assert number(outage_url, "SELECT count(*) FROM reprise.effects WHERE state <> 'done'") == 0


@pytest.mark.slow
def test_a_watch_that_meets_an_outage_says_so_in_one_sentence_and_goes_on(
    own_server: Server, outage_url: str, home: Path, tmp_path: Path
) -> None:
    with ScriptedEndpoint(script=passing(8)) as endpoint:
        room = contracts(tmp_path / "room", 32)
        process, env = begun(outage_url, home, endpoint, room, REPRISE_DATABASE_WAIT_SECONDS="600")
        wait_until(lambda: number(outage_url, "SELECT count(*) FROM reprise.runs"))
        watch = begin(["status", "t", "--watch"], env)
        said = until(watch, "of 32 documents")
        own_server.stop()
        said += until(watch, "does not answer since")
        own_server.start()
        released(endpoint)
        said += to_its_end(watch)[1]
        to_its_end(process)
    assert watch.returncode == 0, said
    assert said.count("does not answer since") == 1 and said.count("answers again") == 1 and "Traceback" not in said


def test_the_embedded_server_is_started_again_when_it_was_killed(own_server: Server, tmp_path: Path) -> None:
    server = Server()
    try:
        env = {**environment("", server.home), "REPRISE_DATABASE_URL": ""}
        with ScriptedEndpoint(script=passing(8)) as endpoint:
            env |= {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_API_KEY": "x", **PATIENT}
            source = contracts(tmp_path / "room", 16)
            process = begin(["start", source, "--thread", "t", *MODELS, "--review", "never", "--json"], env)
            main = named(server.url, "postgres")
            wait_until(lambda: number(main, "SELECT count(*) FROM pg_tables WHERE tablename = 'estimates'"))
            half_done(main, 8)
            wait_until(lambda: endpoint.counts()["in_flight"] == 8)
            killed = server.kill()
            released(endpoint)
            out, err = to_its_end(process)
            assert process.returncode == 0, err
            assert json.loads(out)["documents"]["done"] == 16
            assert server.pid != killed
            nothing_twice(main, endpoint, 16)
    finally:
        server.close()


@pytest.mark.slow
def test_a_server_that_restarts_every_few_seconds_under_two_hundred_documents_loses_nothing(
    own_server: Server, outage_url: str, home: Path, tmp_path: Path
) -> None:
    with ScriptedEndpoint(latency=0.8, script=[{"match": "Firm 199 Ltd", "delay": HELD}]) as endpoint:
        process, _ = begun(outage_url, home, endpoint, contracts(tmp_path / "room", 200))
        half_done(outage_url, 1)
        restarts = restarted(own_server, process, 1, 5, third=lambda: released(endpoint, 0.8))
        out, err = to_its_end(process)
        assert process.returncode == 0, err
        assert json.loads(out)["status"] == "completed" and restarts >= 3
        nothing_twice(outage_url, endpoint, 200)
