"""The real `langgraph dev` as a process of its own, with the database and endpoint behind it."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from databases import create
from paths import ROOT
from processes import PATIENT, environment, run, wait_until

from graph.testing.endpoint import ScriptedEndpoint


@dataclass
class Dev:
    """A server that runs, with the database and endpoint behind it."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path
    database: str
    endpoint: ScriptedEndpoint
    env: dict[str, str]

    def cli(self, *arguments: str) -> Any:
        ended = run([*arguments, "--json"], self.env)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    def asked(self) -> Counter[str]:
        return Counter(call["sha256"] for call in self.endpoint.calls("received"))


@contextmanager
def dev_server(server: str) -> Iterator[Dev]:
    """The exported langgraph.json, served from a folder of its own, so that the server's state lands there."""
    place = Path(tempfile.mkdtemp(prefix="reprise-dev-"))
    place.chmod(0o755)
    (place / "graph").symlink_to(ROOT / "graph")
    shutil.copy(ROOT / "langgraph.json", place)
    database = create(server, "TEMPLATE reprise_template")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with ScriptedEndpoint(latency=0.3) as endpoint, (place / "log").open("wb") as log:
        env = environment(database, place / "home", OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x", **PATIENT)
        served = {**env, "LANGGRAPH_CLI_NO_ANALYTICS": "1", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        served.pop("PYTHONWARNINGS")  # of the server's own libraries
        command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
        process = subprocess.Popen(
            [*command, "--n-jobs-per-worker", "4"],
            cwd=place,
            env=served,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        dev = Dev(f"http://127.0.0.1:{port}", process, place / "log", database, endpoint, env)
        try:
            wait_until(lambda: _answers(dev))
            yield dev
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
    shutil.rmtree(place, ignore_errors=True)


def _answers(dev: Dev) -> bool:
    assert dev.process.poll() is None, dev.log.read_text(errors="replace")[-3000:]
    try:
        with urllib.request.urlopen(f"{dev.url}/ok", timeout=10) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False
