"""README and docs are true: their Python runs as it stands, their commands and settings are those that there are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT
from processes import PATIENCE, environment

from graph.settings import Settings
from graph.surfaces.cli.main import PANELS

README = (ROOT / "README.md").read_text("utf-8")
PYTHON = (ROOT / "docs" / "how-to" / "use-from-python.md").read_text("utf-8")
COMMANDS = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
SETTINGS = (ROOT / "docs" / "reference" / "settings.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PYTHON, re.M | re.S)


@pytest.mark.parametrize("block", BLOCKS, ids=[f"block {number}" for number in range(1, len(BLOCKS) + 1)])
def test_the_python_of_the_docs_runs_as_it_stands(block: str, database: str, home: Path) -> None:
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


def test_there_are_examples_in_the_docs_for_the_facade_and_for_plain_langgraph() -> None:
    assert any("Reprise.open" in block for block in BLOCKS)
    assert any("build_graph" in block for block in BLOCKS)


def test_every_command_is_in_the_reference_and_has_help() -> None:
    for commands in PANELS.values():
        for command in commands:
            name = command.__name__.replace("_", "-")
            assert re.search(rf"^\| `(?:db )?{name}\b", COMMANDS, re.M), f"{name} is not in the reference"
            assert (command.__doc__ or "").strip(), f"{name} has no help"


def test_the_two_commands_that_do_all_set_up_are_there() -> None:
    commands = [line.strip() for line in README.splitlines() if line.startswith("    python3 -m venv")]
    assert [command.split(" && ")[-1] for command in commands] == [
        ".venv/bin/python run.py start samples/data-room --thread demo",
        ".venv/bin/python -m pytest",
    ]


def test_every_setting_is_in_the_reference() -> None:
    for name, field in Settings.model_fields.items():
        variable = f"OPENAI_{name[7:].upper()}" if name.startswith("openai_") else f"REPRISE_{name.upper()}"
        assert f"`{variable}`" in SETTINGS, f"{variable} is not in the reference"
        assert field.description, f"{variable} has no description"


def test_the_readme_fits_two_screens() -> None:
    assert len(README.splitlines()) <= 100
