"""`resume --all`: what was left is taken up, what waits for a person is not; real processes, really killed."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from cli_runs import refused, run_here
from databases import number, rows
from processes import PATIENT, begin, environment, heard, kill, passing, released, run, to_its_end, wait_until
from risky_contracts import risky

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from graph.usecases.resume.plan import UNATTENDED

OPENAI = ("--engine", "openai", "--concurrency", "4", "--json")
COMPLETED = "SELECT count(*) FROM reprise.calls WHERE tool = 'model' AND state = 'completed'"


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint(latency=0.3) as running:
        yield running


def room(folder: Path, count: int) -> Path:
    """Contracts of which no other room has the same."""
    for file in risky(folder, count).iterdir():
        file.write_text(file.read_text().replace("Firm", f"{folder.name} Firm"))
    return folder


@pytest.fixture
def env(database: str, home: Path, endpoint: ScriptedEndpoint) -> dict[str, str]:
    return environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x", **PATIENT)


async def test_only_what_waits_for_nobody_is_taken_up(reprise: Reprise, database: str, tmp_path: Path) -> None:
    room = risky(tmp_path / "room", 2)
    await reprise.start(room, thread="finished", review="never")
    await reprise.start(room, thread="waiting")
    await reprise.start(room, thread="answered")
    await reprise.decide("answered", accept_all=True, reviewer="A. Martin", reason="checked")
    await reprise.start(room, thread="held", review="never", deadline_seconds=0.001, matter="held")
    await reprise.start(room, thread="cancelled")
    await reprise.cancel("cancelled")
    await reprise.start(room, thread="half-answered")
    first = next(finding for finding in await reprise.findings("half-answered") if finding.needs_review)
    one = {"finding_id": first.finding_id, "verdict": "accept", "reason": "checked"}
    await reprise.decide("half-answered", [one], reviewer="A. Martin")
    before = number(database, "SELECT count(*) FROM reprise.resumes")

    sweep = await reprise.resume_all()

    assert [(view.name, view.status) for view in sweep.runs] == [("answered", "completed")]
    assert sweep.untouched == {"needs_review": 2, "paused": 1}
    assert number(database, "SELECT count(*) FROM reprise.resumes") == before + 1
    stands = {view.name: view.status for view in await reprise.runs()}
    assert stands == {
        "finished": "completed",
        "waiting": "needs_review",
        "answered": "completed",
        "held": "paused",
        "cancelled": "cancelled",
        "half-answered": "needs_review",
    }
    assert (await reprise.resume_all()).runs == []


async def test_a_cancellation_that_comes_just_before_is_not_taken_back(reprise: Reprise, tmp_path: Path) -> None:
    await reprise.start(risky(tmp_path / "room", 1), thread="t")
    await reprise.decide("t", accept_all=True, reviewer="A. Martin", reason="checked")
    await reprise.cancel("t")
    await reprise.resume("t", surface=UNATTENDED)
    assert (await reprise.status("t")).status == "cancelled"
    assert (await reprise.resume("t")).status == "completed"


def killed_at_work(
    arguments: Sequence[str | Path], env: Mapping[str, str], database: str, endpoint: ScriptedEndpoint
) -> None:
    """A command that is killed when it has got three answers and four calls are in flight."""
    already = number(database, COMPLETED)
    endpoint.script(passing(3))
    process = begin(arguments, env)
    wait_until(lambda: number(database, COMPLETED) == already + 3 and endpoint.counts()["in_flight"] == 4)
    kill(process)
    wait_until(lambda: endpoint.counts()["in_flight"] == 0)


@pytest.mark.slow
def test_after_a_kill_9_of_two_runs_and_of_the_sweep_the_next_one_finishes_all_and_asks_nothing_committed_again(
    database: str, endpoint: ScriptedEndpoint, env: dict[str, str], tmp_path: Path
) -> None:
    names = ("one", "two")
    for name in names:
        source = room(tmp_path / name, 12)
        options = ["--thread", name, "--matter", name, "--review", "never", *OPENAI]
        killed_at_work(["start", source, *options], env, database, endpoint)
    killed_at_work(["resume", "--all"], env, database, endpoint)
    endpoint.script([])
    committed = {
        row["call_key"] for row in rows(database, "SELECT call_key FROM reprise.answers WHERE state='completed'")
    }
    before = Counter(call["idempotency_key"] for call in endpoint.calls("received"))

    ended = run(["resume", "--all", "--json"], env)

    assert ended.returncode == 0, ended.stderr
    swept = json.loads(ended.stdout)
    assert [(one["name"], one["status"], one["documents"]["done"]) for one in swept["runs"]] == [
        (name, "completed", 12) for name in names
    ]
    said = ended.stderr.splitlines()
    assert [line.split()[:2] for line in said] == [[name, "completed:"] for name in names], ended.stderr
    after = Counter(call["idempotency_key"] for call in endpoint.calls("received"))
    again = {key for key in after if after[key] > before[key] and before[key]}
    assert not again & committed
    assert len(again) <= number(database, "SELECT count(*) FROM reprise.calls WHERE state = 'lost_answer'") <= 3 * 4 * 2
    effects = rows(database, "SELECT thread_id, count(*) AS n FROM reprise.effects GROUP BY 1")
    assert {row["n"] for row in effects} == {2} and len(effects) == 2


async def test_two_at_once_share_the_runs_and_do_nothing_twice(
    database: str, home: Path, endpoint: ScriptedEndpoint, env: dict[str, str], tmp_path: Path
) -> None:
    names = [f"run-{n}" for n in range(4)]
    given = {"openai_base_url": endpoint.base_url, "openai_api_key": "x"}
    async with Reprise.open(database_url=database, home=home, **given) as reprise:
        for name in names:
            await reprise.start(room(tmp_path / name, 2), thread=name, engine="openai", review="always")
            await reprise.decide(name, accept_all=True, reviewer="A. Martin", reason="seen")
    asked = endpoint.counts()["received"]
    both = [begin(["resume", "--all", "--json"], env) for _ in range(2)]
    ends = [to_its_end(process) for process in both]
    assert [process.returncode for process in both] == [0, 0], ends
    swept = [json.loads(out) for out, _ in ends]
    taken = Counter(one["name"] for each in swept for one in each["runs"] if one["resumes"] == 1)
    assert set(taken) == set(names), ends
    assert number(database, "SELECT count(*) FROM reprise.resumes WHERE kind = 'resume' AND outcome <> 'ended'") == 0
    assert endpoint.counts()["received"] > asked
    assert set(Counter(call["sha256"] for call in endpoint.calls("received")).values()) == {1}
    status = [json.loads(line)["status"] for line in run(["runs", "--json"], env).stdout.splitlines()]
    assert status == ["completed"] * 4
    assert number(database, "SELECT count(*) FROM reprise.effects WHERE state = 'done'") == 8


@pytest.mark.slow
def test_a_run_that_fails_is_named_and_keeps_no_other_from_its_turn(
    database: str, home: Path, endpoint: ScriptedEndpoint, env: dict[str, str], tmp_path: Path
) -> None:
    start = ["start", room(tmp_path / "paid", 12), "--thread", "paid", "--matter", "paid", *OPENAI]
    killed_at_work(start, env, database, endpoint)
    assert run(["start", risky(tmp_path / "free", 2), "--thread", "free", "--json"], env).returncode == 0
    assert run(["review", "free", "--accept-all", "--reviewer", "A", "--json"], env).returncode == 0

    ended = run(
        ["resume", "--all", "--json"], {**env, "OPENAI_API_KEY": ""} | {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    )

    assert ended.returncode == 1, ended.stderr
    swept = json.loads(ended.stdout)
    assert swept["failed"] == ["paid"]
    assert {one["name"]: one["status"] for one in swept["runs"]} == {"paid": "failed", "free": "completed"}
    assert "paid  failed: " in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_signal_drains_the_run_at_work_and_begins_no_other(
    database: str, endpoint: ScriptedEndpoint, env: dict[str, str], tmp_path: Path
) -> None:
    for name in ("first", "second"):
        source = room(tmp_path / name, 16)
        options = ["--thread", name, "--matter", name, "--batch-size", "2", "--review", "never", *OPENAI]
        killed_at_work(["start", source, *options], env, database, endpoint)
    endpoint.script(passing(0))
    process = begin(["resume", "--all"], env)
    wait_until(lambda: endpoint.counts()["in_flight"] == 4)
    process.send_signal(signal.SIGTERM)
    heard(process)
    released(endpoint)
    stdout, stderr = to_its_end(process)
    assert process.returncode == 143, stderr
    assert "first  stopped: " in stderr and "second" not in stderr
    assert stdout.rstrip().endswith("Next: python run.py resume --all")
    assert number(database, "SELECT count(*) FROM reprise.resumes WHERE kind = 'resume'") == 1
    ended = run(["resume", "--all", "--json"], env)
    assert ended.returncode == 0, ended.stderr
    assert [one["status"] for one in json.loads(ended.stdout)["runs"]] == ["completed"] * 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["resume"], "python run.py resume --all"),
        (["resume", "t", "--all"], "not both"),
        (["resume", "--all", "--accept-all"], "--accept-all"),
        (["resume", "--all", "--budget-usd", "5"], "--budget-usd"),
    ],
)
def test_all_changes_and_decides_nothing(
    arguments: list[str], says: str, env: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in refused(run_here(arguments, env, capsys), 2)
