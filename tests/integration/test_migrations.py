"""Migrations, with several processes at once."""

from __future__ import annotations

import subprocess
import sys

import pytest
from databases import number, rows
from paths import ROOT
from processes import PATIENCE, environment

from graph import Reprise
from graph.runtime.postgres.migrations import migrate, require_current, step_names
from nodes.domain.shared.errors import SchemaOutdated


def test_six_processes_migrate_a_fresh_database_at_once_and_all_are_fine(empty_database: str, home) -> None:
    script = (
        "import asyncio, sys; from graph.runtime.postgres.migrations import migrate;"
        "print(asyncio.run(migrate(sys.argv[1])))"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, empty_database],
            cwd=ROOT,
            env=environment(empty_database, home),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    ends = [process.communicate(timeout=PATIENCE) for process in processes]
    assert [process.returncode for process in processes] == [0] * 6, ends
    assert sorted(out.strip() for out, _ in ends) == sorted([str(step_names())] + ["[]"] * 5)
    assert number(empty_database, "SELECT count(*) FROM reprise.migrations") == len(step_names())


async def test_migrating_again_changes_nothing(database: str) -> None:
    assert await migrate(database) == []


async def test_each_step_after_the_other_gives_the_same_schema_as_all_at_once(
    empty_database: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = step_names()
    for length in range(1, len(every) + 1):
        monkeypatch.setattr("graph.runtime.postgres.migrations.step_names", lambda length=length: every[:length])
        await migrate(empty_database)
    query = """SELECT table_schema, table_name, column_name, data_type, column_default, is_nullable
                 FROM information_schema.columns WHERE table_schema IN ('public', 'reprise') ORDER BY 1, 2, 3"""
    triggers = (
        "SELECT event_object_table, trigger_name FROM information_schema.triggers ORDER BY 1, 2, event_manipulation"
    )
    assert rows(empty_database, query) == rows(database, query)
    assert rows(empty_database, triggers) == rows(database, triggers)
    assert len(rows(database, triggers)) >= 20


async def test_a_server_that_is_not_ours_is_not_migrated_but_refused_with_the_command(
    empty_database: str, home
) -> None:
    with pytest.raises(SchemaOutdated, match=r"python run\.py migrate"):
        async with Reprise.open(database_url=empty_database, home=home):
            pass
    assert rows(empty_database, "SELECT to_regclass('reprise.runs') AS t") == [{"t": None}]


async def test_a_database_of_a_newer_version_is_refused(database: str) -> None:
    with_newer = "INSERT INTO reprise.migrations (name) VALUES ('9999_later') RETURNING 1"
    assert rows(database, with_newer)
    with pytest.raises(SchemaOutdated, match="newer Reprise"):
        await require_current(database)
    with pytest.raises(SchemaOutdated, match="newer Reprise"):
        await migrate(database)


async def test_an_upgrade_of_the_checkpointer_alone_is_noticed(database: str) -> None:
    assert rows(
        database, "DELETE FROM checkpoint_migrations WHERE v = (SELECT max(v) FROM checkpoint_migrations) RETURNING v"
    )
    with pytest.raises(SchemaOutdated, match="0002_checkpointer"):
        await require_current(database)
    await migrate(database)
    await require_current(database)
