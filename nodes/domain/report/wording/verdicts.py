"""Wording of a reviewer's decision in a note: who, when and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from nodes.domain.evidence.findings import Finding
from nodes.domain.report.wording.texts import texts
from nodes.domain.shared.formats import count, one_line, when


def decision_words(finding: Finding, language: str) -> tuple[str, str, str]:
    """Return (reviewer, " on 2026-11-29 03:12 UTC" or "", reason) of a decision, clean and on one line each."""
    decision: Mapping[str, Any] = finding.decision or {}
    at = decision.get("at")
    try:
        decided_at = at if isinstance(at, datetime) else datetime.fromisoformat(str(at))
        on_date = texts(language)["rejected_at"].format(at=moment(decided_at, language))
    except ValueError:
        on_date = ""
    return (
        one_line(str(decision.get("reviewer") or ""), 200),
        on_date,
        one_line(str(decision.get("reason") or ""), 1000),
    )


def reviewers_of(findings: Iterable[Finding], language: str) -> str:
    """List who decided, with counts: "A. Martin (15 decisions), B. Roy (1 decision)"; "" where nobody did."""
    table = texts(language)
    counts = Counter(
        reviewer for finding in findings if finding.decision and (reviewer := decision_words(finding, language)[0])
    )
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(
        f"{name} ({count(number, table['ruling'], table['rulings'], language)})" for name, number in ranked
    )


def moment(at: datetime, language: str) -> str:
    """Format a moment in the language of the note; raises ValueError for one without a zone."""
    text = when(at)
    if language != "fr":
        return text
    # Late: its patterns take long to compile, and only a French note needs it.
    from nodes.domain.case_law.head.dates import french

    return f"{french(at.astimezone(UTC).date())} à {text.partition(' ')[2]}"
