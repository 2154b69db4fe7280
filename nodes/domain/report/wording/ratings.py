"""The reasons of a supplier's risk as a note gives them: in its language, with their document and their evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import SupplierRating
from nodes.domain.playbook.model import Playbook
from nodes.domain.report.wording.reasons import rating_reason_in
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.scoring.risk import factor_reason
from nodes.domain.shared.formats import NAME_LIMIT, one_line


def grounds_of(
    rating: SupplierRating, findings: Sequence[Finding], documents: Sequence[DocumentResult], playbook: Playbook
) -> tuple[Finding | None, ...]:
    """For each reason of a standing, as scored, the finding that gives it: the first one, as in the score.

    `behind` are the findings of this supplier, `documents` those of the run.
    """
    order = {row.document: row.ordinal for row in documents}
    first: dict[str, Finding] = {}
    for finding in sorted(
        findings, key=lambda finding: (order.get(finding.document, len(order)), finding.document, finding.spans[:1])
    ):
        first.setdefault(f"{finding.score} {factor_reason(finding, playbook)}", finding)
    return tuple(first.get(reason) for reason in rating.reasons)


def rating_as_shown(
    rating: SupplierRating,
    grounds: Sequence[Finding | None],
    language: str,
    names: Mapping[str, str],
    documents: Sequence[str],
) -> SupplierRating:
    """A standing as the note shows it; where a supplier has several `documents`, a page is a page of one that is named.

    `names`: what the scores call a clause type → what the note calls it.
    """
    file_names = Counter(name.rpartition("/")[2] for name in documents)
    reasons = []
    for reason, ground in zip(rating.reasons, grounds, strict=True):
        text = rating_reason_in(language, reason, names)
        if len(documents) > 1 and ground is not None and ground.page is not None:
            page, file_name = f", {ground.unit} {ground.page}", ground.document.rpartition("/")[2]
            document = file_name if file_names[file_name] == 1 else ground.document
            text = text.replace(page, f", {one_line(document, NAME_LIMIT)}{page}", 1)
        reasons.append(text)
    marks = tuple(ground.finding_id if ground else "" for ground in grounds)
    return replace(rating, reasons=tuple(reasons), grounds=marks)
