"""What changed between a kill and its resume: documents are named, stored bytes made again; nothing is ever mixed."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cli_runs import refused, run_here
from cut_off_runs import asked, cut_off, everything, newest, states
from databases import NEW, copied, create, rows
from processes import environment
from risky_contracts import risky

from graph import Reprise
from graph.runtime.execution.read_ahead import PlainPool
from nodes.domain.shared.errors import ArtifactMissing
from nodes.steps.batches import facts_of, text_of

ANSWER: Any = {"accept_all": True, "reviewer": "A. Martin", "reason": "checked"}
CUT = ("sql.finish_document:after:5", "--batch-size", "3", "--concurrency", "1", "--review", "never")
"""Eight documents in batches of three, one after another: the first batch is closed, five documents are done."""


@dataclass(frozen=True)
class Killed:
    """A run that was killed after its fifth document: as it was left, and never touched again."""

    database: str
    home: Path
    room: Path
    """Where it found its documents; tests change them there."""
    documents: Path
    """The same documents, with the same times."""


@pytest.fixture(scope="module")
def killed(server: str, tmp_path_factory: pytest.TempPathFactory) -> Killed:
    """One process is killed for all that go on from there: each test gets a copy of what it left."""
    folder = tmp_path_factory.mktemp("killed")
    database, room = create(server, NEW), risky(folder / "room", 8)
    shutil.copytree(room, folder / "documents")
    cut_off(room, environment(database, folder / "home"), *CUT)
    assert states(database)["done"] == [f"contract_{number:03d}.txt" for number in range(5)]
    return Killed(database, folder / "home", room, folder / "documents")


@pytest.fixture
def room(killed: Killed) -> Path:
    shutil.rmtree(killed.room, ignore_errors=True)
    return Path(shutil.copytree(killed.documents, killed.room))


@pytest.fixture
def database(request: pytest.FixtureRequest, server: str, killed: Killed) -> str:
    """A copy of that of the killed run for the tests that go on with it, a new one for the others."""
    return copied(server, killed.database) if "env" in request.fixturenames else create(server, NEW)


@pytest.fixture
def env(database: str, home: Path, room: Path, killed: Killed) -> dict[str, str]:
    """The environment of the killed run."""
    shutil.copytree(killed.home, home, dirs_exist_ok=True)
    return environment(database, home)


def resumed(env: dict[str, str], capsys: pytest.CaptureFixture[str], *more: str) -> tuple[dict[str, Any], str]:
    ended = run_here(["resume", "t", "--json", *more], env, capsys)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout), ended.stderr


def spoil(home: Path, sha256: str, how: str) -> None:
    """Lose the bytes of an artifact, or change them without changing their number."""
    file = home / "artifacts" / sha256[:2] / sha256
    if how == "lost":
        file.unlink()
    else:
        file.write_bytes(b"x" * file.stat().st_size)


def finding_texts(database: str, home: Path) -> list[Any]:
    """What the scored findings say, in their order."""
    (row,) = rows(database, "SELECT sha256 FROM reprise.artifacts WHERE name = 'findings'")
    stored = json.loads((home / "artifacts" / row["sha256"][:2] / row["sha256"]).read_bytes())
    return [(one["document"], one["clause_type"], one["quote"], one["score"]) for one in stored["findings"]]


def test_when_nothing_changed_one_line_says_so_and_only_the_rest_is_done(
    env: dict[str, str], database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    since = newest(database)
    view, said = resumed(env, capsys)
    assert "checked: 8 documents as frozen" in said and "first new work after" in said
    assert view["documents"]["done"] == 8
    assert {document for _, document in asked(database, since)} == {
        f"contract_{number:03d}.txt" for number in (5, 6, 7)
    }


def test_an_open_document_that_changed_and_one_that_vanished_fail_by_name_and_a_touched_one_is_read(
    env: dict[str, str], room: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (room / "contract_005.txt").write_text("Quite another agreement.")
    (room / "contract_006.txt").unlink()
    os.utime(room / "contract_007.txt")
    shown = json.loads(run_here(["show", "t", "--json"], env, capsys).stdout)["inputs"]
    assert (shown["as_frozen"], shown["open_touched"]) == (5, 1)
    assert shown["open_changed"] == ["contract_005.txt", "contract_006.txt"]
    view, said = resumed(env, capsys)
    assert "2 changed or gone before they were read, to fail by name (contract_005.txt, contract_006.txt)" in said
    assert view["documents"] == {"total": 8, "done": 6, "failed": 2, "skipped": 0}
    reasons = {
        row["document"]: row["reason"] for row in rows(database, "SELECT document, reason FROM reprise.run_document")
    }
    assert "changed since the run began" in reasons["contract_005.txt"]
    assert "cannot be opened any more" in reasons["contract_006.txt"]


def test_a_done_document_that_changed_keeps_its_findings_and_the_note_says_that_it_changed(
    env: dict[str, str], room: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    since = newest(database)
    (room / "contract_001.txt").write_text("Quite another agreement.")
    (room / "contract_002.txt").unlink()
    os.utime(room / "contract_003.txt")
    view, said = resumed(env, capsys)
    assert "1 changed after they were read (contract_001.txt), 1 done and not there any more (contract_002.txt)" in said
    assert view["documents"]["done"] == 8
    assert ("reader", "contract_001.txt") not in asked(database, since)
    note = run_here(["report", "t"], env, capsys).stdout
    assert "contract_001.txt" in note and "changed after it was read" in note
    shown = run_here(["show", "t"], env, capsys).stdout
    assert "changed contract_001.txt: its file was changed after it was read" in shown


def test_when_the_folder_is_gone_the_run_stops_and_says_so_and_nothing_is_written(
    env: dict[str, str], room: Path, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    away = room.with_name("away")
    room.rename(away)
    before = everything(database)
    said = refused(run_here(["resume", "t", "--json"], env, capsys), 2)
    assert f"{room} is not there any more" in said and everything(database) == before
    away.rename(room)
    assert resumed(env, capsys)[0]["documents"]["done"] == 8


@pytest.mark.parametrize("how", ["lost", "changed"])
@pytest.mark.parametrize("what", ["findings of a document", "a closed batch"])
def test_what_a_document_or_batch_stored_is_made_again_without_a_call(
    what: str, how: str, env: dict[str, str], database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    since = newest(database)
    named = "SELECT sha256 FROM reprise.artifacts WHERE name = 'findings_batch_1'"
    refs = "SELECT findings_ref AS sha256 FROM reprise.run_document WHERE ordinal = 4"
    (row,) = rows(database, named if what == "a closed batch" else refs)
    spoil(home, row["sha256"], how)
    view, said = resumed(env, capsys)
    assert view["documents"]["done"] == 8 and len(finding_texts(database, home)) == view["findings"]["total"]
    assert ("1 missing or changed, to be made again when needed (findings_batch_1)" in said) == (
        what == "a closed batch" and how == "lost"
    )
    assert {document for _, document in asked(database, since)} == {
        f"contract_{number:03d}.txt" for number in (5, 6, 7)
    }
    assert json.loads(run_here(["show", "t", "--json"], env, capsys).stdout)["artifacts"]["missing"] == []


def test_a_text_that_was_lost_before_its_document_was_done_is_read_again(
    room: Path, database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    # The reading of the first document is committed, its clauses are not.
    cut_off(room, env, "tool.clause_rules:before:1", *CUT[1:])
    since = newest(database)
    (row,) = rows(database, "SELECT value->>'text_ref' AS ref FROM reprise.answers WHERE tool = 'reader' LIMIT 1")
    spoil(home, row["ref"], "lost")
    view, _ = resumed(env, capsys)
    assert view["documents"]["done"] == 8
    assert asked(database, since)["reader", "contract_000.txt"] == 1


@pytest.mark.parametrize("what", ["text_ref", "facts_ref"])
async def test_a_text_or_facts_of_a_done_document_are_made_again_where_a_later_step_asks_for_them(
    what: str, reprise: Reprise, database: str, home: Path, room: Path
) -> None:
    await reprise.start(room, thread="t")
    view, since = await reprise.status("t"), newest(database)
    run = await reprise.container.ledger.run(view.run_id)
    (before,) = await reprise.container.ledger.documents(view.run_id, 3, 4)
    spoil(home, getattr(before, what), "changed")
    read = text_of if what == "text_ref" else facts_of
    async with reprise.container.drive(view.thread_id, "resume", "score", {}) as driver:
        services = replace(reprise.container.context_for_drive({}).services, pool=PlainPool())
        assert await read(services, run, before)
        assert driver.thread_id == view.thread_id
    (after,) = await reprise.container.ledger.documents(view.run_id, 3, 4)
    assert asdict(after) == asdict(before)
    again = [("reader", before.document)] if what == "text_ref" else []
    assert list(asked(database, since)) == again


def test_a_document_that_lost_its_text_and_its_findings_and_is_another_one_now_fails_by_name(
    env: dict[str, str], room: Path, database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = rows(database, "SELECT findings_ref, text_ref FROM reprise.run_document WHERE ordinal = 4")
    spoil(home, row["findings_ref"], "lost")
    spoil(home, row["text_ref"], "lost")
    (room / "contract_004.txt").write_text("Quite another agreement.")
    view, _ = resumed(env, capsys)
    assert view["documents"] == {"total": 8, "done": 7, "failed": 1, "skipped": 0}
    assert {document for document, *_ in finding_texts(database, home)} & {"contract_004.txt"} == set()


@pytest.mark.parametrize("how", ["lost", "changed"])
@pytest.mark.parametrize("name", ["playbook", "inputs"])
def test_frozen_inputs_are_made_again_while_what_they_came_from_is_as_it_was(
    name: str, how: str, env: dict[str, str], database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (row,) = rows(database, "SELECT artifacts FROM reprise.runs")
    spoil(home, row["artifacts"][name], how)
    view, said = resumed(env, capsys)
    assert f"the frozen {name} was lost and is made again" in said and view["documents"]["done"] == 8


async def test_a_frozen_list_that_cannot_be_made_again_stops_the_run(
    env: dict[str, str], room: Path, database: str, home: Path
) -> None:
    (row,) = rows(database, "SELECT artifacts FROM reprise.runs")
    spoil(home, row["artifacts"]["inputs"], "lost")
    (room / "new.txt").write_text("A document more.")
    before = everything(database)
    async with Reprise.open(database_url=database, home=home) as reprise:
        with pytest.raises(ArtifactMissing, match=r"The list of documents that run t froze .* is lost"):
            await reprise.resume("t")
        assert everything(database) == before
        (room / "new.txt").unlink()
        assert (await reprise.resume("t")).documents["done"] == 8


@pytest.mark.parametrize("how", ["lost", "changed"])
@pytest.mark.parametrize("name", ["review_packet_1", "findings"])
async def test_a_packet_or_its_findings_that_were_lost_are_made_again_and_decisions_stay(
    name: str, how: str, reprise: Reprise, database: str, home: Path, room: Path
) -> None:
    await reprise.start(room, thread="t", review="always")
    since = newest(database)
    one, *_ = [one for one in await reprise.findings("t") if one.needs_review]
    await reprise.decide("t", [{"finding_id": one.finding_id, "verdict": "reject", "reason": "no"}], reviewer="B. Roy")
    before = finding_texts(database, home)
    (row,) = rows(database, "SELECT sha256 FROM reprise.artifacts WHERE name = %s", name)
    spoil(home, row["sha256"], how)
    said: list[str] = []
    waiting = await reprise.resume("t", on_event=lambda event: said.extend(event.get("lines", ())))
    assert waiting.status == "needs_review"
    assert any("that the next step needs was lost or changed" in line for line in said)
    left = [each for each in await reprise.findings("t") if each.needs_review and each.decision is None]
    verdicts = [{"finding_id": each.finding_id, "verdict": "accept", "reason": "yes"} for each in left]
    ended = await reprise.resume("t", decisions=verdicts, reviewer="A. Martin")
    assert ended.status == "completed"
    assert len(finding_texts(database, home)) == len(before)
    decided = {row.finding_id: row.verdict for row in await reprise.decisions("t")}
    assert decided[one.finding_id] == "reject"
    assert asked(database, since) == {}


async def test_a_note_that_was_lost_after_the_end_is_written_again_without_a_call(
    reprise: Reprise, database: str, home: Path, room: Path
) -> None:
    await reprise.start(room, thread="t", review="never")
    since, note = newest(database), await reprise.report("t")
    (row,) = rows(database, "SELECT sha256 FROM reprise.artifacts WHERE name = 'note.md'")
    spoil(home, row["sha256"], "lost")
    with pytest.raises(ArtifactMissing):
        await reprise.report("t")
    ended = await reprise.resume("t")
    assert ended.status == "completed" and await reprise.report("t") == note
    assert asked(database, since) == {}
    # Whoever resumes a run at its end that has all it needs changes nothing.
    before = everything(database)
    await reprise.resume("t")
    assert everything(database) == before


async def test_a_folder_that_is_gone_is_no_reason_to_stop_once_every_document_is_done(
    reprise: Reprise, room: Path
) -> None:
    await reprise.start(room, thread="t")
    shutil.rmtree(room)
    ended = await reprise.resume("t", **ANSWER)
    assert ended.status == "completed"
