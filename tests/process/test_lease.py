"""One driver a thread, in real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from databases import number, rows
from paths import ROOT
from processes import PATIENCE, environment

from graph.runtime.postgres import lease as leases
from graph.runtime.postgres.database import Database, connected_pool
from graph.runtime.postgres.lease import OWNER, Lease
from nodes.domain.shared.errors import LeaseLost, ThreadBusy

HOLD = """
import asyncio, sys
from graph.runtime.postgres.database import Database, connected_pool
from graph.runtime.postgres.lease import OWNER, Lease

async def main():
    pool = await connected_pool(sys.argv[1], OWNER, size=2)
    held = Lease(Database(pool), sys.argv[2], ttl=float(sys.argv[3]))
    await held.take()
    held.keep(lambda: None, lambda: None)
    print("held", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await held.release()
    await pool.close()

asyncio.run(main())
"""


@pytest.fixture
async def tables(database: str) -> AsyncIterator[Database]:
    pool = await connected_pool(database, OWNER, size=4)
    yield Database(pool)
    await pool.close()


def holder(database: str, home: Path, thread: str, ttl: float = PATIENCE) -> subprocess.Popen[str]:
    """Another process that holds the lease until its standard input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, database, thread, str(ttl)],
        cwd=ROOT,
        env=environment(database, home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str], how: int = signal.SIGKILL) -> None:
    os.kill(process.pid, how)
    process.communicate(timeout=PATIENCE)


def lease_of(database: str, thread: str) -> tuple[str, bool]:
    """Owner of a thread's lease, and whether it still runs."""
    (lease,) = rows(
        database, "SELECT owner, expires_at > now() AS runs FROM reprise.leases WHERE thread_id = %s", thread
    )
    return lease["owner"], lease["runs"]


async def test_a_held_lease_is_refused_with_who_and_since_when(tables: Database, database: str, home: Path) -> None:
    thread = str(uuid.uuid4())
    other = holder(database, home, thread)
    try:
        with pytest.raises(ThreadBusy, match=rf"process {other.pid} on .* since 20\d\d-"):
            await Lease(tables, thread).take()
    finally:
        end(other)


async def test_since_when_is_told_in_utc_whatever_the_time_zone_of_the_server(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET TimeZone TO %L', current_database(), "
            "'Asia/Kathmandu'); END $$"
        )
    pool = await connected_pool(database, OWNER, size=1)
    try:
        await Lease(Database(pool), "thread").take()
        with pytest.raises(ThreadBusy) as busy:
            await Lease(Database(pool), "thread").take()
    finally:
        await pool.close()
    taken = "SELECT to_char(taken_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS at FROM reprise.leases"
    assert f"since {rows(database, taken)[0]['at']} UTC" in str(busy.value)


async def test_the_lease_of_a_dead_process_of_this_host_is_taken_at_once(
    tables: Database, database: str, home: Path
) -> None:
    thread = str(uuid.uuid4())
    end(holder(database, home, thread))
    dead, runs = lease_of(database, thread)
    assert dead != OWNER and runs, "its lease would have run on for minutes"
    await Lease(tables, thread).take()
    assert lease_of(database, thread) == (OWNER, True)


async def test_a_lease_that_was_given_back_is_free(tables: Database, database: str, home: Path) -> None:
    thread = str(uuid.uuid4())
    other = holder(database, home, thread)
    other.communicate(timeout=PATIENCE)
    owner, runs = lease_of(database, thread)
    assert owner != OWNER and not runs
    await Lease(tables, thread).take()
    assert lease_of(database, thread) == (OWNER, True)


async def test_the_same_process_cannot_drive_a_thread_twice(tables: Database) -> None:
    thread = str(uuid.uuid4())
    await Lease(tables, thread).take()
    with pytest.raises(ThreadBusy):
        await Lease(tables, thread).take()


async def test_a_dead_process_of_another_host_is_waited_for_until_its_lease_ends(
    tables: Database, database: str, home: Path
) -> None:
    thread = str(uuid.uuid4())
    end(holder(database, home, thread))
    rows(database, "UPDATE reprise.leases SET host_key = 'another host' RETURNING 1")
    with pytest.raises(ThreadBusy):
        await Lease(tables, thread).take()
    rows(database, "UPDATE reprise.leases SET expires_at = now() RETURNING 1")
    await Lease(tables, thread).take()
    assert lease_of(database, thread) == (OWNER, True)


async def test_calls_that_a_dead_owner_left_running_are_shown_as_lost_and_their_claims_are_free(
    tables: Database, database: str
) -> None:
    thread = str(uuid.uuid4())
    rows(
        database,
        """WITH a AS (INSERT INTO reprise.answers (matter, call_key, state, tool, run_id, thread_id, owner, leased,
                                                  claimed_until)
                     VALUES ('m', 'k', 'claimed', 'model', 'r', %s, 'dead', true, now() + interval '1 day'))
           INSERT INTO reprise.calls (run_id, thread_id, matter, call_key, tool, step, state, attempt, owner, worst_usd)
           VALUES ('r', %s, 'm', 'k', 'model', 'extract', 'running', 1, 'dead', 0.25) RETURNING 1""",
        thread,
        thread,
    )
    await Lease(tables, thread).take()
    assert rows(database, "SELECT state, usd::text, basis, word FROM reprise.calls") == [
        {"state": "lost_answer", "usd": "0.25", "basis": "estimated", "word": "process_died"}
    ]
    assert number(database, "SELECT count(*) FROM reprise.answers") == 0


async def test_a_process_that_was_overtaken_commits_nothing_more(
    tables: Database, database: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = str(uuid.uuid4())
    mine = Lease(tables, thread)
    await mine.take()
    rows(database, "UPDATE reprise.leases SET expires_at = now() RETURNING 1")
    end(holder(database, home, thread))  # it took over and died: the lease is another's, held or not
    with pytest.raises(LeaseLost, match="is driven by"):
        await tables.execute(
            "attempt",
            run_id="r",
            thread_id=thread,
            matter="m",
            call_key="k",
            tool="model",
            step="extract",
            document="",
            document_sha256="",
            model="",
            parameters=psycopg.types.json.Jsonb({}),
            attempt=1,
            owner=OWNER,
            worst_usd=None,
            token=uuid.uuid4(),
        )
    assert number(database, "SELECT count(*) FROM reprise.calls") == 0
    with pytest.raises(LeaseLost):
        await mine.check()


@pytest.mark.parametrize("table", ["checkpoints", "checkpoint_blobs", "checkpoint_writes"])
async def test_the_fence_guards_the_tables_of_langgraph_too(tables: Database, database: str, table: str) -> None:
    thread = str(uuid.uuid4())
    await Lease(tables, thread).take()
    columns = {
        "checkpoints": "(thread_id, checkpoint_ns, checkpoint_id, checkpoint) VALUES (%s, '', 'c', '{}')",
        "checkpoint_blobs": "(thread_id, checkpoint_ns, channel, version, type) VALUES (%s, '', 'c', '1', 'null')",
        "checkpoint_writes": "(thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, blob) "
        "VALUES (%s, '', 'c', 't', 0, 'c', '')",
    }[table]
    with pytest.raises(psycopg.DatabaseError) as refused:
        rows(database, f"INSERT INTO {table} {columns} RETURNING 1", thread)
    assert refused.value.sqlstate == "RP001"
    assert rows(database, f"INSERT INTO {table} {columns} RETURNING 1", str(uuid.uuid4()))


async def test_a_driver_hears_that_it_was_overtaken(
    tables: Database, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.05)
    heard = asyncio.Event()
    mine = Lease(tables, str(uuid.uuid4()))
    await mine.take()
    mine.keep(lambda: None, heard.set)
    rows(database, "UPDATE reprise.leases SET owner = 'another' RETURNING 1")
    await asyncio.wait_for(heard.wait(), PATIENCE)
    assert mine.lost.is_set()
    await mine.release()
    assert number(database, "SELECT count(*) FROM reprise.leases WHERE owner = 'another' AND expires_at > now()") == 1
