"""Streams of which the other end is closed, full or gone: a run is none the worse, and the exit code tells which."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from databases import number
from processes import PATIENCE, command, environment
from risky_contracts import risky

FULL = Path("/dev/full")
full = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")


def test_a_run_with_closed_streams_is_done_as_any_other(database: str, home: Path, tmp_path: Path) -> None:
    start = command("start", risky(tmp_path / "room", 1), "--thread", "t", "--json")
    shell = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *start]
    ended = subprocess.run(shell, env=environment(database, home), timeout=PATIENCE, check=False)
    assert ended.returncode == 0
    assert number(database, "SELECT count(*) AS n FROM reprise.runs WHERE name = 't'") == 1


@pytest.mark.parametrize("arguments", [["runs"], ["diagram"], ["runs", "--purged"]])
def test_a_reader_that_has_gone_ends_a_command_as_its_signal_would_and_not_as_a_failure(
    arguments: list[str], database: str, home: Path
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    env = environment(database, home)
    ended = subprocess.run(
        command(*arguments), env=env, stdout=writer, stderr=subprocess.PIPE, timeout=PATIENCE, check=False
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGPIPE, b"")


@full
def test_an_output_that_takes_no_more_is_one_sentence_and_no_fault(database: str, home: Path) -> None:
    with FULL.open("w") as output:
        ended = subprocess.run(
            command("diagram"), env=environment(database, home), stdout=output, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith("error: Nothing more can be written") and "fault" not in ended.stderr


@full
def test_a_full_disk_under_the_log_of_a_run_does_not_end_it(database: str, home: Path, tmp_path: Path) -> None:
    with FULL.open("w") as log:
        ended = subprocess.run(
            command("start", risky(tmp_path / "room", 1), "--thread", "t", "--json"),
            env=environment(database, home),
            stdout=subprocess.PIPE,
            stderr=log,
            check=False,
        )
    assert ended.returncode == 0 and ended.stdout.startswith(b'{"thread_id": ')
