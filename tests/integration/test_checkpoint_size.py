"""A checkpoint is a restart contract: small, and of one size whatever the number of documents."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from databases import rows

from graph import Reprise

LIMIT = 4_000
"""Bytes that a super-step may add to LangGraph's three tables."""

DIGITS = 80
"""Bytes by which steps differ: the random digits of LangGraph's versions, the digits of counters."""

PER_STEP = """
WITH bytes AS (
    SELECT checkpoint_id AS id, pg_column_size(c.*) AS n FROM checkpoints c WHERE thread_id = %s
    UNION ALL SELECT checkpoint_id, pg_column_size(w.*) FROM checkpoint_writes w WHERE thread_id = %s
)
SELECT (c.metadata->>'step')::int AS step, sum(bytes.n)::int AS bytes,
       c.checkpoint->'channel_values'->>'headline' AS headline
  FROM bytes JOIN checkpoints c ON c.checkpoint_id = bytes.id AND c.thread_id = %s
 GROUP BY 1, 3 ORDER BY 1
"""
BLOBS = """
SELECT coalesce(sum(pg_column_size(b.*)), 0)::int AS bytes, count(*)::int AS n
  FROM checkpoint_blobs b WHERE thread_id = %s
"""


async def measured(reprise: Reprise, database: str, folder: Path, count: int) -> tuple[list[int], dict[str, int]]:
    """Bytes of each step that closed a batch and led to another, and of all blobs, for so many documents."""
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:04d}.txt").write_text(
            f"Agreement {number}\n\nThe Supplier's aggregate liability shall not exceed EUR {number + 1},000.\n"
        )
    run = await reprise.start(folder, thread=f"size-{count:03d}", review="never", batch_size=5)
    assert run.status == "completed" and run.documents["done"] == count
    thread = run.thread_id
    steps = rows(database, PER_STEP, thread, thread, thread)
    assert len(steps) == run.batch["total"] + 6
    closing = [row["bytes"] for row in steps if (row["headline"] or "").startswith("extract: batch")][:-1]
    assert max(row["bytes"] for row in steps) <= LIMIT
    return closing, rows(database, BLOBS, thread)[0]


async def test_a_super_step_adds_at_most_4_kb_and_the_same_at_10_and_at_300_documents(
    reprise: Reprise, database: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    few, few_blobs = await measured(reprise, database, tmp_path / "010", 10)
    many, many_blobs = await measured(reprise, database, tmp_path / "300", 300)
    record_property(
        "measured",
        f"bytes a super-step: {few[0]} at 10 documents, {statistics.median(many):.0f} (median) and {max(many)} (most) "
        f"at 300; blobs {few_blobs['bytes']} and {many_blobs['bytes']} in all",
    )
    # Ids, random digits of versions and the digits of counters differ; nothing else may.
    assert abs(statistics.median(many) - few[0]) <= DIGITS
    assert max(many) - min(many) <= DIGITS
    assert many_blobs["n"] == few_blobs["n"] and abs(many_blobs["bytes"] - few_blobs["bytes"]) <= DIGITS
