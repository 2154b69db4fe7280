"""How an outage is waited for: together, for a bounded time, and with the lease compared before anything goes on."""

from __future__ import annotations

import asyncio
import contextlib

import psycopg
import pytest
from databases import rows
from outage_server import Server, cut_off
from processes import PATIENCE

from graph.runtime.postgres.database import Database, connected_pool
from graph.runtime.postgres.lease import OWNER, Lease
from graph.runtime.postgres.reconnect import Outage, OutageNotice, is_lost
from nodes.domain.shared.errors import DatabaseUnreachable, LeaseLost


def test_what_is_an_outage_and_what_is_not() -> None:
    gone = psycopg.OperationalError("server closed the connection unexpectedly")
    assert all(map(is_lost, (gone, psycopg.errors.AdminShutdown(), psycopg.errors.CannotConnectNow())))
    assert is_lost(psycopg.InterfaceError("the connection is closed")) and is_lost(psycopg.errors.DeadlockDetected())
    for other in (psycopg.errors.UniqueViolation(), psycopg.errors.DiskFull(), psycopg.errors.RaiseException()):
        assert not is_lost(other)


async def test_after_an_outage_the_lease_is_extended_when_nobody_took_it(outage_url: str) -> None:
    pool = await connected_pool(outage_url, OWNER, size=3)
    lease = Lease(Database(pool), "thread", ttl=PATIENCE)
    await lease.take()
    heard: list[str] = []
    lease.keep(lambda: heard.append("cancelled"), lambda: heard.append("lost"))
    rows(outage_url, "UPDATE reprise.leases SET expires_at = now() - interval '1 hour' RETURNING 1")
    cut_off(outage_url)
    await pool.outage.outlast()
    assert (await Database(pool).row("holder", thread_id="thread") or {})["live"]
    assert heard == []
    await lease.release()
    await pool.close()


async def test_after_an_outage_a_driver_that_was_overtaken_meanwhile_hears_it_before_it_goes_on(
    outage_url: str,
) -> None:
    pool = await connected_pool(outage_url, OWNER, size=3)
    lease = Lease(Database(pool), "thread", ttl=PATIENCE)
    await lease.take()
    lease.keep(lambda: None, lambda: None)
    rows(outage_url, "UPDATE reprise.leases SET owner = 'another' RETURNING 1")
    cut_off(outage_url)
    await pool.outage.outlast()
    assert lease.lost.is_set()
    with pytest.raises(LeaseLost):
        await lease.check()
    await lease.release()
    await pool.close()


async def test_an_outage_is_waited_for_by_all_together_and_told_once(
    own_server: Server, outage_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.runtime.postgres.reconnect.NOTICE_SECONDS", 0.0)
    pool = await connected_pool(outage_url, OWNER, size=4, outage=Outage(outage_url, PATIENCE))
    database, words = Database(pool), list[OutageNotice]()
    with pool.outage.notifying(words.append):
        await asyncio.to_thread(own_server.stop)
        asking = [asyncio.create_task(database.row("holder", thread_id=str(n))) for n in range(20)]
        async with asyncio.timeout(PATIENCE):
            while not words:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await asyncio.to_thread(own_server.start)
        assert await asyncio.gather(*asking) == [None] * 20
    assert [word.away for word in words] == [True, False]
    assert not pool.outage.away
    await pool.close()


async def test_once_it_was_given_up_nothing_waits_until_the_server_is_back(own_server: Server, outage_url: str) -> None:
    pool = await connected_pool(outage_url, OWNER, size=2, outage=Outage(outage_url, 0.3))
    database = Database(pool)
    await asyncio.to_thread(own_server.stop)
    try:
        for _ in range(20):
            with pytest.raises(DatabaseUnreachable, match="then resume"):
                await database.row("holder", thread_id="t")
    finally:
        await asyncio.to_thread(own_server.start)
    # It waits for a third of a second only, and a busy machine may take longer to make a new connection.
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(DatabaseUnreachable):
                assert await database.row("holder", thread_id="t") is None
                break
    await pool.close()
