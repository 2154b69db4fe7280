"""Purging: nothing of the documents is left in any table or folder, and nothing of others is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_runs import refused, run_here
from databases import number, rows
from processes import HELD, PATIENCE, PATIENT, begin, environment, kill, run, wait_until
from pseudo_terminal import on_a_terminal, read_until
from risky_contracts import RISKY, risky

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.shared.errors import PurgedThread, ThreadBusy, UserError

SECRET = "heliotrope of Zanzibar"
"""Stands in a clause of each document, so that it is in texts, answers, findings, packets and notes."""

ALL_TABLES = """
SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
 WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1
"""


def secret_room(folder: Path, count: int = 2) -> Path:
    """Contracts in each of which the secret stands in a clause that a person has to look at."""
    risky(folder, count)
    for file in folder.iterdir():
        file.write_text(file.read_text().replace("shall be unlimited", f"for the {SECRET} shall be unlimited"))
    return folder


def told(database: str, home: Path, words: str = SECRET) -> set[str]:
    """Every table in any column of which the words stand, bytes included, and every file below the home."""
    found = set()
    for table in rows(database, ALL_TABLES):
        query = f"SELECT count(*) FROM {table['name']} t WHERE t::text LIKE %s OR t::text LIKE %s"
        if number(database, query, f"%{words}%", f"%{words.encode().hex()}%"):
            found.add(table["name"])
    for file in home.rglob("*"):
        if file.is_file() and words.encode() in file.read_bytes():
            found.add(file.relative_to(home).parts[0])
    return found


def counts(database: str) -> dict[str, int]:
    return {row["name"]: number(database, f"SELECT count(*) FROM {row['name']}") for row in rows(database, ALL_TABLES)}


async def decided(reprise: Reprise, room: Path, thread: str, **options: Any) -> str:
    """A run with findings, a review and a note; its id."""
    await reprise.start(room, thread=thread, batch_size=1, **options)
    run = await reprise.resume(thread, accept_all=True, reviewer="A. Martin", reason=f"it is the {SECRET}")
    assert run.status == "completed", run
    return str(run.thread_id)


async def test_no_sentence_of_a_document_is_left_in_any_table_or_file(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    room = secret_room(tmp_path / "room")
    await reprise.estimate(room)
    thread = await decided(reprise, room, "secret")
    assert {"artifacts", "notes", "reprise.answers", "reprise.decisions"} <= told(database, home)
    mine = home / "notes" / f"secret-{thread[:8]}" / "mine.txt"
    mine.write_text("of the analyst")

    stones = await reprise.purge("secret", by="B. Roy", reason="end of mandate")

    assert told(database, home) == set()
    assert told(database, home, "contract_000") == set()
    assert [path.name for path in (home / "notes").rglob("*") if path.is_file()] == ["mine.txt"]
    assert not [path for path in (home / "artifacts").rglob("*") if path.is_file()]
    left = {name for name, n in counts(database).items() if n}
    assert left == {"public.checkpoint_migrations", "reprise.leases", "reprise.migrations", "reprise.tombstones"}
    (stone,) = stones
    assert (stone["thread_id"], stone["name"], stone["matter"]) == (thread, "secret", "default")
    assert (stone["by"], stone["reason"], stone["documents"]) == ("B. Roy", "end of mandate", 2)
    assert stone["rows"]["run_document"] == 2 and stone["rows"]["checkpoints"] > 5 and stone["rows"]["answers"] > 2
    assert stone["files"] > 8 and stone["bytes"] > 10_000 and stone["purged_at"] is not None
    assert rows(database, "SELECT pending FROM reprise.tombstones") == [{"pending": None}]


async def test_what_older_versions_of_an_artifact_say_goes_too_also_after_retention(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    await reprise.start(secret_room(tmp_path / "room"), thread="t", review="always")
    first = next(finding for finding in await reprise.findings("t") if finding.needs_review)
    one = {"finding_id": first.finding_id, "verdict": "reject", "reason": "no"}
    await reprise.resume("t", decisions=[one], reviewer="A. Martin")
    run = await reprise.resume("t", accept_all=True, reviewer="A. Martin", reason="checked")
    assert run.status == "completed" and number(database, "SELECT count(*) FROM reprise.superseded") > 0
    assert (await reprise.prune(0)).threads == 1
    await reprise.purge("t")
    assert told(database, home) == set()
    assert not [path for path in (home / "artifacts").rglob("*") if path.is_file()]


async def test_what_another_run_of_the_matter_used_stays_until_that_one_is_purged(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    room = secret_room(tmp_path / "room")
    await decided(reprise, room, "first")
    other = await decided(reprise, room, "second")
    said = [finding.to_json() for finding in await reprise.findings("second")], await reprise.report("second")
    answers = number(database, "SELECT count(*) FROM reprise.answers")
    await reprise.purge("first")
    assert number(database, "SELECT count(*) FROM reprise.answers") >= answers - 1
    assert said == ([finding.to_json() for finding in await reprise.findings("second")], await reprise.report("second"))
    assert (await reprise.show(other))["artifacts"]["missing"] == []
    read = "SELECT count(*) FROM reprise.calls WHERE tool = 'reader' AND state = 'completed'"
    before = number(database, read)
    await decided(reprise, room, "third")
    assert number(database, read) == before
    for name in ("second", "third"):
        await reprise.purge(name)
    assert told(database, home) == set()


async def test_a_fork_stays_whole_when_its_parent_is_purged(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    await decided(reprise, secret_room(tmp_path / "room"), "parent")
    fork = await reprise.fork("parent", playbook="due-diligence", name="fork", review="never")
    assert fork.status == "completed"
    said = [finding.to_json() for finding in await reprise.findings("fork")], await reprise.report("fork")
    await reprise.purge("parent")
    assert said == ([finding.to_json() for finding in await reprise.findings("fork")], await reprise.report("fork"))
    assert (await reprise.show(fork.thread_id))["artifacts"]["missing"] == []
    await reprise.purge("fork")
    assert told(database, home) == set()


async def test_a_matter_goes_as_a_whole_and_another_with_the_same_documents_stays(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    room = secret_room(tmp_path / "room")
    for name in ("a1", "a2"):
        await decided(reprise, room, name, matter="A")
    await reprise.estimate(secret_room(tmp_path / "more", 3), matter="A")
    kept = await decided(reprise, room, "b1", matter="B")
    said = [finding.to_json() for finding in await reprise.findings("b1")], await reprise.report("b1")

    stones = await reprise.purge(matter="A", by="B. Roy")

    assert sorted(stone["name"] for stone in stones) == ["", "a1", "a2"]
    assert {stone["matter"] for stone in stones} == {"A"}
    assert said == ([finding.to_json() for finding in await reprise.findings("b1")], await reprise.report("b1"))
    assert (await reprise.show(kept))["artifacts"]["missing"] == []
    for table in ("answers", "calls", "estimates", "runs"):
        assert number(database, f"SELECT count(*) FROM reprise.{table} WHERE matter = 'A'") == 0
    assert [view.name for view in await reprise.runs()] == ["b1"]
    await reprise.purge(matter="B")
    assert told(database, home) == set()
    with pytest.raises(UserError, match="nothing of matter A"):
        await reprise.purge(matter="A")


async def test_a_purged_run_says_so_and_its_name_can_be_used_again(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    room = secret_room(tmp_path / "room")
    await decided(reprise, room, "acme")
    await decided(reprise, risky(tmp_path / "other"), "acme-2", matter="other")
    await reprise.purge("acme", by="B. Roy", reason="end of mandate")
    for look in (reprise.status, reprise.findings, reprise.resume, reprise.purge):
        with pytest.raises(PurgedThread, match=r"acme was purged on 20\d\d-.* UTC by B. Roy \(end of mandate\)"):
            await look("acme")  # and not acme-2, whose name begins with it
    assert [view.name for view in await reprise.runs()] == ["acme-2"]
    await decided(reprise, room, "acme")
    assert (await reprise.status("acme")).status == "completed"
    assert [stone["name"] for stone in await reprise.tombstones()] == ["acme"]
    await reprise.purge("acme")
    assert [stone["name"] for stone in await reprise.tombstones()] == ["acme", "acme"]
    assert "reprise.answers" not in told(database, home)
    await reprise.purge("acme-2")
    assert told(database, home) == set()


@pytest.fixture
def env(database: str, home: Path) -> dict[str, str]:
    return environment(database, home)


DEATHS = [
    "sql.erase_thread:before",
    "sql.erase_thread:after",
    "files.remove:before",
    "files.remove:after",
    "files.remove_released:after",
]


@pytest.mark.slow
@pytest.mark.parametrize("place", DEATHS)
async def test_a_purge_that_was_killed_is_finished_by_the_next_one(
    place: str, database: str, home: Path, env: dict[str, str], tmp_path: Path
) -> None:
    async with Reprise.open(database_url=database, home=home) as reprise:
        await decided(reprise, secret_room(tmp_path / "room"), "t")
    killed = run(["purge", "t", "--yes", "--by", "B. Roy"], {**env, "REPRISE_DIE_AT": place})
    assert killed.returncode == -9, killed.stderr
    if place != "sql.erase_thread:before":
        status = run(["status", "t"], env)
        assert status.returncode == 2 and "not to its end" in status.stderr
    again = run(["purge", "t", "--yes", "--by", "B. Roy", "--json"], env)
    assert again.returncode == 0, again.stderr
    assert [stone["name"] for stone in json.loads(again.stdout)["tombstones"]] == ["t"]
    assert told(database, home) == set()
    assert number(database, "SELECT count(*) FROM reprise.tombstones") == 1
    assert "nothing of it is left" in run(["purge", "t", "--yes"], env).stderr


async def test_going_through_all_runs_finishes_a_purge_that_was_killed(
    reprise: Reprise, database: str, home: Path, env: dict[str, str], tmp_path: Path
) -> None:
    await decided(reprise, secret_room(tmp_path / "room"), "t")
    assert run(["purge", "t", "--yes"], {**env, "REPRISE_DIE_AT": "files.remove:before"}).returncode == -9
    assert "artifacts" in told(database, home)
    await reprise.resume_all()
    assert told(database, home) == set()


@pytest.fixture
def slow_endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(latency=HELD) as running:
        yield running


async def test_a_run_that_is_driven_is_not_purged_nor_its_matter_and_a_killed_one_is(
    slow_endpoint: ScriptedEndpoint, database: str, home: Path, env: dict[str, str], tmp_path: Path
) -> None:
    paid = {**env, "OPENAI_BASE_URL": slow_endpoint.base_url, "OPENAI_API_KEY": "x", **PATIENT}
    async with Reprise.open(database_url=database, home=home) as reprise:
        await decided(reprise, secret_room(tmp_path / "done"), "done", matter="M")
        start = ["start", secret_room(tmp_path / "room", 3), "--thread", "busy", "--matter", "M", "--engine", "openai"]
        process = begin(start, paid)
        wait_until(lambda: slow_endpoint.counts()["received"] >= 1)
        mine = "SELECT count(*) FROM reprise.run_document"
        before = number(database, mine)
        try:
            with pytest.raises(ThreadBusy, match=f"driven by process {process.pid}"):
                await reprise.purge("busy")
            with pytest.raises(ThreadBusy):
                await reprise.purge(matter="M")
            assert f"driven by process {process.pid}" in refused(run(["purge", "busy", "--yes"], env), 5)
            assert number(database, mine) == before == 5
            assert number(database, "SELECT count(*) FROM reprise.tombstones") == 0
            assert (await reprise.status("done")).status == "completed"
        finally:
            kill(process)
        assert {stone["name"] for stone in await reprise.purge(matter="M")} >= {"done", "busy"}
        assert told(database, home) == set()


def test_a_script_says_yes_and_a_person_is_asked(
    database: str, home: Path, env: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = ["start", risky(tmp_path / "room", 1), "--thread", "mine", "--review", "never"]
    assert run_here(start, env, capsys).returncode == 0
    assert "add --yes" in refused(run_here(["purge", "mine"], env, capsys), 2)
    assert "not both" in refused(run_here(["purge", "--yes"], env, capsys), 2)
    assert number(database, "SELECT count(*) FROM reprise.runs") == 1
    for answer, words, left in ((b"n\n", "Nothing was purged", 1), (b"y\n", "mine", 0)):
        process, keyboard = on_a_terminal(["purge", "mine", "--reason", "asked"], {**env, "TERM": "dumb"})
        try:
            assert "1 document" in read_until(keyboard, "[y/N]")
            os.write(keyboard, answer)
            read_until(keyboard, words)
            process.wait(timeout=PATIENCE)
        finally:
            process.kill()
            os.close(keyboard)
        assert number(database, "SELECT count(*) FROM reprise.runs") == left
    listed = [json.loads(line) for line in run_here(["runs", "--purged", "--json"], env, capsys).stdout.splitlines()]
    assert [(one["name"], one["reason"], one["documents"]) for one in listed] == [("mine", "asked", 1)]
    assert "asked" in run_here(["runs", "--purged"], env, capsys).stdout
    assert "mine was purged on" in refused(run_here(["status", "mine"], env, capsys), 2)
    assert RISKY[0][:20] not in str(listed)
