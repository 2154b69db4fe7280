"""The status of a run follows from facts, and says what to type next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.views.status import StatusFacts, derive, next_action

AT_WORK = StatusFacts(
    next=("extract",), published=False, live=False, answered=False, cancelled=False, failures=0, last=None
)


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
