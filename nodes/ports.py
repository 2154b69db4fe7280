"""Ports: protocols of what the nodes need from outside, and the frozen bundle that holds them.

Adapters in graph.adapters and graph.runtime satisfy these; scripted fakes ship beside the real ones.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from nodes.domain.playbook.model import Playbook
from nodes.domain.review.review import Decision
from nodes.domain.runs.settings import ArtifactRef, DocumentResult, Run, Settings, Spend, Tally
from nodes.domain.text.documents import SourceDocument
from nodes.domain.text.search_entries import Entry


class Clock(Protocol):
    """The time, injected so that a test can move it."""

    def now(self) -> datetime:
        """Aware, UTC."""


class Sources(Protocol):
    """Source of documents."""

    async def check(self, source: str) -> int:
        """How many files `scan` would find, without reading them; raises as it does."""

    async def scan(self, source: str, passwords: Mapping[str, str] | None = None) -> list[SourceDocument]:
        """List and hash the files below each path of `source` (one a line), sorted by name.

        Behind each file come those embedded in it, as documents of their own; `passwords` (by document, or "*") open
        it for that. What is not read is listed all the same, with why.
        Raises SourceError: no such path, nothing in it, nothing of a known kind.
        """


class Artifacts(Protocol):
    """Store of immutable bytes, named by their sha256."""

    async def put(self, data: bytes) -> str:
        """Store and return the sha256; storing the same bytes twice is one object."""

    async def get(self, sha256: str) -> bytes:
        """Raises ArtifactMissing when absent or when the bytes do not match their name."""

    async def size(self, sha256: str) -> int | None:
        """Bytes, or None when absent."""

    async def lacking(self, sizes: Mapping[str, int]) -> list[str]:
        """Return the objects that are absent or of another size than given; reads no object."""

    def uri(self, sha256: str) -> str:
        """Return where a person finds the object."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts of one call: how long the caller waits for an answer."""

    until: float | None = None
    """Time of the event loop at which the call is abandoned. None: the caller sets no limit."""
    factor: float = 1.0
    """Multiple of a tool's usual limit for one attempt."""
    insists: bool = True
    """Repeat a late attempt at once; False: the caller comes back to it later."""


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A request to a tool: reader, clause_rules, model, note_writer."""

    tool: str
    step: str
    """The node that calls."""
    key: Mapping[str, Any]
    """Everything that determines the answer, JSON-plain; hashed into the call key."""
    payload: Mapping[str, Any] = field(default_factory=dict)
    """What the tool needs beside the key (a path, a text); not stored."""
    document: str = ""
    document_sha256: str = ""
    model: str = ""
    call_key: str = ""
    """Hash of all that determines the answer; set by the journal, for the tool to see."""
    max_tokens: int = 0
    """Largest answer that the tool may give; with the prompt it bounds the price."""
    timeouts: Timeouts = Timeouts()
    """Not part of the key: the answer is the same, however long it took."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call, as the provider reported them."""

    tokens_in: int = 0
    """Prompt tokens, cached ones included."""
    tokens_cached: int = 0
    tokens_out: int = 0
    """Completion tokens, reasoning included."""
    reported: bool = True
    """False when these are our estimate."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A usable answer, its tokens and its wait."""

    value: Mapping[str, Any]
    """JSON-plain."""
    usage: Usage = Usage()
    waited: float = 0.0
    """Seconds that the request waited for the rate limit before it was sent."""


class Tool(Protocol):
    """A tool outside of the nodes that answers requests."""

    @property
    def name(self) -> str: ...

    @property
    def attempts(self) -> int:
        """Most attempts of a request whose tool raises Transient."""

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        """Return the most that one call can use, for the budget; None for a tool that costs nothing."""

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        """Answer once; `feedback` says what was wrong with the previous answer, for a tool that can use it.

        Raises Transient (worth repeating), AnswerInvalid, Unreadable, EndpointRefused, MissingPart.
        """


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The journalled answer to a request, new or stored before."""

    call_key: str
    value: Mapping[str, Any]
    reused: bool


class Calls(Protocol):
    """Journal of all calls: each is made once, priced, and bounded by budget and deadline."""

    async def call(self, run: Run, question: ToolRequest) -> ToolResponse:
        """Return the stored answer, or call the tool; waits for another owner of the same call.

        Raises what the tool raises once its attempts are used up, and LimitReached before a call that could
        pass the budget or the deadline.
        """

    async def reject(self, run: Run, answer: ToolResponse, reason: str) -> None:
        """Keep other runs from reusing this answer: its quotes were not in the document."""

    async def forget(self, run: Run, answer: ToolResponse) -> None:
        """Call again next time: what this answer refers to is not stored any more."""


class Ledger(Protocol):
    """Ledger of runs: documents, decisions, artifacts, effects and spend."""

    async def open_run(self, run: Run, documents: Sequence[SourceDocument]) -> Run:
        """Freeze a run and its document list; the first freeze of a thread wins and is returned."""

    async def fork_run(self, run: Run, parent_run_id: str) -> Run | None:
        """Freeze a run with the documents and pages of another, as they stand there, none of them slow, in one commit.

        The first freeze of a thread wins and is returned; None when a document of the other is not at its end.
        """

    async def run(self, run_id: str) -> Run:
        """Return a run by its id. Raises UnknownThread."""

    async def change_settings(self, run_id: str, settings: Settings) -> None:
        """Replace the settings; history is in the resumes table."""

    async def change_versions(self, run_id: str, workflow_version: int, versions: Mapping[str, str]) -> None:
        """Replace what a run is made with, once a person has agreed; history is in the resumes table."""

    async def documents(self, run_id: str, start: int, stop: int) -> list[DocumentResult]:
        """Rows of the frozen list with start <= ordinal < stop, in order."""

    async def open_documents(self, run_id: str, start: int, stop: int) -> list[int]:
        """Ordinals of pending documents with start <= ordinal < stop, in order."""

    async def slow_documents(self, run_id: str) -> list[int]:
        """Ordinals of the slow lane, in order: all that were ever deferred, whatever their state now."""

    async def defer(self, run_id: str, ordinals: Sequence[int], reason: str) -> None:
        """Move pending documents to the slow lane."""

    async def retry_failed(self, run_id: str) -> int:
        """Move the failed documents to the slow lane; returns how many."""

    async def finish_document(self, run_id: str, result: DocumentResult, entries: Sequence[Entry] = ()) -> None:
        """Write the outcome of a document, with its pages, in one transaction; repeating it changes nothing.

        One that is deferred belongs to the slow lane from then on. `entries` make its text searchable in the matter,
        unless it is already.
        """

    async def keep_artifact(self, run_id: str, ref: ArtifactRef) -> None:
        """Give stored bytes a name within the run; the same name again replaces the reference."""

    async def artifacts(self, run_id: str) -> list[ArtifactRef]:
        """Return the artifacts of a run, in the order in which they were first kept."""

    async def decide(self, run_id: str, decisions: Sequence[Decision]) -> int:
        """Append decisions; one already there (same packet, finding, verdict, reviewer, reason) is not doubled.

        Returns how many were new.
        """

    async def decisions(self, run_id: str) -> list[Decision]:
        """Return all decisions, oldest first; the last one on a finding holds."""

    async def intend(self, run_id: str, kind: str, key: str, payload: Mapping[str, Any]) -> str:
        """Write the intent of an effect; returns its state: pending or done."""

    async def record_effect(self, run_id: str, key: str, outcome: Mapping[str, Any]) -> None:
        """Write that an effect is done."""

    async def fail_effect(self, run_id: str, key: str, error: str) -> None:
        """Write why an intended effect is not done; it stays pending, and one that is done stays done."""

    async def spent(self, run_id: str) -> Spend:
        """Return what the calls of a run have cost so far."""

    async def tally(self, run_id: str) -> Tally: ...


class Releases(Protocol):
    """Place where finished notes are put for people."""

    async def find(self, run: Run, name: str, sha256: str) -> str | None:
        """Return where a file of that name with exactly these bytes is; None when there is none."""

    async def put(self, run: Run, name: str, data: bytes) -> str:
        """Put a file and return where it is; putting the same again changes nothing."""


class Webhook(Protocol):
    """Webhook of another system that is told of finished runs."""

    @property
    def where(self) -> str:
        """Its host, without what may be secret in the address."""

    async def send(self, key: str, event: Mapping[str, Any], stop: Callable[[], bool]) -> Mapping[str, Any]:
        """Send an event until it is taken; returns the receiver's answer: status.

        The receiver recognises a repeated event by `key`. `stop` tells that no further attempt may begin.
        Raises Undelivered when it was not taken after bounded attempts, or cannot be.
        """


class Pool(Protocol):
    """Pool of documents in flight: the requested ones and, under a driver, later ones ahead."""

    async def process(
        self,
        run: Run,
        ordinals: Sequence[int],
        following: Callable[[], Awaitable[Sequence[int]]],
        work: Callable[[int], Awaitable[None]],
        on_done: Callable[[int], None],
        stop: Callable[[], bool],
        *,
        ahead: int = 0,
        wait: float | None = None,
        lane: int = 0,
    ) -> list[int]:
        """Do `work` for each of `ordinals`; return when all are done or `stop` says so.

        `following`, asked once a lane by a pool that reads ahead, names what may be begun ahead, all batches on.
        `ahead`: how many documents more than `concurrency` may be at work, as long as they hold no slot.
        `wait`: seconds without an end among `ordinals`, once all are begun, after which the remaining ones are
        returned as late. What is done in one `lane` is done anew in another. The first error that is no DocumentError
        is raised, after the calls in flight have ended.
        """

    def slot(self) -> AbstractAsyncContextManager[None]:
        """Hold one of `concurrency` slots while a model is called about the document at work."""


class Heartbeat(Protocol):
    """Heartbeat of a run, for those who watch it."""

    def during(self, run: Run, emit: Callable[[Mapping[str, Any]], None]) -> AbstractAsyncContextManager[None]:
        """Record the run's progress every few seconds while this block runs, and emit it as an event."""


class Playbooks(Protocol):
    """Playbooks by name or path."""

    async def load(self, name: str) -> Playbook:
        """Load a playbook by name or path. Raises PlaybookError."""


@dataclass(frozen=True, slots=True)
class Services:
    """Everything outside that the nodes may use; built once by graph.composition."""

    clock: Clock
    sources: Sources
    artifacts: Artifacts
    ledger: Ledger
    calls: Calls
    pool: Pool
    heartbeat: Heartbeat
    playbooks: Playbooks
    releases: Releases
    rules_sha256: str
    """Of the clause rules that the local engine uses."""
    reader_version: str
    """Changes whenever the same bytes would give another text."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Model of each step where a run names none."""
    webhook: Webhook | None = None
    """Who is told of finished runs; None: nobody."""
    passwords: Mapping[str, str] = field(default_factory=dict)
    """By document path or "*"; never stored."""
    chunk_chars: int = 12_000
    """Characters of passages that one model call reads at the most."""
