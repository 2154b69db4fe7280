"""Carry-over of decisions from one run to a fork, which scores the same findings by another playbook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nodes.domain.contracts.families.overrides import override_reason
from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.model import Playbook
from nodes.domain.review.review import Decision, allowed_reviewers, reviewer_key
from nodes.domain.runs.settings import DocumentResult, Run
from nodes.domain.scoring.risk import score_with_reasons, unreviewed_risk

SURFACE = "fork"
"""Surface that a carried-over decision names."""


def carried_over(
    decisions: Sequence[Decision], packets: Iterable[Mapping[str, Any]], playbook: Playbook
) -> list[Decision]:
    """Return the decisions on findings that look the same under the new playbook as they did to the reviewer.

    `packets` are those that people saw. Risk, score and every reason must be equal, and the reviewer allowed under
    the new playbook.
    """
    shown_findings = {finding["finding_id"]: finding for packet in packets for finding in packet["findings"]}
    holding = []
    for decision in decisions:
        finding = shown_findings.get(decision.finding_id)
        if finding is not None and _still_holds(decision, finding, playbook):
            holding.append(replace(decision, surface=SURFACE))
    return holding


def _still_holds(decision: Decision, packet_finding: Mapping[str, Any], playbook: Playbook) -> bool:
    finding = Finding.from_json(packet_finding)
    # What an amendment does to it hangs on the documents, not on the playbook.
    reasons = tuple(reason for reason in finding.reasons if reason != override_reason(finding))
    # Of a missing clause the last reason says what was looked through; the points come before it.
    plain = finding.with_(reasons=reasons[-1:])
    risk = unreviewed_risk(plain, playbook)
    if (finding.score, reasons) != score_with_reasons(plain, playbook) or finding.risk != risk:
        return False
    names = allowed_reviewers(finding, risk, playbook)
    return not names or reviewer_key(decision.reviewer) in map(reviewer_key, names)


def count_unfinished(documents: Sequence[DocumentResult]) -> int:
    """Count the documents that are not done, failed or skipped; only a run without any can be forked."""
    return sum(document.state not in ("done", "failed", "skipped") for document in documents)


def fork_of(parent: Run, playbook: Playbook, refs: Mapping[str, str], **changes: Any) -> Run:
    """Build the run that scores the documents of `parent` anew; `refs` names the artifacts of its playbook.

    It keeps what was looked for, since nobody looks again, and has no limits, since it asks nobody.
    """
    scope_ref = parent.artifacts.get("looked_for", parent.artifacts["playbook"])
    return replace(
        parent,
        playbook=playbook.name,
        playbook_sha256=playbook.sha256,
        artifacts={**refs, "inputs": parent.artifacts["inputs"], "looked_for": scope_ref},
        parent_thread_id=parent.thread_id,
        cancelled_at=None,
        **changes,
    )
