"""Checks that a run has a result for each document and finding, before it may end as complete."""

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
    """Check that every document is done, failed or skipped, and has pages when done. Raises Unaccounted."""
    if len(documents) != run.documents_total:
        raise Unaccounted(
            f"Run {run.name or run.thread_id} froze {count(run.documents_total, 'document')} and its ledger has "
            f"{len(documents)}: it must not end like this, restore the database or start a new run."
        )
    _refuse_any(
        run,
        [document for document in documents if document.state not in SETTLED],
        "neither done nor failed nor skipped",
    )
    _refuse_any(
        run,
        [document for document in documents if document.state == "done" and not document.pages],
        "done without any page",
    )


def check_findings_stored(run: Run, documents: Sequence[DocumentResult], stored: int) -> None:
    """Check that as many findings are `stored` as the rows of the documents report. Raises Unaccounted."""
    reported = sum(document.findings for document in documents if document.state == "done")
    if reported != stored:
        raise Unaccounted(
            f"The documents of run {run.name or run.thread_id} have {count(reported, 'finding')} by their rows and "
            f"{stored} in the stored batches: {HOW_TO_REPEAT}"
        )


def _refuse_any(run: Run, lost: Sequence[DocumentResult], fault: str) -> None:
    if lost:
        first = one_line(lost[0].document, 120)
        raise Unaccounted(
            f"{len(lost)} of {count(run.documents_total, 'document')} of run {run.name or run.thread_id} "
            f"{'is' if len(lost) == 1 else 'are'} {fault} (the first: {first}), so it must not end yet: {HOW_TO_REPEAT}"
        )
