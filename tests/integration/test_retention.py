"""Retention: an old finished run keeps its latest checkpoint, and with it everything that people ask of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import run_here
from databases import number, rows
from processes import environment
from risky_contracts import risky

from graph import Reprise

TABLES = ("checkpoints", "checkpoint_writes", "checkpoint_blobs")


def kept(database: str, thread_id: str) -> list[int]:
    """Rows of a thread in LangGraph's three tables."""
    return [number(database, f"SELECT count(*) FROM {table} WHERE thread_id = %s", thread_id) for table in TABLES]


def age(database: str, thread_id: str, days: int) -> None:
    """Everything that was heard of a thread was heard so many days earlier."""
    for change in (
        "UPDATE reprise.runs SET started_at = started_at - %s * interval '1 day', "
        "cancelled_at = cancelled_at - %s * interval '1 day' WHERE thread_id = %s RETURNING 1",
        "UPDATE reprise.resumes SET started_at = started_at - %s * interval '1 day', "
        "ended_at = ended_at - %s * interval '1 day' WHERE thread_id = %s RETURNING 1",
    ):
        rows(database, change, days, days, thread_id)
    rows(
        database,
        "UPDATE reprise.decisions SET at = at - %s * interval '1 day' WHERE thread_id = %s RETURNING 1",
        days,
        thread_id,
    )


async def shown(reprise: Reprise) -> list[object]:
    """What people ask of the run, without the times that the test has moved."""
    status = (await reprise.status("old")).to_json()
    findings = [finding.to_json() for finding in await reprise.findings("old")]
    return [
        {name: status[name] for name in status if not name.endswith("_at")},
        [{name: finding[name] for name in finding if name != "decision"} for finding in findings],
        [finding["decision"]["verdict"] for finding in findings if finding["decision"]],
        await reprise.report("old"),
        len(await reprise.journal("old")),
    ]


async def test_after_thirty_days_a_finished_run_keeps_one_checkpoint_and_says_all_that_it_said(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    run = await reprise.start(risky(tmp_path / "room", 6), thread="old", batch_size=2, review="always")
    run = await reprise.resume("old", accept_all=True, reviewer="A. Martin", reason="checked")
    assert run.status == "completed"
    before = kept(database, run.thread_id)
    assert before[0] >= 9 and before[1] > before[0]
    said = await shown(reprise)

    age(database, run.thread_id, 29)
    assert (await reprise.prune()).threads == 0
    age(database, run.thread_id, 2)
    dry = await reprise.prune(dry_run=True)
    assert (dry.threads, dry.checkpoints) == (1, before[0] - 1)
    assert kept(database, run.thread_id) == before
    moved = "UPDATE reprise.decisions SET at = at + %s * interval '1 day' WHERE thread_id = %s RETURNING 1"
    rows(database, moved, 31, run.thread_id)  # what a person decided is word of the run too
    assert (await reprise.prune(dry_run=True)).threads == 0
    rows(database, moved, -31, run.thread_id)

    pruned = await reprise.prune()

    after = kept(database, run.thread_id)
    assert after[:2] == [1, 0] and after[2] <= before[2]
    assert [pruned.checkpoints, pruned.writes, pruned.blobs] == [
        was - now for was, now in zip(before, after, strict=True)
    ]
    assert await shown(reprise) == said
    history = await reprise.history("old")
    assert len(history) == 1 and history[0]["next"] == []
    assert (await reprise.show(run.thread_id))["artifacts"]["missing"] == []
    assert (await reprise.prune()).threads == 0


async def test_what_is_not_at_its_end_keeps_every_checkpoint_however_old(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    waiting = await reprise.start(risky(tmp_path / "room", 2), thread="waiting")
    answered = await reprise.start(risky(tmp_path / "room", 2), thread="answered")
    await reprise.decide("answered", accept_all=True, reviewer="A. Martin", reason="checked")
    for one in (waiting, answered):
        age(database, one.thread_id, 400)
    before = [kept(database, one.thread_id) for one in (waiting, answered)]
    assert (await reprise.prune(0)).threads == 0
    assert [kept(database, one.thread_id) for one in (waiting, answered)] == before


async def test_a_cancelled_run_that_was_pruned_goes_on_when_it_is_resumed(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    run = await reprise.start(risky(tmp_path / "room", 4), thread="off", batch_size=2)
    await reprise.cancel("off")
    age(database, run.thread_id, 31)
    assert (await reprise.prune()).threads == 1
    assert kept(database, run.thread_id)[0] == 1
    calls = number(database, "SELECT count(*) FROM reprise.calls WHERE tool = 'reader'")
    ended = await reprise.resume("off", accept_all=True, reviewer="A. Martin", reason="checked")
    assert ended.status == "completed" and ended.documents["done"] == 4
    assert number(database, "SELECT count(*) FROM reprise.calls WHERE tool = 'reader'") == calls


async def test_a_pruned_run_is_forked_without_a_call(reprise: Reprise, database: str, tmp_path: Path) -> None:
    run = await reprise.start(risky(tmp_path / "room", 3), thread="parent", review="never")
    age(database, run.thread_id, 31)
    assert (await reprise.prune()).threads == 1
    read = "SELECT count(*) FROM reprise.calls WHERE tool IN ('reader', 'clause_rules')"
    calls = number(database, read)
    fork = await reprise.fork("parent", playbook="due-diligence", name="fork", review="never")
    assert (fork.status, fork.findings["total"]) == ("completed", run.findings["total"])
    assert number(database, read) == calls


async def test_a_pruned_run_is_opened_again_for_its_failed_documents(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    room = risky(tmp_path / "room", 3)
    (room / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    run = await reprise.start(room, thread="again", review="never", batch_size=2)
    assert (run.status, run.documents["failed"]) == ("completed_with_failures", 1)
    age(database, run.thread_id, 31)
    assert (await reprise.prune()).threads == 1
    run = await reprise.resume("again", retry_failed=True)
    assert (run.status, run.documents["done"], run.documents["failed"]) == ("completed_with_failures", 3, 1)
    assert kept(database, run.thread_id)[0] > 1


async def test_going_through_all_runs_prunes_too_unless_the_setting_says_never(
    database: str, home: Path, tmp_path: Path
) -> None:
    async with Reprise.open(database_url=database, home=home, retention_days=0) as reprise:
        run = await reprise.start(risky(tmp_path / "room", 2), thread="t", review="never")
        age(database, run.thread_id, 4_000)
        assert (await reprise.resume_all()).pruned.threads == 0
        assert (await reprise.prune()).threads == 0
    async with Reprise.open(database_url=database, home=home) as reprise:
        assert (await reprise.resume_all()).pruned.threads == 1
    assert kept(database, run.thread_id)[0] == 1


async def test_a_run_that_is_driven_just_then_is_left_for_the_next_time(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    run = await reprise.start(risky(tmp_path / "room", 1), thread="t", review="never")
    before = kept(database, run.thread_id)
    rows(
        database,
        "UPDATE reprise.leases SET owner = 'another', host_key = 'another', expires_at = now() + interval '1 h' "
        "RETURNING 1",
    )
    assert (await reprise.prune(0)).threads == 0
    assert kept(database, run.thread_id) == before


def test_the_command_says_how_much_and_refuses_what_is_no_time(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    start = ["start", risky(tmp_path / "room", 2), "--thread", "t", "--review", "never"]
    assert run_here(start, env, capsys).returncode == 0
    assert "old enough" in run_here(["prune"], env, capsys).stdout
    assert "would be removed" in run_here(["prune", "--older-than", "0s", "--dry-run"], env, capsys).stdout
    assert run_here(["prune", "--older-than", "0s"], env, capsys).stdout.endswith("of 1 run removed\n")
    assert number(database, "SELECT count(*) FROM checkpoints") == 1
    refused = run_here(["prune", "--older-than", "soon"], env, capsys)
    assert refused.returncode == 2 and "--older-than is a time" in refused.stderr
