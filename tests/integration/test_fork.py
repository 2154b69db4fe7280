"""A run scored anew by another playbook: nothing is read, nobody is asked, nothing unsought is missing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_runs import objects, refused, run_here
from databases import number, rows
from langgraph.checkpoint.memory import InMemorySaver
from paths import ROOT
from processes import environment, run
from risky_contracts import risky
from sample_contracts import contracts

from graph import Reprise, build_graph, memory_services
from graph.runtime.fault_points import trace_counts
from graph.testing.endpoint import ScriptedEndpoint
from graph.views.threads import read_run
from nodes.domain.shared.errors import KnownThread, NotForkable, PlaybookError

SHIPPED = (ROOT / "nodes" / "playbooks" / "due-diligence.toml").read_text("utf-8")
STRICT = (
    SHIPPED.replace("high = 45", "high = 30")
    .replace("medium = 20", "medium = 10")
    .replace("version = 2", "version = 9")
)
PETS = '\n[[clauses]]\ntype = "pets"\ntitle = {en = "Pets"}\nquestion = "?"\nrequired = true\npoints_if_missing = 90\n'
MODELS = {"extract": "gpt-4.1-mini", "summarize": "gpt-4.1-mini"}


def playbook(folder: Path, text: str) -> str:
    file = folder / "other.toml"
    file.write_text(text)
    return str(file)


def scores(findings: Any) -> dict[str, tuple[int, str]]:
    return {one.finding_id: (one.score, one.risk) for one in findings}


async def test_a_fork_of_a_finished_run_scores_its_findings_without_a_call(
    reprise: Reprise, tmp_path: Path, database: str
) -> None:
    room = risky(tmp_path / "room", 4)
    await reprise.start(room, thread="first", review="never", batch_size=3)
    shutil.rmtree(room)
    calls = number(database, "SELECT count(*) FROM reprise.calls")
    view = await reprise.fork("first", playbook=playbook(tmp_path, STRICT), name="second", review="never")
    assert (view.status, view.documents["done"], view.pages["read"], view.batch["total"]) == ("completed", 4, 4, 2)
    assert view.cost["calls"] == view.cost["calls_reused"] == 0
    assert number(database, "SELECT count(*) FROM reprise.calls") == calls
    before, after = scores(await reprise.findings("first")), scores(await reprise.findings("second"))
    assert before.keys() == after.keys() and {one for one, _ in before.values()} == {one for one, _ in after.values()}
    assert sum(risk == "high" for _, risk in after.values()) > sum(risk == "high" for _, risk in before.values())
    parent = await reprise.status("first")
    assert view.parent_thread_id == parent.thread_id and parent.parent_thread_id is None
    assert (view.matter, view.engine, parent.status) == (parent.matter, "local", "completed")
    assert "# Due diligence of supplier contracts: second" in await reprise.report("second")
    assert [one.playbook_sha256 for one in [await read_run(reprise.container, view.thread_id)] if one] != [
        one.playbook_sha256 for one in [await read_run(reprise.container, parent.thread_id)] if one
    ]


async def test_a_fork_asks_no_model_for_the_note_either(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    room = contracts(tmp_path / "room", 3)
    await asking.start(room, thread="paid", engine="openai", models=MODELS, review="never")
    before = len(endpoint.calls("received"))
    assert before > 3
    view = await asking.fork("paid", playbook=playbook(tmp_path, STRICT), name="free", review="never")
    assert (view.status, view.engine, view.cost["calls"], view.cost["usd"]) == ("completed", "openai", 0, 0.0)
    assert len(endpoint.calls("received")) == before
    assert scores(await asking.findings("paid")).keys() == scores(await asking.findings("free")).keys()


async def test_plain_langgraph_forks_by_an_option_of_the_input(tmp_path: Path) -> None:
    async with memory_services() as services:
        graph = build_graph(services).compile(checkpointer=InMemorySaver())
        options = {"review": "never"}
        first = await graph.ainvoke(
            {"source": str(risky(tmp_path / "room", 2)), "options": options}, thread_config("1")
        )
        given = {"playbook": playbook(tmp_path, STRICT), "options": {**options, "fork": first["run_id"]}}
        second = await graph.ainvoke(given, thread_config("2"))
        runs = [await services.ledger.run(one["run_id"]) for one in (first, second)]
        assert runs[1].parent_thread_id == runs[0].thread_id and second["run_id"] != first["run_id"]
        notes = [(await services.artifacts.get(one["note"])).decode() for one in (first, second)]
        assert notes[0] != notes[1] and "high risk" in notes[1]


def thread_config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


async def test_a_fork_of_a_waiting_run_leaves_it_waiting(reprise: Reprise, tmp_path: Path) -> None:
    first = await reprise.start(risky(tmp_path / "room", 2), thread="waits")
    assert first.status == "needs_review"
    view = await reprise.fork("waits", playbook="due-diligence", name="same")
    assert view.status == "needs_review" and view.findings == first.findings
    assert (await reprise.status("waits")).to_json()["review"] == first.review


async def test_decisions_hold_where_a_finding_looks_the_same_and_are_asked_again_where_not(
    reprise: Reprise, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 2), thread="decided")
    await reprise.resume("decided", accept_all=True, reviewer="A. Martin", reason="checked")
    made = await reprise.decisions("decided")
    same = await reprise.fork("decided", playbook="due-diligence", name="same")
    assert same.status == "completed"
    carried = await reprise.decisions("same")
    assert [(one.finding_id, one.verdict, one.reviewer, one.at, one.packet) for one in carried] == [
        (one.finding_id, one.verdict, one.reviewer, one.at, one.packet) for one in made
    ]
    assert {one.surface for one in carried} == {"fork"}
    text = STRICT.replace(
        'points = 15\nreason = "the contract can be ended', 'points = 20\nreason = "the contract can be ended'
    )
    assert text != STRICT
    other = await reprise.fork("decided", playbook=playbook(tmp_path, text), name="other")
    asked = {one["finding_id"] for one in (await reprise.packet(other.thread_id))["findings"]}
    kept = {one.finding_id for one in await reprise.decisions("other")}
    moved = {one.finding_id for one in await reprise.findings("decided") if one.clause_type.startswith("termination_")}
    assert moved and moved <= asked and not kept & moved and not asked & kept


async def test_decisions_of_people_whom_the_new_playbook_does_not_name_are_not_carried_over(
    reprise: Reprise, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 1), thread="decided")
    await reprise.resume("decided", accept_all=True, reviewer="A. Martin", reason="checked")
    text = SHIPPED.replace("[[clauses]]", '[[review.reviewers]]\nnames = ["Legal"]\n[[clauses]]', 1)
    view = await reprise.fork("decided", playbook=playbook(tmp_path, text), name="legal")
    assert view.status == "needs_review" and await reprise.decisions("legal") == []


async def test_what_the_parent_did_not_look_for_is_named_and_not_reported_missing(
    reprise: Reprise, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 2), thread="first", review="never")
    view = await reprise.fork("first", playbook=playbook(tmp_path, SHIPPED + PETS), name="pets", review="never")
    assert not [one for one in await reprise.findings("pets") if one.about == "pets"]
    assert await reprise.unsearched("pets") == [
        "pets was not looked for in 2 documents: start a new run to look for it."
    ]
    note = await reprise.report("pets")
    assert "Not looked for in 2 documents: Pets." in note and "No clause on “Pets”" not in note
    assert view.findings == (await reprise.status("first")).findings
    again = await reprise.fork("pets", playbook="due-diligence", name="back", review="never")
    assert again.status == "completed" and await reprise.unsearched("back") == []


async def test_rules_of_the_new_playbook_are_not_said_to_have_been_applied(reprise: Reprise, tmp_path: Path) -> None:
    await reprise.start(risky(tmp_path / "room", 1), thread="first", review="never")
    own = '\n[[rules]]\nlanguage = "en"\ntype = "insurance"\nkeywords = ["insur"]\n'
    await reprise.fork("first", playbook=playbook(tmp_path, SHIPPED + own), name="own", review="never")
    assert await reprise.unsearched("own") == [
        "The rules of this playbook were not applied: start a new run to look with them."
    ]


async def test_a_fork_is_refused_before_anything_is_begun(reprise: Reprise, tmp_path: Path, database: str) -> None:
    await reprise.start(risky(tmp_path / "room", 2), thread="first", review="never")
    with pytest.raises(PlaybookError):
        await reprise.fork("first", playbook="none-such", name="x")
    with pytest.raises(KnownThread, match="resume first"):
        await reprise.fork("first", playbook="due-diligence", name="first")
    rows(database, "UPDATE reprise.run_document SET state = 'pending' WHERE ordinal = 1 RETURNING ordinal")
    with pytest.raises(NotForkable, match=r"1 document of first are still to be read: python run\.py resume first"):
        await reprise.fork("first", playbook="due-diligence", name="x")
    assert number(database, "SELECT count(*) FROM reprise.runs") == 1
    assert number(database, "SELECT count(DISTINCT thread_id) FROM public.checkpoints") == 1


async def test_documents_that_failed_or_came_late_are_the_same_in_the_fork(
    reprise: Reprise, tmp_path: Path, database: str
) -> None:
    room = risky(tmp_path / "room", 3)
    (room / "broken.pdf").write_bytes(b"%PDF-1.4 this is none")
    first = await reprise.start(room, thread="first", review="never", batch_size=2)
    rows(database, "UPDATE reprise.run_document SET slow = true WHERE ordinal = 2 RETURNING ordinal")
    view = await reprise.fork("first", playbook="due-diligence", name="second", review="never")
    assert (view.status, view.documents, view.pages) == ("completed_with_failures", first.documents, first.pages)
    assert scores(await reprise.findings("second")) == scores(await reprise.findings("first"))
    columns = "ordinal, state, reason, text_ref, findings_ref, findings"
    plain = f"SELECT {columns} FROM reprise.run_document WHERE thread_id = %s ORDER BY 1"
    assert rows(database, plain, view.thread_id) == rows(database, plain, first.thread_id)


def test_the_commands_fork_and_compare(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    room = risky(tmp_path / "room", 2)
    assert run_here(["start", room, "--thread", "one", "--review", "never"], env, capsys).returncode == 0
    file = playbook(tmp_path, STRICT + PETS)
    ended = run_here(["fork", "one", "--playbook", file, "--thread", "two", "--review", "never"], env, capsys)
    assert ended.returncode == 0, ended.stderr
    assert "note: pets was not looked for in 2 documents: start a new run to look for it." in ended.stderr
    assert "two  completed" in ended.stdout and "fork of" in ended.stdout
    said = refused(run_here(["fork", "one", "--playbook", file, "--thread", "two"], env, capsys), 2)
    assert "resume two" in said
    (found,) = objects(run_here(["compare", "one", "two", "--json"], env, capsys))
    assert found["changed"] and not found["only_first"] and not found["only_second"]
    assert all(one["first"]["score"] == one["second"]["score"] for one in found["changed"])
    assert all(one["first"]["risk"] != one["second"]["risk"] for one in found["changed"])
    assert found["same"] + len(found["changed"]) == found["first"]["findings"] == found["second"]["findings"]
    shown = run_here(["compare", "one", "two"], env, capsys).stdout
    assert f"{found['same']} findings alike" in shown and "contract_00" in shown
    assert "Nothing differs" in run_here(["compare", "one", "one"], env, capsys).stdout


async def test_compare_names_documents_and_findings_that_only_one_run_has(reprise: Reprise, tmp_path: Path) -> None:
    room = risky(tmp_path / "room", 2)
    await reprise.start(room, thread="first")
    await reprise.resume("first", accept_all=True, reviewer="A. Martin", reason="checked")
    (room / "contract_001.txt").unlink()
    (room / "new.txt").write_text((room / "contract_000.txt").read_text().replace("France", "Belgium"))
    text = SHIPPED.split('[[clauses]]\ntype = "anti_assignment"')
    rest = "[[clauses]]" + text[1].split("[[clauses]]", 1)[1]
    await reprise.start(room, thread="second", review="never", playbook=playbook(tmp_path, text[0] + rest))
    found = (await reprise.compare("first", "second")).to_json()
    assert found["documents"] == {"only_first": ["contract_001.txt"], "only_second": ["new.txt"], "state": []}
    assert {one["clause_type"] for one in found["only_first"]} == {"anti_assignment"} and not found["only_second"]
    assert {(one["first"]["verdict"], one["second"]["verdict"]) for one in found["changed"]} == {("accept", None)}
    assert all(one["first"] != one["second"] for one in found["suppliers"]) and found["suppliers"]


def test_a_fork_that_is_killed_between_its_input_and_its_first_step_goes_on(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    room = risky(tmp_path / "room", 1)
    assert run_here(["start", room, "--thread", "one", "--review", "never"], env, capsys).returncode == 0
    calls = number(database, "SELECT count(*) FROM reprise.calls")
    at_first = {**env, "REPRISE_DIE_AT": "saver.put_writes:after:1"}
    assert run(["fork", "one", "--playbook", "due-diligence", "--thread", "two"], at_first).returncode == -9
    end = run_here(["resume", "two", "--json"], env, capsys)
    assert (end.returncode, json.loads(end.stdout)["status"]) == (0, "completed")
    assert number(database, "SELECT count(*) FROM reprise.calls") == calls


@pytest.mark.slow
async def test_a_fork_that_is_killed_anywhere_goes_on_to_the_same_end(
    database: str, home: Path, tmp_path: Path
) -> None:
    env = environment(database, home)
    assert run(["start", risky(tmp_path / "room", 3), "--thread", "one", "--batch-size", "2"], env).returncode == 0
    assert run(["resume", "one", "--accept-all", "--reviewer", "A", "--reason", "x"], env).returncode == 0
    fork = ["fork", "one", "--playbook", playbook(tmp_path, STRICT), "--json"]
    trace = tmp_path / "trace"
    whole = run([*fork, "--thread", "whole"], {**env, "REPRISE_TRACE": str(trace)})
    assert whole.returncode == 0, whole.stderr
    calls = number(database, "SELECT count(*) FROM reprise.calls")
    killed = places(trace)
    for place in killed:
        assert run([*fork, "--thread", place], {**env, "REPRISE_DIE_AT": place}).returncode == -9, place
        end = run(["resume", place, "--json"], env)
        if "No run is named" in end.stderr:  # it died before there was anything to resume
            end = run([*fork, "--thread", place], env)
        assert end.returncode == 0, (place, end.stderr)
    async with Reprise.open(database_url=database, home=home) as reprise:
        for place in killed:
            found = (await reprise.compare("whole", place)).to_json()
            assert found["same"] == found["first"]["findings"] == found["second"]["findings"] > 0, place
            made = [await reprise.decisions(thread) for thread in ("whole", place)]
            assert made[0] == made[1], place
    assert number(database, "SELECT count(*) FROM reprise.calls") == calls


def places(trace: Path) -> list[str]:
    """Boundaries of what a fork writes, before and after, at their first and last passing."""
    passed = trace_counts(trace)
    words = ("fork_run:after", "sql.decide", "keep_artifact:after", "saver.put:after", "saver.put_writes:after")
    chosen = [place for place in passed if any(word in place for word in words)]
    return [f"{place}:{n}" for place in chosen for n in sorted({1, passed[place]})]
