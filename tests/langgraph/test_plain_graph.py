"""The graph as LangGraph's own users drive it: any saver, no driver, the same findings, note and decisions."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from databases import create
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from paths import ROOT
from plain_graphs import PlainGraph, plain_graph
from processes import environment, run
from pydantic import ValidationError
from risky_contracts import risky
from sample_contracts import contracts

import graph
from graph import Reprise, build_graph, memory_services
from graph.runtime.postgres.threads import thread_id_of
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import KnownThread

THREAD = thread_id_of("plain")
CONFIG: Any = {"configurable": {"thread_id": THREAD}}
ANSWER = {"reviewer": "A. Martin", "accept_all": True}


async def run_of(plain: PlainGraph) -> Run:
    return await plain.services.ledger.run((await plain.graph.aget_state(CONFIG)).values["run_id"])


async def stored(plain: PlainGraph, name: str) -> bytes:
    artifacts = await plain.services.ledger.artifacts((await run_of(plain)).run_id)
    return await plain.services.artifacts.get({artifact.name: artifact.sha256 for artifact in artifacts}[name])


@pytest.fixture(params=["memory", "postgres"])
async def plain(request: pytest.FixtureRequest, database: str, home: Path) -> AsyncIterator[PlainGraph]:
    async with plain_graph(request.param, database, home) as made:
        yield made


@pytest.fixture
def room(tmp_path: Path) -> str:
    return str(risky(tmp_path / "risky"))


def asked(endpoint: ScriptedEndpoint) -> Counter[str]:
    return Counter(call["sha256"] for call in endpoint.calls("received"))


async def decided(plain: PlainGraph) -> list[tuple[str, str, str]]:
    return [
        (one.finding_id, one.verdict, one.reviewer)
        for one in await plain.services.ledger.decisions((await run_of(plain)).run_id)
    ]


async def to_the_end(plain: PlainGraph, room: str) -> dict[str, Any]:
    """Accept, round after round, what waits."""
    state = await plain.graph.ainvoke({"source": room, "options": {"name": "plain"}}, CONFIG)
    while "__interrupt__" in state:
        asked_for = json.loads(await plain.services.artifacts.get(state["__interrupt__"][0].value["packet"]))
        ids = [finding["finding_id"] for finding in asked_for["findings"]]
        reply = {"reviewer": "A. Martin", "decisions": [{"finding_id": one, "verdict": "accept"} for one in ids]}
        state = await plain.graph.ainvoke(Command(resume=reply), CONFIG)
    return dict(state)


async def test_a_plain_run_ends_with_the_findings_note_and_decisions_of_the_facade(
    plain: PlainGraph, room: str, server: str, tmp_path: Path
) -> None:
    ended = await to_the_end(plain, room)
    assert set(ended) == {"run_id", "headline", "note"} and ended["headline"].startswith("publish: completed")
    assert (await plain.graph.aget_state(CONFIG)).next == ()
    other = create(server, "TEMPLATE reprise_template")
    async with Reprise.open(database_url=other, home=tmp_path / "home") as reprise:
        view = await reprise.start(room, thread="plain")
        while view.status == "needs_review":
            waiting = (await reprise.packet(view.thread_id))["findings"]
            verdicts = [{"finding_id": one["finding_id"], "verdict": "accept"} for one in waiting]
            view = await reprise.resume("plain", decisions=verdicts, reviewer="A. Martin")
        findings = [finding.to_json() for finding in await reprise.findings("plain")]
        note = await reprise.report("plain")
        decisions = [(one.finding_id, one.verdict, one.reviewer) for one in await reprise.decisions("plain")]
    scored = json.loads(await stored(plain, "findings"))["findings"]
    assert _without_decisions(scored) == _without_decisions(findings) and len(scored) >= 16
    assert _without_times((await stored(plain, "note.md")).decode()) == _without_times(note)
    assert await decided(plain) == decisions and decisions


def _without_times(note: str) -> str:
    """A note but for the minutes at which people decided: two runs may fall on both sides of one."""
    return re.sub(r"\d\d-\d\d \d\d:\d\d UTC", "UTC", note)


def _without_decisions(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    plain = json.loads(json.dumps(findings))
    return [{name: value for name, value in finding.items() if name != "decision"} for finding in plain]


async def test_what_a_plain_run_did_is_seen_and_continued_by_the_command_line(
    room: str, database: str, home: Path
) -> None:
    async with plain_graph("postgres", database, home) as plain:
        state = await plain.graph.ainvoke({"source": room, "options": {"name": "plain"}}, CONFIG)
        assert state["__interrupt__"]
    env = environment(database, home)
    status = json.loads(run(["status", "plain", "--json"], env).stdout)
    assert (status["status"], status["thread_id"], status["step"]) == ("needs_review", THREAD, "needs_review")
    resumed = run(["resume", "plain", "--accept-all", "--reviewer", "B. Roy", "--json"], env)
    assert resumed.returncode == 0, resumed.stderr
    # And back: the command line has left its lease, so plain LangGraph may go on with the thread.
    async with plain_graph("postgres", database, home) as plain:
        head = await plain.graph.aget_state(CONFIG)
        if head.next:
            await plain.graph.aupdate_state(CONFIG, {"headline": "seen from LangGraph"})
            assert (await plain.graph.aget_state(CONFIG)).next == head.next


async def test_updates_and_custom_events_are_streamed(plain: PlainGraph, room: str) -> None:
    updates, events = [], []
    given = {"source": room, "options": {"batch_size": 3}}
    async for mode, data in plain.graph.astream(given, CONFIG, stream_mode=["updates", "custom"]):
        (updates if mode == "updates" else events).append(data)
    steps = [name for update in updates for name in update]
    assert steps == ["ingest", "extract", "extract", "score", "__interrupt__"]
    assert all(update[step]["headline"] for update in updates for step in update if step != "__interrupt__")
    assert sorted(event["ordinal"] for event in events if event["event"] == "document") == list(range(4))
    assert [event["index"] for event in events if event["event"] == "batch"] == [1, 2]


async def test_a_bad_reply_leaves_the_thread_waiting_and_the_payload_says_what_was_wrong(
    plain: PlainGraph, room: str
) -> None:
    await plain.graph.ainvoke({"source": room}, CONFIG)
    replies = ["yes", True, 7, [], {}, {"reviewer": "A", "decisions": "all"}, [{"type": "ignore", "args": None}]]
    for reply in replies:
        state = await plain.graph.ainvoke(Command(resume=reply), CONFIG)
        payload = state["__interrupt__"][0].value
        assert payload["reply_error"] and payload["reply_error"].split("A good reply")[0][:40] in payload["description"]
        assert (await plain.graph.aget_state(CONFIG)).next == ("needs_review",)
    assert await decided(plain) == []
    wrong = {"reviewer": "A", "decisions": [{"finding_id": "f-none", "verdict": "accept"}]}
    payload = (await plain.graph.ainvoke(Command(resume=wrong), CONFIG))["__interrupt__"][0].value
    assert "f-none" in payload["reply_error"]
    state = await plain.graph.ainvoke(Command(resume=payload["example_reply"]), CONFIG)
    assert len(await decided(plain)) == 2, "the example of the payload is a good reply"


async def test_the_forms_of_agent_inbox_are_understood(plain: PlainGraph, room: str) -> None:
    state = await plain.graph.ainvoke({"source": room}, CONFIG)
    payload = state["__interrupt__"][0].value
    assert {"action_request", "config", "description"} <= payload.keys()
    edit = dict(payload["action_request"])
    first = payload["top"][0]["finding_id"]
    edit["args"] = {
        **edit["args"],
        "decisions_json": json.dumps([{"finding_id": first, "verdict": "reject", "reason": "not ours"}]),
    }
    state = await plain.graph.ainvoke(Command(resume=[{"type": "edit", "args": edit}]), CONFIG)
    assert await decided(plain) == [(first, "reject", "agent-inbox")]
    if "__interrupt__" in state and state["__interrupt__"][0].value["one_person_may_accept"]:
        await plain.graph.ainvoke(Command(resume=[{"type": "accept", "args": None}]), CONFIG)
        assert len(await decided(plain)) > 1


async def test_a_replay_and_a_fork_from_an_old_checkpoint_pay_nothing_again(
    request: pytest.FixtureRequest, tmp_path: Path, database: str, home: Path, endpoint: ScriptedEndpoint
) -> None:
    source = contracts(tmp_path / "room", 12)
    given = {"source": str(source), "engine": "openai", "options": {"batch_size": 4}}
    for kind in ("memory", "postgres"):
        endpoint.reset()
        asks = {"openai_base_url": endpoint.base_url, "openai_api_key": "x", "request_seconds": 5}
        async with plain_graph(kind, database, home, **asks) as plain:
            first = await plain.graph.ainvoke(given, CONFIG)
            paid = asked(endpoint)
            assert paid and set(paid.values()) == {1} and first["headline"] == "publish: completed"
            history = [one async for one in plain.graph.aget_state_history(CONFIG)]
            old = next(one for one in history if one.next == ("extract",) and one.values["batch_index"] == 1)
            assert await plain.graph.ainvoke(None, old.config) == first
            assert asked(endpoint) == paid, "a replay asked again"
            start = next(one for one in history if one.next == ("ingest",))
            assert await plain.graph.ainvoke(None, start.config) == first
            forked = await plain.graph.aupdate_state(old.config, {"headline": "a fork begins"})
            assert (await plain.graph.aget_state(forked)).next == ("extract",)
            assert await plain.graph.ainvoke(None, forked) == first
            assert asked(endpoint) == paid, "a fork asked again"


async def test_a_gate_that_was_answered_can_be_replayed_and_answered_differently(plain: PlainGraph, room: str) -> None:
    state = await plain.graph.ainvoke({"source": room, "options": {"review": "always"}}, CONFIG)
    payload = state["__interrupt__"][0].value
    gate = (await plain.graph.aget_state(CONFIG)).config
    first = payload["top"][0]["finding_id"]
    accept = {"reviewer": "A", "decisions": [{"finding_id": first, "verdict": "accept"}]}
    await plain.graph.ainvoke(Command(resume=accept), CONFIG)
    again = await plain.graph.ainvoke(None, gate)
    assert again["__interrupt__"][0].value["packet"] == payload["packet"]
    reject = {"reviewer": "A", "decisions": [{"finding_id": first, "verdict": "reject", "reason": "second thought"}]}
    await plain.graph.ainvoke(Command(resume=reject), CONFIG)
    assert await decided(plain) == [(first, "accept", "A"), (first, "reject", "A")]


async def test_another_source_on_a_thread_that_has_a_run_is_refused(
    plain: PlainGraph, room: str, tmp_path: Path
) -> None:
    await plain.graph.ainvoke({"source": room}, CONFIG)
    with pytest.raises(KnownThread, match="start another thread"):
        await plain.graph.ainvoke({"source": str(contracts(tmp_path / "other", 1))}, CONFIG)
    # The same source once more is the same run: it comes to the same gate.
    assert "__interrupt__" in await plain.graph.ainvoke({"source": room}, CONFIG)


async def test_a_context_is_frozen_with_the_run_and_a_bad_one_is_refused(plain: PlainGraph, room: str) -> None:
    with pytest.raises(ValidationError, match="batch_size"):
        await plain.graph.ainvoke({"source": room}, CONFIG, context={"batch_size": 0})
    context = graph.RunContext(batch_size=5, review="always")
    await plain.graph.ainvoke({"source": room, "options": {"batch_size": 3}}, CONFIG, context=context)
    run = await run_of(plain)
    assert (run.settings.batch_size, run.settings.review) == (5, "always")


async def test_plain_langgraph_is_refused_where_a_driver_lives(room: str, database: str, home: Path) -> None:
    async with Reprise.open(database_url=database, home=home) as reprise:
        await reprise.start(room, thread="plain")
        async with (
            graph.drive(THREAD, reprise.container.driver_context),
            plain_graph("postgres", database, home) as plain,
        ):
            with pytest.raises(Exception, match="is driven by"):
                await plain.graph.aupdate_state(CONFIG, {"headline": "beside the driver"})
        async with plain_graph("postgres", database, home) as plain:
            await plain.graph.aupdate_state(CONFIG, {"headline": "after it"})


async def test_the_fifteen_lines_of_the_readme(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """README shows these lines, and test_docs runs them over the whole room: one supplier of it is enough here."""
    monkeypatch.chdir(ROOT)
    from langgraph.types import Command

    async with memory_services() as services:
        app = build_graph(services).compile(checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "acme"}}
        state = await app.ainvoke({"source": "samples/data-room/Blackpine Systems"}, config)
        while "__interrupt__" in state:
            gate = state["__interrupt__"][0].value
            ids = [finding["finding_id"] for finding in gate["top"]]
            reply = {"reviewer": "A. Martin", "decisions": [{"finding_id": one, "verdict": "accept"} for one in ids]}
            state = await app.ainvoke(Command(resume=reply), config)
        print((await services.artifacts.get(state["note"])).decode())
    assert capsys.readouterr().out.startswith("# ")
