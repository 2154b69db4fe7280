"""The scripted endpoint, seen through the client the product calls a model with."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pydantic
import pytest
from paths import ROOT
from processes import HELD, PATIENCE, wait_until
from scripted_client import LAW, LIABILITY, PARTIES, PROMPT, Model, Supplier, ask, clients, left

from graph.testing.answers import minimal, sentences
from graph.testing.endpoint import ScriptedEndpoint


@pytest.fixture(scope="module")
def running() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(running: ScriptedEndpoint) -> ScriptedEndpoint:
    running.reset()
    return running


@pytest.fixture
async def model(endpoint: ScriptedEndpoint) -> AsyncIterator[Model]:
    async with clients(endpoint) as build:
        yield build


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
async def test_an_answer_quotes_the_passages_to_the_letter(model: Model, method: str) -> None:
    answer = await ask(model(), method=method)
    reading = answer["parsed"]
    assert [(c.clause_type, c.passage_id, c.quote) for c in reading.clauses] == [
        ("cap_on_liability", 4, LIABILITY),
        ("governing_law", 5, LAW),
    ]
    assert reading.supplier == Supplier(name="Nordlicht GmbH", quote=PARTIES)
    usage = answer["raw"].usage_metadata
    assert usage["input_tokens"] == -(-len(PROMPT) // 4)
    assert usage["output_tokens"] > 0


async def test_without_a_list_of_wanted_clauses_every_known_clause_is_answered(model: Model) -> None:
    answer = await ask(model(), PROMPT.replace("cap_on_liability, governing_law", "all"))
    assert [c.clause_type for c in answer["parsed"].clauses] == ["cap_on_liability", "governing_law", "insurance"]


async def test_every_call_is_in_the_log_with_its_body_document_and_tokens(
    endpoint: ScriptedEndpoint, model: Model
) -> None:
    answer = await ask(model(max_completion_tokens=900))
    await ask(model(max_completion_tokens=900))
    first, second = endpoint.calls("received")
    assert first["sha256"] == second["sha256"] and first["id"] != second["id"]
    assert (first["document"], first["prompt_chars"], first["max_tokens"]) == ("acme-7", len(PROMPT), 900)
    assert answer["raw"].response_metadata["id"] == first["id"]
    counts = endpoint.counts()
    assert counts["received"] == len(endpoint.calls("received")) == 2
    assert counts["answered"] == len(endpoint.calls("answered")) == 2
    assert counts["in_flight"] == 0 and counts["by_status"] == {"200": 2}
    assert counts["tokens"]["prompt"] == sum(c["prompt_tokens"] for c in endpoint.calls("answered"))


async def test_sixteen_calls_at_once_are_sixteen_in_flight_until_they_are_released(
    endpoint: ScriptedEndpoint, model: Model
) -> None:
    endpoint.script(latency=HELD)
    client = model()
    asking = [asyncio.create_task(ask(client, f"{PROMPT}{n}")) for n in range(16)]
    await asyncio.to_thread(wait_until, lambda: endpoint.counts()["in_flight"] == 16)
    endpoint.release(f"{PROMPT}15")
    assert (await asking[15])["parsed"].clauses
    assert (endpoint.counts()["answered"], endpoint.counts()["in_flight"]) == (1, 15)
    endpoint.release()
    await asyncio.gather(*asking)
    counts = endpoint.counts()
    assert counts["max_in_flight"] == 16
    assert (counts["received"], counts["answered"], counts["in_flight"]) == (16, 16, 0)


async def test_a_client_that_leaves_early_is_written_down(endpoint: ScriptedEndpoint, model: Model) -> None:
    endpoint.script(latency=HELD)
    asking = asyncio.create_task(ask(model()))
    await left(endpoint, "received")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert len(await left(endpoint)) == 1
    assert endpoint.calls("answered") == []


def test_a_request_may_come_in_pieces_and_two_at_once(endpoint: ScriptedEndpoint) -> None:
    host, port = endpoint.base_url.removeprefix("http://").removesuffix("/v1").split(":")
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hello"}]}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(body)
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
        line.sendall(head[:30])
        time.sleep(0.05)
        line.sendall(head[30:] + b"\r\n" + body + head + b"Connection: close\r\n\r\n" + body)
        answers = b"".join(iter(lambda: line.recv(65536), b""))
    assert answers.count(b"HTTP/1.1 200 OK") == 2
    assert answers.count(b"Scripted answer to a prompt of 5 characters.") == 2


def test_it_ends_with_the_process_that_started_it_even_when_that_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from graph.testing.endpoint import ScriptedEndpoint\n"
        f"endpoint = ScriptedEndpoint(log={str(tmp_path / 'calls.jsonl')!r}).start()\n"
        "sys.stdout.write(f'{endpoint.pid}\\n'); sys.stdout.flush()\n"
        "time.sleep(900)\n"
    )
    root = str(ROOT)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=root, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        assert child.is_running()
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        gone, alive = psutil.wait_procs([child], timeout=PATIENCE)
    assert gone and not alive


def test_it_comes_back_at_the_same_address_with_the_same_log(tmp_path: Path) -> None:
    with ScriptedEndpoint(log=tmp_path / "calls.jsonl") as endpoint:
        address, pid = endpoint.base_url, endpoint.pid
        endpoint.stop()
        assert not psutil.pid_exists(pid)
        endpoint.start()
        assert endpoint.base_url == address
        assert endpoint.counts()["received"] == 0
    with pytest.raises(RuntimeError):
        _ = endpoint.pid


def test_it_can_be_run_by_hand(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('[{"match": "x", "status": 418}]')
    command = [sys.executable, "-m", "graph.testing.endpoint", "--script", str(rules)]
    options = ["--latency", "0.01", "--fault", "429=0.1", "--fault", "hang=0.1"]
    root = str(ROOT)
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, cwd=root, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("READY http://127.0.0.1:")
        process.terminate()
    wrong = subprocess.run([*command, "--fault", "flood=1"], cwd=root, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "no such fault: flood" in wrong.stderr


def test_a_schema_it_doesnt_know_gets_the_smallest_instance() -> None:
    class Inner(pydantic.BaseModel):
        kind: str = pydantic.Field(json_schema_extra={"enum": ["b", "a"]})
        size: int = pydantic.Field(ge=3)

    class Outer(pydantic.BaseModel):
        inner: Inner
        many: list[Inner] = pydantic.Field(min_length=1)
        maybe: Inner | None
        name: str
        sure: bool
        share: float

    value = minimal(Outer.model_json_schema())
    inner = {"kind": "b", "size": 3}
    assert value == {"inner": inner, "many": [inner], "maybe": None, "name": "", "sure": False, "share": 0}
    Outer.model_validate(value)


def test_sentences_are_parts_of_the_text_and_survive_numbers_and_wrapped_lines() -> None:
    text = f"7. LIABILITY\n7.1 Under Sec. 4 the\nSupplier pays. {LIABILITY}\n\nan item without an end\n\n{LAW}"
    assert sentences(text) == (
        "7. LIABILITY",
        "7.1 Under Sec. 4 the\nSupplier pays.",
        LIABILITY,
        "an item without an end",
        LAW,
    )
