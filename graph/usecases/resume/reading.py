"""Read what the plan of a resume rests on: head, run, ledger, artifacts. Writes nothing but inputs that it restores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.types import StateSnapshot

from graph.composition import Container
from graph.usecases.resume.plan import (
    UNATTENDED,
    Examination,
    InterruptReading,
    RetryDocument,
    ThreadReading,
    at_gate,
    at_hold,
    batches_open,
)
from graph.usecases.resume.preflight import survey
from graph.usecases.resume.versions import compare_versions, playbook_name
from graph.views.remaining import RemainingWork
from graph.views.run_records import RunRecords, read_records
from graph.views.stranded import find_stranded
from nodes.domain.runs.settings import ArtifactRef, Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.shared.errors import ArtifactMissing, PlaybookError, SourceError

NOTES = ("note.json", "note.md", "note.html")


async def read_thread(container: Container, thread_id: str) -> ThreadReading:
    """Read a thread: its records in one statement, and from the disk what its next step needs."""
    return await complete(container, await read_records(container, thread_id))


async def complete(container: Container, records: RunRecords) -> ThreadReading:
    """Complete the records of a thread to what the plan of a resume rests on."""
    if records.run is None:
        return ThreadReading(records)
    stranded = await find_stranded(container.graph, records.head)
    reading = ThreadReading(records, stranded, await _lost(container, records))
    if reading.lost != "note":
        return reading
    return replace(reading, findings_there=await _stored(container, str(reading.state.get("findings") or "")))


async def read_under_lease(container: Container, before: ThreadReading) -> ThreadReading:
    """Read a thread once more under its lease: another process may have gone on, or stored decisions, until then."""
    records = await read_records(container, before.records.thread_id)
    reading = replace(before, records=records)
    if _place(records.head) != _place(before.head):
        reading = replace(await complete(container, records), examination=before.examination)
    if records.run is None or (batches_open(reading.state) and not reading.stranded):
        return reading
    rows = await container.database.rows("retry_lane", run_id=records.run.run_id)
    return replace(reading, retry_lane=[RetryDocument(row["ordinal"], row["slow"], row["state"]) for row in rows])


def _place(head: StateSnapshot) -> tuple[Any, ...]:
    """Where a thread stands: its checkpoint, and what was stored beside it since."""
    tasks = [
        (task.id, task.name, bool(task.interrupts), task.error is None, task.result is None) for task in head.tasks
    ]
    return head.config["configurable"].get("checkpoint_id"), head.next, tasks


async def read_interrupt(
    container: Container, head: StateSnapshot, surface: str, *, asks: bool = True
) -> InterruptReading:
    """Read what answers the interrupt at which the thread stands; nothing where it stands at none.

    `asks` False: decisions are to be stored, which can be done on a packet before the gate has asked.
    """
    services, ledger = container.services, container.ledger
    interrupt = InterruptReading(services.clock.now())
    run_id = head.values.get("run_id")
    gate = head.next == ("needs_review",) and bool(head.values.get("packet")) and (at_gate(head) or not asks)
    if not head.next or not run_id or not (gate or at_hold(head) or surface == UNATTENDED):
        return interrupt
    if at_hold(head) or surface == UNATTENDED:
        interrupt = replace(interrupt, run=await ledger.run(run_id))
    if not gate:
        return interrupt
    packet = json.loads(await services.artifacts.get(head.values["packet"]))
    return replace(interrupt, packet=packet, decisions=await ledger.decisions(run_id))


async def examine(
    container: Container,
    reading: ThreadReading,
    passwords: Mapping[str, str] | None = None,
    *,
    retry_failed: bool = False,
    restore: bool = True,
    remaining: RemainingWork | None = None,
) -> ThreadReading:
    """Compare the run with this program and with the disk; the reading with what came out.

    `restore` makes frozen inputs again that were lost. `remaining`: what is left to do, where that is known already.
    """
    records, run = reading.records, reading.run
    if run is None:
        return reading
    restored: list[str] = []
    if restore:
        try:
            restored = await _restore_inputs(container, run, playbook_name(reading.head), passwords or {})
        except ArtifactMissing as error:
            return replace(reading, examination=Examination(inputs_lost=error))
    versions = await compare_versions(container, records, remaining, retry_failed=retry_failed)
    try:
        examination = Examination(versions, await survey(container, run), restored)
    except SourceError as error:
        examination = Examination(versions, None, restored, source_gone=error)
    return replace(reading, examination=examination)


async def _restore_inputs(container: Container, run: Run, playbook: str, passwords: Mapping[str, str]) -> list[str]:
    """Make the frozen playbook and document list again where they are lost; the names of those that were.

    Raises ArtifactMissing when what they came from is another one now.
    """
    services, restored = container.services, []
    for name in ("playbook", "inputs"):
        if await _stored(container, run.artifacts.get(name, "")):
            continue
        content = b""
        try:
            if name == "playbook":
                content = (await services.playbooks.load(playbook)).model_dump_json().encode()
            else:
                documents = await services.sources.scan(run.source, passwords)
                content = json.dumps([document.to_json() for document in documents], ensure_ascii=True).encode()
        except (PlaybookError, SourceError):
            pass
        if not content or await services.artifacts.put(content) != run.artifacts.get(name):
            raise _unrestorable(run, name, playbook)
        restored.append(name)
    return restored


def _unrestorable(run: Run, name: str, playbook: str) -> ArtifactMissing:
    label, source = ("playbook", playbook) if name == "playbook" else ("list of documents", run.source)
    return ArtifactMissing(
        f"The {label} that run {run.name or run.thread_id} froze (artifact {run.artifacts.get(name, '')[:12]}) is lost"
        f", and {' and '.join(source.split(chr(10)))} is not what it was: restore the artifacts, or start a new run."
    )


async def _lost(container: Container, records: RunRecords) -> str:
    """packet, findings or note: what the next step of the thread needs and does not find; "" when all is there.

    A state that names what this run never stored was edited: the step itself says so.
    """
    state = valid_part(records.head.values)
    needed: tuple[str, ...] = ()
    match records.head.next:
        case ("needs_review",) | ("record_review",):
            needed = ("packet", "findings")
        case ("summarize",):
            needed = ("findings",)
        case ("publish",) | ():
            written = records.head.next or state.get("published")
            return await _lost_note(container, records.artifacts) if written else ""
    references = {ref.sha256 for ref in records.artifacts}
    for name in needed:
        if state.get(name) in references and not await _stored(container, str(state[name])):
            return name
    return ""


async def _lost_note(container: Container, artifacts: Sequence[ArtifactRef]) -> str:
    newest = {ref.name: ref.sha256 for ref in artifacts if ref.name in NOTES}
    for sha256 in newest.values():
        if not await _stored(container, sha256):
            return "note"
    return ""


async def _stored(container: Container, sha256: str) -> bool:
    try:
        await container.artifacts.get(sha256)
    except ArtifactMissing:
        return False
    return True
