"""A run goes on as it began, or a person agrees that it does not; what is done stays done either way."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cli_runs import refused, run_here
from cut_off_runs import asked, cut_off, everything, newest, states
from databases import rows
from langgraph.checkpoint.memory import InMemorySaver
from processes import environment
from risky_contracts import risky

from graph import Reprise, build_graph, memory_services
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.runs import versions
from nodes.domain.runs.versions import (
    Change,
    ReworkEstimate,
    compare,
    describe_rework,
    migrate_state,
    needs_consent,
    refusal,
)
from nodes.domain.shared.errors import VersionNewer

CONFIG: Any = {"configurable": {"thread_id": "t"}}
OTHER_READER = 'UPDATE reprise.runs SET versions = versions || \'{"reader": "1 pdfium 4.30"}\' RETURNING 1'


def test_what_the_run_did_not_write_down_counts_as_equal_and_prompts_count_only_for_models() -> None:
    frozen = {"reader": "1", "prompt write_note": "a", "rules": "x"}
    now = {"reader": "2", "prompt write_note": "b", "rules": "x", "facts": "contracts@3"}
    assert [change.name for change in compare(frozen, now, 1, models_asked=True)] == ["prompt write_note", "reader"]
    assert [change.name for change in compare(frozen, now, 1, models_asked=False)] == ["reader"]
    assert compare({}, now, 1, models_asked=True) == []


def test_a_person_is_asked_only_where_something_would_be_done_otherwise_or_twice() -> None:
    change = [Change("reader", "1", "2")]
    assert not needs_consent(change, ReworkEstimate())
    assert not needs_consent([], ReworkEstimate(documents=22))
    assert needs_consent(change, ReworkEstimate(documents=1))
    assert needs_consent(change, ReworkEstimate(answers=1))


def test_the_refusal_says_what_changed_what_it_means_at_what_price_and_what_to_type() -> None:
    redo = ReworkEstimate(22, Decimal("0.41"), 240, 3, Decimal("0.012"))
    said = refusal("acme", [Change("reader", "1", "2"), Change("prompt write_note", "a" * 64, "b" * 64)], redo)
    assert "the reader (1 → 2) and the prompt write_note changed" in said
    assert "22 documents are still to do, about $0.41 and 4m00s; 3 stored answers ($0.01) would be asked for" in said
    assert "python run.py resume acme --accept-version" in said and "\n" not in said
    assert describe_rework(ReworkEstimate()) == "nothing is done again"


def test_a_state_goes_through_each_step_between_its_version_and_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "WORKFLOW_VERSION", 3)
    steps = {1: lambda state: {**state, "slow_total": 0}, 2: lambda state: {**state, "slow_index": 1}}
    assert migrate_state({"run_id": "r"}, steps) == {
        "run_id": "r",
        "slow_total": 0,
        "slow_index": 1,
        "workflow_version": 3,
    }
    assert migrate_state({"workflow_version": 2}, steps) == {"workflow_version": 3, "slow_index": 1}
    now = {"workflow_version": 3}
    assert migrate_state(now, steps) is now
    with pytest.raises(VersionNewer, match="workflow version 4, and this program knows 3"):
        migrate_state({"workflow_version": 4}, steps)


async def test_a_thread_of_an_older_version_goes_on_in_plain_langgraph_and_is_of_this_one_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with memory_services() as services:
        saver = InMemorySaver()
        app = build_graph(services).compile(checkpointer=saver)
        await app.ainvoke({"source": str(risky(tmp_path / "room", 2))}, CONFIG)
        assert (await app.aget_state(CONFIG)).values["workflow_version"] == 1
        monkeypatch.setattr(versions, "WORKFLOW_VERSION", 2)
        monkeypatch.setitem(versions.MIGRATIONS, 1, lambda state: {**state, "headline": "seen"})  # type: ignore[arg-type]
        ended = await app.ainvoke(None, CONFIG)
        assert "__interrupt__" in ended
        await app.aupdate_state(CONFIG, {}, as_node="extract")
        await app.ainvoke(None, CONFIG)
        assert (await app.aget_state(CONFIG)).values["workflow_version"] == 2
        await app.aupdate_state(CONFIG, {"workflow_version": 9}, as_node="extract")
        with pytest.raises(VersionNewer, match="This thread was written by workflow version 9"):
            await app.ainvoke(None, CONFIG)


def test_a_resume_under_another_reader_is_refused_until_a_person_agrees_and_done_documents_stay(
    tmp_path: Path, database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    cut_off(risky(tmp_path / "room", 8), env, "sql.finish_document:after:3", "--batch-size", "4", "--review", "never")
    done, since = states(database)["done"], newest(database)
    assert rows(database, OTHER_READER)
    before = everything(database)
    said = refused(run_here(["resume", "t", "--json"], env, capsys), 2)
    assert "the reader (1 pdfium 4.30 → " in said and "documents are still to do" in said
    assert everything(database) == before

    ended = run_here(["resume", "t", "--accept-version", "--json"], env, capsys)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["documents"]["done"] == 8
    assert not {document for _, document in asked(database, since)} & set(done)
    (row,) = rows(database, "SELECT changes FROM reprise.resumes WHERE kind = 'resume'")
    assert row["changes"]["versions"][0][:2] == ["reader", "1 pdfium 4.30"]
    # What was agreed to is what the run is made with from now on.
    assert rows(database, "SELECT versions->>'reader' AS r FROM reprise.runs")[0]["r"] != "1 pdfium 4.30"
    shown = json.loads(run_here(["show", "t", "--json"], env, capsys).stdout)
    assert shown["versions"]["changes"] == []


async def test_at_the_gate_nothing_would_be_done_again_so_nobody_has_to_agree(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 2), thread="t")
    assert rows(database, OTHER_READER)
    said: list[str] = []
    run = await reprise.resume("t", on_event=lambda event: said.extend(event.get("lines", ())))
    assert run.status == "needs_review"
    assert any("changed since it began: nothing is done again" in line for line in said)


async def test_a_playbook_that_was_edited_since_is_named_and_the_frozen_one_is_used(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    from nodes import playbooks

    file = tmp_path / "mine.toml"
    ours = Path(str(playbooks.__path__[0])) / "due-diligence.toml"
    file.write_text(ours.read_text())
    await reprise.start(risky(tmp_path / "room", 2), thread="t", playbook=str(file))
    frozen = rows(database, "SELECT playbook_sha256 FROM reprise.runs")
    file.write_text(ours.read_text().replace('title = "', 'title = "Other ', 1))
    said: list[str] = []
    await reprise.resume("t", on_event=lambda event: said.extend(event.get("lines", ())))
    assert any("mine.toml changed: the run keeps the one that it froze" in line for line in said), said
    file.unlink()
    said.clear()
    run = await reprise.resume("t", accept_all=True, reviewer="A. Martin", reason="seen", on_event=_into(said))
    assert any("mine.toml cannot be read now: the run keeps the one that it froze" in line for line in said), said
    assert run.findings["total"] and rows(database, "SELECT playbook_sha256 FROM reprise.runs") == frozen


def test_a_new_model_does_the_rest_and_needs_no_other_consent(
    tmp_path: Path, database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ScriptedEndpoint() as endpoint:
        env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x")
        asked_of = ("--engine", "openai", "--model", "extract=gpt-4.1-mini", "--model", "summarize=gpt-4.1-mini")
        cut = ("--concurrency", "1", "--batch-size", "4", "--review", "never")
        cut_off(risky(tmp_path / "room", 6), env, "sql.finish_document:after:3", *asked_of, *cut)
        done = states(database)["done"]
        ended = run_here(["resume", "t", "--model", "extract=gpt-4.1", "--json"], env, capsys)
        assert ended.returncode == 0, ended.stderr
    models = {
        row["document"]: row["model"] for row in rows(database, "SELECT document, model FROM reprise.run_document")
    }
    assert {models[name] for name in done} == {"gpt-4.1-mini"}
    assert {model for name, model in models.items() if name not in done} == {"gpt-4.1"}
    (row,) = rows(database, "SELECT changes FROM reprise.resumes WHERE kind = 'resume'")
    assert row["changes"]["models"] == {"extract": "gpt-4.1"}


async def test_a_thread_of_a_newer_program_is_refused_with_one_sentence(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 2), thread="t")
    rows(database, "UPDATE reprise.runs SET workflow_version = 7 RETURNING 1")
    before = everything(database)
    with pytest.raises(VersionNewer, match="Run t was written by workflow version 7, and this program knows 1"):
        await reprise.resume("t", accept_version=True)
    assert everything(database) == before


def _into(said: list[str]) -> Any:
    return lambda event: said.extend(event.get("lines", ()))
