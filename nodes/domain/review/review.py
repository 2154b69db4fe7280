"""The review packet that a person sees, and the decisions that result.

A packet is JSON-plain and has no clock in it, so the same findings give the same bytes and the same sha256; that sha256
is what a decision names. `review_request` shows a packet, `reply` reads the answer.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from nodes.domain.evidence.findings import RISKS, Finding
from nodes.domain.playbook.model import Playbook
from nodes.domain.scoring.risk import unreviewed_risk

Verdict = Literal["accept", "reject"]

PACKET_FORMAT = 1
"""Raised when a packet's keys change meaning."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision on one finding, made on one packet."""

    finding_id: str
    verdict: Verdict
    reviewer: str
    reason: str
    packet: str
    """sha256 of the review packet that the person saw."""
    at: datetime
    """Aware, UTC."""
    surface: str = "api"
    """Where it was made: cli, api, studio."""

    def shown(self) -> dict[str, Any]:
        """Return the decision as its finding holds it, JSON-plain: verdict, reviewer, reason, at (ISO 8601), packet."""
        plain = {"verdict": self.verdict, "reviewer": self.reviewer, "reason": self.reason}
        return {**plain, "at": self.at.isoformat(), "packet": self.packet}


def most_serious_first(finding: Finding) -> tuple[int, int, str, int, str]:
    """Sort key by risk, score, document and page, so that the order never depends on the order of reading."""
    risk = RISKS.index(finding.risk) if finding.risk in RISKS else 0
    return (-risk, -finding.score, finding.document, finding.page or 0, finding.finding_id)


def acceptable_by_one_person(findings: Iterable[Finding], playbook: Playbook) -> tuple[str, ...]:
    """Return the ids that "accept all" covers: findings whose risk the playbook lets one person accept at once."""
    risks = frozenset(playbook.review.one_person_may_accept)
    return tuple(finding.finding_id for finding in findings if finding.risk in risks and finding.reviewers_needed == 1)


def reviewer_key(name: str) -> str:
    """Normalise a reviewer's name for comparison: case and spaces do not count."""
    return " ".join(name.casefold().split())


def allowed_reviewers(finding: Finding, risk: str, playbook: Playbook) -> tuple[str, ...]:
    """Return the only reviewers of a finding of this risk; () when anybody may. The first matching rule holds."""
    types = {finding.clause_type, finding.about}
    for entry in playbook.review.reviewers:
        if (not entry.risks or risk in entry.risks) and (not entry.types or types & set(entry.types)):
            return entry.names
    return ()


def freeze_packet(
    run_id: str, playbook: Playbook, round_number: int, findings: Iterable[Finding], decisions: Iterable[Decision] = ()
) -> dict[str, Any]:
    """Freeze what a person has to look at.

    Of all findings of a run, those that need review and are not decided yet, most serious first. Keys: format, run_id,
    playbook {name, version, sha256, title}, round, findings (as Finding.to_json, without their decision), counts
    {to_review, by_risk, by_alignment}, one_person {risks, finding_ids}, decided (finding id → verdict, by `decisions`
    or by the finding itself; a reply may decide them anew), several (finding id → how many people must decide the
    same), reviewers (finding id → who alone may decide), said (finding id → reviewer → verdict, of those waiting for
    more people).
    """
    ordered = sorted(findings, key=most_serious_first)
    several = {finding.finding_id: finding.reviewers_needed for finding in ordered if finding.reviewers_needed > 1}
    decisions = list(decisions)
    verdicts = {finding.finding_id: str(finding.decision["verdict"]) for finding in ordered if finding.decision}
    verdicts.update({finding_id: decision.verdict for finding_id, decision in latest(decisions, several).items()})
    waiting = [finding for finding in ordered if finding.needs_review and finding.finding_id not in verdicts]
    by_risk = Counter(finding.risk for finding in waiting)
    plain = {
        "format": PACKET_FORMAT,
        "run_id": run_id,
        "playbook": {
            "name": playbook.name,
            "version": playbook.version,
            "sha256": playbook.sha256,
            "title": playbook.title,
        },
        "round": round_number,
        "findings": [_finding_json(finding) for finding in waiting],
        "counts": {
            "to_review": len(waiting),
            "by_risk": {risk: by_risk[risk] for risk in RISKS},
            "by_alignment": dict(Counter(finding.alignment for finding in waiting)),
        },
        "one_person": {
            "risks": list(playbook.review.one_person_may_accept),
            "finding_ids": list(acceptable_by_one_person(waiting, playbook)),
        },
        "decided": {
            finding.finding_id: verdicts[finding.finding_id] for finding in ordered if finding.finding_id in verdicts
        },
        "several": several,
        "reviewers": _reviewers_by_finding(ordered, playbook),
        "said": {
            finding.finding_id: verdicts_by_person
            for finding in waiting
            if finding.finding_id in several and (verdicts_by_person := opinions(decisions, finding.finding_id))
        },
    }
    parsed: dict[str, Any] = json.loads(to_bytes(plain))
    return parsed


def _reviewers_by_finding(findings: Iterable[Finding], playbook: Playbook) -> dict[str, list[str]]:
    if not playbook.review.reviewers:
        return {}
    names = (
        (finding.finding_id, allowed_reviewers(finding, unreviewed_risk(finding, playbook), playbook))
        for finding in findings
    )
    return {finding_id: list(people) for finding_id, people in names if people}


def _finding_json(finding: Finding) -> dict[str, Any]:
    data = finding.to_json()
    del data["decision"]
    # An engine's answer may hold NaN, which no JSON reader but Python's accepts.
    data["confidence"] = finding.confidence if math.isfinite(finding.confidence) else 0.0
    return data


def to_bytes(packet: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes of a packet: sorted keys, no spaces, ASCII (even a lone surrogate has bytes)."""
    return json.dumps(packet, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def sha256_of(packet: Mapping[str, Any]) -> str:
    """Return the sha256 of the canonical bytes, by which decisions name a packet."""
    return hashlib.sha256(to_bytes(packet)).hexdigest()


def latest(decisions: Iterable[Decision], several: Mapping[str, int] | None = None) -> dict[str, Decision]:
    """Return the decision that holds on each finding: the last one in the order given (the ledger's, oldest first).

    `several` says on which findings how many different people must have decided the same. Such a decision bears all
    their names; before there are so many, none holds.
    """
    several = several or {}
    holding: dict[str, Decision] = {}
    shared: dict[str, dict[str, Decision]] = {}
    for decision in decisions:
        if decision.finding_id in several:
            # Taken out first, so that the order is that of each person's last word.
            by_person = shared.setdefault(decision.finding_id, {})
            by_person.pop(reviewer_key(decision.reviewer), None)
            by_person[reviewer_key(decision.reviewer)] = decision
        else:
            holding[decision.finding_id] = decision
    for finding_id, by_person in shared.items():
        for last in reversed(by_person.values()):
            same = [decision for decision in by_person.values() if decision.verdict == last.verdict]
            if len(same) >= several[finding_id]:
                holding[finding_id] = replace(last, reviewer=", ".join(decision.reviewer for decision in same))
                break
    return holding


def opinions(decisions: Iterable[Decision], finding_id: str) -> dict[str, str]:
    """Return the last verdict of each person on a finding, by the name that they gave."""
    last_decisions = {
        reviewer_key(decision.reviewer): decision for decision in decisions if decision.finding_id == finding_id
    }
    return {decision.reviewer: decision.verdict for decision in last_decisions.values()}


def undecided(packet: Mapping[str, Any], decisions: Iterable[Decision]) -> tuple[str, ...]:
    """Return the ids of the packet's findings on which no decision holds yet, in the packet's order."""
    decided = latest(decisions, packet.get("several"))
    return tuple(finding["finding_id"] for finding in packet["findings"] if finding["finding_id"] not in decided)


def decided(packet: Mapping[str, Any], decisions: Iterable[Decision]) -> frozenset[str]:
    """Return the ids of the packet's findings on which a decision holds by now."""
    return frozenset(finding["finding_id"] for finding in packet["findings"]) - frozenset(undecided(packet, decisions))


def changes_scores(
    new: Iterable[Decision], earlier: Iterable[Decision] = (), several: Mapping[str, int] | None = None
) -> bool:
    """Tell whether `new` rejects a finding that counted, or takes back a rejection: only then do scores change."""
    new, earlier = list(new), list(earlier)
    before, after = latest(earlier, several), latest([*earlier, *new], several)
    touched = {decision.finding_id for decision in new} & after.keys()
    return any(
        (after[finding_id].verdict == "reject") != (finding_id in before and before[finding_id].verdict == "reject")
        for finding_id in touched
    )
