"""Review packets of made-up findings."""

from __future__ import annotations

from typing import Any

from nodes.domain.evidence.findings import RISKS, Finding
from nodes.domain.playbook.model import Clause, Playbook, Review
from nodes.domain.review.review import freeze_packet


def make_playbook(*one_person: Any) -> Playbook:
    review = Review(one_person_may_accept=one_person or RISKS)
    return Playbook(
        name="due-diligence",
        version=1,
        title="Due diligence",
        clauses=(Clause(type="cap_on_liability", title={"en": "Cap on liability"}, question="?"),),
        review=review,
    )


def make_finding(number: int, **changes: Any) -> Finding:
    values: dict[str, Any] = {
        "finding_id": f"{number:012x}",
        "document": f"supplier-{number}/master agreement.pdf",
        "document_sha256": "d" * 64,
        "supplier": f"Supplier {number}",
        "clause_type": "cap_on_liability",
        "quote": "The liability of each party is limited to EUR 100,000.",
        "page": 3,
        "page_end": 3,
        "boxes": (),
        "spans": ((10, 64),),
        "alignment": "exact",
        "confidence": 0.9,
        "source": "local:rules@1",
        "risk": "high",
        "score": 60,
        "needs_review": True,
    }
    return Finding(**{**values, **changes})


def make_packet(count: int = 3, *one_person: Any, **changes: Any) -> dict[str, Any]:
    return freeze_packet("run-1", make_playbook(*one_person), 1, [make_finding(n, **changes) for n in range(count)])
