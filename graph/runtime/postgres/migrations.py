"""All DDL, LangGraph's included: numbered SQL files, applied once, by one process at a time."""

from __future__ import annotations

import asyncio
from importlib import resources

import psycopg
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row

from graph.runtime.postgres.database_address import unreachable
from nodes.domain.shared.errors import SchemaOutdated

LOCK = 0x7265707269736500
"""Advisory lock of every migration; the bytes spell the project's name."""

CHECKPOINTER = "0002_checkpointer"
"""Step that stands for LangGraph's own setup, which the fence needs before it."""


def step_names() -> list[str]:
    """Names of all steps, in order."""
    folder = resources.files("graph.runtime.postgres").joinpath("sql", "migrations")
    files = [file.name.removesuffix(".sql") for file in folder.iterdir() if file.name.endswith(".sql")]
    return sorted([*files, CHECKPOINTER])


async def migrate(url: str) -> list[str]:
    """Bring a database up to date; returns the steps that were applied now.

    Safe to run from several processes at once: the lock is polled, since a blocking wait for it would deadlock
    with CREATE INDEX CONCURRENTLY in LangGraph's setup. Raises DatabaseUnreachable, SchemaOutdated.
    """
    try:
        connection = await psycopg.AsyncConnection.connect(
            url, autocommit=True, row_factory=dict_row, prepare_threshold=None, connect_timeout=10
        )
    except (psycopg.Error, ValueError) as error:
        raise unreachable(url, error) from error
    async with connection:
        while not await _flag(connection, "SELECT pg_try_advisory_lock(%s) AS yes", LOCK):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        try:
            return await _apply(connection)
        finally:
            await connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


async def _apply(connection: psycopg.AsyncConnection[dict[str, object]]) -> list[str]:
    await connection.execute("CREATE SCHEMA IF NOT EXISTS reprise")
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS reprise.migrations (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())"
    )
    applied = await _applied(connection)
    _refuse_newer(applied)
    # LangGraph's setup keeps a count of its own, so that an upgrade of the library is applied here too.
    await AsyncPostgresSaver(connection).setup()
    new = [name for name in step_names() if name not in applied]
    folder = resources.files("graph.runtime.postgres").joinpath("sql", "migrations")
    for name in new:
        async with connection.transaction():
            if name != CHECKPOINTER:
                await connection.execute(folder.joinpath(f"{name}.sql").read_text("utf-8").encode())
            await connection.execute("INSERT INTO reprise.migrations (name) VALUES (%s)", (name,))
    return new


async def require_current(url: str) -> None:
    """Raise SchemaOutdated, with the command to run, unless the tables are those of this program.

    Raises DatabaseUnreachable.
    """
    try:
        connection = await psycopg.AsyncConnection.connect(
            url, autocommit=True, row_factory=dict_row, prepare_threshold=None, connect_timeout=10
        )
    except (psycopg.Error, ValueError) as error:
        raise unreachable(url, error) from error
    async with connection:
        missing = await missing_steps(connection)
    if missing:
        raise SchemaOutdated(
            f"The database lacks {', '.join(missing)}: stop the runs that use it, then run python run.py migrate."
        )


async def missing_steps(connection: psycopg.AsyncConnection[dict[str, object]]) -> list[str]:
    """Steps that this program needs and the database lacks. Raises SchemaOutdated when it is newer than us."""
    if not await _flag(connection, "SELECT to_regclass('reprise.migrations') IS NOT NULL AS yes"):
        return step_names()
    applied = await _applied(connection)
    _refuse_newer(applied)
    missing = [name for name in step_names() if name not in applied]
    row = await (await connection.execute("SELECT coalesce(max(v), -1) AS v FROM checkpoint_migrations")).fetchone()
    if not missing and row is not None and int(str(row["v"])) < len(AsyncPostgresSaver.MIGRATIONS) - 1:
        missing = [CHECKPOINTER]
    return missing


def _refuse_newer(applied: set[str]) -> None:
    unknown = sorted(applied - set(step_names()))
    if unknown:
        raise SchemaOutdated(
            f"The database was migrated by a newer Reprise ({unknown[-1]}): update this program before you use it."
        )


async def _applied(connection: psycopg.AsyncConnection[dict[str, object]]) -> set[str]:
    rows = await (await connection.execute("SELECT name FROM reprise.migrations")).fetchall()
    return {str(row["name"]) for row in rows}


async def _flag(connection: psycopg.AsyncConnection[dict[str, object]], query: str, *values: object) -> bool:
    row = await (await connection.execute(query.encode(), values)).fetchone()
    return bool(row and row["yes"])
