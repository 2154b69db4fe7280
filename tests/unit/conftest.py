"""What a unit test may not touch: a database, a PDF, a child process, the network. One that does fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import psycopg
import pypdfium2
import pytest

FORBIDDEN = {"subprocess.Popen", "os.system", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "socket.connect"}
"""Audit events of Python: https://docs.python.org/3/library/audit_events.html"""

_touched: list[str] | None = None
"""What the test that runs now has touched; None while no unit test runs."""


def _watch(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in FORBIDDEN and _touched is not None:
        refuse(event)


def refuse(what: str) -> NoReturn:
    """Note what was touched, since the code under test may catch the error, and raise."""
    assert _touched is not None
    _touched.append(what)
    raise RuntimeError(f"a unit test may not use {what}: move the test to tests/integration or tests/process")


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def _nothing_outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a unit test that starts a process (the database server is one) or opens a PDF or a connection."""
    global _touched
    monkeypatch.setattr(psycopg.Connection, "connect", lambda *_, **__: refuse("psycopg.Connection.connect"))
    monkeypatch.setattr(psycopg.AsyncConnection, "connect", lambda *_, **__: refuse("psycopg.AsyncConnection.connect"))
    monkeypatch.setattr(pypdfium2, "PdfDocument", lambda *_, **__: refuse("pypdfium2.PdfDocument"))
    _touched = []
    try:
        yield
        touched = _touched
    finally:
        _touched = None
    assert not touched, f"a unit test may not use {', '.join(touched)}"


@pytest.fixture(scope="session")
def server() -> NoReturn:
    """No unit test has a database."""
    pytest.fail("a unit test may not ask for a database: move it to tests/integration")
