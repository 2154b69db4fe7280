"""The record of a run: its frozen inputs, its settings, its documents, its costs and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

WORKFLOW_VERSION = 1
"""Raised whenever a stored thread would be carried on differently; see DECISIONS.md."""

ReviewMode = Literal["auto", "always", "never"]
DocumentState = Literal["pending", "done", "failed", "skipped", "deferred"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of one run; frozen at ingest, changed only by a resume that names them."""

    models: Mapping[str, str] = field(default_factory=dict)
    """Models of each step, extract or summarize; after a comma, those that are asked where the one before fails."""
    batch_size: int = 10
    """Documents a super-step."""
    concurrency: int = 8
    """Documents in flight at once."""
    budget_usd: Decimal | None = None
    """The run pauses before its spend would pass this; None: no limit."""
    deadline_seconds: float | None = None
    """Seconds of working time since the start or the last raise of this limit; None: no limit."""
    document_seconds: float = 600.0
    """Seconds of work on one document; one that takes longer is deferred, and tried once more at the end."""
    batch_wait_seconds: float = 60.0
    """Seconds that a batch waits for its last documents once the others are done; then it closes without them."""
    review: ReviewMode = "auto"
    """auto: stop when the playbook asks; always: stop in any case; never: do not stop."""
    fresh: bool = False
    """Reuse no answer of earlier runs."""
    language: str = ""
    """"en" or "fr", of the note and of documents that do not show their own; "" to tell it from them."""
    model_writes_note: bool = True
    """With the openai engine a model writes the lead sentences of the note; False: the rules alone write it."""

    def to_json(self) -> dict[str, Any]:
        budget = None if self.budget_usd is None else str(self.budget_usd)
        return {**asdict(self), "models": dict(self.models), "budget_usd": budget}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Settings:
        budget = data.get("budget_usd")
        return cls(**{**data, "budget_usd": None if budget is None else Decimal(str(budget))})


def chain(models: Mapping[str, str], step: str) -> tuple[str, ...]:
    """Models of a step in the order in which they are asked; () when none is named."""
    return tuple(filter(None, (name.strip() for name in models.get(step, "").split(","))))


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one thread."""

    run_id: str
    """UUID, new for each start of a thread."""
    thread_id: str
    """UUID; LangGraph's key."""
    name: str
    """What the user called it; "" when they did not."""
    matter: str
    """Wall around reuse, search and purge."""
    job_id: str
    """Groups the runs of one data room over time."""
    playbook: str
    playbook_sha256: str
    engine: str
    """local or openai."""
    workflow_version: int
    settings: Settings
    artifacts: Mapping[str, str] = field(default_factory=dict)
    """Frozen inputs by name: playbook, inputs → sha256."""
    documents_total: int = 0
    source: str = ""
    """As the user wrote it, one a line."""
    started_at: datetime | None = None
    cancelled_at: datetime | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions that it is made with, by name: reader, rules, facts, each prompt; {} in runs of early versions."""
    parent_thread_id: str | None = None
    """Of a fork: the thread whose documents it scores again; a fork calls no model, not for its note either."""


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """The result of one document, as its row in the ledger holds it."""

    ordinal: int
    """Place in the frozen list, from 0."""
    document: str
    sha256: str
    state: DocumentState
    reason: str = ""
    """Why it failed or was skipped."""
    supplier: str = ""
    language: str = ""
    engine: str = ""
    model: str = ""
    findings_ref: str = ""
    """Artifact with its findings; "" when it failed."""
    facts_ref: str = ""
    """Artifact with what it states about itself; "" when it failed."""
    text_ref: str = ""
    """Artifact with its text; "" when it failed."""
    findings: int = 0
    pages: tuple[tuple[int, str, str], ...] = ()
    """(number, state, reason) of every page."""
    warnings: tuple[str, ...] = ()
    slow: bool = False
    """Its batch closed without it: it belongs to the retry lane, also when it is done."""
    unit: str = "page"
    """What `pages` are: "page", or "section" for formats without pages."""


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """Stored bytes under a name that a run gave them."""

    name: str
    sha256: str
    bytes: int
    uri: str


@dataclass(frozen=True, slots=True)
class Spend:
    """Cost of a run so far."""

    usd: Decimal
    """Sum over the calls whose price is known."""
    basis: Literal["reported", "estimated", "unknown"]
    """The weakest of all calls: unknown when one has no price."""
    unpriced: int
    """Calls without a price."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of a run, from the ledger alone."""

    documents: Mapping[str, int]
    """total, done, failed, skipped, deferred."""
    pages: Mapping[str, int]
    """total and one for each page state."""
    findings: int
    units: tuple[str, ...] = ()
    """Units of the places in its done documents: page, section, both, or none yet."""
