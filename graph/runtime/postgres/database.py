"""Named queries over one pool: the only way in which our own tables are reached."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import select
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from graph.runtime.fault_points import fault_point
from graph.runtime.postgres.database_address import unreachable
from graph.runtime.postgres.reconnect import Outage, Retries, first_line
from nodes.domain.shared.errors import DatabaseUnreachable, LeaseLost, OperatorError, SchemaOutdated

# We report a lost connection ourselves, once and in our words; a program with logs of its own still gets the
# messages of the library.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

FENCED = "RP001"
"""SQLSTATE of reprise.fence()."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@cache
def queries() -> Mapping[str, bytes]:
    """Every query of graph/runtime/sql by its name."""
    statements: dict[str, bytes] = {}
    for file in resources.files("graph.runtime.postgres").joinpath("sql").iterdir():
        if file.name.endswith(".sql"):
            for block in re.split(r"^-- name: ", file.read_text("utf-8"), flags=re.M)[1:]:
                name, _, body = block.partition("\n")
                assert name.strip() not in statements, f"two queries are named {name}"
                lines = [line for line in body.splitlines() if not line.startswith("--")]
                statements[name.strip()] = "\n".join(lines).strip().encode()
    return statements


def storable(value: Any) -> Any:
    """Replace NUL and lone surrogates, which neither text nor jsonb can hold."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {storable(name): storable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [storable(part) for part in value]
    return value


def as_jsonb(value: Any) -> Jsonb:
    """The value as jsonb, storable. It is searched as text, since to walk through it takes longer than to write it."""
    text = json.dumps(value)
    if "\\u0000" in text or "\\ud" in text:
        text = json.dumps(storable(value))
    return Jsonb(None, dumps=lambda _: text)


class Pool(AsyncConnectionPool[psycopg.AsyncConnection[DictRow]]):
    """A pool of connections with the outage handling of its server; made by `open_pool`."""

    outage: Outage


def open_pool(
    url: str, owner: str, *, size: int, prepare_threshold: int | None = 5, outage: Outage | None = None
) -> Pool:
    """A pool whose connections name their process to the fence and are checked before use; open it yourself.

    `url` is a libpq address; `size` the largest number of connections; `outage` is that of the server, when there are
    several pools.
    """
    # Options of the address itself, such as a time-out, hold beside ours.
    url_options = psycopg.conninfo.conninfo_to_dict(url).get("options") or ""
    pool = Pool(
        url,
        min_size=1,
        max_size=size,
        open=False,
        timeout=5,
        # Who waits asks for connections anew as soon as the server is back: the pool need not try for long by itself.
        reconnect_timeout=1,
        kwargs={
            "autocommit": True,
            "row_factory": dict_row,
            "prepare_threshold": prepare_threshold,
            "options": f"{url_options} -c TimeZone=UTC -c reprise.owner={owner}".lstrip(),
            "connect_timeout": 10,
            "application_name": "reprise",
            # A server whose machine or network is gone says nothing; without these it would be waited for for hours.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 25_000,
        },
        check=_check,
    )
    pool.outage = outage or Outage(url)
    pool.outage.add_pool(pool)
    return pool


async def _check(connection: psycopg.AsyncConnection[DictRow]) -> None:
    """Raise when a connection is of no use any more, so that the pool gives out another one.

    The server is asked only when it has said something unasked: that is how a restart and a kill of the connection
    show. To ask each time would double the statements of a run.
    """
    if connection.closed or _has_pending_input(connection.pgconn.socket):
        await AsyncConnectionPool.check_connection(connection)


def _has_pending_input(socket: int) -> bool:
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(socket, select.POLLIN | select.POLLERR | select.POLLHUP)
    return bool(poll.poll(0))


class Database:
    """Runs the named queries; each call is one statement and one commit.

    A statement whose connection is lost is repeated when the server answers again, so every query must be safe to
    repeat: what was lost may be its acknowledgement alone. Raises LeaseLost when the fence refuses,
    DatabaseUnreachable when the server stays away.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    @property
    def outage(self) -> Outage:
        """Outage handling of the server."""
        return self.pool.outage

    async def rows(self, query: str, **values: Any) -> list[dict[str, Any]]:
        """All rows of a query that returns some."""
        return (await self._run(query, values))[0]

    async def row(self, query: str, **values: Any) -> dict[str, Any] | None:
        """The first row, or None."""
        rows = await self.rows(query, **values)
        return rows[0] if rows else None

    async def execute(self, query: str, **values: Any) -> int:
        """Rows touched by a query that returns none."""
        return (await self._run(query, values))[1]

    async def once(self, query: str, **values: Any) -> dict[str, Any] | None:
        """The first row, or None; an outage is not waited for."""
        try:
            rows, _ = await self._send(query, values)
        except psycopg.Error as error:
            raise translated(error) from error
        return rows[0] if rows else None

    async def _run(self, query: str, values: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
        retries = Retries(self.outage)
        while True:
            await retries.ready()
            try:
                return await self._send(query, values)
            except psycopg.Error as error:
                if not await retries.may_retry(error):
                    raise translated(error) from error

    async def _send(self, query: str, values: Mapping[str, Any]) -> tuple[list[dict[str, Any]], int]:
        with fault_point(f"sql.{query}"):
            async with self.pool.connection() as connection:
                cursor = await connection.execute(queries()[query], values)
                return (await cursor.fetchall() if cursor.description else []), cursor.rowcount


def translated(error: psycopg.Error) -> Exception:
    """Our error for one of Postgres or of the pool; the error itself when it is a bug of ours."""
    if error.sqlstate == FENCED:
        return LeaseLost(
            f"Stopped: {error.diag.message_primary}; nothing more was written here. "
            "See how it goes on with: python run.py status"
        )
    if isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.InvalidSchemaName):
        return SchemaOutdated("The database has no tables of Reprise yet: run python run.py migrate.")
    if isinstance(error, psycopg.errors.InsufficientPrivilege | psycopg.errors.ReadOnlySqlTransaction):
        return OperatorError(
            f"The database refuses to be written to ({first_line(error)}): name in REPRISE_DATABASE_URL a user who "
            "owns the tables of Reprise, or may create them, on a server that is no read-only copy."
        )
    if isinstance(error, psycopg.errors.DiskFull):
        return OperatorError(
            f"The disk of the database is full ({first_line(error)}); what was committed is safe. Make room there, "
            "then go on."
        )
    if isinstance(error, PoolTimeout | psycopg.OperationalError):
        return DatabaseUnreachable(
            f"The database does not answer ({first_line(error)}); what was committed is safe. "
            "Start it, check it with: python run.py doctor, then resume."
        )
    return error


async def connected_pool(
    url: str, owner: str, *, size: int, prepare_threshold: int | None = 5, outage: Outage | None = None
) -> Pool:
    """An open pool with at least one good connection.

    Raises DatabaseUnreachable at once for a wrong address, after a few seconds for a silent one.
    """
    try:
        probe = await psycopg.AsyncConnection.connect(url, connect_timeout=5, application_name="reprise")
        await probe.close()
    except (psycopg.Error, ValueError) as error:
        raise unreachable(url, error) from error
    pool = open_pool(url, owner, size=size, prepare_threshold=prepare_threshold, outage=outage)
    await pool.open(wait=True, timeout=15)
    await asyncio.sleep(0)
    return pool
