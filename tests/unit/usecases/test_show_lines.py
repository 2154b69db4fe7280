"""What `show` says of a checkpoint and of calls is what is left to do. Pure."""

from __future__ import annotations

from typing import Any

from graph.surfaces.terminal.show import calls_line, checkpoint_line

LAST: dict[str, Any] = {
    "next": "extract", "documents_closed": 5, "batch_index": 1, "next_batch_size": 0, "next_batch_in_ledger": 0,
    "beyond_in_ledger": 0,
}  # fmt: skip


def test_behind_the_last_batch_what_was_put_off_comes_before_the_score() -> None:
    assert checkpoint_line(LAST) == "at the last batch: score is next"
    assert checkpoint_line(LAST, 1) == "at the last batch: 1 document put off and to be tried again, then score"
    assert checkpoint_line(LAST, 3) == "at the last batch: 3 documents put off and to be tried again, then score"


def test_calls_run_only_while_somebody_drives() -> None:
    rows = [{"tool": "model", "calls": 7, "reused": 2, "failed": 0, "running": 3, "lost": 0}]
    assert calls_line(rows, live=True) == "model 7 (2 reused, 3 running)"
    assert calls_line(rows, live=False) == "model 7 (2 reused, 3 not answered when it ended)"
    assert calls_line([], live=False) == "none"
