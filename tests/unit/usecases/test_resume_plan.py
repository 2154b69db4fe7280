"""The plan of a resume: every refusal, every repair, every input of the graph. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from langgraph.types import Interrupt, PregelTask, StateSnapshot
from paths import ROOT
from sample_packets import make_finding

from graph.usecases.resume.plan import (
    GO_ON,
    UNATTENDED,
    WAIT,
    Examination,
    InterruptReading,
    ResumePlan,
    ResumeRequest,
    RetryDocument,
    ThreadReading,
    decisions_of,
    late_decisions,
    next_input,
    plan_resume,
)
from graph.usecases.resume.preflight import PreflightReport
from graph.usecases.resume.versions import VersionDiff
from graph.views.outbox import EffectRow
from graph.views.run_records import RunRecords
from graph.views.stranded import Stranded
from nodes.domain.review.review import Decision
from nodes.domain.runs.settings import WORKFLOW_VERSION, Run, Settings, Tally
from nodes.domain.runs.versions import Change, ReworkEstimate
from nodes.domain.shared.errors import (
    ArtifactMissing,
    ReplyError,
    SourceError,
    StepUnknown,
    VersionChanged,
    VersionNewer,
)

THREAD = "6f0f2d5e-0000-4000-8000-000000000001"
NOW = datetime(2026, 1, 2, tzinfo=UTC)
PACKET_SHA = "a" * 64
NOTHING = ResumeRequest()
ACCEPT = {"reviewer": "A. Martin", "accept_all": True, "reason": "read"}

RUN = Run(
    run_id="run-1",
    thread_id=THREAD,
    name="acme-1",
    matter="default",
    job_id="",
    playbook="due-diligence",
    playbook_sha256="b" * 64,
    engine="local",
    workflow_version=WORKFLOW_VERSION,
    settings=Settings(),
    documents_total=4,
)
STATE: dict[str, Any] = {
    "run_id": "run-1",
    "workflow_version": WORKFLOW_VERSION,
    "documents_total": 4,
    "batch_size": 2,
    "batch_index": 2,
    "batch_total": 2,
}
PUBLISHED = {**STATE, "published": True}


def snapshot(
    *steps: str, state: dict[str, Any] = STATE, asks: dict[str, Any] | None = None, source: str = "loop"
) -> StateSnapshot:
    """A head that comes to these steps next; `asks` is the value of the interrupt at which it waits."""
    interrupts = () if asks is None else (Interrupt(asks, id="interrupt-1"),)
    tasks = tuple(PregelTask(f"task-{step}", step, (), None, interrupts) for step in steps)
    config: Any = {"configurable": {"thread_id": THREAD, "checkpoint_id": "checkpoint-1"}}
    metadata: Any = {"source": source}
    return StateSnapshot(state, steps, config, metadata, None, None, tasks, interrupts)


def records(head: StateSnapshot, run: Run | None = RUN, undelivered: str = "", **documents: int) -> RunRecords:
    """A thread with so many documents by state; `undelivered` is the error of a webhook that was not taken."""
    counts = {"total": 4, "done": 4, "failed": 0, "skipped": 0, "deferred": 0, **documents}
    effect: EffectRow = {
        "kind": "webhook",
        "key": "webhook",
        "state": "pending" if undelivered else "done",
        "attempts": 1,
        "error": undelivered,
        "resolution": None,
        "name": "",
        "where": "",
    }
    return RunRecords(
        thread_id=THREAD,
        head=head,
        run=run,
        live=False,
        last_resume=None,
        resumes=0,
        tally=Tally(counts, {}, 0),
        cost={},
        artifacts=(),
        decisions=(),
        effects=[effect],
        updated_at=None,
    )


def reading(
    *steps: str,
    state: dict[str, Any] = STATE,
    documents: dict[str, int] | None = None,
    undelivered: str = "",
    **fields: Any,
) -> ThreadReading:
    return ThreadReading(records(snapshot(*steps, state=state), RUN, undelivered, **(documents or {})), **fields)


def packet(*findings: int) -> dict[str, Any]:
    """The part of a review packet that a reply is read against."""
    waiting = [make_finding(number).to_json() for number in findings]
    ids = [finding["finding_id"] for finding in waiting]
    return {
        "run_id": "run-1",
        "findings": waiting,
        "decided": [],
        "one_person": {"finding_ids": ids, "risks": ["low", "medium", "high"]},
    }


def decision(number: int, verdict: Any = "accept") -> Decision:
    return Decision(f"{number:012x}", verdict, "A. Martin", "read", PACKET_SHA, NOW)


DIFF = VersionDiff([Change("reader", "2", "3")], ReworkEstimate(documents=2), {"reader": "3"})
STRANDED = Stranded("score", "rank", {"batch_index": 2})
LOST_INPUTS, NO_SOURCE = ArtifactMissing("The playbook is lost."), SourceError("The folder is gone.")


# Refusals


def test_a_thread_of_a_newer_program_is_refused_by_its_run_and_by_its_state() -> None:
    newer_run = ThreadReading(records(snapshot("extract"), replace(RUN, workflow_version=WORKFLOW_VERSION + 1)))
    newer_state = reading("extract", state={**STATE, "workflow_version": WORKFLOW_VERSION + 1})
    for thread in (newer_run, newer_state):
        refusal = plan_resume(thread, ResumeRequest(accept_version=True)).refusal
        assert isinstance(refusal, VersionNewer) and "Run acme-1" in str(refusal)


def test_a_stranded_thread_is_refused_until_the_version_is_accepted() -> None:
    plan = plan_resume(reading(stranded=STRANDED), NOTHING)
    assert isinstance(plan.refusal, StepUnknown)
    assert str(plan.refusal) == plan.stranded and "rank" in plan.stranded
    assert plan.repairs == () and "adrift" not in plan.notes
    assert plan_resume(reading(stranded=STRANDED), ResumeRequest(accept_version=True)).refusal is None


def test_other_versions_are_refused_until_they_are_accepted_and_only_where_something_is_to_do() -> None:
    changed = reading("extract", examination=Examination(DIFF))
    assert isinstance(plan_resume(changed, NOTHING).refusal, VersionChanged)
    assert plan_resume(changed, ResumeRequest(accept_version=True)).refusal is None
    done = Examination(replace(DIFF, redo=ReworkEstimate()))
    assert plan_resume(reading("publish", examination=done), NOTHING).refusal is None


def test_inputs_that_are_lost_for_good_and_a_place_that_is_gone_are_refused_whatever_is_accepted() -> None:
    for error, examination in (
        (LOST_INPUTS, Examination(inputs_lost=LOST_INPUTS)),
        (NO_SOURCE, Examination(source_gone=NO_SOURCE)),
    ):
        thread = reading("extract", examination=examination)
        assert plan_resume(thread, ResumeRequest(accept_version=True)).refusal is error


def test_of_several_refusals_the_first_in_their_order_is_told() -> None:
    everything = Examination(DIFF, inputs_lost=LOST_INPUTS, source_gone=NO_SOURCE)
    thread = reading(state={**STATE, "workflow_version": 99}, stranded=STRANDED, examination=everything)
    assert isinstance(plan_resume(thread, NOTHING).refusal, VersionNewer)
    thread = replace(thread, records=records(snapshot()))
    assert isinstance(plan_resume(thread, NOTHING).refusal, StepUnknown)
    thread = replace(thread, stranded=None)
    assert plan_resume(thread, NOTHING).refusal is LOST_INPUTS
    thread = replace(thread, examination=replace(everything, inputs_lost=None))
    assert isinstance(plan_resume(thread, NOTHING).refusal, VersionChanged)
    assert plan_resume(thread, ResumeRequest(accept_version=True)).refusal is NO_SOURCE


def test_a_thread_whose_inputs_are_not_frozen_is_neither_refused_nor_repaired() -> None:
    thread = ThreadReading(records(snapshot("ingest", state={}), None))
    assert plan_resume(thread, NOTHING) == ResumePlan()
    assert plan_resume(thread, ResumeRequest(retry_failed=True)).idle


# Nothing to do


@pytest.mark.parametrize(
    ("fields", "request_", "idle"),
    [
        ({}, NOTHING, True),
        ({"documents": {"failed": 1}}, NOTHING, True),
        ({"documents": {"failed": 1}}, ResumeRequest(retry_failed=True), False),
        ({"documents": {"deferred": 1}}, NOTHING, False),
        ({"undelivered": "The webhook is not done yet."}, NOTHING, False),
        ({"lost": "note"}, NOTHING, False),
    ],
)
def test_a_run_at_its_end_is_left_as_it_is_unless_something_is_to_be_taken_up(
    fields: dict[str, Any], request_: ResumeRequest, idle: bool
) -> None:
    assert plan_resume(reading(state=PUBLISHED, **fields), request_).idle is idle


def test_a_retry_alone_does_nothing_where_nothing_failed_and_never_keeps_a_reply_from_its_gate() -> None:
    gate = reading("needs_review", documents={"failed": 0})
    assert plan_resume(gate, ResumeRequest(retry_failed=True)).idle
    assert not plan_resume(gate, ResumeRequest(retry_failed=True, accept_all=True)).idle
    assert not plan_resume(gate, ResumeRequest(retry_failed=True, decisions=[])).idle
    assert not plan_resume(gate, ResumeRequest(retry_failed=True, settings={"budget_usd": "2"})).idle
    failed = reading("needs_review", documents={"failed": 1})
    assert not plan_resume(failed, ResumeRequest(retry_failed=True)).idle
    assert not plan_resume(gate, NOTHING).idle


# Repairs


def test_a_stranded_thread_goes_on_after_its_last_step_with_what_that_returned() -> None:
    plan = plan_resume(reading(stranded=STRANDED), ResumeRequest(accept_version=True))
    assert [(repair.as_node, repair.changes) for repair in plan.repairs] == [("score", {"batch_index": 2})]
    assert plan.notes["adrift"] == "rank" and plan.retry is None
    unnamed = replace(STRANDED, wanted="")
    assert plan_resume(reading(stranded=unnamed), ResumeRequest(accept_version=True)).notes["adrift"] == "score"


def test_a_lost_note_is_written_again_from_the_findings_and_scored_again_without_them() -> None:
    thread = reading(state={**PUBLISHED, "review_round": 2}, lost="note")
    (repair,) = plan_resume(thread, NOTHING).repairs
    assert repair.as_node == "record_review" and "review_round" not in repair.changes
    assert repair.changes["published"] is False
    (repair,) = plan_resume(replace(thread, findings_there=False), NOTHING).repairs
    assert (repair.as_node, repair.changes["review_round"]) == ("extract", 1)


@pytest.mark.parametrize("lost", ["packet", "findings"])
def test_a_lost_packet_or_lost_findings_are_made_again_by_the_score_of_the_same_round(lost: str) -> None:
    plan = plan_resume(reading("needs_review", lost=lost), NOTHING)
    assert [(repair.as_node, repair.changes["review_round"]) for repair in plan.repairs] == [("extract", 0)]
    assert plan.notes["made_again"] == lost and f"the {lost} that the next step needs" in plan.lines[-1]


def lane(*states: str) -> list[RetryDocument]:
    return [RetryDocument(ordinal, state == "deferred", state) for ordinal, state in enumerate(states)]


def test_documents_that_wait_behind_the_retry_lane_bring_the_thread_back_to_it() -> None:
    passed = {**PUBLISHED, "slow_total": 1, "slow_index": 1}
    waiting = reading(state=passed, retry_lane=lane("deferred"))
    plan = plan_resume(waiting, NOTHING)
    assert plan.retry is not None and plan.retry.as_node == "extract"
    assert (plan.retry.changes["slow_total"], plan.retry.changes["slow_index"]) == (1, 0)
    assert plan.retry.changes["headline"] == "extract: 1 document to be tried once more"
    assert not plan.retry_failed


def test_failed_documents_come_to_the_retry_lane_only_when_that_is_asked_for() -> None:
    failed = reading(state=PUBLISHED, retry_lane=lane("failed", "failed"), documents={"failed": 2})
    assert plan_resume(failed, NOTHING).retry is None
    plan = plan_resume(failed, ResumeRequest(retry_failed=True))
    assert plan.retry_failed and plan.retry is not None
    assert plan.retry.changes["headline"] == "extract: 2 documents to be tried once more"


def test_a_lane_that_is_still_to_come_and_open_batches_are_left_to_the_thread_itself() -> None:
    ahead = {**STATE, "slow_total": 2, "slow_index": 0}
    assert plan_resume(reading("extract", state=ahead, retry_lane=lane("deferred", "deferred")), NOTHING).retry is None
    still_open = {**STATE, "batch_index": 1}
    assert plan_resume(reading("extract", state=still_open, retry_lane=lane("deferred")), NOTHING).retry is None


def test_a_webhook_that_was_not_taken_is_sent_again_unless_the_note_is_written_anew() -> None:
    thread = reading(state=PUBLISHED, undelivered="The webhook is not done yet.")
    retry = plan_resume(thread, NOTHING).retry
    assert retry is not None and (retry.as_node, retry.changes["published"]) == ("summarize", False)
    assert plan_resume(replace(thread, lost="note"), NOTHING).retry is None
    after_publish = Stranded("publish", "audit", {"published": True})
    stranded = reading(stranded=after_publish, undelivered="The webhook is not done yet.")
    assert plan_resume(stranded, ResumeRequest(accept_version=True)).retry is not None


def test_a_state_that_names_the_run_of_another_thread_has_nothing_taken_up() -> None:
    edited = reading(state={**PUBLISHED, "run_id": "run-2"}, retry_lane=lane("deferred"), documents={"deferred": 1})
    plan = plan_resume(edited, ResumeRequest(retry_failed=True))
    assert plan.idle and plan.retry is None and not plan.retry_failed


# What is stored and said


def test_the_notes_and_lines_of_a_plan_say_what_was_agreed_and_seen() -> None:
    examination = Examination(DIFF, PreflightReport(4, as_frozen=4), ["playbook"])
    request = ResumeRequest(accept_version=True, settings={"models": {"extract": "gpt-4.1"}, "budget_usd": None})
    plan = plan_resume(reading("extract", examination=examination), request)
    assert plan.notes["models"] == {"extract": "gpt-4.1"} and plan.notes["versions"] == [["reader", "2", "3"]]
    assert plan.notes["checked"]["as_frozen"] == 4
    assert [line.split(":")[0].split(" changed")[0] for line in plan.lines] == [
        "the reader (2 → 3)",
        "checked",
        "the frozen playbook was lost and is made again",
    ]
    assert (plan.versions, plan.inputs) == (DIFF.to_json(), plan.notes["checked"])
    gone = plan_resume(reading("extract", examination=Examination(DIFF, source_gone=NO_SOURCE)), NOTHING)
    assert gone.inputs == {"error": "The folder is gone."}


# Inputs of the graph

NO_ANSWER = InterruptReading(NOW)


def test_a_thread_between_steps_goes_on_and_one_at_its_end_waits() -> None:
    assert next_input(snapshot("extract"), NO_ANSWER, None, "api") is GO_ON
    assert next_input(snapshot("needs_review"), NO_ANSWER, ACCEPT, "api") is GO_ON
    assert next_input(snapshot(state=PUBLISHED), NO_ANSWER, ACCEPT, "api") is WAIT


def test_a_thread_that_was_killed_on_its_input_goes_on() -> None:
    head = snapshot("ingest", state={}, source="input")._replace(next=())
    assert next_input(head, NO_ANSWER, None, "api") is GO_ON
    assert next_input(head._replace(tasks=()), NO_ANSWER, None, "api") is WAIT


def test_a_cancelled_run_waits_for_whoever_takes_the_cancellation_back() -> None:
    cancelled = replace(NO_ANSWER, run=replace(RUN, cancelled_at=NOW))
    assert next_input(snapshot("extract"), cancelled, None, UNATTENDED) is WAIT
    assert next_input(snapshot("extract"), replace(NO_ANSWER, run=RUN), None, UNATTENDED) is GO_ON
    assert next_input(snapshot("extract"), cancelled, None, "api") is GO_ON


GATE = snapshot("needs_review", state={**STATE, "packet": PACKET_SHA}, asks={"kind": "review"})


def test_the_gate_waits_for_a_reply_or_for_the_decisions_that_are_still_missing() -> None:
    asked = replace(NO_ANSWER, packet=packet(1, 2), decisions=[decision(1)])
    assert next_input(GATE, asked, None, "api") is WAIT
    decided = next_input(GATE, replace(asked, decisions=[decision(1), decision(2)]), None, "api")
    assert decided.command is not None and decided.decisions == ()
    assert decided.command.resume == {"interrupt-1": {"packet": PACKET_SHA, "stored": True}}
    assert next_input(GATE, replace(NO_ANSWER, packet=packet()), None, "api") is WAIT


def test_a_reply_to_the_gate_is_stored_with_its_surface_and_a_bad_one_is_refused() -> None:
    asked = replace(NO_ANSWER, packet=packet(1, 2), decisions=[decision(1, "reject")])
    graph_input = next_input(GATE, asked, ACCEPT, "cli")
    assert [(made.finding_id, made.surface, made.at) for made in graph_input.decisions] == [(f"{2:012x}", "cli", NOW)]
    assert graph_input.command is not None and not graph_input.waits
    bad = next_input(GATE, asked, {"reviewer": "A. Martin", "decisions": [{"verdict": "maybe"}]}, "cli")
    assert isinstance(bad.refusal, ReplyError) and "The run still waits." in str(bad.refusal)
    assert bad.decisions == ()


def test_decisions_for_a_thread_that_waits_for_no_review_are_refused() -> None:
    refusal = decisions_of(snapshot("extract"), NO_ANSWER, ACCEPT, "api").refusal
    assert f"Thread {THREAD} waits for no review" in str(refusal)


def test_a_held_run_goes_on_when_a_limit_is_another_one_now() -> None:
    head = snapshot("hold", asks={"budget_usd": "1.50", "deadline_seconds": None})
    held = replace(RUN, settings=replace(RUN.settings, budget_usd=Decimal("1.50")))
    assert next_input(head, replace(NO_ANSWER, run=held), None, "api") is WAIT
    raised = replace(held, settings=replace(held.settings, budget_usd=Decimal("2")))
    command = next_input(head, replace(NO_ANSWER, run=raised), None, "api").command
    assert command is not None and command.resume == {"interrupt-1": {"stored": True}}
    later = replace(held, settings=replace(held.settings, deadline_seconds=60))
    assert next_input(head, replace(NO_ANSWER, run=later), None, "api").command is not None


def test_decisions_that_come_too_late_are_refused_unless_they_are_those_that_were_made() -> None:
    made = {"finding_id": f"{1:012x}", "verdict": "accept"}
    assert late_decisions(RUN, [made], [decision(1)]) is None
    refusal = late_decisions(RUN, [made, {**made, "verdict": "reject"}, "nonsense"], [decision(1)])
    assert "Run acme-1 is at its end" in str(refusal) and "2 decisions came too late" in str(refusal)


def test_one_module_alone_writes_the_state_of_a_thread() -> None:
    files = [path for path in (ROOT / "graph").rglob("*.py") if "aupdate_state(" in path.read_text("utf-8")]
    assert [path.relative_to(ROOT).as_posix() for path in files] == ["graph/usecases/resume/apply.py"]
