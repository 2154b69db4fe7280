"""The typed state and nothing else: ids, counters, hashes, references. Never the text of a document.

A run comes in as RunInput, lives as RunState, leaves as RunOutput; RunContext is what may be tuned for one run.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

STEPS = ("ingest", "extract", "score", "needs_review", "record_review", "summarize", "publish", "hold")


class RunInput(TypedDict, total=False):
    """What a run starts from."""

    source: str
    """Folders or files, one a line."""
    playbook: str
    """Name or file; due-diligence when empty."""
    engine: str
    """local or openai; local when empty."""
    matter: str
    """Wall around reuse and search; "default" when empty."""
    options: dict[str, Any]
    """More settings by name, as in RunContext; what the context names wins. Also name and job."""


class RunOutput(TypedDict, total=False):
    """What a finished run leaves."""

    run_id: str
    headline: str
    note: str
    """sha256 of the note in Markdown."""


class RunState(RunInput, RunOutput, total=False):
    """Where a run is; at most 4 kB a super-step whatever the number of documents."""

    documents_total: int
    batch_size: int
    batch_index: int
    """Batches that are closed: their documents are in the ledger and their findings stored."""
    batch_total: int
    findings: str
    """sha256 of the scored findings."""
    by_risk: dict[str, int]
    """Scored findings by risk."""
    packet: str
    """sha256 of the review packet: what the person sees, and what a decision names."""
    to_review: int
    """Findings of the packet that still wait for a decision."""
    gate: bool
    """A person is to be asked before the note is written."""
    review_round: int
    reply: dict[str, Any] | None
    """{"value": what came back from the gate}, until it is recorded."""
    reply_error: str
    """What was wrong with the last reply; "" when nothing was."""
    rescore: bool
    """Decisions changed what the scores rest on, or some are missing."""
    hold: str
    """budget or deadline while the run is held; else ""."""
    hold_error: str
    """What was wrong with the last reply to a hold."""
    published: bool


class RunContext(BaseModel):
    """What may be tuned for one run. A field left empty stays as it was frozen when the run began."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: dict[str, str] | None = Field(
        default=None, title="Models", description="Model of each step, for example extract: gpt-4.1-mini."
    )
    batch_size: int | None = Field(
        default=None, ge=1, le=1000, title="Batch size", description="Documents a saved step (10)."
    )
    concurrency: int | None = Field(
        default=None, ge=1, le=256, title="Concurrency", description="Documents in flight at once (8)."
    )
    budget_usd: float | None = Field(
        default=None, ge=0, title="Budget in US dollars", description="The run pauses before its spend would pass this."
    )
    deadline_seconds: float | None = Field(
        default=None, gt=0, title="Deadline in seconds", description="Working time after which the run pauses."
    )
    review: Literal["auto", "always", "never"] | None = Field(
        default=None, title="Review", description="auto: stop when the playbook asks for a person."
    )
    fresh: bool | None = Field(default=None, title="Fresh", description="Reuse no answer of earlier runs.")
    language: Literal["en", "fr"] | None = Field(
        default=None, title="Language", description="Of all documents; told from each when empty."
    )
