"""The README is true: its Python runs as it stands, its commands are those that there are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT
from processes import PATIENCE, environment

from graph.surfaces.cli.main import PANELS

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.M | re.S)


@pytest.mark.parametrize("block", BLOCKS, ids=[f"block {number}" for number in range(1, len(BLOCKS) + 1)])
def test_the_python_of_the_readme_runs_as_it_stands(block: str, database: str, home: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", block],
        cwd=ROOT,
        env={**environment(database, home), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    # Most of its documents are French, and so is the note.
    assert "# Audit de contrats fournisseurs" in ended.stdout


def test_there_are_examples_in_the_readme_for_the_facade_and_for_plain_langgraph() -> None:
    assert any("Reprise.open" in block for block in BLOCKS)
    assert any("build_graph" in block for block in BLOCKS)


def test_every_command_is_in_the_readme_and_has_help() -> None:
    for commands in PANELS.values():
        for command in commands:
            name = command.__name__.replace("_", "-")
            assert re.search(rf"`{name}\b", README), f"{name} is not in the README"
            assert (command.__doc__ or "").strip(), f"{name} has no help"


def test_the_two_commands_that_do_all_set_up_are_there() -> None:
    commands = [line.strip() for line in README.splitlines() if line.startswith("    python3 -m venv")]
    assert [command.split(" && ")[-1] for command in commands] == [
        ".venv/bin/python run.py start samples/data-room --thread demo",
        ".venv/bin/python -m pytest",
    ]
