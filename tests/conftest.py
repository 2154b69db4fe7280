"""One embedded server for the whole session, a fresh migrated database for each test that asks for one.

A fixture imports the part of the program that it needs when it is asked for, so unit tests load neither graph nor
database.
"""

from __future__ import annotations

import inspect
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from databases import NEW, create, named, to_end
from hypothesis import HealthCheck, settings
from processes import CHILDREN
from shared_data import MISSING

if TYPE_CHECKING:
    from reader_desk import Desk

    from graph import Reprise
    from graph.adapters.processes.worker_pool import WorkerPool
    from graph.testing.endpoint import ScriptedEndpoint

# Whatever terminal or service the tests run in, what is printed has one width and no colour.
TERMINAL = "COLUMNS LINES FORCE_COLOR NO_COLOR PY_COLORS GITHUB_ACTIONS TTY_COMPATIBLE TTY_INTERACTIVE"
for _name in TERMINAL.split():
    os.environ.pop(_name, None)

# A slow or busy machine fails no test: what is asserted is what comes out, never how soon.
settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")

LONGEST = (
    "outage time recovery drain docs purge cli_drive unknown_outcomes app faults resume_inputs notebook real_contracts "
    "outage_waiting reader_refusals reader_scans retry_failed cli unattended classifier review_replies rules"
)
"""Files in which a process waits, dies or reads a scan, by what they took: begun last, one would run on alone."""


TESTS = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with the folder it lies in, and put the longest files first; all others stay as collected."""
    for item in items:
        item.add_marker(item.path.relative_to(TESTS).parts[0])
    place = {f"test_{name}.py": number for number, name in enumerate(LONGEST.split())}
    items.sort(key=lambda item: place.get(item.path.name, len(place)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what tests have measured, also in another process, and how many were skipped for want of shared data."""
    skipped = 0
    for outcome, reports in terminalreporter.stats.items():
        for report in reports:
            if outcome == "skipped" and MISSING in str(report.longrepr):
                skipped += 1
            for name, value in getattr(report, "user_properties", ()):
                if name == "measured" and report.when == "call":
                    terminalreporter.write_line(f"measured: {value}")
    if skipped:
        terminalreporter.write_line(f"{skipped} tests were skipped because shared data is missing")


@pytest.fixture(autouse=True)
def _scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's shell cannot change what a test sees."""
    for name in list(os.environ):
        if name.startswith(("REPRISE_", "OPENAI_", "LANGSMITH_", "LANGCHAIN_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    monkeypatch.setenv("REPRISE_CHILDREN", CHILDREN)


@pytest.fixture(scope="module")
async def kept_children() -> AsyncIterator[WorkerPool]:
    """The worker processes of all runs of one file that are no processes of their own."""
    from graph.adapters.processes.worker_pool import WorkerPool

    class SharedPool(WorkerPool):
        """Worker processes that outlive who asked for them: what closes is a run, and the next test uses them again."""

        async def aclose(self) -> None:
            """Nothing."""

    pool = SharedPool(int(CHILDREN))
    yield pool
    await WorkerPool.aclose(pool)


@pytest.fixture
def own_children() -> None:
    """For a test whose runs start worker processes of their own, and end them, as they do everywhere but here."""


@pytest.fixture(autouse=True)
def _one_set_of_children(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of what a small run costs is the imports of its worker processes: in one event loop they are made once."""
    if request.node.get_closest_marker("unit") or not inspect.iscoroutinefunction(request.function):
        return
    if "own_children" not in request.fixturenames:
        from graph import composition

        pool = request.getfixturevalue("kept_children")
        monkeypatch.setattr(composition, "WorkerPool", lambda workers, memory_mb: pool)


@pytest.fixture
def desk(kept_children: WorkerPool) -> Desk:
    """A reader with artifacts of its own."""
    from reader_desk import Desk

    return Desk(kept_children)


@pytest.fixture(scope="session")
def server_home() -> Iterator[Path]:
    """Home of the session's embedded server, in a place that it needs not open first."""
    from graph.adapters import embedded_postgres

    home = Path(tempfile.mkdtemp(prefix="reprise-test-"))
    home.chmod(0o755)
    yield home
    to_end(embedded_postgres.stop(home))
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def server(server_home: Path) -> str:
    """Address of the session's server, with a migrated template."""
    from graph.adapters import embedded_postgres
    from graph.runtime.postgres.migrations import migrate

    url = to_end(embedded_postgres.start(server_home))
    with psycopg.connect(url, autocommit=True) as connection:
        # What is killed here are our processes, never the server: its own fsync would only make the suite slow.
        connection.execute("ALTER SYSTEM SET fsync = off")
        # It goes round all databases within a minute, and here there is one a test.
        connection.execute("ALTER SYSTEM SET autovacuum = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("CREATE DATABASE reprise_template")
    to_end(migrate(named(url, "reprise_template")))
    return url


@pytest.fixture
def empty_database(server: str) -> str:
    """Address of a new database with nothing in it."""
    return create(server, "")


@pytest.fixture
def database(server: str) -> str:
    """Address of a new migrated database."""
    return create(server, NEW)


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
    from graph import Reprise

    async with Reprise.open(database_url=database, home=home) as opened:
        yield opened


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    """A model endpoint that answers at once and writes down what it was asked."""
    from graph.testing.endpoint import ScriptedEndpoint

    with ScriptedEndpoint() as running:
        yield running


@pytest.fixture
async def asking(database: str, home: Path, endpoint: ScriptedEndpoint) -> AsyncIterator[Reprise]:
    """The facade over a new database and home, with that endpoint."""
    from graph import Reprise

    key = {"openai_base_url": endpoint.base_url, "openai_api_key": "x"}
    async with Reprise.open(database_url=database, home=home, **key) as opened:
        yield opened
