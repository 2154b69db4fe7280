"""Decide what a resume does with a thread, from what was read of it: refusals, repairs, the input of the graph.

Pure: nothing is read or written here, so that `show` can say what a resume would do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from langgraph.types import Command, StateSnapshot

from graph.views.outbox import undelivered
from nodes.domain.review.reply import read_reply
from nodes.domain.review.review import Decision, decided, undecided
from nodes.domain.runs.settings import WORKFLOW_VERSION, Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.runs.versions import newer_program, refusal
from nodes.domain.shared.errors import (
    ArtifactMissing,
    ReplyError,
    RepriseError,
    SourceError,
    StepUnknown,
    VersionChanged,
)
from nodes.domain.shared.formats import count
from nodes.domain.shared.shell_quote import shell_word

if TYPE_CHECKING:
    from graph.usecases.resume.preflight import PreflightReport
    from graph.usecases.resume.versions import VersionDiff
    from graph.views.run_records import RunRecords
    from graph.views.stranded import Stranded

UNATTENDED: Final = "unattended"
"""The surface of a resume that no person asked for: it takes no cancellation back."""


@dataclass(frozen=True, slots=True)
class ResumeRequest:
    """What the caller of a resume asks for."""

    decisions: Sequence[Mapping[str, Any]] | None = None
    accept_all: bool = False
    reviewer: str = ""
    reason: str = ""
    retry_failed: bool = False
    accept_version: bool = False
    surface: str = "api"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings to change, by name; None leaves one as it is."""

    @property
    def only_retries(self) -> bool:
        """Whether failed documents are all that it is about."""
        replies = self.decisions is not None or self.accept_all
        return self.retry_failed and not replies and all(setting in (None, {}) for setting in self.settings.values())


@dataclass(frozen=True, slots=True)
class RetryDocument:
    """A document of the retry lane, or one that failed and may come to it."""

    ordinal: int
    slow: bool
    state: str


@dataclass(frozen=True, slots=True)
class Examination:
    """What the program and the disk hold of a run now, compared with what it began with."""

    versions: VersionDiff | None = None
    preflight: PreflightReport | None = None
    restored: Sequence[str] = ()
    """Frozen inputs that were lost and made again: playbook, inputs."""
    inputs_lost: ArtifactMissing | None = None
    """A frozen input is lost for good."""
    source_gone: SourceError | None = None
    """The place of documents that are still to be read is gone as a whole."""


@dataclass(frozen=True, slots=True)
class ThreadReading:
    """What the plan of a resume rests on: the records of a thread, and what is lost of it."""

    records: RunRecords
    stranded: Stranded | None = None
    lost: str = ""
    """packet, findings or note, when the next step needs it and it is gone."""
    findings_there: bool = True
    """The scored findings are stored, so that a lost note can be written from them."""
    retry_lane: Sequence[RetryDocument] = ()
    """In their order; read under the lease, and not while batches are open."""
    examination: Examination = field(default_factory=Examination)

    @property
    def head(self) -> StateSnapshot:
        """The newest checkpoint."""
        return self.records.head

    @property
    def run(self) -> Run | None:
        """None while its inputs are not frozen."""
        return self.records.run

    @property
    def name(self) -> str:
        """What a person calls the run."""
        return (self.run.name if self.run else "") or self.records.thread_id

    @property
    def undelivered(self) -> str:
        """Why an effect of a run at its end is not done; "" when all are."""
        return "" if self.head.next else undelivered(self.records.effects)

    @property
    def state(self) -> dict[str, Any]:
        """The state at the head without what somebody edited into nonsense."""
        return valid_part(self.head.values)


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of the state that puts a thread before a step from which it can go on."""

    changes: Mapping[str, Any]
    as_node: str


@dataclass(frozen=True, slots=True)
class ResumePlan:
    """What a resume does; carried out by `graph.usecases.resume.apply`."""

    refusal: RepriseError | None = None
    """Why the resume is refused before it takes the lease."""
    idle: bool = False
    """There is nothing to do: the run is at its end, or nothing of it failed."""
    repairs: Sequence[Repair] = ()
    """In this order."""
    retry: Repair | None = None
    """Back to the retry lane or to the webhook; after the repairs."""
    retry_failed: bool = False
    """Documents that failed come to the retry lane."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What is stored with the resume: models, versions, checked, adrift, made_again."""
    lines: Sequence[str] = ()
    """What people are told as it begins, on stderr."""
    stranded: str = ""
    """Where a thread stands at no step, in a sentence; "" for any other."""
    versions: Mapping[str, Any] | None = None
    """What differs from the versions that it began with: see VersionDiff.to_json."""
    inputs: Mapping[str, Any] | None = None
    """What became of its documents and artifacts: see PreflightReport.to_json; or the error that stops the resume."""


def plan_resume(reading: ThreadReading, request: ResumeRequest) -> ResumePlan:
    """The plan for a thread as it was read."""
    if reading.run is None:
        return ResumePlan(idle=_may_be_idle(reading.head, request))
    stranded = reading.stranded if request.accept_version else None
    repairs: list[Repair] = []
    if stranded:
        repairs.append(Repair(dict(stranded.result), stranded.after))
    elif reading.lost:
        repairs.append(_before_what_was_lost(reading))
    return ResumePlan(
        refusal=_refusal(reading, request),
        idle=_idle(reading, request),
        repairs=tuple(repairs),
        retry=_retry(reading, repairs, request.retry_failed) if _own_state(reading) else None,
        retry_failed=request.retry_failed and _own_state(reading),
        notes=_notes(reading, request, stranded),
        lines=_lines(reading),
        stranded=reading.stranded.sentence(reading.name) if reading.stranded else "",
        versions=reading.examination.versions.to_json() if reading.examination.versions else None,
        inputs=_inputs(reading.examination),
    )


def _may_be_idle(head: StateSnapshot, request: ResumeRequest) -> bool:
    return request.only_retries or bool(not head.next and head.values.get("published"))


def _idle(reading: ThreadReading, request: ResumeRequest) -> bool:
    if not _may_be_idle(reading.head, request):
        return False
    documents = reading.records.tally.documents
    waiting = documents["deferred"] + (documents["failed"] if request.retry_failed else 0)
    return not (_own_state(reading) and (waiting or reading.undelivered)) and reading.lost != "note"


def _own_state(reading: ThreadReading) -> bool:
    """Whether the state names the run of its own thread; nodes name it when somebody has edited that."""
    return reading.run is not None and reading.state.get("run_id") == reading.run.run_id


def _refusal(reading: ThreadReading, request: ResumeRequest) -> RepriseError | None:
    run, examination = reading.run, reading.examination
    assert run is not None
    written = reading.head.values.get("workflow_version")
    version = max(run.workflow_version, written if isinstance(written, int) else 1)
    if version > WORKFLOW_VERSION:
        return newer_program(f"Run {reading.name}", version)
    if reading.stranded and not request.accept_version:
        return StepUnknown(reading.stranded.sentence(reading.name))
    if examination.inputs_lost:
        return examination.inputs_lost
    versions = examination.versions
    if versions and versions.asks and not request.accept_version:
        return VersionChanged(refusal(reading.name, versions.changes, versions.redo))
    return examination.source_gone


def _before_what_was_lost(reading: ThreadReading) -> Repair:
    """Back to before the step that makes it; decisions are in the ledger and stay."""
    changes: dict[str, Any] = {"reply": None, "reply_error": "", "rescore": False, "published": False, "hold": ""}
    if reading.lost == "note" and reading.findings_there:
        return Repair(changes, "record_review")
    changes["review_round"] = max(0, (reading.state.get("review_round") or 0) - 1)
    return Repair(changes, "extract")


def _retry(reading: ThreadReading, repairs: Sequence[Repair], retry_failed: bool) -> Repair | None:
    """Back to the retry lane for documents that wait for it, or else to a webhook that was not taken."""
    state, ended = reading.state, not reading.head.next
    for repair in repairs:
        state, ended = {**state, **repair.changes}, repair.as_node == "publish"
    if changes := _retry_lane(valid_part(state), reading.retry_lane, retry_failed):
        return Repair(changes, "extract")
    if ended and state.get("published") and reading.undelivered:
        return Repair({"published": False, "headline": "publish: the webhook is sent again"}, "summarize")
    return None


def batches_open(state: Mapping[str, Any]) -> bool:
    """Whether batches are to be read before the retry lane."""
    return bool((state.get("batch_index") or 0) < (state.get("batch_total") or 0))


def _retry_lane(state: Mapping[str, Any], lane: Sequence[RetryDocument], retry_failed: bool) -> dict[str, Any]:
    """The state before the retry lane, when a document waits for it that the thread has passed; else nothing.

    While batches are open there is nothing to change: the last one counts who belongs to the lane.
    """
    if batches_open(state):
        return {}
    retried = [replace(row, slow=True, state="deferred") if row.state == "failed" else row for row in lane]
    slow = [row for row in (retried if retry_failed else lane) if row.slow]
    places = [place for place, row in enumerate(slow) if row.state == "deferred"]
    closed = (state.get("slow_index") or 0) * (state.get("batch_size") or 1)
    if not places or (len(slow) == (state.get("slow_total") or 0) and places[0] >= closed):
        return {}
    return {
        "slow_total": len(slow),
        "slow_index": 0,
        "hold": "",
        "hold_error": "",
        "reply": None,
        "reply_error": "",
        "gate": False,
        "rescore": False,
        "published": False,
        "headline": f"extract: {count(len(places), 'document')} to be tried once more",
    }


def _notes(reading: ThreadReading, request: ResumeRequest, stranded: Stranded | None) -> dict[str, Any]:
    models, versions = request.settings.get("models"), reading.examination.versions
    notes: dict[str, Any] = {"models": dict(models)} if models else {}
    if versions and versions.changes and versions.current is not None:
        notes["versions"] = [[change.name, change.before, change.current] for change in versions.changes]
    if reading.examination.preflight:
        notes["checked"] = reading.examination.preflight.to_json()
    if stranded:
        notes["adrift"] = stranded.wanted or stranded.after
    elif reading.lost:
        notes["made_again"] = reading.lost
    return notes


def _inputs(examination: Examination) -> Mapping[str, Any] | None:
    if examination.source_gone:
        return {"error": str(examination.source_gone)}
    return examination.preflight.to_json() if examination.preflight else None


def _lines(reading: ThreadReading) -> list[str]:
    examination = reading.examination
    lines = examination.versions.sentences() if examination.versions else []
    if examination.preflight:
        lines.append(f"checked: {examination.preflight.words()}")
    lines += [f"the frozen {name} was lost and is made again" for name in examination.restored]
    if reading.lost:
        lines.append(f"the {reading.lost} that the next step needs was lost or changed: it is made again")
    return lines


@dataclass(frozen=True, slots=True)
class InterruptReading:
    """What the ledger holds of the interrupt at which a thread waits."""

    read_at: datetime
    run: Run | None = None
    """As its settings are now."""
    packet: Mapping[str, Any] | None = None
    decisions: Sequence[Decision] = ()


@dataclass(frozen=True, slots=True)
class GraphInput:
    """What is handed to the graph: None goes on, a command answers an interrupt. Nothing while it waits."""

    waits: bool = False
    """A person is waited for, or the thread is at its end."""
    command: Command[Any] | None = None
    decisions: Sequence[Decision] = ()
    """To be stored before the command is handed over."""
    refusal: ReplyError | None = None
    """What is wrong with the reply; nothing is stored then."""


GO_ON: Final = GraphInput()
WAIT: Final = GraphInput(waits=True)


def next_input(
    head: StateSnapshot, interrupt: InterruptReading, reply: Mapping[str, Any] | None, surface: str
) -> GraphInput:
    """What the graph is handed at this head; `reply` is for the review gate and waits until that is reached."""
    if not head.next and _at_input(head):
        return GO_ON
    if not head.next or (surface == UNATTENDED and interrupt.run and interrupt.run.cancelled_at is not None):
        return WAIT
    if at_gate(head):
        return _gate_input(head, interrupt, reply, surface)
    if at_hold(head):
        if _limits_unchanged(head, interrupt.run):
            return WAIT
        return GraphInput(command=Command(resume={head.interrupts[0].id: {"stored": True}}))
    return GO_ON


def _gate_input(
    head: StateSnapshot, interrupt: InterruptReading, reply: Mapping[str, Any] | None, surface: str
) -> GraphInput:
    reference = {"packet": head.values.get("packet"), "stored": True}
    command: Command[Any] = Command(resume={head.interrupts[0].id: reference})
    if reply is not None:
        return replace(decisions_of(head, interrupt, reply, surface), command=command)
    packet = interrupt.packet
    answered = packet and packet["findings"] and not undecided(packet, interrupt.decisions)
    return GraphInput(command=command) if answered else WAIT


def decisions_of(
    head: StateSnapshot, interrupt: InterruptReading, reply: Mapping[str, Any], surface: str
) -> GraphInput:
    """The decisions of a reply to the review gate, or why it is refused."""
    if interrupt.packet is None:
        thread_id = head.config["configurable"]["thread_id"]
        problem = f"Thread {thread_id} waits for no review: see python run.py status {thread_id}."
        return GraphInput(refusal=ReplyError(problem))
    sha256 = head.values["packet"]
    answer = read_reply(reply, interrupt.packet, sha256, decided(interrupt.packet, interrupt.decisions))
    if answer.error:
        return GraphInput(refusal=ReplyError(f"{answer.error} The run still waits."))
    stamped = answer.decisions(sha256, interrupt.read_at)
    return GraphInput(decisions=tuple(replace(decision, surface=surface) for decision in stamped))


def late_decisions(run: Run, decisions: Sequence[Any], stored: Sequence[Decision]) -> ReplyError | None:
    """The refusal of decisions on a run at its end, unless they are those that it was decided by."""
    verdicts = {(decision.finding_id, decision.verdict) for decision in stored}
    repeated = [
        decision
        for decision in decisions
        if isinstance(decision, Mapping) and (f"{decision.get('finding_id')}", f"{decision.get('verdict')}") in verdicts
    ]
    late = len(decisions) - len(repeated)
    if not late:
        return None
    name = run.name or run.thread_id
    return ReplyError(
        f"Run {name} is at its end and waits for no review: {count(late, 'decision')} came too late. See what "
        f"was decided: python run.py decisions {shell_word(name)}"
    )


def at_gate(head: StateSnapshot) -> bool:
    """Whether a person is waited for; a thread that only comes to the gate next has not asked yet."""
    return head.next == ("needs_review",) and bool(head.interrupts)


def at_hold(head: StateSnapshot) -> bool:
    """Whether the thread waits for a limit to be raised."""
    return head.next == ("hold",) and bool(head.interrupts)


def _at_input(head: StateSnapshot) -> bool:
    """Killed when LangGraph had stored the input and not yet gone to the first step: it shows no step as the next."""
    return (head.metadata or {}).get("source") == "input" and bool(head.tasks) and not head.values.get("run_id")


def _limits_unchanged(head: StateSnapshot, run: Run | None) -> bool:
    """Whether the limits are what they were when the run was held."""
    assert run is not None
    held_at = head.interrupts[0].value
    budget = None if run.settings.budget_usd is None else str(run.settings.budget_usd)
    return bool(
        budget == held_at.get("budget_usd") and run.settings.deadline_seconds == held_at.get("deadline_seconds")
    )
