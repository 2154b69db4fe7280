"""The typed state and nothing else: ids, counters, hashes, references. Never the text of a document.

A run comes in as RunInput, lives as RunState, leaves as RunOutput; RunContext is what may be tuned for one run.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from nodes.domain.runs.options import MAX_BATCH_SIZE, MAX_CONCURRENCY


class RunInput(TypedDict, total=False):
    """What a run starts from."""

    source: Annotated[str, Field(title="Source", description="Folders or files with the documents, one a line.")]
    playbook: Annotated[str, Field(title="Playbook", description="Name, or path of a TOML file; empty: due-diligence.")]
    engine: Annotated[
        str, Field(title="Engine", description="local or openai; empty: local, and nothing leaves the machine.")
    ]
    matter: Annotated[
        str, Field(title="Matter", description="Wall: answers are reused inside one matter only; empty: default.")
    ]
    options: Annotated[
        dict[str, Any],
        Field(
            title="More",
            description="By name: what to call the run (name), its job, or any setting of the context, which wins: "
            '{"name": "acme-1", "batch_size": 5}.',
        ),
    ]


class RunOutput(TypedDict, total=False):
    """What a finished run leaves."""

    run_id: str
    headline: str
    note: str
    """sha256 of the note in Markdown."""


class RunState(RunInput, RunOutput, total=False):
    """Where a run is; at most 4 kB a super-step whatever the number of documents."""

    workflow_version: int
    """Of the program that wrote this state; 1 where it is missing."""
    documents_total: int
    batch_size: int
    batch_index: int
    """Batches that are closed: their documents are in the ledger and their findings stored."""
    batch_total: int
    slow_total: int
    """Documents that were put off; they are tried once more after the last batch."""
    slow_index: int
    """Steps of that slow lane that are closed, of at most batch_size documents each."""
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
    """What may be tuned for one run: read when it begins and frozen with it. An empty field takes its default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: dict[str, str] | None = Field(
        default=None, title="Models", description="Model of each step, for example extract: gpt-4.1-mini."
    )
    batch_size: int | None = Field(
        default=None, ge=1, le=MAX_BATCH_SIZE, title="Batch size", description="Documents a saved step (10)."
    )
    concurrency: int | None = Field(
        default=None, ge=1, le=MAX_CONCURRENCY, title="Concurrency", description="Documents in flight at once (8)."
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
        default=None, title="Language", description="Of the note, and of documents that do not show their own."
    )
