"""Who may decide on the findings of a review packet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodes.domain.review.review import reviewer_key
from nodes.domain.shared.formats import one_line

UNNAMED_REVIEWERS = frozenset(("agent-inbox", "middleware"))
"""What stands for a reviewer in the forms of a reply that name none; it is nobody of two people."""


@dataclass(frozen=True, slots=True)
class Permission:
    """The rules of one packet."""

    several: Mapping[str, int] = field(default_factory=dict)
    """Findings that need so many people who decide the same."""
    reviewers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Who alone may decide on a finding."""
    verdicts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What was said of findings that wait for one more person, by reviewer."""

    @classmethod
    def of(cls, packet: Mapping[str, Any]) -> Permission:
        """An older packet has no such rules."""
        return cls(*(packet.get(key, {}) for key in ("several", "reviewers", "said")))

    def may(self, reviewer: str, finding_id: str) -> bool:
        """Whether the playbook lets this person decide on the finding."""
        names = self.reviewers.get(finding_id, ())
        return not names or reviewer_key(reviewer) in map(reviewer_key, names)

    def objection(self, reviewer: str, finding_id: str, verdict: str) -> str:
        """Why this decision cannot be taken, in a sentence; "" when it can."""
        subject, reviewer_name = f"Finding {one_line(finding_id, 40)}", one_line(reviewer, 60)
        if not self.may(reviewer, finding_id):
            names = ", ".join(one_line(name, 60) for name in self.reviewers[finding_id][:5])
            return f"{subject} may be decided by {names} only, not by {reviewer_name}."
        if finding_id in self.several and reviewer in UNNAMED_REVIEWERS:
            return f"{subject} must be decided by two people: the reply must say who decides."
        earlier_verdicts = {
            reviewer_key(name): earlier_verdict for name, earlier_verdict in self.verdicts.get(finding_id, {}).items()
        }
        if earlier_verdicts.get(reviewer_key(reviewer)) == verdict:
            return f"{subject} was {verdict}ed by {reviewer_name} before: another person must decide."
        return ""
