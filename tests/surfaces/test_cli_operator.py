"""What an operator mistypes, leaves unset or lacks: one sentence, the right exit code, nothing told that is secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from cli_runs import Ended, objects, refused, run_here
from databases import number
from paths import PLAYBOOKS
from processes import environment
from psycopg.conninfo import make_conninfo
from risky_contracts import risky

from graph.runtime.postgres.database import open_pool
from graph.testing.endpoint import ScriptedEndpoint

Call = Callable[..., Ended]


@pytest.fixture
def here(database: str, home: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """A command in this process, with more variables."""
    return lambda *arguments, **more: run_here(arguments, environment(database, home, **more), capsys)


def test_an_empty_name_means_no_run_though_every_name_begins_with_nothing(
    here: Call, database: str, tmp_path: Path
) -> None:
    assert here("start", risky(tmp_path / "room", 1)).returncode == 0
    for command in ("status", "cancel", "resume", "findings"):
        assert "No thread is named" in refused(here(command, ""), 2)
    assert number(database, "SELECT count(*) AS n FROM reprise.runs WHERE cancelled_at IS NOT NULL") == 0


def test_a_name_that_would_be_taken_for_an_option_is_refused(here: Call, database: str, tmp_path: Path) -> None:
    assert "no minus at the beginning" in refused(here("start", risky(tmp_path / "room", 1), "--thread", "-x"), 2)
    assert number(database, "SELECT count(*) AS n FROM reprise.runs") == 0


def test_numbers_beyond_all_measure_are_refused_and_break_nothing(here: Call, tmp_path: Path) -> None:
    room = risky(tmp_path / "room", 1)
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"document": "contract_000", "clause_type": "governing_law", "text": "laws of France"}))
    for budget in ("1e309", "1000000001", "nan", "-1", "much"):
        assert "The budget must be a number of US dollars" in refused(here("start", room, "--budget-usd", budget), 2)
        said = refused(here("eval", gold, "--source", room, "--budget-usd", budget), 2)
        assert said.endswith(f"not '{budget}'.")
    assert "concurrency must be" in refused(here("eval", gold, "--source", room, "--concurrency", "0"), 2)
    assert "--limit" in refused(here("runs", "--limit", "99999999999999999999"), 2)
    assert here("prune", "--older-than", "99999999d").stdout.startswith("No run")


@pytest.mark.parametrize("name", ["REPRISE_ATTEMPTS", "REPRISE_OCR", "REPRISE_PRICES", "REPRISE_MODEL"])
def test_a_variable_that_is_set_to_nothing_is_as_one_that_is_not_set(name: str, here: Call) -> None:
    assert here("runs", **{name: ""}).returncode == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REPRISE_LEASE_SECONDS", "inf"),
        ("REPRISE_LEASE_SECONDS", "1e20"),
        ("REPRISE_RETENTION_DAYS", "999999999"),
        ("REPRISE_CHILD_MEMORY_MB", "99999999999999999999"),
        ("REPRISE_WEBHOOK_URL", "example.com"),
    ],
)
def test_a_variable_with_a_value_that_nothing_can_be_done_with_is_named(name: str, value: str, here: Call) -> None:
    said = refused(here("runs", **{name: value}), 1)
    assert name in said and "Value error" not in said


def test_a_home_that_cannot_be_made_is_one_sentence(here: Call, home: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.touch()
    said = refused(here("runs", REPRISE_DATABASE_URL="", REPRISE_HOME=str(taken)), 1)
    assert f"The folder {taken} cannot be made" in said and "set REPRISE_HOME" in said
    (home / "postgres").touch()
    said = refused(here("runs", REPRISE_DATABASE_URL=""), 1)
    assert f"cannot be kept in {home / 'postgres'}" in said and "set REPRISE_HOME" in said


@pytest.mark.parametrize(
    "address",
    [
        "secretword",
        "postgresql:/u:secretword@127.0.0.1/d",
        "postgresql://u:secret%word@127.0.0.1:1/d",
        "postgresql://u:secret/word@127.0.0.1:1/d",
        "postgresql://u:x@secret@word@127.0.0.1:1/d",
        "postgresql://u:x#secretword@127.0.0.1:1/d",
        "host=127.0.0.1 prt=1 password=secretword",
    ],
)
def test_an_address_that_is_none_is_told_without_a_word_of_its_password(address: str, here: Call) -> None:
    for command in ("runs", "migrate"):
        said = refused(here(command, REPRISE_DATABASE_URL=address), 1)
        assert "REPRISE_DATABASE_URL is no address of a Postgres server: write postgresql://" in said
        assert "secret" not in said and "word@" not in said and "fault" not in said
    looked = here("doctor", REPRISE_DATABASE_URL=address)
    assert looked.returncode == 1 and "secret" not in looked.stdout and "word@" not in looked.stdout


def test_a_server_that_nobody_serves_is_named_by_its_place_with_what_to_check(here: Call) -> None:
    said = refused(here("migrate", REPRISE_DATABASE_URL="postgresql://u:p%40ss@127.0.0.1:1/d"), 1)
    assert "127.0.0.1:1/d cannot be reached" in said and "check REPRISE_DATABASE_URL" in said and "p@ss" not in said


def test_a_database_that_may_not_be_written_to_is_no_fault_of_the_program(here: Call, empty_database: str) -> None:
    address = make_conninfo(empty_database, options="-c default_transaction_read_only=on")
    said = refused(here("migrate", REPRISE_DATABASE_URL=address), 1)
    assert "The database refuses to be written to" in said and "who owns the tables" in said


async def test_options_of_the_address_hold_beside_the_name_of_the_owner(database: str) -> None:
    pool = open_pool(make_conninfo(database, options="-c statement_timeout=54321"), "me", size=1)
    await pool.open()
    async with pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT current_setting('statement_timeout') AS t, current_setting('reprise.owner') AS o"
        )
        assert await cursor.fetchone() == {"t": "54321ms", "o": "me"}
    await pool.close()


@pytest.mark.parametrize("address", ["api.example.com", "http://", "http://[::1", "ftp://example.com/v1"])
def test_an_endpoint_without_an_address_is_refused_where_it_would_be_asked_and_nowhere_else(
    address: str, here: Call, tmp_path: Path
) -> None:
    shell = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "key"}
    room = risky(tmp_path / "room", 1)
    assert "OPENAI_BASE_URL is no address" in refused(here("start", room, "--engine", "openai", **shell), 1)
    assert "OPENAI_BASE_URL is no address" in " ".join(here("doctor", **shell).stdout.split())
    assert here("start", room, "--thread", "local", **shell).returncode == 0


def test_a_disk_of_the_database_that_is_full_is_told_as_that_and_what_was_not_stored_is_not_to_be_resumed(
    here: Call, database: str, tmp_path: Path
) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'No space left' "
            "USING ERRCODE = '53100'; END $$"
        )
        connection.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT ON public.checkpoints FOR EACH ROW EXECUTE FUNCTION full_disk()"
        )
    ended = here("start", risky(tmp_path / "room", 1), "--thread", "t")
    assert ended.returncode == 1 and ended.stdout == ""
    assert "error: The disk of the database is full (No space left)" in ended.stderr
    assert "Next:" not in ended.stderr and "does not answer" not in ended.stderr
    assert "No run is named t" in refused(here("resume", "t"), 2)


def test_a_drill_of_what_is_not_there_is_refused_before_anything_is_begun(here: Call, tmp_path: Path) -> None:
    assert "There is no folder or file" in refused(here("drill", tmp_path / "nowhere"), 2)
    assert "There is no playbook nothing" in refused(here("drill", "--playbook", "nothing"), 2)


def test_a_kind_of_fact_that_no_document_states_is_answered_with_those_that_they_do(here: Call, tmp_path: Path) -> None:
    assert here("start", risky(tmp_path / "room", 1), "--thread", "t").returncode == 0
    listed = here("facts", "t", "--kind", "colour")
    assert listed.returncode == 0 and "their kinds are governing_law, " in listed.stderr


def test_the_schema_of_playbooks_is_one_object_a_line_too(here: Call) -> None:
    (schema,) = objects(here("playbook", "show", "--schema", "--json"))
    assert schema == json.loads((PLAYBOOKS / "playbook.schema.json").read_text("utf-8"))


def test_decisions_on_a_run_at_its_end_are_refused_unless_they_were_made(
    here: Call, database: str, tmp_path: Path
) -> None:
    assert here("start", risky(tmp_path / "room", 1), "--thread", "t").returncode == 0
    (first, *_) = objects(here("findings", "t", "--to-review", "--json"))
    file = tmp_path / "decisions.json"
    file.write_text(json.dumps([{"finding_id": first["finding_id"], "verdict": "accept"}]))
    assert here("resume", "t", "--accept-all", "--reviewer", "A").returncode == 0
    made = number(database, "SELECT count(*) AS n FROM reprise.decisions")
    assert here("resume", "t", "--decisions", file, "--reviewer", "B").returncode == 0, "the same was decided"
    file.write_text(json.dumps([{"finding_id": first["finding_id"], "verdict": "reject", "reason": "not ours"}]))
    said = refused(here("resume", "t", "--decisions", file, "--reviewer", "B"), 2)
    assert "Run t is at its end and waits for no review: 1 decision came too late" in said
    assert number(database, "SELECT count(*) AS n FROM reprise.decisions") == made > 0


def test_a_reply_that_comes_with_a_higher_limit_answers_the_gate_behind_the_hold(here: Call, tmp_path: Path) -> None:
    with ScriptedEndpoint() as endpoint:
        shell = {"OPENAI_BASE_URL": endpoint.base_url, "OPENAI_API_KEY": "key"}
        room = risky(tmp_path / "room", 1)
        began = here("start", room, "--thread", "t", "--engine", "openai", "--budget-usd", "0", **shell)
        assert began.returncode == 4
        ended = here("resume", "t", "--budget-usd", "5", "--accept-all", "--reviewer", "A", "--json", **shell)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["status"] == "completed"
