"""Messages about the address of a database: they never show its password, nor a piece of one that was written badly."""

from __future__ import annotations

import psycopg

from graph.runtime.postgres.reconnect import first_line
from nodes.domain.shared.errors import DatabaseUnreachable

FORM = "write postgresql://USER:PASSWORD@HOST:5432/DATABASE"


def unreachable(url: str, error: Exception) -> DatabaseUnreachable:
    """The error for a server that was not reached at this libpq address, with the reason."""
    problem = problem_with(url, error)
    if not isinstance(error, psycopg.OperationalError) or _ill_written(url):
        return DatabaseUnreachable(f"REPRISE_DATABASE_URL is no address of a Postgres server: {problem}.")
    return DatabaseUnreachable(
        f"The database at {_place(url)} cannot be reached ({problem}): "
        "check REPRISE_DATABASE_URL, or unset it to use the embedded server."
    )


def problem_with(url: str, error: Exception) -> str:
    """Describe in a few words what is wrong with an address or its server.

    The library quotes from an address that it cannot take apart, and of a password with an @ in it takes the rest for
    the name of the host: then its words are not repeated.
    """
    if _ill_written(url):
        return f"{FORM}, with %40 for @, %3A for :, %2F for /, %3F for ? and %23 for # in the password"
    return first_line(error) if isinstance(error, psycopg.OperationalError) else FORM


def _ill_written(url: str) -> bool:
    """Whether the password holds a sign that ends it too early. Ask it only of an address that did not work: one that
    did may hold an @ behind its host."""
    _, mark, authority = url.partition("://")
    user, at, _ = authority.rpartition("@")
    return bool(mark and at) and any(sign in user.partition(":")[2] for sign in "@:/?#")


def _place(url: str) -> str:
    """Host and database of an address."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return "REPRISE_DATABASE_URL"
    host, port = parts.get("host", "localhost"), parts.get("port", "5432")
    return f"{host}:{port}/{parts.get('dbname', '')}"
