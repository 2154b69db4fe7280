"""What LangGraph would end in silence is said aloud, and nothing that is done is lost by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cut_off_runs import asked, newest
from databases import rows
from plain_graphs import edit_state
from risky_contracts import risky

from graph import Reprise, builder
from nodes.domain.shared.errors import StepUnknown, Unaccounted

ANSWER: Any = {"accept_all": True, "reviewer": "A. Martin", "reason": "checked"}

RENAMED = """
    UPDATE public.checkpoints
       SET checkpoint = replace(checkpoint::text, 'branch:to:needs_review', 'branch:to:ask')::jsonb
     WHERE checkpoint_id = (SELECT max(checkpoint_id) FROM public.checkpoints) RETURNING 1"""


async def test_a_thread_whose_next_step_is_gone_is_named_and_finds_its_way_when_a_person_agrees(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 3), thread="t")
    since = newest(database)
    assert rows(database, RENAMED)
    with pytest.raises(StepUnknown, match="its next step is ask, which this program does not have") as caught:
        await reprise.resume("t", **ANSWER)
    assert "python run.py resume t --accept-version" in str(caught.value)
    view = await reprise.status("t")
    shown = await reprise.show(view.thread_id)
    assert view.status == "failed" and "its next step is ask" in shown["stopped"]
    ended = await reprise.resume("t", accept_version=True, **ANSWER)
    assert (ended.status, ended.documents["done"]) == ("completed", 3)
    assert asked(database, since) == {}


async def test_a_router_that_throws_leaves_a_thread_that_says_so_and_goes_on_once_it_is_mended(
    reprise: Reprise, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(state: Any) -> str:
        raise RuntimeError("a router of ours threw")

    with monkeypatch.context() as patch:
        patch.setattr(builder, "after_score", broken)
        with pytest.raises(RuntimeError, match="a router of ours threw"):
            await reprise.start(risky(tmp_path / "room", 3), thread="t")
    since = newest(database)
    # LangGraph alone would return here as if the run were finished.
    with pytest.raises(StepUnknown, match="no step came after score"):
        await reprise.resume("t")
    assert (await reprise.status("t")).status == "failed"
    ended = await reprise.resume("t", accept_version=True, **ANSWER)
    assert (ended.status, ended.documents["done"]) == ("completed", 3)
    assert asked(database, since) == {}


async def test_a_run_with_a_document_without_a_result_does_not_end_and_finds_it_again(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 3), thread="t")
    since = newest(database)
    rows(database, "UPDATE reprise.run_document SET state = 'pending' WHERE ordinal = 1 RETURNING 1")
    with pytest.raises(Unaccounted, match="1 of 3 documents of run t is neither done nor failed nor skipped"):
        await reprise.resume("t", **ANSWER)
    view = await reprise.status("t")
    assert view.status == "failed" and "contract_001.txt" in str(view.error)
    back = {"batch_index": 0, "slow_index": 0, "slow_total": 0}
    await edit_state(database, home, view.thread_id, back, as_node="ingest")
    ended = await reprise.resume("t", **ANSWER)
    assert (ended.status, ended.documents["done"]) == ("completed", 3)
    assert asked(database, since) == {}


async def test_a_run_whose_stored_findings_are_fewer_than_its_documents_have_does_not_end(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 3), thread="t")
    rows(database, "UPDATE reprise.run_document SET findings = findings + 1 WHERE ordinal = 1 RETURNING 1")
    await edit_state(database, home, (await reprise.status("t")).thread_id, {}, as_node="extract")
    with pytest.raises(Unaccounted, match="findings by their rows and"):
        await reprise.resume("t", **ANSWER)
    assert (await reprise.status("t")).status == "failed"
