"""Permissions of reviewers on the findings of a review packet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodes.domain.review.review import reviewer_key
from nodes.domain.shared.formats import one_line

UNNAMED_REVIEWERS = frozenset(("agent-inbox", "middleware"))
"""Reviewers in replies whose form names none; they do not count as one of two people."""


@dataclass(frozen=True, slots=True)
class Permission:
    """The rules of one packet on who may decide."""

    several: Mapping[str, int] = field(default_factory=dict)
    """Findings that need so many people who decide the same."""
    reviewers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The only reviewers of a finding, by its id."""
    verdicts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Verdicts by reviewer on findings that wait for one more person."""

    @classmethod
    def of(cls, packet: Mapping[str, Any]) -> Permission:
        """Read the rules of a packet; an older one has none."""
        return cls(*(packet.get(key, {}) for key in ("several", "reviewers", "said")))

    def may(self, reviewer: str, finding_id: str) -> bool:
        """Tell whether the playbook lets this person decide on the finding."""
        names = self.reviewers.get(finding_id, ())
        return not names or reviewer_key(reviewer) in map(reviewer_key, names)

    def objection(self, reviewer: str, finding_id: str, verdict: str) -> str:
        """Explain in one sentence why a decision cannot be taken; "" when it can."""
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
