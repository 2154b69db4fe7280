"""Limits of time: each has its own word, nobody waits for a document that is late, and it is tried once more."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run_here
from databases import number, rows
from processes import HELD, begin, environment, kill, released, wait_until
from sample_contracts import contracts

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.shared.errors import SourceError

MODELS = {"extract": "gpt-4.1-mini", "summarize": "gpt-4.1-nano"}
OPENAI: dict[str, Any] = {"engine": "openai", "models": MODELS, "review": "never"}
SOON = 5.0
"""Seconds within which a busy machine, too, brings the answer of an endpoint that answers at once."""
HANG = {"match": "Firm 2 Ltd", "fault": "hang"}


@asynccontextmanager
async def asking(database: str, home: Path, endpoint: ScriptedEndpoint, **settings: Any) -> AsyncIterator[Reprise]:
    key = {"openai_base_url": endpoint.base_url, "openai_api_key": "x", "request_seconds": SOON}
    async with Reprise.open(database_url=database, home=home, **{**key, **settings}) as opened:
        yield opened


def asked(endpoint: ScriptedEndpoint) -> list[int]:
    """How often each question about a document reached the endpoint: its own log is the witness."""
    mine = [call["sha256"] for call in endpoint.calls("received") if call["model"] == MODELS["extract"]]
    return sorted(Counter(mine).values())


@pytest.fixture
def same_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second try has the limits of the first, for a test that waits until both are over."""
    monkeypatch.setattr("nodes.steps.extract_document.SLOW_FACTOR", 1.0)


def words(database: str) -> Counter[tuple[str, str]]:
    """(state, word) of the calls that gave no answer."""
    found = rows(database, "SELECT state, word FROM reprise.calls WHERE word <> ''")
    return Counter((row["state"], row["word"]) for row in found)


async def test_a_document_that_hangs_is_put_off_tried_once_more_and_fails_by_name(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path, same_limits: None
) -> None:
    endpoint.script([HANG])
    async with asking(database, home, endpoint) as reprise:
        ended = await reprise.start(contracts(tmp_path / "room", 12), thread="t", batch_size=4, **OPENAI)
        history = [step["headline"] for step in await reprise.history("t")]
    assert (ended.status, ended.documents["done"], ended.documents["failed"]) == ("completed_with_failures", 11, 1)
    assert words(database) == {("abandoned", "request_timeout"): 2}
    assert asked(endpoint) == [1] * 11 + [2]
    failed = rows(database, "SELECT document, reason, slow FROM reprise.run_document WHERE state = 'failed'")[0]
    assert failed["document"] == "contract_0002.pdf" and failed["slow"]
    assert "also at a second try" in failed["reason"]
    assert "extract: batch 1 of 3, " in " ".join(history) and "1 put off" in " ".join(history)
    assert "slow lane, 1 document tried once more, 1 failed" in " ".join(history)


async def test_a_document_that_was_late_once_is_done_in_the_slow_lane_and_its_findings_count_once(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    room = contracts(tmp_path / "room", 12)
    async with asking(database, home, endpoint) as reprise:
        calm = await reprise.start(room, thread="calm", matter="one", batch_size=4, **OPENAI)
        endpoint.script([{**HANG, "times": 1}])
        late = await reprise.start(room, thread="late", matter="two", batch_size=4, **OPENAI)
        ids = [[finding.finding_id for finding in await reprise.findings(name)] for name in ("calm", "late")]
        names = [artifact["name"] for artifact in late.artifacts]
    assert late.status == calm.status and late.documents["done"] == 12
    assert len(set(ids[1])) == len(ids[1]) and sorted(ids[0]) == sorted(ids[1])
    assert "findings_slow_1" in names and "findings_batch_3" in names


async def test_a_batch_closes_without_a_slow_document_which_goes_on_and_is_asked_about_once(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script([{"match": "Firm 1 Ltd", "delay": HELD}])

    def told(event: Mapping[str, Any]) -> None:
        if event["event"] == "batch":
            released(endpoint)

    async with asking(database, home, endpoint, request_seconds=HELD) as reprise:
        room = contracts(tmp_path / "room", 6)
        ended = await reprise.start(room, thread="t", batch_size=3, batch_wait_seconds=1, on_event=told, **OPENAI)
        found = await reprise.findings("t")
    slow = rows(database, "SELECT document, state FROM reprise.run_document WHERE slow")
    assert {"document": "contract_0001.pdf", "state": "done"} in slow
    assert set(asked(endpoint)) == {1} and not words(database)
    assert ended.documents["done"] == 6 and {finding.document for finding in found} >= {"contract_0001.pdf"}


async def test_work_on_a_document_that_takes_too_long_is_left_with_a_word_of_its_own(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path, same_limits: None
) -> None:
    endpoint.script([{"match": "Firm 1 Ltd", "delay": HELD}])
    room = contracts(tmp_path / "room", 3)
    async with asking(database, home, endpoint, request_seconds=HELD) as reprise:
        await reprise.estimate(room)  # reads them: a child that first has to start takes nothing of their time
        ended = await reprise.start(room, thread="t", document_seconds=SOON, **OPENAI)
    assert (ended.documents["done"], ended.documents["failed"]) == (2, 1)
    assert words(database) == {("abandoned", "document_timeout"): 2}


async def test_calls_in_flight_at_the_deadline_are_left_and_the_run_waits_for_a_longer_one(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script([{"match": "Firm", "delay": HELD}])
    room = contracts(tmp_path / "room", 3)
    async with asking(database, home, endpoint, request_seconds=HELD) as reprise:
        held = await reprise.start(room, thread="t", deadline_seconds=3, **OPENAI)
        assert held.status == "paused" and held.documents["failed"] == 0
        assert set(words(database)) <= {("abandoned", "run_deadline"), ("abandoned", "cancelled")}
        endpoint.script([])
        ended = await reprise.resume("t", deadline_seconds=3600)
    assert ended.documents["done"] == 3


async def test_a_file_that_takes_too_long_to_parse_has_its_child_killed_and_its_own_word(
    database: str, home: Path, tmp_path: Path, own_children: None
) -> None:
    async with Reprise.open(database_url=database, home=home, parsing_seconds=0.001) as reprise:
        with pytest.raises(SourceError, match="could not be read within"):
            await reprise.start(contracts(tmp_path / "room", 1), thread="t")
    assert words(database) == {("abandoned", "parsing_timeout"): 2}


def test_after_a_kill_9_with_a_document_put_off_nothing_else_is_asked_again(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script([HANG])
    source = contracts(tmp_path / "room", 12)
    env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
    env["REPRISE_REQUEST_SECONDS"] = f"{SOON}"
    models = ("--engine", "openai", "--model", "extract=gpt-4.1-mini", "--model", "summarize=gpt-4.1-nano")
    process = begin(["start", source, "--thread", "t", "--batch-size", "4", "--review", "never", *models], env)
    put_off = "SELECT count(*) FROM reprise.run_document WHERE state = 'deferred'"
    again = "SELECT count(*) FROM reprise.calls WHERE document = 'contract_0002.pdf' AND tool = 'model'"
    wait_until(lambda: number(database, put_off) == 1 and number(database, again) == 2)
    kill(process)
    env["REPRISE_REQUEST_SECONDS"] = "1"  # the last one who is waited for is the one that hangs
    watched = run_here(["status", "t", "--watch"], env, capsys)
    assert watched.returncode == 0 and "nobody drives it" in watched.stdout
    resumed = run_here(["resume", "t", "--json"], env, capsys)
    assert resumed.returncode == 0, resumed.stderr
    end = json.loads(resumed.stdout)
    assert (end["documents"]["done"], end["documents"]["failed"]) == (11, 1)
    assert asked(endpoint)[:-1] == [1] * 11
    assert number(database, "SELECT count(*) FROM reprise.calls WHERE state = 'lost_answer'") == 1


async def test_signs_of_life_are_rows_and_events_and_say_how_far_a_run_is(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.script(latency=HELD)
    events: list[Any] = []

    def told(event: Mapping[str, Any]) -> None:
        """Nothing is answered until a call was seen, and until there was another sign."""
        events.append(event)
        if event["event"] == "progress" and len([event for event in events if event.get("oldest_call")]) >= 2:
            released(endpoint)

    async with asking(database, home, endpoint, request_seconds=HELD) as reprise:
        monkeypatch.setattr(reprise.container.services.heartbeat, "_seconds", 0.05)
        await reprise.start(contracts(tmp_path / "room", 20), thread="t", on_event=told, **OPENAI)
        end = await reprise.progress(await reprise.find("t"))
    told = [event for event in events if event["event"] == "progress"]
    assert 1 < len(told) <= number(database, "SELECT count(*) FROM reprise.heartbeats")
    settled = [event["documents"]["settled"] for event in told]
    assert settled == sorted(settled) and told[-1]["documents"]["total"] == 20
    assert any(event["oldest_call"] for event in told)
    assert (end["documents"]["settled"], end["pages"]["total"], end["in_flight"]) == (20, 20, 0)
