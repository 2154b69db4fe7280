"""Processes of the command line: begun, waited for, signalled and really killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paths import ROOT

if TYPE_CHECKING:
    from graph.testing.endpoint import ScriptedEndpoint

CHILDREN = "1"
"""Processes that read the documents of a run: two tests run at once, and each more costs its imports once more."""
PATIENCE = 300.0
"""Seconds after which something will not come any more, on the busiest machine: no test waits for them to pass."""
HELD = 900.0
"""Seconds of an answer that never comes by itself: a test releases it, or kills who waits for it."""
PATIENT = {"REPRISE_REQUEST_SECONDS": "800", "REPRISE_GRACE_SECONDS": "120"}
"""For a process whose calls a test holds: it waits for them for longer than the test takes."""


def passing(calls: int) -> list[dict[str, Any]]:
    """A script for the scripted endpoint: so many calls get their answer soon, and each later one is held."""
    return [{"delay": 0.1, "times": calls}, {"delay": HELD}]


def environment(database: str, home: Path, **variables: str) -> dict[str, str]:
    """The environment of a child process of Reprise."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("REPRISE_", "OPENAI_"))}
    return {
        **inherited,
        "REPRISE_DATABASE_URL": database,
        "REPRISE_HOME": str(home),
        "REPRISE_CHILDREN": CHILDREN,
        "LANGGRAPH_STRICT_MSGPACK": "true",
        "PYTHONWARNINGS": "error",
        "COLUMNS": "120",
        **variables,
    }


def command(*arguments: str | Path) -> list[str]:
    """The command line of Reprise."""
    return [sys.executable, str(ROOT / "run.py"), *map(str, arguments)]


def run(
    arguments: Sequence[str | Path], env: Mapping[str, str], timeout: float = PATIENCE
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command(*arguments), env=dict(env), capture_output=True, text=True, timeout=timeout, check=False
    )


def begin(arguments: Sequence[str | Path], env: Mapping[str, str]) -> subprocess.Popen[str]:
    """Begin a command in a process group of its own."""
    return subprocess.Popen(
        command(*arguments),
        env=dict(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def kill(process: subprocess.Popen[str]) -> None:
    """kill -9, and nothing else."""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)


def to_its_end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process that ends by itself has said, apart from what was read of it before."""
    return process.communicate(timeout=PATIENCE)


def until(process: subprocess.Popen[str], words: str) -> str:
    """What a process says on its stderr, up to the line with these words; one that says nothing is killed at last."""
    assert process.stderr is not None
    output, silence = "", threading.Timer(PATIENCE, process.kill)
    silence.start()
    try:
        for line in iter(process.stderr.readline, ""):
            output += line
            if words in line:
                return output
    finally:
        silence.cancel()
    raise AssertionError(f"it ended without the words {words!r}:\n{output}")


def heard(process: subprocess.Popen[str]) -> None:
    """Wait until a process says that it has heard its first signal: from there on it begins no call."""
    until(process, "what is in flight is finished")


def wait_until(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Poll until the condition holds; fail the test when it does not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"nothing came of it within {seconds:g} s")


def released(endpoint: ScriptedEndpoint, latency: float = 0.0) -> None:
    """From now on it answers everything, and now what it has held so far."""
    endpoint.script([], latency=latency)
    endpoint.release()
