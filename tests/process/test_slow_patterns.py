"""Patterns of users that take too long are found in a worker process, which is killed."""

from __future__ import annotations

from graph.adapters.processes.slow_patterns import find_slow_patterns

EXPLOSIVE = (r"(a+)+b", r"(\w+\s?)+\$", r"(x|xy?)*z", r"(?:fees?|.*)*paid!", r".*.*.*=.*=x")


async def test_a_pattern_that_explodes_is_found_in_a_child_that_is_killed() -> None:
    harmless = (r"\bfees?\b.{0,80}\bpaid\b", r"^(?!.*\bfrance\b).*\blaws?\b", r"\d{1,3}(?:,\d{3})*")
    patterns = [harmless[0], *EXPLOSIVE[:3], harmless[1], *EXPLOSIVE[3:], harmless[2]]
    assert await find_slow_patterns(patterns, seconds=1.0) == [1, 2, 3, 5, 6]
