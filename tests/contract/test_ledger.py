"""The rules of the ledger, over memory and over Postgres alike."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from graph.runtime.memory.ledger import MemoryLedger
from graph.runtime.postgres.database import Database, connected_pool
from graph.runtime.postgres.lease import OWNER
from graph.runtime.postgres.ledger import PostgresLedger
from nodes.domain.review.review import Decision
from nodes.domain.runs.settings import ArtifactRef, DocumentResult, Run, Settings
from nodes.domain.shared.errors import UnknownThread
from nodes.domain.text.documents import SourceDocument
from nodes.ports import Ledger

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DOCUMENTS = [SourceDocument(f"{n}.pdf", f"{n:064x}", 10, 1, f"/data/{n}.pdf") for n in range(5)]


@pytest.fixture(params=["memory", "postgres"])
async def ledger(request: pytest.FixtureRequest) -> AsyncIterator[Ledger]:
    if request.param == "memory":
        yield MemoryLedger()
        return
    pool = await connected_pool(request.getfixturevalue("database"), OWNER, size=4)
    yield PostgresLedger(Database(pool))
    await pool.close()


def a_run() -> Run:
    run_id, thread_id = str(uuid.uuid4()), str(uuid.uuid4())
    settings = Settings(models={"extract": "m-1"}, budget_usd=Decimal("1.50"), deadline_seconds=60.0)
    refs = {"inputs": "a" * 64, "playbook": "b" * 64}
    return Run(run_id, thread_id, "é\x00", "m", "j", "p", "x", "local", 1, settings, refs, 5, "src", NOON)


def done(ordinal: int, **changes: object) -> DocumentResult:
    pages = ((1, "read", ""), (2, "failed", "torn\x00"))
    result = DocumentResult(ordinal, f"{ordinal}.pdf", f"{ordinal:064x}", "done", findings=3, pages=pages)
    return replace(result, **changes)  # type: ignore[arg-type]


def decision(finding_id: str, verdict: str = "accept", reason: str = "fine", packet: str = "p" * 64) -> Decision:
    return Decision(finding_id, verdict, "A. Martin", reason, packet, NOON)  # type: ignore[arg-type]


async def test_the_first_freeze_of_a_thread_wins(ledger: Ledger) -> None:
    run = a_run()
    first = await ledger.open_run(run, DOCUMENTS)
    second = await ledger.open_run(replace(run, run_id=str(uuid.uuid4()), source="other"), DOCUMENTS[:1])
    assert first.run_id == second.run_id == run.run_id
    assert second.source == "src"
    assert second.settings == run.settings
    assert len(await ledger.documents(run.run_id, 0, 99)) == 5


async def test_documents_come_in_their_order_and_by_range(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    assert [row.ordinal for row in await ledger.documents(run.run_id, 1, 4)] == [1, 2, 3]
    assert {row.state for row in await ledger.documents(run.run_id, 0, 5)} == {"pending"}


async def test_finishing_a_document_twice_is_finishing_it_once(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    await ledger.finish_document(run.run_id, done(2))
    await ledger.finish_document(run.run_id, done(2))
    await ledger.finish_document(run.run_id, done(3, state="failed", reason="torn", findings=0, pages=()))
    tally = await ledger.tally(run.run_id)
    assert tally.documents == {"total": 5, "done": 1, "failed": 1, "skipped": 0, "deferred": 0}
    assert tally.pages == {"total": 2, "read": 1, "ocr": 0, "empty": 0, "failed": 1, "skipped": 0}
    assert tally.findings == 3


async def test_an_artifact_keeps_its_place_when_its_name_is_given_again(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    for name, sha256 in (("one", "1"), ("two", "2"), ("one", "3")):
        await ledger.keep_artifact(run.run_id, ArtifactRef(name, sha256 * 64, 1, "file:x"))
    assert [(ref.name, ref.sha256[0]) for ref in await ledger.artifacts(run.run_id)] == [("one", "3"), ("two", "2")]


async def test_a_decision_that_is_told_again_is_not_doubled_but_a_change_of_mind_is_kept(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    assert await ledger.decide(run.run_id, [decision("a"), decision("b")]) == 2
    assert await ledger.decide(run.run_id, [decision("a"), decision("b")]) == 0
    assert await ledger.decide(run.run_id, [decision("a", "reject", "no")]) == 1
    assert await ledger.decide(run.run_id, [decision("a")]) == 1
    kept = await ledger.decisions(run.run_id)
    assert [(one.finding_id, one.verdict) for one in kept] == [
        ("a", "accept"),
        ("b", "accept"),
        ("a", "reject"),
        ("a", "accept"),
    ]
    assert kept[0].at == NOON


async def test_an_effect_is_intended_once_and_settled_once(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    assert await ledger.intend(run.run_id, "object_put", "k", {"n": 1}) == "pending"
    assert await ledger.intend(run.run_id, "object_put", "k", {"n": 1}) == "pending"
    await ledger.record_effect(run.run_id, "k", {"uri": "x"})
    assert await ledger.intend(run.run_id, "object_put", "k", {"n": 1}) == "done"


async def test_an_effect_that_went_wrong_stays_to_be_done_and_one_that_is_done_stays_done(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    await ledger.fail_effect(run.run_id, "k", "nobody intends it")
    await ledger.intend(run.run_id, "webhook", "k", {})
    await ledger.fail_effect(run.run_id, "k", "refused")
    assert await ledger.intend(run.run_id, "webhook", "k", {}) == "pending"
    await ledger.record_effect(run.run_id, "k", {"status": 200})
    await ledger.fail_effect(run.run_id, "k", "too late")
    assert await ledger.intend(run.run_id, "webhook", "k", {}) == "done"


async def test_failed_documents_and_no_others_are_left_to_the_slow_lane(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    for ordinal, state in enumerate(("done", "failed", "skipped", "failed")):
        row = DocumentResult(ordinal, f"{ordinal}.pdf", f"{ordinal:064x}", state, reason="unreadable")  # type: ignore[arg-type]
        await ledger.finish_document(run.run_id, row)
    assert await ledger.retry_failed(run.run_id) == 2
    assert await ledger.slow_documents(run.run_id) == [1, 3]
    rows = await ledger.documents(run.run_id, 0, 5)
    assert [row.state for row in rows] == ["done", "deferred", "skipped", "deferred", "pending"]
    assert rows[1].reason == "To be tried again: unreadable"
    assert await ledger.retry_failed(run.run_id) == 0


async def test_a_document_that_was_done_at_the_last_moment_is_not_put_off_and_one_that_was_stays_of_the_slow_lane(
    ledger: Ledger,
) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    await ledger.finish_document(run.run_id, done(1))
    await ledger.defer(run.run_id, [1, 2], "late")
    assert [row.state for row in await ledger.documents(run.run_id, 0, 4)] == ["pending", "done", "deferred", "pending"]
    await ledger.finish_document(run.run_id, done(2))
    assert await ledger.slow_documents(run.run_id) == [2]
    assert await ledger.open_documents(run.run_id, 0, 5) == [0, 3, 4]


async def test_a_fork_waits_for_the_documents_of_its_parent_and_has_no_slow_lane_of_its_own(ledger: Ledger) -> None:
    parent = await ledger.open_run(a_run(), DOCUMENTS)
    fork = replace(a_run(), parent_thread_id=parent.thread_id)
    await ledger.defer(parent.run_id, [4], "late")
    for ordinal in range(4):
        await ledger.finish_document(parent.run_id, done(ordinal))
    assert await ledger.fork_run(fork, parent.run_id) is None
    await ledger.finish_document(parent.run_id, done(4))
    made = await ledger.fork_run(fork, parent.run_id)
    assert made is not None and made.run_id == fork.run_id
    assert await ledger.slow_documents(parent.run_id) == [4]
    assert await ledger.slow_documents(fork.run_id) == []
    copied, own = [await ledger.documents(one.run_id, 0, 5) for one in (fork, parent)]
    assert copied == [replace(row, slow=False) for row in own]


async def test_settings_can_be_changed_and_are_money_exact(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    await ledger.change_settings(run.run_id, replace(run.settings, budget_usd=Decimal("2.10")))
    assert (await ledger.run(run.run_id)).settings.budget_usd == Decimal("2.10")


async def test_an_unknown_run_is_named(ledger: Ledger) -> None:
    with pytest.raises(UnknownThread, match="nowhere"):
        await ledger.run("nowhere")


async def test_facts_are_a_reference_of_the_document_beside_its_findings(ledger: Ledger) -> None:
    run = await ledger.open_run(a_run(), DOCUMENTS)
    assert (await ledger.documents(run.run_id, 0, 1))[0].facts_ref == ""
    await ledger.finish_document(run.run_id, done(0, findings_ref="a" * 64, facts_ref="b" * 64))
    (row,) = await ledger.documents(run.run_id, 0, 1)
    assert (row.findings_ref, row.facts_ref) == ("a" * 64, "b" * 64)
