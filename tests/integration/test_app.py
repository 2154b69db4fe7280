"""The facade, as a script or a notebook uses it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import psutil
import pytest
from databases import number, rows
from paths import ROOT
from sample_contracts import contracts

import graph
from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from graph.views.threads import read_run
from nodes.domain.runs.options import OptionError
from nodes.domain.shared.errors import (
    EndpointRefused,
    KnownThread,
    ReplyError,
    RepriseError,
    SourceError,
    ThreadBusy,
    UnknownThread,
)

ROOM = ROOT / "samples" / "data-room"
DANGEROUS = ROOM / "Blackpine Systems"
"""Two contracts with findings that a person must see."""
MODELS = {"extract": "gpt-4.1-mini", "summarize": "gpt-4.1-mini"}


def test_the_public_names_are_these_and_all_of_them_are_there() -> None:
    assert sorted(graph.__all__) == dir(graph)
    assert {"Reprise", "build_graph", "drive", "RunContext"} <= set(graph.__all__)
    assert all(getattr(graph, name) is not None for name in graph.__all__)


def test_every_exception_that_a_caller_may_catch_is_public() -> None:
    def below(error: type[Exception]) -> set[str]:
        own = {error.__name__} if error.__module__.startswith(("graph.", "nodes.")) else set()
        return own.union(*map(below, error.__subclasses__()))

    assert below(RepriseError) <= set(graph.__all__)


async def test_the_sample_room_is_read_reviewed_and_noted(reprise: Reprise) -> None:
    run = await reprise.start(ROOM, thread="acme-1")
    assert run.status == "needs_review"
    assert run.documents["done"] >= 15 and run.documents["failed"] == 1
    assert run.pages["ocr"] == 2 and run.pages["total"] == sum(
        count for state, count in run.pages.items() if state != "total"
    )
    findings = await reprise.findings("acme-1")
    assert {finding.alignment for finding in findings} <= {"exact", "normalized"}
    assert len({finding.finding_id for finding in findings}) == len(findings)
    waiting = [finding for finding in findings if finding.needs_review]
    assert len(waiting) == run.findings["to_review"] > 0

    ended = await reprise.resume("acme-1", accept_all=True, reviewer="A. Martin", reason="read")
    assert ended.status == "completed_with_failures"
    note = await reprise.report("acme-1")
    assert "Lettre de mission confidentielle.pdf" in note.split("## Risk per supplier")[0]
    decided = await reprise.decisions("acme-1")
    assert {(one.reviewer, one.reason, one.packet) for one in decided} == {("A. Martin", "read", run.review["packet"])}
    # A finished run is left as it is.
    assert (await reprise.resume("acme-1")).status == "completed_with_failures"


async def test_a_facade_that_is_closed_leaves_no_child_process_behind(
    database: str, home: Path, tmp_path: Path, own_children: None
) -> None:
    async with Reprise.open(database_url=database, home=home) as reprise:
        before = {process.pid for process in psutil.Process().children()}
        await reprise.start(contracts(tmp_path / "room", 1), thread="t", review="never")
        started = {process.pid for process in psutil.Process().children()} - before
        assert started
    assert not started & set(psutil.pids())


async def test_a_bad_reply_is_refused_and_the_good_one_after_it_works(reprise: Reprise, tmp_path: Path) -> None:
    run = await reprise.start(contracts(tmp_path / "room", 2), thread="t", review="always")
    for wrong in ([{"finding_id": "nonsense", "verdict": "accept"}], [{"verdict": "maybe"}], ["yes"]):
        with pytest.raises(ReplyError, match="still waits"):
            await reprise.resume("t", decisions=wrong, reviewer="A. Martin")  # type: ignore[arg-type]
    run = await reprise.status("t")
    assert (run.status, run.error) == ("needs_review", None)
    assert await reprise.decisions("t") == []
    assert (await reprise.resume("t", accept_all=True, reviewer="A. Martin")).status == "completed"


async def test_decisions_left_out_bring_the_gate_back_with_the_rest(reprise: Reprise) -> None:
    await reprise.start(DANGEROUS, thread="t")
    first, *others = [finding.finding_id for finding in await reprise.findings("t") if finding.needs_review]
    run = await reprise.resume("t", decisions=[{"finding_id": first, "verdict": "accept"}], reviewer="A. Martin")
    assert (run.status, run.review["round"], run.findings["to_review"]) == ("needs_review", 2, len(others))
    run = await reprise.resume("t", accept_all=True, reviewer="B. Petit")
    assert run.status == "completed"
    assert run.review["reviewers"] == ["A. Martin", "B. Petit"]


async def test_a_rejected_finding_lowers_the_score_and_stands_in_the_note_with_who_and_why(reprise: Reprise) -> None:
    await reprise.start(DANGEROUS, thread="t")
    worst = max(await reprise.findings("t"), key=lambda finding: (finding.needs_review, finding.score))
    reject = {"finding_id": worst.finding_id, "verdict": "reject", "reason": "negotiated away"}
    await reprise.resume("t", decisions=[reject], reviewer="A. Martin")
    await reprise.resume("t", accept_all=True, reviewer="A. Martin")
    after = {finding.finding_id: finding for finding in await reprise.findings("t")}[worst.finding_id]
    assert after.score < worst.score
    note = await reprise.report("t")
    assert "negotiated away" in note and "A. Martin" in note


async def test_decisions_can_be_stored_without_going_on_and_the_next_resume_uses_them(reprise: Reprise) -> None:
    await reprise.start(DANGEROUS, thread="t")
    assert await reprise.decide("t", accept_all=True, reviewer="A. Martin") > 0
    run = await reprise.status("t")
    assert (run.status, run.findings["to_review"]) == ("interrupted", 0)
    assert (await reprise.resume("t")).status == "completed"


async def test_a_verdict_on_all_at_once_undoes_no_rejection_that_was_stored_before(reprise: Reprise) -> None:
    await reprise.start(DANGEROUS, thread="t")
    first, *others = [finding.finding_id for finding in await reprise.findings("t") if finding.needs_review]
    reject = {"finding_id": first, "verdict": "reject", "reason": "negotiated away"}
    assert await reprise.decide("t", decisions=[reject], reviewer="A. Martin") == 1
    await reprise.resume("t", accept_all=True, reviewer="B. Petit")
    said = {one.finding_id: (one.verdict, one.reviewer) for one in await reprise.decisions("t")}
    assert said == {first: ("reject", "A. Martin")} | dict.fromkeys(others, ("accept", "B. Petit"))


async def test_without_a_review_what_needs_one_is_not_stated(reprise: Reprise) -> None:
    run = await reprise.start(DANGEROUS, thread="t", review="never")
    assert run.status == "completed"
    waiting = [finding for finding in await reprise.findings("t") if finding.needs_review]
    note = json.loads(await reprise.report("t", "json"))
    stated = {
        finding_id
        for section in note["sections"]
        if section["kind"] == "supplier"
        for sentence in section["sentences"]
        for finding_id in sentence["finding_ids"]
    }
    assert waiting and not stated & {finding.finding_id for finding in waiting}


async def test_the_language_that_is_given_is_that_of_the_note_and_no_french_contract_is_read_as_english(
    reprise: Reprise, tmp_path: Path
) -> None:
    room = tmp_path / "room"
    room.mkdir()
    clause = "La responsabilité du Prestataire est limitée, pour chaque sinistre, à la somme de 1 500 000 €."
    (room / "contrat.txt").write_text(f"Contrat de maintenance\n\nArticle 9. Responsabilité\n\n{clause}")
    (room / "short.txt").write_text("Annex")
    await reprise.start(room, thread="t", review="never", language="en")
    assert [(one.clause_type, one.quote) for one in await reprise.findings("t")] == [("cap_on_liability", clause)]
    assert "# Due diligence of supplier contracts" in await reprise.report("t")
    run = await read_run(reprise.container, await reprise.find("t"))
    assert run is not None
    languages = {row.document: row.language for row in await reprise.container.ledger.documents(run.run_id, 0, 9)}
    assert languages == {"contrat.txt": "fr", "short.txt": "en"}


async def test_wrong_inputs_are_named_before_a_thread_begins(reprise: Reprise, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no folder or file"):
        await reprise.start(tmp_path / "nowhere", thread="t")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="is empty"):
        await reprise.start(tmp_path / "empty", thread="t")
    room = contracts(tmp_path / "room", 1)
    with pytest.raises(OptionError, match="batch_size"):
        await reprise.start(room, thread="t", batch_size=0)
    with pytest.raises(OptionError, match="engine"):
        await reprise.start(room, thread="t", engine="oracle")
    with pytest.raises(EndpointRefused, match="OPENAI_API_KEY"):
        await reprise.start(room, thread="t", engine="openai")
    with pytest.raises(UnknownThread):
        await reprise.status("t")
    await reprise.start(room, thread="t")
    with pytest.raises(KnownThread, match=r"run\.py resume t"):
        await reprise.start(room, thread="t")


async def test_a_room_in_which_nothing_can_be_read_is_no_room_without_risk(reprise: Reprise, tmp_path: Path) -> None:
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    with pytest.raises(SourceError, match=r"None of the 1 document could be read.*torn\.pdf"):
        await reprise.start(tmp_path, thread="t")
    run = await reprise.status("t")
    assert run.status == "failed" and "torn.pdf" in run.error


async def test_a_thread_is_found_by_name_id_prefix_and_last(reprise: Reprise, tmp_path: Path) -> None:
    room = contracts(tmp_path / "room", 1)
    one = await reprise.start(room, thread="falcon-1")
    two = await reprise.start(room, thread="falcon-2")
    assert await reprise.find("falcon-1") == await reprise.find(one.thread_id) == one.thread_id
    assert await reprise.find(two.thread_id[:13]) == await reprise.find("last") == two.thread_id
    with pytest.raises(UnknownThread, match="2 runs begin with falcon"):
        await reprise.find("falcon")
    with pytest.raises(UnknownThread):
        await reprise.find("falcon%")


async def test_a_driven_thread_refuses_a_second_driver_of_the_same_process(reprise: Reprise, tmp_path: Path) -> None:
    run = await reprise.start(contracts(tmp_path / "room", 1), thread="t", review="always")
    async with graph.drive(run.thread_id, reprise.container.driver_context):
        assert (await reprise.status("t")).status == "running"
        with pytest.raises(ThreadBusy):
            await reprise.resume("t")


async def test_a_second_run_of_a_matter_pays_for_nothing_and_a_fresh_one_for_all(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    room = contracts(tmp_path / "room", 4)
    first = await asking.start(room, thread="one", engine="openai", models=MODELS)
    paid = endpoint.counts()["received"]
    second = await asking.start(room, thread="two", engine="openai", models=MODELS)
    assert endpoint.counts()["received"] == paid
    assert second.cost["usd"] == 0 and second.cost["avoided_usd"] == pytest.approx(first.cost["usd"])
    assert second.cost["calls_reused"] > 0
    await asking.start(room, thread="three", engine="openai", models=MODELS, fresh=True)
    assert endpoint.counts()["received"] == 2 * paid


async def test_a_quote_that_is_not_in_the_document_goes_to_a_person_and_is_never_stated(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    endpoint.script(faults={"fabricated": 1.0})
    run = await asking.start(contracts(tmp_path / "room", 3), thread="t", engine="openai", models=MODELS)
    assert run.status == "needs_review"
    lost = [finding for finding in await asking.findings("t") if finding.alignment == "not_found"]
    assert lost and all(finding.needs_review and finding.page is None for finding in lost)
    await asking.resume("t", accept_all=True, reviewer="A. Martin")
    note = json.loads(await asking.report("t", "json"))
    stated = [one for section in note["sections"] for one in section["sentences"] if one["kind"] == "fact"]
    ids = {finding.finding_id for finding in lost}
    assert stated and not [one for one in stated if ids & set(one["finding_ids"])]


async def test_a_spent_budget_holds_the_run_and_a_raise_goes_on(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path, database: str
) -> None:
    room = contracts(tmp_path / "room", 40)
    whole = await asking.start(room, thread="whole", matter="other", engine="openai", models=MODELS)
    asked = endpoint.counts()["received"]
    third = Decimal(str(whole.cost["usd"])) / 3
    run = await asking.start(room, thread="t", engine="openai", models=MODELS, budget_usd=third, concurrency=1)
    assert run.status == "paused" and run.cost["usd"] <= third
    assert 0 < run.documents["done"] < 40
    assert (await asking.resume("t")).status == "paused"
    ended = await asking.resume("t", budget_usd=10)
    assert ended.status == whole.status
    assert ended.cost["usd"] == pytest.approx(whole.cost["usd"])
    assert endpoint.counts()["received"] == 2 * asked
    assert number(database, "SELECT count(*) FROM reprise.calls WHERE state NOT IN ('completed', 'reused')") == 0


async def test_a_budget_for_a_model_without_a_price_is_refused_at_the_start(asking: Reprise, tmp_path: Path) -> None:
    room = contracts(tmp_path / "room", 1)
    with pytest.raises(OptionError, match="price of house-7b is not known"):
        await asking.start(room, thread="t", engine="openai", models={"extract": "house-7b"}, budget_usd=1)
    run = await asking.start(room, thread="t", engine="openai", models={"extract": "house-7b", "summarize": "house-7b"})
    assert run.cost["basis"] == "unknown" and run.cost["calls_unpriced"] > 0


async def test_one_document_that_a_model_cannot_do_fails_by_name_and_disturbs_nobody(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path, database: str
) -> None:
    endpoint.script([{"match": "Firm 2 Ltd", "respond": "this is no JSON"}])
    run = await asking.start(contracts(tmp_path / "room", 5), thread="t", engine="openai", models=MODELS)
    assert (run.documents["done"], run.documents["failed"]) == (4, 1)
    failed = rows(database, "SELECT document, reason FROM reprise.run_document WHERE state = 'failed'")
    assert failed[0]["document"] == "contract_0002.pdf" and failed[0]["reason"]
    assert run.status == "completed_with_failures"


async def test_a_cancelled_run_keeps_what_is_done_and_can_be_taken_up_again(reprise: Reprise, tmp_path: Path) -> None:
    await reprise.start(contracts(tmp_path / "room", 2), thread="t", review="always")
    assert (await reprise.cancel("t")).status == "cancelled"
    assert (await reprise.resume("t", accept_all=True, reviewer="A. Martin")).status == "completed"
