"""Databases of tests: made, copied, named and looked into."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import psycopg
from psycopg.rows import dict_row

T = TypeVar("T")
NEW = "TEMPLATE reprise_template"
"""How a migrated database with nothing in it is made."""


def to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also from a fixture that a running loop asked for."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def named(url: str, database: str) -> str:
    """The same server, another database."""
    parts = psycopg.conninfo.conninfo_to_dict(url) | {"dbname": database}
    return psycopg.conninfo.make_conninfo("", **parts)


def create(server: str, options: str) -> str:
    """A new database, made `how`."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {options}".encode())
    return named(server, name)


def copied(server: str, database: str) -> str:
    """A new database with all that this one holds; sessions that are left there are ended, as a copy allows none."""
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
    return create(server, f"TEMPLATE {name}")


def rows(database: str, query: str, *values: Any) -> list[dict[str, Any]]:
    """Look into the tables."""
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
        return connection.execute(query.encode(), values).fetchall()


def number(database: str, query: str, *values: Any) -> int:
    """The one number that a query gives."""
    return int(next(iter(rows(database, query, *values)[0].values())))
