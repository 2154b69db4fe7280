"""The command line drives a run: decisions, signals, two processes, a budget, passwords.

Real processes where one gets a signal, is killed, comes second or ends with a code of its own; the rest in this one.
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_runs import Ended, objects, refused, room, run_here
from processes import HELD, PATIENT, begin, environment, heard, kill, passing, released, run, to_its_end, wait_until

from graph.testing.endpoint import ScriptedEndpoint

Call = Callable[..., Ended]


@pytest.fixture
def env(database: str, home: Path) -> dict[str, str]:
    return environment(database, home)


@pytest.fixture
def here(env: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Call:
    """A command in this process."""
    return lambda *arguments: run_here(arguments, env, capsys)


def test_bad_decisions_change_nothing_and_good_ones_then_finish_the_run(
    env: dict[str, str], here: Call, tmp_path: Path
) -> None:
    began = run(["start", room(tmp_path / "room"), "--thread", "decided", "--detailed-exit-code"], env)
    assert began.returncode == 3, began.stderr
    assert began.stdout.rstrip().endswith("Next: python run.py review decided")
    assert "extract" in began.stderr and "batch 1 of 1" in began.stderr
    wait = objects(here("findings", "decided", "--to-review", "--json"))

    file = tmp_path / "decisions.json"
    refused(here("resume", "decided", "--decisions", tmp_path / "none.json"), 2)
    file.write_text("[{")
    assert "is not JSON" in refused(here("resume", "decided", "--decisions", file), 2)
    file.write_text(json.dumps([{"finding_id": "0" * 12, "verdict": "accept"}]))
    bad = here("resume", "decided", "--decisions", file, "--reviewer", "A. Martin", "--json")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "error: Not in this review packet" in bad.stderr and "The run still waits" in bad.stderr

    reject = {"finding_id": wait[0]["finding_id"], "verdict": "reject", "reason": "not this contract"}
    accept = [{"finding_id": one["finding_id"], "verdict": "accept"} for one in wait[1:]]
    file.write_text("\n".join(json.dumps(one) for one in [reject, *accept]))
    done = here("resume", "decided", "--decisions", file, "--reviewer", "A. Martin", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "completed"
    made = objects(here("decisions", "decided", "--json"))
    assert {one["reviewer"] for one in made} == {"A. Martin"}
    assert [one["verdict"] for one in made].count("reject") == 1
    assert {one["surface"] for one in made} == {"cli"}


def test_accept_all_ends_with_a_note_that_can_be_read_and_sent(env: dict[str, str], here: Call, tmp_path: Path) -> None:
    assert here("start", room(tmp_path / "room"), "--thread", "all", "--json").returncode == 0
    stored = here("review", "all", "--accept-all", "--reviewer", "B. Roy", "--json")
    assert json.loads(stored.stdout)["review"]["waiting"] == 0
    assert json.loads(stored.stdout)["resumes"] == 0
    ended = run(["resume", "all", "--accept-all", "--reviewer", "B. Roy", "--json"], env)
    assert ended.returncode == 0, ended.stderr
    view = json.loads(ended.stdout)
    assert view["status"] == "completed"
    assert {"note.md", "note.html"} <= {artifact["name"] for artifact in view["artifacts"]}
    assert here("report", "all").stdout.startswith("# ")

    page = tmp_path / "note.html"
    assert here("report", "all", "--format", "html", "--output", page).returncode == 0
    text = page.read_text("utf-8")
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_drains_a_run_and_resume_completes_it_without_asking_twice(
    number: signal.Signals, code: int, env: dict[str, str], here: Call, tmp_path: Path
) -> None:
    with ScriptedEndpoint(script=passing(2)) as endpoint:
        env.update(OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x", **PATIENT)
        name = f"stopped-{number.name}"
        options = ["--thread", name, "--engine", "openai", "--matter", name, "--batch-size", "2", "--concurrency", "2"]
        process = begin(["start", room(tmp_path / "room", 8), *options], env)
        wait_until(lambda: endpoint.counts()["received"] == 4)
        process.send_signal(number)
        heard(process)
        released(endpoint)
        stdout, stderr = to_its_end(process)
        assert process.returncode == code, stderr
        assert f"Next: python run.py resume {name}" in stdout
        assert "Traceback" not in stderr
        view = json.loads(here("status", name, "--json").stdout)
        assert view["status"] == "interrupted" and view["documents"]["done"] < 8

        ended = here("resume", name, "--accept-all", "--reviewer", "A. Martin", "--json")
        assert ended.returncode == 0, ended.stderr
        view = json.loads(ended.stdout)
        assert (view["status"], view["documents"]["done"], view["cost"]["calls_lost"]) == ("completed", 8, 0)
        asked = [call["sha256"] for call in endpoint.calls("received")]
        assert len(asked) == len(set(asked))


def test_a_second_signal_stops_at_once(env: dict[str, str], tmp_path: Path) -> None:
    with ScriptedEndpoint(latency=HELD) as endpoint:
        paid = {**env, "OPENAI_BASE_URL": endpoint.base_url, "OPENAI_API_KEY": "x", **PATIENT}
        process = begin(["start", room(tmp_path / "room"), "--thread", "twice", "--engine", "openai"], paid)
        wait_until(lambda: endpoint.counts()["received"] >= 1)
        process.send_signal(signal.SIGTERM)
        heard(process)
        process.send_signal(signal.SIGTERM)
        _, stderr = to_its_end(process)
        assert process.returncode == 143, stderr
        assert endpoint.counts()["answered"] == 0, "it waited for no answer"
        assert "Traceback" not in stderr


def test_who_drives_a_thread_is_told_to_whoever_comes_second(env: dict[str, str], here: Call, tmp_path: Path) -> None:
    with ScriptedEndpoint(latency=HELD) as endpoint:
        paid = {**env, "OPENAI_BASE_URL": endpoint.base_url, "OPENAI_API_KEY": "x", **PATIENT}
        process = begin(["start", room(tmp_path / "room"), "--thread", "busy", "--engine", "openai"], paid)
        try:
            wait_until(lambda: endpoint.counts()["received"] >= 1)
            assert f"driven by process {process.pid}" in refused(run(["resume", "busy"], paid), 5)
        finally:
            kill(process)
        # The lease has not run out, but its process is dead: nobody drives it, and everybody is told so.
        view = json.loads(here("status", "busy", "--json").stdout)
        assert view["status"] == "interrupted"


def test_a_run_that_reached_its_budget_exits_4(env: dict[str, str], here: Call, tmp_path: Path) -> None:
    with ScriptedEndpoint() as endpoint:
        paid = {**env, "OPENAI_BASE_URL": endpoint.base_url, "OPENAI_API_KEY": "x"}
        options = ["--thread", "poor", "--engine", "openai", "--matter", "poor", "--budget-usd", "0.000001"]
        ended = run(["start", room(tmp_path / "room"), *options, "--json"], paid)
        assert ended.returncode == 4, ended.stderr
        assert json.loads(ended.stdout)["status"] == "paused"
        assert here("status", "poor").returncode == 4


def test_a_password_of_the_file_opens_a_document_and_is_shown_nowhere(here: Call, tmp_path: Path) -> None:
    import pikepdf

    source = room(tmp_path / "room", 1)
    with pikepdf.open(source / "contract 0.pdf") as document:
        document.save(source / "locked.pdf", encryption=pikepdf.Encryption(owner="o", user="open-sesame"))
    (source / "contract 0.pdf").unlink()
    words = tmp_path / "words.txt"
    words.write_text("# of the seller\nlocked.pdf = open-sesame\n")
    ended = here("start", source, "--thread", "locked", "--passwords", words, "--review", "never", "--json")
    assert json.loads(ended.stdout)["status"] == "completed", ended.stderr
    assert "open-sesame" not in ended.stdout + ended.stderr
    words.write_text("locked.pdf open-sesame\n")
    assert "open-sesame" not in refused(here("start", source, "--passwords", words), 2)


def test_cancel_is_told_by_status(here: Call, tmp_path: Path) -> None:
    assert here("start", room(tmp_path / "room", 1), "--thread", "off").returncode == 0
    assert json.loads(here("cancel", "off", "--json").stdout)["status"] == "cancelled"
