"""Checks the state that enters a node: an edit that cannot be is named before anything is done with it.

A checkpoint can be changed by hand, in LangGraph Studio or with update_state. What is wrong is said in one sentence and
nothing is lost: the thread goes on as soon as the state is mended in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from nodes.domain.runs.batching import batch_total
from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import StateEdited
from nodes.domain.shared.formats import clean, describe_value, one_line

CHANGED = "The state of this thread was changed and cannot be used"
INPUT = "The input of this run cannot be used"

Count = Annotated[StrictInt, Field(ge=0)]
Sha256 = Annotated[StrictStr, Field(pattern=r"^([0-9a-f]{64})?$")]

_EXPECTED = {
    "documents_total": "a whole number, 0 or more",
    "batch_size": "a whole number, 1 or more",
    "workflow_version": "a whole number, 1 or more",
    "findings": "a sha256 of 64 hexadecimal digits",
    "hold": 'budget, deadline or ""',
    "run_id": "the id of the run, a text",
    "options": "an object of settings by name",
    "by_risk": "an object of counts by risk",
}
_EXPECTED |= dict.fromkeys(
    ("batch_index", "batch_total", "slow_index", "slow_total", "to_review", "review_round"),
    _EXPECTED["documents_total"],
)
_EXPECTED |= dict.fromkeys(("packet", "note"), _EXPECTED["findings"])
_EXPECTED |= dict.fromkeys(("gate", "rescore", "published"), "true or false")


class ValidState(BaseModel):
    """A checked state: every field is there, of its type and within its bounds; None counts as "not set"."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    source: StrictStr = ""
    playbook: StrictStr = ""
    engine: StrictStr = ""
    matter: StrictStr = ""
    options: dict[str, Any] = {}
    run_id: StrictStr = ""
    headline: StrictStr = ""
    note: Sha256 = ""
    workflow_version: Annotated[StrictInt, Field(ge=1)] = 1
    documents_total: Count = 0
    batch_size: Annotated[StrictInt, Field(ge=1)] = 1
    batch_index: Count = 0
    batch_total: Count = 0
    slow_index: Count = 0
    slow_total: Count = 0
    findings: Sha256 = ""
    by_risk: dict[StrictStr, Count] = {}
    packet: Sha256 = ""
    to_review: Count = 0
    gate: StrictBool = False
    review_round: Count = 0
    reply: Any = None
    """Unchecked: the review gate names what is wrong with a reply."""
    reply_error: StrictStr = ""
    rescore: StrictBool = False
    hold: Literal["", "budget", "deadline"] = ""
    hold_error: StrictStr = ""
    published: StrictBool = False


def validated_state(state: Mapping[str, Any], opening: str = CHANGED) -> ValidState:
    """Check each field by itself. Raises StateEdited, which names the field and what it takes."""
    try:
        return ValidState.model_validate({name: value for name, value in state.items() if value is not None})
    except ValidationError as error:
        name = str(error.errors(include_url=False, include_context=False)[0]["loc"][0])
    raise _edited(name, state.get(name), f"it must be {_EXPECTED.get(name, 'a text')}", opening)


def valid_part(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state without invalid fields, for surfaces that only show it."""
    try:
        validated_state(state)
    except StateEdited as error:
        return valid_part({name: value for name, value in state.items() if name != error.field})
    return dict(state)


def check_against_run(state: ValidState, run: Run, thread_id: str | None) -> None:
    """Check the fields against each other and against the run. Raises StateEdited."""
    if thread_id is not None and run.thread_id != thread_id:
        raise _edited("run_id", state.run_id, f"that run is on thread {run.thread_id}, not on this one")
    if state.documents_total != run.documents_total:
        raise _edited("documents_total", state.documents_total, f"the run has {run.documents_total}")
    batches = batch_total(run.documents_total, state.batch_size)
    if state.batch_total != batches:
        raise _edited(
            "batch_total",
            state.batch_total,
            f"{run.documents_total} documents in batches of {state.batch_size} make {batches}",
        )
    if state.batch_index > batches:
        raise _edited("batch_index", state.batch_index, f"the run has {batches} batches")


def check_batch_closed(state: ValidState, index: int, *, complete: bool) -> None:
    """Check that a batch is closed and has a row for each document, as score needs it. Raises StateEdited."""
    if index >= state.batch_index or not complete:
        raise _edited("batch_index", state.batch_index, f"batch {index + 1} is not done yet, so it must be {index}")


def check_retry_lane_closed(state: ValidState, deferred: set[str], tried: set[str]) -> None:
    """Check that every deferred document was tried again, as score needs it. Raises StateEdited."""
    if deferred - tried:
        raise _edited("slow_index", state.slow_index, f"{len(deferred)} documents were put off, so it must be 0")


def check_packet(state: ValidState, packet: Any, run: Run, frozen: str) -> None:
    """Check that the packet belongs to this run; `frozen` is the newest one. Raises StateEdited."""
    if not isinstance(packet, dict) or packet.get("run_id") != run.run_id or "findings" not in packet:
        newest = f", the newest is {frozen}" if frozen else ""
        raise _edited("packet", state.packet, f"it must be a review packet of this run{newest}")


def check_scored_findings(state: ValidState, scored: Any) -> None:
    """Check that the findings have the form that score gives them. Raises StateEdited."""
    if not isinstance(scored, dict) or not {"findings", "suppliers"} <= scored.keys():
        raise _edited("findings", state.findings, "it must be the sha256 of the scored findings of this run")


def note_not_written() -> StateEdited:
    """Build the error for a state that was sent to publish before its note is written."""
    return StateEdited(
        "note",
        f"{CHANGED}: publish is next, but the note is not written yet. "
        'Go back with update_state({}, as_node="extract") and go on; nothing is lost.',
    )


def unknown_run(state: ValidState) -> StateEdited:
    """Build the error for a run_id that the ledger does not have."""
    return _edited("run_id", state.run_id, "the ledger has no such run")


def missing_artifact(name: str, value: object) -> StateEdited:
    """Build the error for a reference to bytes that are not stored."""
    return _edited(name, value, "no stored artifact has this sha256")


def more_batches(state: Mapping[str, Any]) -> bool:
    """Is a batch or the retry lane open? An invalid state counts as open, so that the next node names its fault."""
    index, total, retry_index, deferred, size = (
        state.get(name) or 0 for name in ("batch_index", "batch_total", "slow_index", "slow_total", "batch_size")
    )
    if not all(isinstance(number, int) for number in (index, total, retry_index, deferred, size)):
        return True
    return bool(index < total or (retry_index * size < deferred and size > 0))


def _edited(name: str, value: object, expected: str, opening: str = CHANGED) -> StateEdited:
    current = str(value) if isinstance(value, int) and not isinstance(value, bool) else describe_value(value)
    if isinstance(value, str) and value:
        current = f"“{one_line(clean(value), 64)}”"
    return StateEdited(
        name,
        f"{opening}: {name} is {current}, but {expected}. "
        f"Set {name} right with update_state (or in Studio) and go on; nothing is lost.",
    )
