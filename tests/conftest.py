"""One embedded server for the whole session, a fresh migrated database for each test that asks for one."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from graph import Reprise
from graph.adapters import embedded_postgres
from graph.runtime.migrations import migrate

ROOT = Path(__file__).resolve().parents[1]
T = TypeVar("T")
DATA = ROOT.parent / "shared" / "data"

# A slow or busy machine fails no test: what is asserted is what comes out, never how soon.
settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what tests have measured, also those that ran in another process."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == "measured" and report.when == "call":
                    terminalreporter.write_line(f"measured: {value}")


@pytest.fixture(autouse=True)
def _scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's shell cannot change what a test sees."""
    for name in list(os.environ):
        if name.startswith(("REPRISE_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")


@pytest.fixture(scope="session")
def server_home() -> Iterator[Path]:
    """Home of the session's embedded server, in a place that it needs not open first."""
    home = Path(tempfile.mkdtemp(prefix="reprise-test-"))
    home.chmod(0o755)
    yield home
    _to_end(embedded_postgres.stop(home))
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def server(server_home: Path) -> str:
    """Address of the session's server, with a migrated template."""
    url = _to_end(embedded_postgres.start(server_home))
    with psycopg.connect(url, autocommit=True) as connection:
        # What is killed here are our processes, never the server: its own fsync would only make the suite slow.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("CREATE DATABASE reprise_template")
    _to_end(migrate(named(url, "reprise_template")))
    return url


@pytest.fixture
def empty_database(server: str) -> str:
    """Address of a new database with nothing in it."""
    return create(server, "")


@pytest.fixture
def database(server: str) -> str:
    """Address of a new migrated database."""
    return create(server, "TEMPLATE reprise_template")


@pytest.fixture(scope="module")
def own_server() -> Iterator[Any]:
    """An outage_server.Server, which tests may stop and kill as they like."""
    from outage_server import Server

    server = Server()
    yield server
    server.close()


@pytest.fixture
def outage_url(own_server: Any) -> str:
    """Address of a new migrated database on it."""
    return str(own_server.fresh())


@pytest.fixture
def home() -> Iterator[Path]:
    """A home for artifacts and notes."""
    folder = Path(tempfile.mkdtemp(prefix="reprise-home-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
async def reprise(database: str, home: Path) -> AsyncIterator[Reprise]:
    """The facade over a new database and home."""
    async with Reprise.open(database_url=database, home=home) as opened:
        yield opened


def _to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also from a fixture that a running loop asked for."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def named(url: str, database: str) -> str:
    """The same server, another database."""
    parts = psycopg.conninfo.conninfo_to_dict(url) | {"dbname": database}
    return psycopg.conninfo.make_conninfo("", **parts)


def create(server: str, how: str) -> str:
    """A new database, made `how`."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {how}".encode())
    return named(server, name)
