"""All runs are read in one statement, however many there are, and each is what `status` says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from cli_runs import room

from graph import Reprise


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that this process sends from now on."""
    sent: list[str] = []
    execute = psycopg.AsyncCursor.execute

    async def counted(cursor: Any, query: Any, *values: Any, **options: Any) -> Any:
        sent.append(str(query))
        return await execute(cursor, query, *values, **options)

    monkeypatch.setattr(psycopg.AsyncCursor, "execute", counted)
    return sent


async def test_the_list_of_runs_takes_one_statement_and_shows_each_run_as_its_status_does(
    reprise: Reprise, tmp_path: Path, statements: list[str]
) -> None:
    assert await reprise.runs() == []
    waiting = await reprise.start(room(tmp_path / "waiting", 2), thread="waiting")
    ended = await reprise.start(room(tmp_path / "ended", 1), thread="ended", review="never")
    answered = await reprise.start(room(tmp_path / "answered", 1), thread="answered")
    await reprise.decide("answered", accept_all=True, reviewer="Ana", reason="read")
    assert (waiting.status, ended.status, answered.status) == ("needs_review", "completed", "needs_review")

    singly = [await reprise.status(name) for name in ("answered", "ended", "waiting")]
    assert singly[0].status == "interrupted", "its packet is decided"
    statements.clear()
    listed = await reprise.runs()
    assert len(statements) == 1, statements
    assert [view.to_json() for view in listed] == [view.to_json() for view in singly]
    assert listed == singly

    assert [view.name for view in await reprise.runs(limit=2)] == ["answered", "ended"]
    statements.clear()
    await reprise.status(listed[0].thread_id)
    assert len(statements) == 2, "the thread is found, then read"
