"""The status of a run follows from facts, and says what to type next."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import Any

import pytest

from graph.views.status import Facts, derive, next_action

AT_WORK = Facts(next=("extract",), published=False, live=False, answered=False, cancelled=False, failures=0, last=None)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"live": True}, "running"),
        ({}, "interrupted"),
        ({"last": {"outcome": "failed"}}, "failed"),
        ({"last": {"outcome": ""}}, "interrupted"),
        ({"next": ("needs_review",)}, "needs_review"),
        ({"next": ("needs_review",), "last": {"outcome": "failed"}}, "needs_review"),
        ({"next": ("needs_review",), "answered": True}, "interrupted"),
        ({"next": ("hold",)}, "paused"),
        ({"cancelled": True}, "cancelled"),
        ({"next": (), "published": True}, "completed"),
        ({"next": (), "published": True, "failures": 1}, "completed_with_failures"),
        ({"next": (), "published": True, "cancelled": True}, "completed"),
        # LangGraph says that nothing is next, yet no note was published: never a silent success.
        ({"next": ()}, "failed"),
    ],
)
def test_a_status_follows_from_facts(changes: dict[str, Any], status: str) -> None:
    assert derive(replace(AT_WORK, **changes)) == status


def test_a_held_run_names_the_limit_to_raise() -> None:
    assert next_action("paused", "t", "budget").endswith("resume t --budget-usd N")
    assert next_action("paused", "t", "deadline").endswith("resume t --deadline 8h")


def test_a_name_with_spaces_or_signs_of_the_shell_is_quoted() -> None:
    assert next_action("failed", "two words") == 'python run.py resume "two words"'
    assert '"' in next_action("failed", "a;b")


@pytest.mark.parametrize(
    "name", ["a b", "a;b", 'say "hi"', "a $(x) `y`", "it's", "back\\slash", "50% é", "#1", "a!b", "~x"]
)
def test_a_shell_takes_the_name_in_a_command_for_one_word_and_for_nothing_else(name: str) -> None:
    printed = next_action("failed", name)
    told = subprocess.run(["sh", "-c", f"printf '%s\\n' {printed}"], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == ["python", "run.py", "resume", name]
