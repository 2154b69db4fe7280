"""The command line on a terminal: a review by keys, hostile text, widths."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli_runs import room, run_here
from processes import PATIENCE, environment
from pseudo_terminal import on_a_terminal, read_until
from rich.console import Console

from graph.surfaces.terminal import lists as terminal_lists
from graph.surfaces.terminal import tables as terminal_tables
from graph.surfaces.terminal.run import show_findings
from nodes.domain.evidence.findings import Finding


def test_a_person_reviews_one_finding_a_screen_and_every_decision_is_stored_at_once(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    assert run_here(["start", room(tmp_path / "room", 1), "--thread", "by hand"], env, capsys).returncode == 0
    process, keyboard = on_a_terminal(["review", "by hand"], {**env, "TERM": "dumb"})
    try:
        read_until(keyboard, "Who signs")
        os.write(keyboard, b"C. Noir\n")
        screen = read_until(keyboard, "? keys")
        assert "1 of 3" in screen and "contract 0.pdf, page 1" in screen
        os.write(keyboard, b"a")
        read_until(keyboard, "2 of 3")
        made = [
            json.loads(line) for line in run_here(["decisions", "by hand", "--json"], env, capsys).stdout.splitlines()
        ]
        assert [(one["verdict"], one["reviewer"]) for one in made] == [("accept", "C. Noir")]
        os.write(keyboard, b"x")
        read_until(keyboard, "Why is it wrong")
        os.write(keyboard, b"not ours\n")
        screen = read_until(keyboard, "3 of 3") + read_until(keyboard, "? keys")
        assert "Missing clause: Cap on liability" in screen
        assert "no clause of type “Cap on liability” was found" in screen
        os.write(keyboard, b"a")
        read_until(keyboard, "Go on with the run now")
        os.write(keyboard, b"\n")
        read_until(keyboard, "Next: python run.py report")
        assert process.wait(timeout=PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(keyboard)
    view = json.loads(run_here(["status", "by hand", "--json"], env, capsys).stdout)
    assert (view["status"], view["review"]["decisions"], view["resumes"]) == ("completed", 3, 1)


@pytest.mark.parametrize("width", [80, 120])
def test_hostile_text_of_a_document_reaches_no_terminal_and_no_line_is_too_long(width: int) -> None:
    bad = Finding(
        finding_id="0" * 12,
        document="[bold]a\x1b[31m/" + "long name " * 12 + ".pdf",
        document_sha256="0" * 64,
        supplier="Evil\u202e[red]",
        clause_type="cap_on_liability",
        quote="pay \x1b]0;owned\x07 [link=x]" + "word " * 60,
        page=1,
        page_end=1,
        boxes=(),
        spans=(),
        alignment="exact",
        confidence=0.5,
        source="x",
        risk="critical",
        needs_review=True,
    )
    out = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    show_findings([bad], {}, out=out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in text and "\u202e" not in text and "\x07" not in text
    assert "[red]" in text and "[link=x]" in text
    assert max(len(line) for line in text.splitlines()) <= width


RUNS: dict[str, Any] = {
    "name": "acme-room",
    "thread_id": "0" * 36,
    "status": "completed_with_failures",
    "documents": {"total": 120, "done": 119, "failed": 1},
    "findings": {"to_review": 0},
    "cost": {"usd": 1.84, "basis": "reported", "calls_unpriced": 0},
    "started_at": "2026-01-02T03:04:05+00:00",
}


@pytest.mark.parametrize(("width", "left_out"), [(60, "cost started to review"), (80, "started"), (200, "")])
def test_a_narrow_terminal_shows_fewer_columns_and_never_drops_the_name_of_a_run(
    width: int, left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Console(file=io.StringIO(), width=width, markup=False, highlight=False)
    for module in (terminal_lists, terminal_tables):
        monkeypatch.setattr(module, "console", lambda: out)
    terminal_lists.show_runs([RUNS])
    head, line = out.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert max(len(head), len(line)) <= width
    assert line.startswith("acme-room") and "completed_with_failures" in line and "119 of 120, 1 failed" in line
    assert [name for name in ("cost", "started", "to review") if name not in head] == [
        name for name in ("cost", "started", "to review") if name in left_out
    ]
