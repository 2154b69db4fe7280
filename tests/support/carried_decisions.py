"""Decisions that hold under another playbook, counted."""

from __future__ import annotations

from datetime import UTC, datetime

from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.model import Playbook
from nodes.domain.review.decision_carryover import carried_over
from nodes.domain.review.review import Decision


def held(finding: Finding, playbook: Playbook) -> int:
    """How many decisions on it hold under the playbook."""
    decision = Decision(finding.finding_id, "accept", "Ana", "fine", "0" * 64, datetime(2026, 1, 1, tzinfo=UTC))
    return len(carried_over([decision], [{"findings": [finding.to_json()]}], playbook))
