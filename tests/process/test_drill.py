"""The fire drill, short: a few boundaries, real processes that really die. The long one is `run.py drill`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import openai
import psycopg
import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from paths import ROOT
from processes import environment, run
from sample_contracts import contracts

from graph import Reprise
from graph.drill.plan import plan
from graph.runtime.fault_points import current_fault_point, dying_at, fault_point, listening, trace_counts, tracing_into
from graph.testing.endpoint import ScriptedEndpoint
from graph.testing.webhook import ScriptedWebhook


def test_a_place_to_die_at_must_be_written_right() -> None:
    for wrong in (
        "",
        "sql.claim",
        "sql.claim:during",
        "sql.claim:after:0",
        "sql.claim:after+soon",
        "sql.claim:after+-1",
    ):
        with pytest.raises(ValueError):
            dying_at(wrong)


def test_a_place_to_die_at_may_name_a_moment_after_it(tmp_path: Path) -> None:
    script = (
        "import time\nfrom graph.runtime.fault_points import dying_at, fault_point, listening\n"
        "with listening(dying_at('a:after:2+0.05')):\n"
        "    for n in range(2):\n"
        "        with fault_point('a'): print(n, flush=True)\n"
        "    time.sleep(60)"
    )
    died = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (died.returncode, died.stdout.split()) == (-signal.SIGKILL, ["0", "1"])


def test_kills_at_random_fall_on_both_commands_on_rare_places_too_and_between_boundaries() -> None:
    passed = {"start": ["a:before", "a:after"] * 500 + ["rare:before", "rare:after"], "resume": ["b:before", "b:after"]}
    kills = plan(passed, 200, seed=1)
    swept, drawn = kills[:6], kills[6:]
    assert [str(kill) for kill in swept[:2]] == ["start a:before:251", "start a:after:251"]
    assert [kill.command for kill in drawn].count("resume") == 100
    assert sum(kill.delayed for kill in drawn) == 100
    assert any(kill.place.startswith("rare:") for kill in drawn)
    for kill in drawn:
        place, nth = kill.at_once().place.rsplit(":", 1)
        assert 1 <= int(nth) <= passed[kill.command].count(place)
    assert plan(passed, 200, seed=1) == kills and len(plan(passed, 3, fault_points=2)) == 5


def test_a_boundary_that_raises_is_not_passed_on_its_far_side(tmp_path: Path) -> None:
    with listening(tracing_into(tmp_path / "trace")):
        with fault_point("good"):
            assert current_fault_point.get() == "good"
        with pytest.raises(RuntimeError), fault_point("bad"):
            raise RuntimeError
    assert dict(trace_counts(tmp_path / "trace")) == {"good:before": 1, "good:after": 1, "bad:before": 1}


async def test_whatever_reaches_outside_has_a_boundary_around_it(
    database: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listens at the wire: SQL that psycopg sends, requests that the client sends, files that are written."""
    seen: dict[str, set[str]] = {"sql": set(), "http": set(), "file": set()}
    outside: list[str] = []
    listen = False

    def note(kind: str, what: str) -> None:
        if listen:
            seen[kind].add(current_fault_point.get())
            if not current_fault_point.get():
                outside.append(f"{kind}: {what[:120]}")

    def spied(sending: Any) -> Any:
        async def spy(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
            # A pool that looks whether a connection is alive sends an empty query of its own.
            if str(query).strip():
                note("sql", str(query))
            return await sending(self, query, *args, **kwargs)

        return spy

    def watched(send: Any) -> Any:
        async def sent(self: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
            note("http", str(request.url))
            return await send(self, request, *args, **kwargs)

        return sent

    replace = os.replace

    def replaced(source: Any, target: Any, **kwargs: Any) -> None:
        note("file", str(target))
        replace(source, target, **kwargs)

    for name in ("execute", "executemany"):
        monkeypatch.setattr(psycopg.AsyncCursor, name, spied(getattr(psycopg.AsyncCursor, name)))
    for client in (openai.DefaultAsyncHttpxClient, httpx.AsyncClient):
        monkeypatch.setattr(client, "send", watched(client.send))
    monkeypatch.setattr(os, "replace", replaced)
    room = contracts(tmp_path / "room", 3)
    with ScriptedEndpoint() as endpoint, ScriptedWebhook() as webhook:
        given = {"openai_base_url": endpoint.base_url, "openai_api_key": "x", "webhook_url": webhook.url}
        async with Reprise.open(database_url=database, home=home, **given) as reprise:
            listen = True
            await reprise.start(room, thread="t", engine="openai", review="always")
            run = await reprise.resume("t", accept_all=True, reviewer="A. Martin")
            listen = False
    assert run.status == "completed"
    assert outside == []
    assert seen["http"] == {"tool.model", "webhook.send"}
    assert seen["file"] == {"artifact.put", "release.put"}
    assert {"saver.put", "saver.put_writes", "sql.claim", "sql.complete", "sql.finish_document"} <= seen["sql"]


def test_every_call_of_the_saver_that_writes_is_bounded() -> None:
    from graph.runtime.postgres.checkpoints import InstrumentedSaver

    for name in ("aput", "aput_writes", "aget_tuple"):
        assert getattr(InstrumentedSaver, name) is not getattr(AsyncPostgresSaver, name)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "openai"])
def test_a_job_that_is_killed_at_a_few_boundaries_ends_as_if_nothing_had_happened(
    engine: str, database: str, home: Path, tmp_path: Path
) -> None:
    source = contracts(tmp_path / "room", 12)
    command = ["drill", source, "--engine", engine, "--boundaries", "3", "--random", "1", "--seed", "7", "--json"]
    drilled = run(command, environment(database, home), timeout=900)
    assert drilled.returncode == 0, drilled.stdout + drilled.stderr
    end = json.loads(drilled.stdout)
    assert end["ok"] and end["boundaries"] > 30 and len(end["drills"]) == 4
    assert sum(drill["killed"] for drill in end["drills"]) >= 3
    assert {drill["made_again"] for drill in end["drills"]} == {0}
    assert {drill["doubled"] for drill in end["drills"]} == {0}


async def test_a_boundary_costs_a_task_nothing_of_its_context() -> None:
    async def work(name: str) -> str:
        with fault_point(name):
            await asyncio.sleep(0.01)
            return current_fault_point.get()

    assert await asyncio.gather(*(work(str(n)) for n in range(5))) == [str(n) for n in range(5)]
