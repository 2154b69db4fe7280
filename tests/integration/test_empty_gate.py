"""A gate at which nothing is to be decided waits for a person all the same, where one was asked for."""

from __future__ import annotations

from pathlib import Path

from graph import Reprise


async def test_a_gate_without_a_finding_is_passed_by_a_signed_reply_and_by_no_bare_resume(
    reprise: Reprise, tmp_path: Path
) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "minutes.txt").write_text("Minutes. The weather was fine and nothing was decided.")
    view = await reprise.start(tmp_path / "room", thread="t", review="always")
    assert (view.status, view.findings["to_review"]) == ("needs_review", 0)
    assert (await reprise.resume("t")).status == "needs_review"
    assert (await reprise.resume("t", accept_all=True, reviewer="A. Martin")).status == "completed"
