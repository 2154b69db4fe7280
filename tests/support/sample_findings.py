"""A small playbook, and findings and document rows to score by it."""

from __future__ import annotations

from nodes.domain.evidence.findings import Alignment, Finding
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.runs.settings import DocumentResult

PLAYBOOK = parse_playbook(
    r"""
name = "test"
version = 1
title = "Test"
[thresholds]
medium = 20
high = 45
critical = 75
[review]
from_risk = "high"
below_confidence = 0.5
alignments = ["fuzzy", "not_found"]
[[clauses]]
type = "cap_on_liability"
title = { en = "Cap" }
question = "?"
points = 30
reason = "limited"
points_if_missing = 40
missing_reason = "no limit at all"
modifiers = [
  { pattern = 'three months', points = 50, reason = "three months only" },
  { pattern = 'l.œuvre', points = -20, reason = "but not so bad" },
]
[[clauses]]
type = "governing_law"
title = { en = "Law" }
question = "?"
[[clauses]]
type = "insurance"
title = { en = "Insurance" }
question = "?"
[[clauses]]
type = "exclusivity"
title = { en = "Exclusivity" }
question = "?"
points = 20
""",
    "test",
)


def finding(clause_type: str, quote: str = "A quote.", document: str = "a.pdf", **changes: object) -> Finding:
    alignment: Alignment = "exact"
    name = f"{clause_type}-{document}-{len(quote)}"
    spans = ((5, 9),)
    sample = Finding(name, document, "0" * 64, "", clause_type, quote, 1, 1, (), spans, alignment, 0.9, "x")
    return sample.with_(**changes)


def result(document: str = "a.pdf", ordinal: int = 0, **changes: object) -> DocumentResult:
    values: dict[str, object] = {
        "ordinal": ordinal,
        "document": document,
        "sha256": "0" * 64,
        "state": "done",
        **changes,
    }
    return DocumentResult(**values)  # type: ignore[arg-type]
