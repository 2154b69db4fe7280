"""The findings of a run with the decisions that hold now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from graph.composition import Container
from graph.views.frames import FindingsView
from graph.views.threads import find_run, read_head
from nodes.domain.evidence.findings import Finding
from nodes.domain.review.review import Decision, latest
from nodes.domain.runs.settings import Run
from nodes.domain.runs.state_validation import valid_part


async def read_findings(container: Container, thread: str) -> FindingsView:
    """Read every finding of a run with its score and decision. Raises UnknownThread."""
    run = await find_run(container, thread)
    state = valid_part((await read_head(container, run.thread_id)).values)
    return FindingsView(await findings_of(container, run, state))


async def findings_of(container: Container, run: Run, state: Mapping[str, Any]) -> list[Finding]:
    """Read the scored findings that the state names, or before that those of closed batches, with their decisions."""
    decisions = await container.ledger.decisions(run.run_id)
    stored: list[dict[str, Any]] = []
    if state.get("findings"):
        stored = json.loads(await container.artifacts.get(state["findings"]))["findings"]
    else:
        for document in await container.ledger.documents(run.run_id, 0, run.documents_total):
            if document.findings_ref:
                stored += json.loads(await container.artifacts.get(document.findings_ref))
    return await asyncio.to_thread(_with_decisions, stored, decisions)


def _with_decisions(stored: Sequence[Mapping[str, Any]], decisions: Sequence[Decision]) -> list[Finding]:
    reviewers_needed = {
        columns["finding_id"]: people for columns in stored if (people := columns.get("reviewers_needed", 1)) > 1
    }
    decided = latest(decisions, reviewers_needed)
    findings = []
    for columns in stored:
        finding = Finding.from_json(columns)
        decision = decided.get(finding.finding_id)
        findings.append(finding if decision is None else finding.with_(decision=decision.shown()))
    return findings
