"""A driver frozen past its lease: another takes over and finishes, and the first, awake again, changes nothing."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from databases import number, rows
from processes import PATIENT, begin, environment, passing, released, run, to_its_end, wait_until
from sample_contracts import contracts

from graph.testing.endpoint import ScriptedEndpoint

MODELS = ("--engine", "openai", "--model", "extract=gpt-4.1-mini", "--model", "summarize=gpt-4.1-mini")
TABLES = (
    "public.checkpoints",
    "public.checkpoint_blobs",
    "public.checkpoint_writes",
    "reprise.runs",
    "reprise.run_document",
    "reprise.pages",
    "reprise.calls",
    "reprise.answers",
    "reprise.effects",
    "reprise.decisions",
    "reprise.artifacts",
    "reprise.leases",
    "reprise.heartbeats",
)


def everything(url: str, home: Path) -> dict[str, Any]:
    """Every row of the run, and every file that it released."""
    tables = {table: rows(url, f"SELECT to_jsonb(t) AS row FROM {table} t ORDER BY 1") for table in TABLES}
    files = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (home / "notes").rglob("*.*")}
    return {**tables, "files": files}


@pytest.mark.slow
def test_a_driver_that_slept_past_its_lease_wakes_to_find_it_taken_and_writes_nothing(
    database: str, home: Path, tmp_path: Path
) -> None:
    source = contracts(tmp_path / "room", 40)
    with ScriptedEndpoint(script=passing(8)) as endpoint:
        env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x", **PATIENT)
        env["REPRISE_LEASE_SECONDS"] = "20"
        first = begin(["start", source, "--thread", "t", *MODELS, "--review", "never", "--json"], env)
        done = "SELECT count(*) FROM reprise.run_document WHERE state = 'done'"
        wait_until(lambda: number(database, done) == 8 and endpoint.counts()["in_flight"] == 8)

        # While the first drives, a third is refused with who and since when.
        refused = run(["resume", "t", "--json"], env)
        assert (refused.returncode, refused.stdout) == (5, "")
        assert f"is driven by process {first.pid} on {socket.gethostname()} since 20" in refused.stderr

        assert first.poll() is None and endpoint.counts()["in_flight"] == 8
        os.kill(first.pid, signal.SIGSTOP)
        released(endpoint)  # what it had in flight is answered while it sleeps
        wait_until(lambda: number(database, "SELECT count(*) FROM reprise.leases WHERE expires_at < now()"))
        before = Counter(call["sha256"] for call in endpoint.calls("received"))
        second = run(["resume", "t", "--json"], env)
        assert second.returncode == 0, second.stderr
        end = json.loads(second.stdout)
        assert (end["status"], end["documents"]["done"]) == ("completed", 40)
        asked = Counter(call["sha256"] for call in endpoint.calls("received"))
        assert set(before.values()) == {1} and sum(asked.values()) - len(asked) <= end["cost"]["calls_lost"] <= 8

        left = everything(database, home)
        os.kill(first.pid, signal.SIGCONT)
        out, err = to_its_end(first)
        assert everything(database, home) == left
        assert Counter(call["sha256"] for call in endpoint.calls("received")) == asked
    assert (first.returncode, out) == (1, "")
    errors = [line for line in err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1 and "nothing more was written here" in errors[0] and "Traceback" not in err, err
    assert re.search(r"took thread \S+ over|is driven by", errors[0])
    # Its own row of the resumes says why it stopped; that of the second is the newest.
    said = rows(database, "SELECT kind, outcome FROM reprise.resumes ORDER BY started_at")
    assert said == [{"kind": "start", "outcome": "lost"}, {"kind": "resume", "outcome": "ended"}]
