"""An agreement in plain English, and the clause types that are searched in it."""

from __future__ import annotations

from paths import ROOT

from nodes.domain.playbook.reading import parse_playbook

TYPES = parse_playbook(
    (ROOT / "nodes" / "playbooks" / "due-diligence.toml").read_text(encoding="utf-8"), "due-diligence"
).types


AGREEMENT = """\
SUPPLY AGREEMENT between Acme Ltd ("Supplier") and Bank plc ("Customer").

9. Limitation of Liability. In no event shall either party be liable to the other for any indirect, incidental or
consequential damages. The total liability of either party under this Agreement shall not exceed the fees paid during
the twelve (12) months before the claim.

10. Insurance. Supplier shall maintain commercial general liability insurance of at least $1,000,000 for each
occurrence, and shall name Customer as an additional insured.

11. Assignment. Neither party may assign this Agreement without the prior written consent of the other party, and any
attempted assignment without such consent shall be void.

12. Governing Law. This Agreement shall be governed by and construed in accordance with the laws of the State of New
York, without regard to its conflict of laws principles.
"""
