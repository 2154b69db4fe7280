"""resume --retry-failed: the failed documents of a run are done once more, and nothing else is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from cli_runs import run_here
from databases import number, rows
from processes import HELD, PATIENCE, begin, environment, kill, run, wait_until
from risky_contracts import risky
from sample_contracts import contracts

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.shared.errors import UnknownThread

MODELS = {"extract": "gpt-4.1-mini", "summarize": "gpt-4.1-nano"}
OPENAI: dict[str, Any] = {"engine": "openai", "models": MODELS}
BAD = ({"match": "Firm 1", "fault": "refusal"}, {"match": "Firm 3", "fault": "bad_json"})
WORLD_BAD = ({"match": "Firm 1 Ltd", "fault": "refusal"}, {"match": "Firm 3 Ltd", "fault": "bad_json"})


def asked(endpoint: ScriptedEndpoint, model: str = MODELS["extract"]) -> Counter[str]:
    """How often each question about a document reached the endpoint: its own log is the witness."""
    return Counter(call["sha256"] for call in endpoint.calls("received") if call["model"] == model)


async def batches_closed(asking: Reprise) -> int:
    with contextlib.suppress(UnknownThread):
        return int((await asking.status("t")).batch["index"])
    return 0


def states(database: str) -> list[str]:
    return [row["state"] for row in rows(database, "SELECT state FROM reprise.run_document ORDER BY ordinal")]


async def test_a_completed_run_does_its_failed_documents_and_asks_about_no_other(
    asking: Reprise, endpoint: ScriptedEndpoint, database: str, tmp_path: Path
) -> None:
    endpoint.script(WORLD_BAD)
    room = contracts(tmp_path / "room", 12)
    ended = await asking.start(room, thread="t", batch_size=4, review="never", **OPENAI)
    assert (ended.status, ended.documents["failed"]) == ("completed_with_failures", 2)
    before, note = asked(endpoint), await asking.report("t")
    done = "SELECT ordinal, finished_at FROM reprise.run_document WHERE ordinal NOT IN (1, 3) ORDER BY ordinal"
    untouched = rows(database, done)
    endpoint.script([])
    again = await asking.resume("t", retry_failed=True)
    assert (again.status, again.documents["done"], again.documents["failed"]) == ("completed", 12, 0)
    new = asked(endpoint) - before
    assert sum(new.values()) == 2 and set(new) <= set(before)
    assert rows(database, done) == untouched
    assert sorted({finding.document for finding in await asking.findings("t")}) == [
        f"contract_{n:04d}.pdf" for n in range(12)
    ]
    assert len({finding.finding_id for finding in await asking.findings("t")}) == again.findings["total"]
    assert "Firm 3" in await asking.report("t") and await asking.report("t") != note

    calls = endpoint.counts()["received"]
    assert (await asking.resume("t", retry_failed=True)).status == "completed"
    assert (await asking.resume("t")).resumes == again.resumes
    assert endpoint.counts()["received"] == calls


async def test_at_the_gate_earlier_decisions_hold_and_only_what_is_new_is_asked_of_a_person(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script(BAD)
    waiting = await asking.start(risky(tmp_path / "room", 5), thread="t", **OPENAI)
    assert waiting.status == "needs_review" and waiting.documents["failed"] == 2
    first = await asking.packet(waiting.thread_id)
    assert await asking.decide("t", accept_all=True, reviewer="A. Martin") == len(first["findings"])
    endpoint.script([])
    gate = await asking.resume("t", retry_failed=True)
    assert (gate.status, gate.documents["done"]) == ("needs_review", 5)
    second = await asking.packet(gate.thread_id)
    new = {finding["document"] for finding in second["findings"]}
    assert new == {"contract_001.txt", "contract_003.txt"}
    ended = await asking.resume("t", accept_all=True, reviewer="B. Roy")
    assert ended.status == "completed"
    by = Counter(decision.reviewer for decision in await asking.decisions("t"))
    assert by == {"A. Martin": len(first["findings"]), "B. Roy": len(second["findings"])}


async def test_a_run_of_which_nothing_could_be_done_goes_on_when_it_can(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script([{"match": "Firm", "fault": "refusal"}])
    room = contracts(tmp_path / "room", 3)
    with pytest.raises(Exception, match="could be read"):
        await asking.start(room, thread="t", review="never", **OPENAI)
    endpoint.script([])
    ended = await asking.resume("t", retry_failed=True)
    assert (ended.status, ended.documents["done"]) == ("completed", 3)


async def test_failures_of_closed_batches_are_taken_up_while_others_are_open(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script([{"match": "Firm 1 Ltd", "fault": "refusal"}, {"match": "Firm 9 Ltd", "fault": "hang"}])
    room = contracts(tmp_path / "room", 12)
    starting = asyncio.create_task(
        asking.start(room, thread="t", batch_size=3, concurrency=4, review="never", **OPENAI)
    )
    async with asyncio.timeout(PATIENCE):
        while await batches_closed(asking) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    starting.cancel()
    await asyncio.wait([starting])
    stopped = await asking.status("t")
    assert (stopped.batch["index"], stopped.documents["failed"]) == (3, 1)
    endpoint.script([])
    ended = await asking.resume("t", retry_failed=True)
    assert (ended.status, ended.documents["done"]) == ("completed", 12)
    assert "Firm 1 " in await asking.report("t")


async def test_a_locked_document_is_done_when_its_password_is_given(reprise: Reprise, tmp_path: Path) -> None:
    room = contracts(tmp_path / "room", 2)
    with pikepdf.open(room / "contract_0001.pdf", allow_overwriting_input=True) as document:
        document.save(encryption=pikepdf.Encryption(owner="o", user="open-sesame"))
    ended = await reprise.start(room, thread="t", review="never")
    assert ended.documents["failed"] == 1
    mended = await reprise.resume("t", retry_failed=True, passwords={"*": "open-sesame"})
    assert (mended.status, mended.documents["done"]) == ("completed", 2)


async def test_what_fails_again_fails_by_name_and_can_be_tried_a_third_time_with_another_model(
    asking: Reprise, endpoint: ScriptedEndpoint, database: str, tmp_path: Path
) -> None:
    endpoint.script(WORLD_BAD)
    await asking.start(contracts(tmp_path / "room", 5), thread="t", review="never", **OPENAI)
    again = await asking.resume("t", retry_failed=True)
    assert (again.status, again.documents["failed"]) == ("completed_with_failures", 2)
    reasons = rows(database, "SELECT reason FROM reprise.run_document WHERE state = 'failed'")
    assert all("tried again" not in row["reason"] for row in reasons) and "refused" in str(reasons)
    endpoint.script([])
    third = await asking.resume("t", retry_failed=True, models={"extract": "gpt-4.1"})
    assert third.status == "completed" and sum(asked(endpoint, "gpt-4.1").values()) == 2


@pytest.mark.slow
def test_after_a_kill_9_in_the_retry_a_plain_resume_finishes_it_and_nothing_done_is_asked_again(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script(WORLD_BAD)
    env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
    models = ("--engine", "openai", "--model", "extract=gpt-4.1-mini", "--model", "summarize=gpt-4.1-nano")
    room = contracts(tmp_path / "room", 6)
    started = run(["start", room, "--thread", "t", "--review", "never", *models, "--json"], env)
    assert json.loads(started.stdout)["documents"]["failed"] == 2
    before = asked(endpoint)
    endpoint.script([])
    for place in ("sql.retry_failed:after", "saver.put:before", "sql.complete:before", "sql.finish_document:after"):
        died = run(["resume", "t", "--retry-failed", "--json"], {**env, "REPRISE_DIE_AT": place})
        assert died.returncode == -signal.SIGKILL, died.stderr
    assert Counter(states(database))["done"] >= 5
    resumed = run(["resume", "t", "--json"], env)
    assert resumed.returncode == 0, resumed.stderr
    end = json.loads(resumed.stdout)
    assert (end["status"], end["documents"]["done"]) == ("completed", 6)
    lost = number(database, "SELECT count(*) FROM reprise.calls WHERE state = 'lost_answer' AND tool = 'model'")
    new = asked(endpoint) - before
    assert 2 <= sum(new.values()) <= 2 + lost
    twice = "SELECT call_key FROM reprise.calls WHERE state = 'completed' GROUP BY call_key HAVING count(*) > 1"
    assert rows(database, twice) == []


def test_a_kill_9_with_the_retried_calls_in_flight_keeps_the_wish(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script(WORLD_BAD)
    env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
    room = contracts(tmp_path / "room", 5)
    models = ("--engine", "openai", "--model", "extract=gpt-4.1-mini")
    assert run_here(["start", room, "--thread", "t", "--review", "never", *models], env, capsys).returncode == 0
    endpoint.script([{"match": "Firm", "delay": HELD}])
    process = begin(["resume", "t", "--retry-failed"], env)
    wait_until(lambda: endpoint.counts()["in_flight"] == 2)
    kill(process)
    endpoint.script([])
    resumed = run_here(["resume", "t", "--json"], env, capsys)
    assert json.loads(resumed.stdout)["documents"]["done"] == 5, resumed.stderr


def test_with_nothing_failed_the_command_says_so_and_exits_0(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    room = contracts(tmp_path / "room", 2)
    assert run_here(["start", room, "--thread", "t", "--review", "never"], env, capsys).returncode == 0
    ended = run_here(["resume", "t", "--retry-failed", "--json"], env, capsys)
    assert ended.returncode == 0 and ended.stderr == "No document has failed: none is tried again.\n"
    assert json.loads(ended.stdout)["resumes"] == 0


def test_a_wish_that_only_the_ledger_knows_is_taken_up_by_whoever_goes_through_all_runs(
    database: str, home: Path, endpoint: ScriptedEndpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script(WORLD_BAD)
    env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
    models = ("--engine", "openai", "--model", "extract=gpt-4.1-mini")
    start = ["start", contracts(tmp_path / "room", 4), "--thread", "t", "--review", "never", *models, "--json"]
    assert json.loads(run_here(start, env, capsys).stdout)["documents"]["failed"] == 2
    endpoint.script([])
    died = run(["resume", "t", "--retry-failed"], {**env, "REPRISE_DIE_AT": "sql.retry_failed:after"})
    assert died.returncode == -signal.SIGKILL
    status = json.loads(run_here(["status", "t", "--json"], env, capsys).stdout)
    assert (status["status"], status["next_action"]) == ("interrupted", "python run.py resume t")
    assert run_here(["resume", "--all"], env, capsys).returncode == 0
    status = json.loads(run_here(["status", "t", "--json"], env, capsys).stdout)
    assert (status["status"], status["documents"]["done"]) == ("completed", 4)
