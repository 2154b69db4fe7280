"""Names of threads in printed commands: a shell takes each for one word."""

from __future__ import annotations

import subprocess

import pytest

from graph.views.status import next_action


@pytest.mark.parametrize(
    "name", ["a b", "a;b", 'say "hi"', "a $(x) `y`", "it's", "back\\slash", "50% é", "#1", "a!b", "~x"]
)
def test_a_shell_takes_the_name_in_a_command_for_one_word_and_for_nothing_else(name: str) -> None:
    printed = next_action("failed", name)
    told = subprocess.run(["sh", "-c", f"printf '%s\\n' {printed}"], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == ["python", "run.py", "resume", name]
