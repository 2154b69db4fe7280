"""Homes of drilled runs: a scratch server, a database and a folder for each run, real processes."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from graph.adapters import embedded_postgres
from graph.runtime.postgres.migrations import migrate
from graph.settings import CHECKOUT
from graph.testing.endpoint import ScriptedEndpoint
from graph.testing.webhook import ScriptedWebhook
from nodes.domain.shared.errors import OperatorError

TEMPLATE = "drill_template"
COMMAND_SECONDS = 600.0
"""Seconds that one command of the job may take."""


@dataclass(frozen=True)
class DrillHome:
    """One run's own database, folder and, for the openai engine, endpoint."""

    url: str
    folder: Path
    endpoint: ScriptedEndpoint | None
    webhook: ScriptedWebhook
    """Receives the event of a finished run; its own log is the witness."""

    async def rows(self, query: str) -> list[dict[str, Any]]:
        """Rows of a query in the run's database."""
        return await asyncio.to_thread(_rows, self.url, query)

    async def call_keys(self) -> list[str]:
        """Keys of the calls in the order in which they reached the endpoint; without one, as they were begun."""
        if self.endpoint is not None:
            calls = await asyncio.to_thread(self.endpoint.calls, "received")
            return [str(call["idempotency_key"]) for call in calls]
        begun = await self.rows("SELECT call_key FROM reprise.calls WHERE attempt > 0 ORDER BY call_id")
        return [str(row["call_key"]) for row in begun]

    async def wait_until_idle(self) -> None:
        """Wait until the calls in flight at a kill have ended, so that they are not taken for calls made later."""
        for _ in range(200):
            if self.endpoint is None or (await asyncio.to_thread(self.endpoint.counts))["in_flight"] == 0:
                return
            await asyncio.sleep(0.05)

    async def command(self, command: Sequence[str], variables: Mapping[str, str], *, check: bool = False) -> int:
        """Run a command of Reprise to its end and return its code, negative for a signal.

        With `check`, raises OperatorError with its last line when it does not end with 0.
        """
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(CHECKOUT / "run.py"),
            *command,
            env={**self._environment(), **variables},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, stderr = await asyncio.wait_for(process.communicate(), COMMAND_SECONDS)
        except BaseException:
            process.kill()
            await process.wait()
            raise
        if check and process.returncode != 0:
            last_line = (stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"])[-1]
            raise OperatorError(
                f"The drill cannot go on, {' '.join(command[:2])} ended with {process.returncode}: {last_line}"
            )
        return int(process.returncode or 0)

    def _environment(self) -> dict[str, str]:
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("REPRISE_", "OPENAI_"))}
        variables |= {"REPRISE_DATABASE_URL": self.url, "REPRISE_HOME": str(self.folder)}
        if self.endpoint is not None:
            variables |= {"OPENAI_BASE_URL": self.endpoint.base_url, "OPENAI_API_KEY": "drill"}
        variables["REPRISE_WEBHOOK_URL"] = self.webhook.url
        return variables


@dataclass(frozen=True)
class Snapshot:
    """Copy of a home at one moment: a database and a folder that nobody works in."""

    database: str
    folder: Path | None = None
    webhook_log: tuple[dict[str, Any], ...] = ()
    """The log of its webhook until then."""


EMPTY = Snapshot(TEMPLATE)
"""A home in which nothing has been done."""


@dataclass(frozen=True)
class ScratchServer:
    """A database server with a folder of its own; made by `scratch`."""

    folder: Path
    server: str

    async def snapshot(self, home: DrillHome) -> Snapshot:
        """Copy a home as it is now, for others to begin with; nobody may be connected to its database."""
        name = f"s_{uuid.uuid4().hex[:12]}"
        database = psycopg.conninfo.conninfo_to_dict(home.url)["dbname"]
        await asyncio.to_thread(_execute, self.server, f"CREATE DATABASE {name} TEMPLATE {database}")
        folder = self.folder / name
        await asyncio.to_thread(_copy, home.folder, folder)
        return Snapshot(name, folder, tuple(home.webhook.receiver.log))

    @asynccontextmanager
    async def home(self, *, endpoint: bool, latency: float = 0.05, begin: Snapshot = EMPTY) -> AsyncIterator[DrillHome]:
        """A new run's home, as a snapshot has it, gone again when the block ends."""
        name = f"d_{uuid.uuid4().hex[:12]}"
        folder = self.folder / name
        if begin.folder is None:
            await asyncio.to_thread(folder.mkdir)
        else:
            await asyncio.to_thread(_copy, begin.folder, folder)
        await asyncio.to_thread(_execute, self.server, f"CREATE DATABASE {name} TEMPLATE {begin.database}")
        scripted = ScriptedEndpoint(latency=latency) if endpoint else None
        try:
            if scripted is not None:
                await asyncio.to_thread(scripted.start)
            with ScriptedWebhook() as webhook:
                webhook.receiver.log.extend(begin.webhook_log)
                yield DrillHome(_database_url(self.server, name), folder, scripted, webhook)
        finally:
            if scripted is not None:
                await asyncio.to_thread(scripted.stop)
            await asyncio.to_thread(_execute, self.server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            await asyncio.to_thread(shutil.rmtree, folder, True)


@asynccontextmanager
async def scratch() -> AsyncIterator[ScratchServer]:
    """A scratch folder and server, gone again when the block ends."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="reprise-drill-"))
    try:
        await asyncio.to_thread(folder.chmod, 0o755)
        server = await embedded_postgres.start(folder)
        await asyncio.to_thread(_execute, server, f"CREATE DATABASE {TEMPLATE}")
        await migrate(_database_url(server, TEMPLATE))
        yield ScratchServer(folder, server)
    finally:
        await embedded_postgres.stop(folder)
        await asyncio.to_thread(shutil.rmtree, folder, True)


def _copy(folder: Path, target: Path) -> None:
    shutil.copytree(folder, target)


def _database_url(url: str, database: str) -> str:
    return psycopg.conninfo.make_conninfo(url, dbname=database)


def _execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def _rows(url: str, query: str) -> list[dict[str, Any]]:
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        return connection.execute(query.encode()).fetchall()
