"""The real `langgraph dev`, offline and without a key: its runs are ours, and ours are its own."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from databases import number, rows
from dev_server import Dev, dev_server
from langgraph_sdk import get_client
from paths import ROOT
from processes import HELD, PATIENCE, begin, kill, passing, run, wait_until
from risky_contracts import risky
from sample_contracts import contracts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("langgraph_api") is None, reason="pip install 'reprise[studio]' brings langgraph dev"
    ),
]

OPENAI = {"engine": "openai"}
DONE_OF = "SELECT count(*) FROM reprise.run_document WHERE state = 'done' AND thread_id = %s"


@pytest.fixture(scope="module")
def dev(server: str) -> Iterator[Dev]:
    """One server for the module; its log is free of blocking calls at the end."""
    with dev_server(server) as running:
        yield running
        log = running.log.read_text(errors="replace")
    assert "Blocking call to" not in log, log[log.index("Blocking call to") - 4000 :][:5000]


@pytest.fixture
async def client(dev: Dev) -> AsyncIterator[Any]:
    async with get_client(url=dev.url, api_key=None) as opened:
        yield opened


def interrupt_of(state: Any) -> dict[str, Any]:
    return dict(state["tasks"][0]["interrupts"][0]["value"])


async def test_the_forms_have_titles_descriptions_and_bounds(dev: Dev, client: Any) -> None:
    (assistant,) = await client.assistants.search()
    assert assistant["name"] == "reprise"
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    fields = schemas["input_schema"]["properties"]
    assert list(fields) == ["source", "playbook", "engine", "matter", "options"]
    assert all(field["title"] and field["description"] for field in fields.values())
    context = schemas["context_schema"]["properties"]
    assert 3 <= len(context) <= 8 and all(one["title"] and one["description"] for one in context.values())
    assert context["batch_size"]["anyOf"][0] == {"maximum": 1000, "minimum": 1, "type": "integer"}
    drawn = await client.assistants.get_graph(assistant["assistant_id"])
    assert {"ingest", "extract", "score", "needs_review", "summarize", "publish"} <= {n["id"] for n in drawn["nodes"]}


async def test_a_run_from_the_server_stops_at_the_gate_refuses_a_bad_reply_and_ends_like_any_other(
    dev: Dev, client: Any
) -> None:
    thread = (await client.threads.create())["thread_id"]
    given = {"source": str(ROOT / "samples" / "data-room"), "options": {"name": "from-studio"}}
    parts = [
        part
        async for part in client.runs.stream(
            thread, "reprise", input=given, context={"batch_size": 5}, stream_mode=["updates", "custom"]
        )
    ]
    assert not [part for part in parts if part.event == "error"], parts
    events = [part.data for part in parts if part.event == "custom"]
    read = len({event["ordinal"] for event in events if event["event"] == "document"})
    state = await client.threads.get_state(thread)
    assert state["next"] == ["needs_review"] and state["values"]["headline"].startswith("score: ")
    assert "```json" in interrupt_of(state)["description"]

    await client.runs.wait(thread, "reprise", command={"resume": "yes"})
    waiting = await client.threads.get(thread)
    payload = next(iter(waiting["interrupts"].values()))[0]["value"]
    assert waiting["status"] == "interrupted" and "is the text “yes”" in payload["reply_error"]
    assert "The last reply was not used" in payload["description"]

    pasted = json.loads(payload["description"].split("```json")[1].split("```")[0])
    assert pasted == payload["example_reply"]
    await client.runs.wait(thread, "reprise", command={"resume": {"reviewer": "S. Ito", "accept_all": True}})
    assert (await client.threads.get(thread))["status"] == "idle"
    status, shown = dev.cli("status", "from-studio"), dev.cli("show", thread)
    assert (status["thread_id"], status["name"]) == (thread, "from-studio")
    assert status["documents"]["total"] == read >= 16
    assert status["status"].startswith("completed") and shown["run"] == status
    assert (status["batch"]["size"], status["review"]["reviewers"]) == (5, ["S. Ito"])
    assert [row["kind"] for row in rows(dev.database, "SELECT kind FROM reprise.resumes ORDER BY started_at")][:3] == [
        "start",
        "resume",
        "resume",
    ]
    journal = run(["journal", thread, "--json"], dev.env).stdout.splitlines()
    assert len(journal) >= 20
    assert "from-studio" in [json.loads(line)["name"] for line in run(["runs", "--json"], dev.env).stdout.splitlines()]


async def test_a_run_that_is_cancelled_asks_nothing_more_and_is_resumed_by_the_command_line(
    dev: Dev, client: Any, tmp_path: Path
) -> None:
    dev.endpoint.reset()
    dev.endpoint.script(passing(12))
    thread = (await client.threads.create())["thread_id"]
    given = {"source": str(contracts(tmp_path / "cancelled", 40)), **OPENAI, "matter": "cancelled"}
    started = await client.runs.create(thread, "reprise", input=given)
    busy = lambda: number(dev.database, DONE_OF, thread) == 12 and dev.endpoint.counts()["in_flight"] == 8  # noqa: E731
    await asyncio.to_thread(wait_until, busy)
    await client.runs.cancel(thread, started["run_id"], wait=True)
    await asyncio.to_thread(wait_until, lambda: dev.endpoint.counts()["in_flight"] == 0)
    before = dev.asked()
    await asyncio.sleep(2)
    assert dev.asked() == before, "a call was made after the cancel"
    dev.endpoint.script([])
    status = dev.cli("status", thread)
    assert status["status"] == "interrupted" and status["error"] is None and status["documents"]["done"] == 12
    committed = {row["call_key"] for row in rows(dev.database, _completed_keys(), thread)}
    end = dev.cli("resume", thread)
    assert end["status"] == "completed" and end["documents"]["done"] == 40
    assert committed and rows(dev.database, _twice(), thread) == []


async def test_a_run_that_the_command_line_cancels_is_left_by_the_server(dev: Dev, client: Any, tmp_path: Path) -> None:
    dev.endpoint.reset()
    dev.endpoint.script(latency=1.0)  # a minute at two at a time, while the command line starts and is heard
    thread = (await client.threads.create())["thread_id"]
    given = {"source": str(contracts(tmp_path / "called-off", 120)), **OPENAI, "matter": "called-off"}
    started = await client.runs.create(thread, "reprise", input={**given, "options": {"concurrency": 2}})
    await asyncio.to_thread(wait_until, lambda: len(dev.endpoint.calls("answered")) >= 4)
    dev.cli("cancel", thread)
    await asyncio.wait_for(client.runs.join(thread, started["run_id"]), PATIENCE)
    assert dev.cli("status", thread)["status"] == "cancelled"
    before = len(dev.endpoint.calls("received"))
    await asyncio.sleep(1)
    assert len(dev.endpoint.calls("received")) == before < 120


async def test_a_thread_of_the_command_line_is_opened_and_resumed_in_the_server(
    dev: Dev, client: Any, tmp_path: Path
) -> None:
    view = dev.cli("start", str(risky(tmp_path / "room")), "--thread", "from-cli", "--matter", "cli")
    assert view["status"] == "needs_review"
    await client.threads.create(thread_id=view["thread_id"], metadata={"graph_id": "reprise"}, if_exists="do_nothing")
    state = await client.threads.get_state(view["thread_id"])
    assert state["next"] == ["needs_review"] and interrupt_of(state)["packet"] == view["review"]["packet"]
    await client.runs.wait(view["thread_id"], "reprise", command={"resume": {"reviewer": "B. Roy", "accept_all": True}})
    end = dev.cli("status", "from-cli")
    assert end["status"] == "completed" and end["review"]["reviewers"] == ["B. Roy"]
    assert dev.cli("show", "from-cli")["driver"]["outcome"] == "ended"


async def test_a_thread_of_the_server_is_resumed_by_the_command_line_and_seen_in_the_server(
    dev: Dev, client: Any, tmp_path: Path
) -> None:
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "reprise", input={"source": str(risky(tmp_path / "room")), "matter": "back"})
    end = dev.cli("resume", thread, "--accept-all", "--reviewer", "A. Martin")
    assert end["status"] == "completed"
    state = await client.threads.get_state(thread)
    assert (
        state["next"] == [] and state["values"]["note"] == {a["name"]: a["sha256"] for a in end["artifacts"]}["note.md"]
    )
    # The command line drove it last; a change of the state takes the lease over for its time.
    await client.threads.update_state(thread, {"headline": "changed in Studio"})
    assert (await client.threads.get_state(thread))["values"]["headline"] == "changed in Studio"


async def test_an_edited_state_is_named_in_the_server_and_mended_there(dev: Dev, client: Any, tmp_path: Path) -> None:
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "reprise", input={"source": str(risky(tmp_path / "room")), "matter": "edited"})
    packet = (await client.threads.get_state(thread))["values"]["packet"]
    await client.threads.update_state(thread, {"packet": "f" * 64})
    parts = [p async for p in client.runs.stream(thread, "reprise", input=None, stream_mode="updates")]
    assert parts[-1].event == "error" and parts[-1].data["error"] == "StateEdited"
    assert "no stored artifact has this sha256" in parts[-1].data["message"]
    await client.threads.update_state(thread, {"packet": packet})
    await client.runs.wait(thread, "reprise", input=None)
    await client.runs.wait(thread, "reprise", command={"resume": {"reviewer": "A", "accept_all": True}})
    assert dev.cli("status", thread)["status"] == "completed"


async def test_a_thread_that_the_command_line_drives_is_busy_in_the_server(
    dev: Dev, client: Any, tmp_path: Path
) -> None:
    dev.endpoint.reset()
    dev.endpoint.script(latency=HELD)
    source = contracts(tmp_path / "busy", 40)
    options = ("--thread", "busy", "--engine", "openai", "--concurrency", "2", "--matter", "busy")
    process = begin(["start", source, *options], dev.env)
    try:
        await asyncio.to_thread(wait_until, lambda: dev.endpoint.counts()["in_flight"] == 2)
        thread = rows(dev.database, "SELECT thread_id FROM reprise.runs WHERE name = 'busy'")[0]["thread_id"]
        await client.threads.create(thread_id=thread, metadata={"graph_id": "reprise"}, if_exists="do_nothing")
        parts = [p async for p in client.runs.stream(thread, "reprise", input=None, stream_mode="updates")]
        assert parts[-1].event == "error" and parts[-1].data["error"] == "ThreadBusy"
        assert f"is driven by process {process.pid}" in parts[-1].data["message"]
        assert (await client.threads.get_state(thread))["values"]["headline"]
    finally:
        kill(process)


async def test_forty_batches_are_no_more_than_the_server_allows(dev: Dev, client: Any, tmp_path: Path) -> None:
    thread = (await client.threads.create())["thread_id"]
    given = {"source": str(contracts(tmp_path / "many", 40)), "options": {"batch_size": 1, "review": "never"}}
    end = await client.runs.wait(thread, "reprise", input={**given, "matter": "many"})
    assert end["headline"] == "publish: completed"


async def test_after_a_kill_9_of_the_server_the_command_line_goes_on_and_pays_nothing_again(
    server: str, tmp_path: Path
) -> None:
    with dev_server(server) as dev:
        dev.endpoint.script(passing(12))
        async with get_client(url=dev.url, api_key=None) as client:
            thread = (await client.threads.create())["thread_id"]
            given = {"source": str(contracts(tmp_path / "room", 40)), **OPENAI}
            await client.runs.create(thread, "reprise", input=given)
        busy = lambda: number(dev.database, DONE_OF, thread) == 12 and dev.endpoint.counts()["in_flight"] == 8  # noqa: E731
        await asyncio.to_thread(wait_until, busy)
        os.killpg(dev.process.pid, signal.SIGKILL)
        dev.process.wait()
        wait_until(lambda: dev.endpoint.counts()["in_flight"] == 0)
        dev.endpoint.script([])
        end = dev.cli("resume", thread)
        assert (end["status"], end["documents"]["done"], end["resumes"]) == ("completed", 40, 1)
        again = [count for count in dev.asked().values() if count > 1]
        lost = number(dev.database, "SELECT count(*) FROM reprise.calls WHERE tool='model' AND state='lost_answer'")
        assert len(again) <= lost <= 8 and set(again) <= {2}
        assert rows(dev.database, _twice(), thread) == []


def _completed_keys() -> str:
    return "SELECT call_key FROM reprise.calls WHERE state = 'completed' AND thread_id = %s"


def _twice() -> str:
    return f"{_completed_keys()} GROUP BY call_key HAVING count(*) > 1"
