"""A process dies around an effect: before it reached the other side, after it did, after that was recorded.

For each kind the other side is the witness: the endpoint's log, the receiver's log, the folder, the stored bytes.
"""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cli_runs import run_here
from databases import number, rows
from processes import environment, run
from risky_contracts import risky

from graph import Reprise
from graph.adapters.storage.folder_releases import FolderReleases, MemoryReleases
from graph.runtime.fault_points import trace_counts
from graph.testing.endpoint import ScriptedEndpoint
from graph.testing.webhook import ScriptedWebhook
from nodes.domain.runs.effects import EFFECTS
from nodes.domain.runs.settings import Run, Settings


@dataclass(frozen=True)
class Job:
    """A run of one document in a process that dies, and its resume."""

    env: dict[str, str]
    source: Path
    database: str
    capsys: pytest.CaptureFixture[str]
    engine: str = "local"

    def dies(self, place: str) -> None:
        models = ("--model", "extract=gpt-4.1-mini", "--model", "summarize=gpt-4.1-mini")
        engine = ("--engine", self.engine, *(models if self.engine == "openai" else ()))
        start = ["start", self.source, "--thread", "t", "--review", "never", *engine, "--json"]
        died = run(start, {**self.env, "REPRISE_DIE_AT": place})
        assert died.returncode == -signal.SIGKILL, died.stderr

    def resumes(self) -> None:
        resumed = run_here(["resume", "t", "--json"], self.env, self.capsys)
        assert resumed.returncode == 0, resumed.stderr
        end = json.loads(resumed.stdout)
        assert (end["status"], end["error"]) == ("completed", None)

    @property
    def lost(self) -> list[str]:
        return [
            row["tool"] for row in rows(self.database, "SELECT tool FROM reprise.calls WHERE state = 'lost_answer'")
        ]


@pytest.fixture
def job(database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Job:
    return Job(environment(database, home), risky(tmp_path / "room", 1), database, capsys)


@pytest.fixture
def receiver(job: Job) -> Iterator[ScriptedWebhook]:
    with ScriptedWebhook() as running:
        job.env["REPRISE_WEBHOOK_URL"] = running.url
        yield running


NEVER, LOST, RECORDED = "never reached the other side", "reached it, the answer was lost", "done and recorded"


@pytest.mark.parametrize(
    ("place", "at_the_kill", "in_all"),
    [("tool.model:before", 0, 1), ("tool.model:after", 1, 2), ("sql.finish_document:after", 1, 1)],
    ids=[NEVER, LOST, RECORDED],
)
def test_a_model_call_is_made_again_unless_its_answer_is_recorded(
    job: Job, place: str, at_the_kill: int, in_all: int
) -> None:
    with ScriptedEndpoint() as endpoint:
        job.env.update(OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
        job = replace(job, engine="openai")
        job.dies(place)
        keys = [call["idempotency_key"] for call in endpoint.calls("received")]
        assert len(keys) == at_the_kill
        job.resumes()
        first = endpoint.calls("received")[0]["idempotency_key"]
        # The same question under the same key: an endpoint that knows keys would not charge it twice.
        assert [call["idempotency_key"] for call in endpoint.calls("received")].count(first) == in_all
    assert job.lost == ([] if place.startswith("sql") else ["model"])


@pytest.mark.parametrize(
    ("place", "read"),
    [("tool.reader:before", 2), ("tool.reader:after", 2), ("tool.clause_rules:before", 1)],
    ids=[NEVER, LOST, RECORDED],
)
def test_a_reading_is_done_again_unless_it_is_recorded_and_leaves_the_same_bytes(
    job: Job, home: Path, tmp_path: Path, place: str, read: int
) -> None:
    job.env["REPRISE_TRACE"] = str(tmp_path / "trace")
    job.dies(place)
    job.resumes()
    assert trace_counts(tmp_path / "trace")["tool.reader:before"] == read
    texts = "SELECT DISTINCT value->>'text_ref' AS ref FROM reprise.answers WHERE tool = 'reader'"
    assert len(rows(job.database, texts)) == 1
    assert number(job.database, "SELECT count(*) FROM reprise.pages") == 1


@pytest.mark.parametrize(
    ("place", "at_the_kill", "in_all"),
    [("webhook.send:before", 0, 1), ("webhook.send:after", 1, 2), ("sql.settle_effect:after:3", 1, 1)],
    ids=[NEVER, LOST, RECORDED],
)
def test_a_webhook_is_sent_again_under_its_key_unless_it_is_recorded_and_is_taken_once(
    job: Job, receiver: ScriptedWebhook, place: str, at_the_kill: int, in_all: int
) -> None:
    job.dies(place)
    assert len(receiver.receiver.log) == at_the_kill
    job.resumes()
    assert list(receiver.receiver.requests.values()) == [in_all]
    assert len(receiver.receiver.taken) == 1
    # What is sent again is the same to the letter.
    assert len({json.dumps(event["event"], sort_keys=True) for event in receiver.receiver.log}) == 1


@pytest.mark.parametrize(
    ("place", "stands"),
    [("release.put:before", False), ("release.put:after", True), ("sql.settle_effect:after", True)],
    ids=[NEVER, LOST, RECORDED],
)
def test_a_release_is_asked_for_at_its_folder_and_written_only_where_it_does_not_stand(
    job: Job, home: Path, place: str, stands: bool
) -> None:
    job.dies(place)
    found = list((home / "notes").rglob("note.md"))
    assert len(found) == int(stands)
    before = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in found]
    job.resumes()
    files = [path for path in (home / "notes").rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == ["note.html", "note.md"]
    after = [(path.stat().st_ino, path.stat().st_mtime_ns) for path in files if path.name == "note.md"]
    assert after == before or not stands
    assert number(job.database, "SELECT count(*) FROM reprise.effects WHERE state = 'done'") == 2


async def test_a_folder_is_asked_by_content_and_cleared_of_what_a_killed_writer_left(tmp_path: Path) -> None:
    run = Run("r", "t" * 8, "acme", "m", "", "p", "", "local", 1, Settings())
    sha256 = hashlib.sha256(b"new").hexdigest()
    for releases in (FolderReleases(tmp_path), MemoryReleases()):
        assert await releases.find(run, "note.md", sha256) is None
        await releases.put(run, "note.md", b"old")
        assert await releases.find(run, "note.md", sha256) is None
        (tmp_path / "acme-tttttttt" / ".new-x").write_bytes(b"ne")
        uri = await releases.put(run, "note.md", b"new")
        assert await releases.find(run, "note.md", sha256) == uri
        if isinstance(releases, FolderReleases):
            assert [path.name for path in (tmp_path / "acme-tttttttt").iterdir()] == ["note.md"]


async def test_every_kind_declares_how_its_unknown_outcome_is_resolved(
    database: str, home: Path, tmp_path: Path
) -> None:
    key = {"openai_base_url": "http://127.0.0.1:9/v1", "openai_api_key": "x"}
    with ScriptedWebhook() as running:
        async with Reprise.open(database_url=database, home=home, webhook_url=running.url, **key) as reprise:
            await reprise.start(risky(tmp_path / "room", 1), thread="t", review="never")
            tools = set(reprise.container.tools)
    kinds = {row["kind"] for row in rows(database, "SELECT DISTINCT kind FROM reprise.effects")}
    assert tools | kinds <= EFFECTS.keys()
    assert {effect.resolution for effect in EFFECTS.values()} == {"replay", "confirm"}
    assert all(effect.meaning.endswith(".") for effect in EFFECTS.values())
