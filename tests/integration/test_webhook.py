"""The news of a finished run: handed over once, after bounded attempts, and a refusal does not fail the run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_runs import run_here
from databases import number, rows
from processes import environment
from risky_contracts import risky

from graph import Reprise
from graph.adapters.webhook import HttpWebhook, RetryingWebhook
from graph.testing.webhook import MemoryWebhook, Receiver, ScriptedWebhook
from nodes.domain.shared.errors import OperatorError, Undelivered

EVENT = {"event": "run_finished", "run_id": "r", "note_sha256": "a" * 64}


@pytest.fixture(params=["memory", "http"])
def webhook(request: pytest.FixtureRequest) -> Iterator[tuple[RetryingWebhook, Receiver]]:
    """The webhook and the other side, in process and over HTTP: what both promise is the same."""
    if request.param == "memory":
        receiver = Receiver()
        yield MemoryWebhook(receiver), receiver
        return
    with ScriptedWebhook() as running:
        yield HttpWebhook(running.url, seconds=2.0, first_pause=0.01), running.receiver


def never() -> bool:
    return False


async def test_an_event_arrives_as_it_is_under_its_key(webhook: tuple[RetryingWebhook, Receiver]) -> None:
    sender, receiver = webhook
    assert (await sender.send("k", EVENT, never))["status"] == 200
    assert [(event["key"], event["event"]) for event in receiver.log] == [("k", EVENT)]


@pytest.mark.parametrize("fault", ["hang", "reset", "reset_before", "lost", "409", "429", "500", "503"])
async def test_trouble_on_the_way_is_repeated_under_the_same_key_and_taken_once(
    webhook: tuple[RetryingWebhook, Receiver], fault: str
) -> None:
    sender, receiver = webhook
    receiver.play([fault, fault])
    await sender.send("k", EVENT, never)
    assert receiver.requests == {"k": 3}
    assert receiver.taken == [EVENT]


@pytest.mark.parametrize(("fault", "times", "words"), [("500", 4, "asked 4 times"), ("400", 1, "asked once")])
async def test_attempts_are_bounded_and_a_refusal_is_not_repeated(
    webhook: tuple[RetryingWebhook, Receiver], fault: str, times: int, words: str
) -> None:
    sender, receiver = webhook
    receiver.play([fault] * 9)
    with pytest.raises(Undelivered, match=words):
        await sender.send("k", EVENT, never)
    assert receiver.requests == {"k": times} and receiver.taken == []


async def test_at_a_drain_no_further_attempt_begins(webhook: tuple[RetryingWebhook, Receiver]) -> None:
    sender, receiver = webhook
    receiver.play(["500"] * 9)
    with pytest.raises(Undelivered):
        await sender.send("k", EVENT, lambda: True)
    assert receiver.requests == {"k": 1}


async def test_where_nobody_listens_it_is_said_without_the_secret_of_the_address() -> None:
    sender = HttpWebhook("http://127.0.0.1:9/hook?token=secret", first_pause=0.01)
    with pytest.raises(Undelivered, match=r"127\.0\.0\.1:9 .*nobody answers there") as raised:
        await sender.send("k", EVENT, never)
    assert "secret" not in str(raised.value) and sender.where == "127.0.0.1:9"


async def test_a_receiver_that_trickles_bytes_ends_at_the_limit() -> None:
    given_up, ended = asyncio.Event(), asyncio.Event()

    async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not given_up.is_set():
            writer.write(b" ")
            await asyncio.sleep(0.02)
        writer.close()
        ended.set()

    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    sender = HttpWebhook(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/", seconds=0.3, attempts=1)
    with pytest.raises(Undelivered, match=r"no answer within 0\.3 s"):
        await sender.send("k", EVENT, never)
    given_up.set()
    await ended.wait()
    server.close()


def told(receiver: Receiver) -> list[Any]:
    return [event["status"] for event in receiver.taken]


async def test_a_finished_run_is_told_once_with_ids_and_the_hash_of_its_note(
    database: str, home: Path, tmp_path: Path
) -> None:
    with ScriptedWebhook() as running:
        async with Reprise.open(database_url=database, home=home, webhook_url=running.url) as reprise:
            ended = await reprise.start(risky(tmp_path / "room", 2), thread="acme", job="j-1", review="never")
            await reprise.resume("acme")
            shown = await reprise.show(ended.thread_id)
        assert len(running.receiver.log) == 1
        one = running.receiver.log[0]
    note = next(artifact["sha256"] for artifact in ended.artifacts if artifact["name"] == "note.md")
    wanted = {name: getattr(ended, name) for name in ("thread_id", "name", "run_id", "job_id", "matter", "status")}
    assert wanted.items() <= one["event"].items()
    assert one["event"]["event"] == "run_finished" and one["event"]["note_sha256"] == note
    assert one["key"] == one["event"]["event_id"] == f"{ended.run_id}:{note}"
    assert "contract_" not in json.dumps(one) and "Firm" not in json.dumps(one)
    assert {effect["kind"] for effect in shown["effects"]} == {"release", "webhook"}
    assert {effect["state"] for effect in shown["effects"]} == {"done"}
    stored = json.dumps(rows(database, "SELECT payload, outcome FROM reprise.effects"))
    assert "secret" not in stored


async def test_a_webhook_that_is_not_taken_fails_no_run_and_a_resume_sends_it_again(
    database: str, home: Path, tmp_path: Path
) -> None:
    with ScriptedWebhook(["400", "400"]) as running:
        async with Reprise.open(database_url=database, home=home, webhook_url=running.url) as reprise:
            ended = await reprise.start(risky(tmp_path / "room", 2), thread="t", review="never")
            assert ended.status == "completed" and "did not take the news" in ended.error
            assert ended.next_action == "python run.py resume t"
            assert (await reprise.resume("t")).error == ended.error
            calls = number(database, "SELECT count(*) FROM reprise.calls")
            mended = await reprise.resume("t")
            assert (mended.error, mended.next_action) == (None, "python run.py report t")
        assert running.receiver.requests.total() == 3 and told(running.receiver) == ["completed"]
    assert number(database, "SELECT count(*) FROM reprise.calls") == calls
    assert number(database, "SELECT attempts FROM reprise.effects WHERE kind = 'webhook'") == 2


def test_the_command_line_names_a_webhook_that_was_not_taken_and_exits_0(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedWebhook(["400"]) as running:
        env = environment(database, home, REPRISE_WEBHOOK_URL=running.url)
        ended = run_here(["start", risky(tmp_path / "room", 1), "--thread", "t", "--review", "never"], env, capsys)
        assert ended.returncode == 0 and "did not take the news" in " ".join(ended.stdout.split())
        assert ended.stdout.rstrip().endswith("Next: python run.py resume t")
        shown = run_here(["show", "t"], env, capsys)
        assert "webhook to 127.0.0.1" in shown.stdout and "NOT DONE (replay)" in shown.stdout
        assert "secret" not in ended.stdout + ended.stderr + shown.stdout
        again = run_here(["resume", "t"], env, capsys)
        assert again.returncode == 0 and again.stdout.rstrip().endswith("Next: python run.py report t"), again.stderr
        assert told(running.receiver) == ["completed"]


async def test_an_address_that_is_none_is_named_without_what_it_says(database: str, home: Path) -> None:
    with pytest.raises(OperatorError, match="REPRISE_WEBHOOK_URL") as raised:
        async with Reprise.open(database_url=database, home=home, webhook_url="token-of-mine"):
            pass
    assert "token-of-mine" not in str(raised.value)


def test_a_webhook_that_was_away_is_told_by_whoever_goes_through_all_runs(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedWebhook(["400"]) as running:
        env = environment(database, home, REPRISE_WEBHOOK_URL=running.url)
        start = ["start", risky(tmp_path / "room", 1), "--thread", "t", "--review", "never", "--json"]
        assert json.loads(run_here(start, env, capsys).stdout)["error"]
        for _ in range(2):
            assert run_here(["resume", "--all"], env, capsys).returncode == 0
        assert told(running.receiver) == ["completed"] and running.receiver.requests.total() == 2


async def test_a_webhook_without_an_address_any_more_is_named_and_goes_to_the_next_one(
    database: str, home: Path, tmp_path: Path
) -> None:
    with ScriptedWebhook(["400"]) as old, ScriptedWebhook() as new:
        async with Reprise.open(database_url=database, home=home, webhook_url=old.url) as reprise:
            await reprise.start(risky(tmp_path / "room", 1), thread="t", review="never")
        async with Reprise.open(database_url=database, home=home) as reprise:
            assert "set REPRISE_WEBHOOK_URL" in (await reprise.resume("t")).error
        async with Reprise.open(database_url=database, home=home, webhook_url=new.url) as reprise:
            assert (await reprise.resume("t")).error is None
        assert told(new.receiver) == ["completed"] and old.receiver.taken == []
