"""Read what the plan of a resume rests on: head, run, ledger, artifacts. Writes nothing but inputs that it restores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.types import StateSnapshot

from graph.composition import Container
from graph.usecases.resume.plan import (
    UNATTENDED,
    Examination,
    InterruptReading,
    ResumeRequest,
    RetryDocument,
    ThreadReading,
    at_gate,
    at_hold,
    may_be_idle,
)
from graph.usecases.resume.preflight import survey
from graph.usecases.resume.versions import compare_versions, playbook_name
from graph.views.outbox import read_effects, undelivered
from graph.views.remaining import RemainingWork
from graph.views.stranded import find_stranded
from graph.views.threads import read_run
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import valid_part
from nodes.domain.shared.errors import ArtifactMissing, PlaybookError, SourceError

NOTES = ("note.json", "note.md", "note.html")


async def read_thread(container: Container, head: StateSnapshot, request: ResumeRequest | None = None) -> ThreadReading:
    """Read the run of a thread and what is lost of it; `head` is its newest checkpoint."""
    request = request or ResumeRequest()
    run = await read_run(container, str(head.config["configurable"]["thread_id"]))
    if run is None:
        return ThreadReading(head)
    idle = may_be_idle(head, request)
    documents = (await container.ledger.tally(run.run_id)).documents if idle else {}
    reading = ThreadReading(
        head,
        run,
        documents=documents,
        undelivered="" if head.next else undelivered(await read_effects(container, run.run_id)),
        stranded=await find_stranded(container.graph, head),
        lost=await _lost(container, head, run),
    )
    if reading.lost != "note":
        return reading
    return replace(reading, findings_there=await _stored(container, str(reading.state.get("findings") or "")))


async def read_again(container: Container, before: ThreadReading, head: StateSnapshot) -> ThreadReading:
    """The reading under the lease: anew where another process has gone on since, and always the retry lane."""
    reading = before
    if _place(head) != _place(before.head):
        reading = replace(await read_thread(container, head), examination=before.examination)
    if reading.run is None:
        return reading
    rows = await container.database.rows("retry_lane", run_id=reading.run.run_id)
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
    run = reading.run
    if run is None:
        return reading
    restored: list[str] = []
    if restore:
        try:
            restored = await _restore_inputs(container, run, playbook_name(reading.head), passwords or {})
        except ArtifactMissing as error:
            return replace(reading, examination=Examination(inputs_lost=error))
    versions = await compare_versions(container, run, reading.head, remaining, retry_failed=retry_failed)
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
    what, source = ("playbook", playbook) if name == "playbook" else ("list of documents", run.source)
    return ArtifactMissing(
        f"The {what} that run {run.name or run.thread_id} froze (artifact {run.artifacts.get(name, '')[:12]}) is lost, "
        f"and {' and '.join(source.split(chr(10)))} is not what it was: restore the artifacts, or start a new run."
    )


async def _lost(container: Container, head: StateSnapshot, run: Run) -> str:
    """packet, findings or note: what the next step of the thread needs and does not find; "" when all is there.

    A state that names what this run never stored was edited: the step itself says so.
    """
    state = valid_part(head.values)
    needed: tuple[str, ...] = ()
    match head.next:
        case ("needs_review",) | ("record_review",):
            needed = ("packet", "findings")
        case ("summarize",):
            needed = ("findings",)
        case ("publish",) | ():
            return await _lost_note(container, run) if head.next or state.get("published") else ""
    named = {ref.sha256 for ref in await container.ledger.artifacts(run.run_id)} if needed else ()
    for name in needed:
        if state.get(name) in named and not await _stored(container, str(state[name])):
            return name
    return ""


async def _lost_note(container: Container, run: Run) -> str:
    newest = {ref.name: ref.sha256 for ref in await container.ledger.artifacts(run.run_id) if ref.name in NOTES}
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
