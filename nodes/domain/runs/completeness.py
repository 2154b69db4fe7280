"""Documents in, results out: a run whose sums do not agree must say so, and not end as if all had been read."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.domain.runs.settings import DocumentResult, Run
from nodes.domain.shared.errors import Unaccounted
from nodes.domain.shared.formats import count, one_line

SETTLED = ("done", "failed", "skipped")

HOW_TO_REPEAT = (
    'go back with update_state({"batch_index": 0, "slow_index": 0, "slow_total": 0}, as_node="ingest") and go on; '
    "what is done is not done again."
)


def check_all_settled(run: Run, documents: Sequence[DocumentResult]) -> None:
    """Every document of the list is done, failed or skipped, and a done one has its pages. Raises Unaccounted."""
    if len(documents) != run.documents_total:
        raise Unaccounted(
            f"Run {run.name or run.thread_id} froze {count(run.documents_total, 'document')} and its ledger has "
            f"{len(documents)}: it must not end like this, restore the database or start a new run."
        )
    _refuse(
        run,
        [document for document in documents if document.state not in SETTLED],
        "neither done nor failed nor skipped",
    )
    _refuse(
        run,
        [document for document in documents if document.state == "done" and not document.pages],
        "done without any page",
    )


def check_findings_stored(run: Run, documents: Sequence[DocumentResult], stored: int) -> None:
    """As many findings are stored as the documents say that they have. Raises Unaccounted."""
    reported = sum(document.findings for document in documents if document.state == "done")
    if reported != stored:
        raise Unaccounted(
            f"The documents of run {run.name or run.thread_id} have {count(reported, 'finding')} by their rows and {stored} "
            f"in the stored batches: {HOW_TO_REPEAT}"
        )


def _refuse(run: Run, lost: Sequence[DocumentResult], fault: str) -> None:
    if lost:
        first = one_line(lost[0].document, 120)
        raise Unaccounted(
            f"{len(lost)} of {count(run.documents_total, 'document')} of run {run.name or run.thread_id} "
            f"{'is' if len(lost) == 1 else 'are'} {fault} (the first: {first}), so it must not end yet: {HOW_TO_REPEAT}"
        )
