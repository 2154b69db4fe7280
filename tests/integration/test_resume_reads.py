"""A resume reads its thread in one statement before the lease and in one under it."""

from __future__ import annotations

from pathlib import Path

from sample_contracts import contracts

from graph import Reprise
from graph.runtime.fault_points import listening


async def test_a_resume_reads_its_thread_once_before_the_lease_and_once_under_it(
    reprise: Reprise, tmp_path: Path
) -> None:
    await reprise.start(contracts(tmp_path / "room", 1), thread="t", review="always")
    passed: list[str] = []
    with listening(passed.append):
        await reprise.resume("t")
    before, under_lease = _statements(passed, until="sql.take"), _statements(passed, since="sql.take")
    assert before == ["find_thread", "run_records", "input_states", "artifacts_named"]
    assert under_lease.count("run_records") == 2  # under the lease, and for the run object that is returned
    assert len(before) + len(under_lease) <= 18

    await reprise.resume("t", accept_all=True, reviewer="A. Martin")
    passed.clear()
    with listening(passed.append):
        await reprise.resume("t")
    assert _statements(passed) == ["find_thread", "run_records"]  # at its end there is nothing to do


def _statements(passed: list[str], since: str = "", until: str = "") -> list[str]:
    """The queries among the fault points passed, in order."""
    points = [point.removesuffix(":before") for point in passed if point.endswith(":before")]
    start = points.index(since) if since else 0
    stop = points.index(until) if until else len(points)
    return [point.removeprefix("sql.") for point in points[start:stop] if point.startswith("sql.")]
