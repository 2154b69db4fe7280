"""The command line as scripts and people use it: real processes, exit codes, what is on stdout and on stderr."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_runs import refused, room, run_here
from paths import ROOT
from processes import CHILDREN, PATIENCE, begin, run

from graph.adapters import embedded_postgres

RUN_KEYS = (
    "thread_id name run_id job_id matter parent_thread_id workflow_version playbook engine status step next_action "
    "started_at updated_at documents pages batch findings cost resumes review artifacts error"
)
FINDING_KEYS = (
    "finding_id document document_sha256 supplier clause_type quote page boxes alignment risk score reasons "
    "confidence source needs_review decision"
)
CLOSED = {"REPRISE_DATABASE_URL": "postgresql://127.0.0.1:1/nothing"}
"""A database that nobody serves."""
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture(scope="module")
def env() -> Iterator[dict[str, str]]:
    """A fresh home with an embedded server of its own."""
    home = Path(tempfile.mkdtemp(prefix="reprise-cli-"))
    home.chmod(0o755)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("REPRISE_", "OPENAI_"))}
    kept |= {"LANGGRAPH_STRICT_MSGPACK": "true", "PYTHONWARNINGS": "error"}
    yield {**kept, "REPRISE_HOME": str(home), "REPRISE_CHILDREN": CHILDREN}
    asyncio.run(embedded_postgres.stop(home))
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def waiting(env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The run object of a run that waits for its review; tests that use it only look."""
    source = room(tmp_path_factory.mktemp("waiting") / "room")
    began = run(["start", source, "--thread", "acme", "--json"], env)
    assert began.returncode == 0, began.stderr
    view: dict[str, Any] = json.loads(began.stdout)
    return view


Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def here(env: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Call:
    """A command in this process, with more variables."""
    return lambda *arguments, **more: run_here(arguments, {**env, **more}, capsys)


def test_a_run_that_waits_has_exactly_the_keys_of_the_contract(waiting: dict[str, Any]) -> None:
    assert list(waiting) == RUN_KEYS.split()
    assert waiting["status"] == "needs_review"
    assert waiting["documents"] == {"total": 3, "done": 3, "failed": 0, "skipped": 0}
    assert waiting["next_action"] == "python run.py review acme"
    assert UUID.fullmatch(waiting["thread_id"])


def test_a_run_is_found_by_name_id_prefix_and_the_word_last(here: Call, waiting: dict[str, Any]) -> None:
    for word in ("acme", waiting["thread_id"], waiting["thread_id"][:6], "ac", "last"):
        looked = here("status", word, "--json")
        assert looked.returncode == 0, looked.stderr
        assert json.loads(looked.stdout)["thread_id"] == waiting["thread_id"]


def test_the_detailed_exit_code_tells_that_a_review_waits(env: dict[str, str], waiting: dict[str, Any]) -> None:
    looked = run(["status", "acme", "--detailed-exit-code"], env)
    assert looked.returncode == 3
    assert "waits for a review" in looked.stdout
    assert looked.stdout.rstrip().endswith("Next: python run.py review acme")


def test_a_finding_is_one_object_a_line_with_its_quote_and_page(here: Call, waiting: dict[str, Any]) -> None:
    listed = here("findings", "acme", "--to-review", "--json")
    assert listed.returncode == 0, listed.stderr
    found = [json.loads(line) for line in listed.stdout.splitlines()]
    assert len(found) == waiting["findings"]["to_review"] > 0
    for one in found:
        assert set(FINDING_KEYS.split()) <= set(one)
        assert one["needs_review"] and one["decision"] is None
        assert (one["page"] == 1 and one["quote"]) or (one["about"], one["page"]) == ("cap_on_liability", None)
        assert one["document"].startswith("contract ")


def test_findings_are_kept_by_document_type_and_risk(here: Call, waiting: dict[str, Any]) -> None:
    options = ["--document", "contract 1", "--type", "governing_law", "--json"]
    found = [json.loads(line) for line in here("findings", "acme", *options).stdout.splitlines()]
    assert [(one["document"], one["clause_type"]) for one in found] == [("contract 1.pdf", "governing_law")]
    high = [json.loads(line) for line in here("findings", "acme", "--risk", "high", "--json").stdout.splitlines()]
    assert high and {one["risk"] for one in high} <= {"high", "critical"}
    assert "no clause type nonsense" in refused(here("findings", "acme", "--type", "nonsense"), 2)


def test_show_tells_where_a_run_stopped_and_what_a_resume_would_do(here: Call, waiting: dict[str, Any]) -> None:
    shown = here("show", "acme")
    assert shown.returncode == 0, shown.stderr
    assert f"thread {waiting['thread_id']}" in shown.stdout
    for part in ("workflow_version", "batch_index 1 of 1", "3 done, 0 failed", "needs_review is next", "nobody drives"):
        assert part in shown.stdout
    # The width of the terminal decides where lines break.
    text = " ".join(shown.stdout.split())
    assert "findings_batch_1" in text and "present and verified" in text
    assert "0 documents to do" in shown.stdout
    plain = json.loads(here("show", "acme", "--json").stdout)
    assert plain["artifacts"]["missing"] == []
    assert plain["checkpoint"]["documents_closed"] == 3


@pytest.mark.parametrize("command", ["journal", "runs", "resumes", "history"])
def test_a_list_is_one_json_object_a_line(command: str, here: Call, waiting: dict[str, Any]) -> None:
    listed = here(command, *([] if command == "runs" else ["acme"]), "--json")
    assert listed.returncode == 0, listed.stderr
    assert len([json.loads(line) for line in listed.stdout.splitlines()]) >= 1


@pytest.mark.parametrize("command", ["cost", "coverage"])
def test_cost_and_coverage_are_one_json_object(command: str, here: Call, waiting: dict[str, Any]) -> None:
    looked = here(command, "acme", "--json")
    assert looked.returncode == 0, looked.stderr
    assert isinstance(json.loads(looked.stdout), dict)


def test_a_thread_that_has_begun_is_refused_with_the_command_that_resumes_it(
    here: Call, waiting: dict[str, Any], tmp_path: Path
) -> None:
    sentence = refused(here("start", room(tmp_path / "again"), "--thread", "acme"), 2)
    assert "python run.py resume acme" in sentence


def test_a_source_that_cannot_be_read_is_one_sentence(here: Call, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "cat.png").write_bytes(b"\x89PNG")
    assert "no folder or file" in refused(here("start", tmp_path / "nowhere"), 2)
    assert "is empty" in refused(here("start", tmp_path / "empty"), 2)
    assert "can be read" in refused(here("start", tmp_path / "pictures"), 2)


def test_a_thread_that_is_not_there_is_one_sentence(env: dict[str, str], here: Call, waiting: dict[str, Any]) -> None:
    assert "python run.py runs" in refused(run(["status", "nosuch"], env), 2)
    assert "No run is named" in refused(here("resume", "nosuch", "--json"), 2)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--model", "extract"], "--model is extract=NAME"),
        (["--model", "cook=gpt"], "--model is extract=NAME"),
        (["--deadline", "soon"], "--deadline is a time such as 90s, 30m or 8h"),
        (["--review", "maybe"], "'maybe'"),
        (["--lang", "xx"], "'xx'"),
        (["--batch-size", "many"], "--batch-size"),
        (["--no-such-option"], "--no-such-option"),
        (["--batch-wait", "soon"], "--batch-wait"),
        (["--passwords", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_an_option_that_is_wrong_is_one_sentence_before_anything_is_opened(
    options: list[str], named: str, here: Call
) -> None:
    assert named in refused(here("start", ".", *options, **CLOSED), 2)


def test_options_that_only_the_run_can_judge_are_refused_too(here: Call, tmp_path: Path) -> None:
    source = room(tmp_path / "room", 1)
    assert "There is no engine magic" in refused(here("start", source, "--engine", "magic"), 2)
    assert "no playbook nothing" in refused(here("start", source, "--playbook", "nothing"), 2)
    assert "budget" in refused(here("start", source, "--budget-usd", "much"), 2)
    assert "batch_size" in refused(here("start", source, "--batch-size", "0"), 2)
    assert "OPENAI_API_KEY" in refused(here("start", source, "--engine", "openai"), 1)


def test_a_database_that_does_not_answer_is_one_sentence_and_exit_1(here: Call) -> None:
    address = "postgresql://someone:secret-word@127.0.0.1:1/nothing"
    assert "secret-word" not in refused(here("status", "last", REPRISE_DATABASE_URL=address), 1)


def test_a_variable_of_the_environment_that_is_wrong_is_named(here: Call) -> None:
    assert "REPRISE_ATTEMPTS" in refused(here("runs", REPRISE_ATTEMPTS="often"), 1)


def test_a_review_without_a_terminal_says_what_to_give_instead(here: Call, waiting: dict[str, Any]) -> None:
    assert "--decisions FILE or --accept-all" in refused(here("review", "acme"), 2)


def test_a_run_with_a_document_that_failed_completes_with_exit_6_when_asked(here: Call, tmp_path: Path) -> None:
    source = room(tmp_path / "room", 2)
    (source / "broken.pdf").write_bytes(bytes(range(256)) * 4)
    ended = here("start", source, "--thread", "broken", "--review", "never", "--detailed-exit-code")
    assert ended.returncode == 6, ended.stderr
    assert "completed, with failures" in ended.stdout and "broken.pdf" in ended.stdout
    assert here("status", "broken").returncode == 0
    failed = [json.loads(line) for line in here("journal", "broken", "--failed", "--json").stdout.splitlines()]
    assert [one["document"] for one in failed] == ["broken.pdf"]


def test_the_doctor_names_what_is_there_and_never_a_key(here: Call) -> None:
    looked = here("doctor", "--json", OPENAI_API_KEY="sk-very-secret")
    assert looked.returncode == 0, looked.stderr
    checks = {one["name"]: one["state"] for one in json.loads(looked.stdout)["checks"]}
    assert checks["database"] == checks["schema"] == checks["playbooks"] == "ok"
    assert "sk-very-secret" not in looked.stdout
    assert here("doctor", **CLOSED).returncode == 1


def test_migrate_says_what_it_applied(here: Call, waiting: dict[str, Any]) -> None:
    assert json.loads(here("migrate", "--json").stdout) == {"applied": []}


def test_the_diagram_names_every_step_of_the_graph(here: Call) -> None:
    drawn = here("diagram")
    assert drawn.returncode == 0, drawn.stderr
    for node in ("ingest", "extract", "score", "needs_review", "record_review", "summarize", "publish", "hold"):
        assert node in drawn.stdout


def test_a_reader_that_goes_away_is_no_error(env: dict[str, str], waiting: dict[str, Any]) -> None:
    process = begin(["journal", "acme", "--json"], env)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait(timeout=PATIENCE)


def test_every_command_has_help_and_help_loads_nothing_heavy(env: dict[str, str]) -> None:
    from graph.surfaces.cli.main import app

    names = [command.callback.__name__ for command in app.registered_commands if command.callback]
    for command in app.registered_commands:
        assert command.callback is not None and command.callback.__doc__
    whole = run(["--help"], env).stdout
    assert all(re.search(rf"\b{name}\b", whole) for name in [*names, "db"])
    code = (
        "import sys; from graph.surfaces.cli.main import run; run(['start', '--help']);"
        "sys.exit('langgraph' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False).returncode == 0


def test_a_fault_is_one_sentence_and_leaves_its_traceback_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from graph.surfaces.cli.exit_codes import report_error

    monkeypatch.setenv("REPRISE_HOME", str(tmp_path))
    assert report_error(ZeroDivisionError("division by zero")) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: This is a fault in Reprise: ZeroDivisionError: division by zero (the traceback")
    assert len(list((tmp_path / "logs").iterdir())) == 1
