"""Which decisions hold when the same findings are scored by another playbook. Pure."""

from __future__ import annotations

from typing import Any

from carried_decisions import held
from paths import PLAYBOOKS

from nodes.domain.contracts.families.overrides import override_reason
from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.scoring.risk import score_with_reasons, unreviewed_risk

SHIPPED = PLAYBOOKS / "due-diligence.toml"
PLAYBOOK = parse_playbook(SHIPPED.read_text(encoding="utf-8"), "due-diligence")
STRICTER = PLAYBOOK.model_copy(
    update={
        "clauses": tuple(
            clause.model_copy(update={"points": clause.points + 7}) if clause.type == "exclusivity" else clause
            for clause in PLAYBOOK.clauses
        )
    }
)


def shown(**what: Any) -> Finding:
    """An exclusivity as a person saw it in a review, scored by the shipped playbook."""
    plain = Finding(
        finding_id="1a2b3c4d5e6f", document="a.txt", document_sha256="0" * 64, supplier="X", clause_type="exclusivity",
        quote="The Customer shall buy only from the Supplier.", page=1, page_end=1, boxes=(), spans=((0, 46),),
        alignment="exact", confidence=0.9, source="local:rules@1",
    )  # fmt: skip
    finding = plain.with_(**what)
    points, reasons = score_with_reasons(finding, PLAYBOOK)
    over = (override_reason(finding),) if override_reason(finding) else ()
    return finding.with_(score=points, reasons=(*reasons, *over), risk=unreviewed_risk(finding, PLAYBOOK))


def test_a_decision_on_a_finding_that_looks_the_same_holds_and_on_one_that_counts_more_does_not() -> None:
    assert shown().score > 0
    assert held(shown(), PLAYBOOK) == 1 and held(shown(), STRICTER) == 0


def test_what_an_amendment_may_do_to_a_finding_is_no_change_of_the_playbook() -> None:
    over = {"by": "amendment.txt", "unit": "page", "page": 1, "action": "replaces", "certain": False}
    finding = shown(overridden=over)
    assert finding.reasons[-1] == "may be overridden by amendment.txt, page 1"
    assert held(finding, PLAYBOOK) == 1 and held(finding, STRICTER) == 0
