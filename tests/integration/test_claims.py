"""A claim that is cut off: a server or a notebook that stops a run goes on with it in the same process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from databases import number
from processes import PATIENCE
from risky_contracts import risky

from graph import Reprise
from graph.runtime.postgres.journal import PostgresJournal

CLAIMED = "SELECT count(*) FROM reprise.answers WHERE state = 'claimed'"
RUNNING = "SELECT count(*) FROM reprise.calls WHERE state = 'running'"


@pytest.mark.parametrize("known", [True, False])
async def test_a_run_that_was_cancelled_between_claim_and_call_is_resumed_in_the_same_process(
    known: bool, reprise: Reprise, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claimed = asyncio.Event()
    claim = PostgresJournal.claim

    async def cut_off(self: PostgresJournal, *args: Any) -> Any:
        """The database has the claim; whoever asked is cancelled before it hears of it, or never hears at all."""
        owned = await claim(self, *args)
        claimed.set()
        await asyncio.sleep(0.3)
        return owned if known else None

    monkeypatch.setattr(PostgresJournal, "claim", cut_off)
    starting = asyncio.create_task(reprise.start(risky(tmp_path / "room"), thread="cut", review="never"))
    await asyncio.wait_for(claimed.wait(), PATIENCE)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    monkeypatch.undo()
    left = (number(database, CLAIMED), number(database, RUNNING))
    assert left == (0, 0) if known else min(left) > 0

    view = await asyncio.wait_for(reprise.resume("cut"), PATIENCE)
    assert view.status == "completed" and view.documents["done"] == 4
    assert (number(database, CLAIMED), number(database, RUNNING)) == (0, 0)
