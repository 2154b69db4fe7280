"""A process whose thread was taken over writes nothing more; a claim holds while its owner may live."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psutil
import pytest
from databases import number, rows

from graph.runtime.calls.journal import Claim
from graph.runtime.postgres.database import Database, connected_pool
from graph.runtime.postgres.journal import PostgresJournal
from graph.runtime.postgres.lease import OWNER, Lease, alive
from graph.runtime.postgres.ledger import PostgresLedger
from nodes.domain.review.review import Decision
from nodes.domain.runs.settings import ArtifactRef, DocumentResult, Run, Settings
from nodes.domain.shared.errors import LeaseLost
from nodes.domain.text.documents import SourceDocument
from nodes.ports import ToolRequest

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
QUESTION = ToolRequest("model", "extract", {"n": 1}, model="m-1")
FREE: Any = (None, Decimal(0), "reported")
TABLES = "run_document", "effects", "decisions", "artifacts", "calls"


@dataclass
class Room:
    """A frozen run, and one process that writes to it."""

    url: str
    database: Database
    run: Run

    @property
    def ledger(self) -> PostgresLedger:
        return PostgresLedger(self.database)

    @property
    def journal(self) -> PostgresJournal:
        return PostgresJournal(self.database)

    def taken_by(self, owner: str, until: str = "now() + interval '1 hour'") -> None:
        """The lease of the thread is that of another process."""
        found = rows(self.url, f"UPDATE reprise.leases SET owner = %s, expires_at = {until} RETURNING 1", owner)
        assert found


def a_run() -> Run:
    return Run(str(uuid.uuid4()), str(uuid.uuid4()), "", "m", "", "p", "x", "local", 1, Settings(), {}, 1, "src", NOON)


@pytest.fixture
async def room(database: str) -> AsyncIterator[Room]:
    pool = await connected_pool(database, OWNER, size=2)
    made = Room(database, Database(pool), a_run())
    await Lease(made.database, made.run.thread_id).take()
    await made.ledger.open_run(made.run, [SourceDocument("a.pdf", "0" * 64, 1, 1, "/a.pdf")])
    await made.ledger.intend(made.run.run_id, "webhook", "sent before", {})
    yield made
    await pool.close()


WRITES: dict[str, Callable[[Room], Awaitable[object]]] = {
    "a document": lambda one: one.ledger.finish_document(
        one.run.run_id, DocumentResult(0, "a.pdf", "0" * 64, "done", pages=((1, "read", ""),))
    ),
    "an intent": lambda one: one.ledger.intend(one.run.run_id, "webhook", "k", {}),
    "an outcome": lambda one: one.ledger.record_effect(one.run.run_id, "sent before", {}),
    "a decision": lambda one: one.ledger.decide(one.run.run_id, [Decision("f", "accept", "A", "", "p", NOON)]),
    "an artifact": lambda one: one.ledger.keep_artifact(one.run.run_id, ArtifactRef("note", "1" * 64, 1, "file:x")),
    "a question": lambda one: one.journal.claim(one.run, QUESTION, "k", None, uuid.uuid4()),
}


@pytest.mark.parametrize("until", ["now() + interval '1 hour'", "now()"], ids=["driven", "left again"])
@pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
async def test_a_process_whose_thread_was_taken_over_writes_nothing_of_any_kind(
    room: Room, write: Callable[[Room], Awaitable[object]], until: str
) -> None:
    before = [rows(room.url, f"SELECT * FROM reprise.{table}") for table in TABLES]
    room.taken_by("another", until)
    with pytest.raises(LeaseLost):
        await write(room)
    assert [rows(room.url, f"SELECT * FROM reprise.{table}") for table in TABLES] == before


@pytest.mark.parametrize("write", WRITES.values(), ids=list(WRITES))
async def test_who_names_no_owner_is_refused_only_while_somebody_drives(
    room: Room, write: Callable[[Room], Awaitable[object]]
) -> None:
    pool = await connected_pool(room.url, "", size=1)
    nameless = Room(room.url, Database(pool), room.run)
    try:
        room.taken_by("another")
        with pytest.raises(LeaseLost):
            await write(nameless)
        room.taken_by("another", "now()")
        await write(nameless)
    finally:
        await pool.close()


async def test_an_answer_of_a_thread_that_was_taken_over_is_not_rejected_any_more(room: Room) -> None:
    owned = await room.journal.claim(room.run, QUESTION, "k", None, uuid.uuid4())
    assert isinstance(owned, Claim)
    await room.journal.complete(room.run, "k", owned.call_id, {"ok": 1}, FREE)
    room.taken_by("another")
    with pytest.raises(LeaseLost):
        await room.journal.reject(room.run, "k", "its quote is not there")
    assert number(room.url, "SELECT count(*) FROM reprise.answers WHERE state = 'completed'") == 1


async def test_only_the_run_that_asked_can_reject_an_answer(room: Room) -> None:
    owned = await room.journal.claim(room.run, QUESTION, "k", None, uuid.uuid4())
    assert isinstance(owned, Claim)
    await room.journal.complete(room.run, "k", owned.call_id, {"ok": 1}, FREE)
    await room.journal.reject(a_run(), "k", "of another run")
    assert number(room.url, "SELECT count(*) FROM reprise.answers WHERE state = 'completed'") == 1


async def claimed(room: Room, run: Run) -> bool:
    return isinstance(await room.journal.claim(run, QUESTION, "k", None, uuid.uuid4()), Claim)


def claimed_by_another(room: Room, leased: bool, thread: str) -> None:
    """Another process has asked, and nobody knows whether it still lives."""
    query = """INSERT INTO reprise.answers
                   (matter, call_key, state, tool, run_id, thread_id, owner, leased, claimed_until)
               VALUES ('m', 'k', 'claimed', 'model', 'r', %s, 'another', %s, now() + interval '1 hour') RETURNING 1"""
    assert rows(room.url, query, thread, leased)


async def test_a_claim_that_was_left_on_the_same_thread_is_taken_over_at_once(room: Room) -> None:
    claimed_by_another(room, leased=False, thread=room.run.thread_id)
    assert await claimed(room, room.run)


async def test_a_claim_without_a_lease_holds_for_its_time(room: Room) -> None:
    claimed_by_another(room, leased=False, thread=str(uuid.uuid4()))
    assert not await claimed(room, room.run)
    rows(room.url, "UPDATE reprise.answers SET claimed_until = now() - interval '1 second' RETURNING 1")
    assert await claimed(room, room.run)


async def test_a_claim_under_a_lease_holds_as_long_as_that_lease(room: Room) -> None:
    thread = str(uuid.uuid4())
    await Lease(room.database, thread).take()
    rows(room.url, "UPDATE reprise.leases SET owner = 'another' WHERE thread_id = %s RETURNING 1", thread)
    claimed_by_another(room, leased=True, thread=thread)
    assert not await claimed(room, room.run)
    rows(room.url, "UPDATE reprise.leases SET expires_at = now() WHERE thread_id = %s RETURNING 1", thread)
    assert await claimed(room, room.run)


async def test_giving_a_claim_back_twice_leaves_the_one_that_was_made_in_between(room: Room) -> None:
    owned = await room.journal.claim(room.run, QUESTION, "k", None, uuid.uuid4())
    assert isinstance(owned, Claim)
    await room.journal.fail(owned.call_id, "failed", "server_error", "no answer", FREE)
    await room.journal.unclaim(room.run, "k")
    assert await claimed(room, room.run)
    await room.journal.unclaim(room.run, "k")  # as when only its acknowledgement was lost
    assert not await claimed(room, room.run)


async def test_an_earlier_lease_of_the_same_process_is_not_the_later_one(database: str) -> None:
    pool = await connected_pool(database, OWNER, size=2)
    try:
        thread = str(uuid.uuid4())
        first, second = (Lease(Database(pool), thread) for _ in range(2))
        await first.take()
        await first.release()
        await second.take()
        with pytest.raises(LeaseLost):
            await first.check()
        await first.release()
        assert number(database, "SELECT count(*) FROM reprise.leases WHERE expires_at > now()") == 1
        await second.check()
    finally:
        await pool.close()


def test_neither_a_later_process_with_its_pid_nor_its_corpse_is_the_holder() -> None:
    me = psutil.Process()
    assert alive(me.pid, me.create_time())
    assert not alive(me.pid, me.create_time() - 60)
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        started = psutil.Process(child.pid).create_time()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and nobody has asked how it ended
        assert not alive(child.pid, started)
