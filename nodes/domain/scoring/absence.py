"""Findings of missing clauses: what an agreement lacks, without a quote and without a page."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from nodes.domain.contracts.families.members import supplier_key
from nodes.domain.evidence.coverage import page_counts
from nodes.domain.evidence.findings import Finding, Location, finding_id
from nodes.domain.evidence.note_model import title_in
from nodes.domain.playbook.model import Clause, Playbook
from nodes.domain.playbook.searched_types import SearchScope
from nodes.domain.runs.settings import DocumentResult

MISSING = "missing_clause"
AGREEMENT_TYPES = 3
"""A document with so many clause types is an agreement; only of one is a clause missed."""

_CHANGES = re.compile(r"\b(?:amendments?|amending|addend(?:um|a)|avenants?|change orders?|waivers?)\b")
_BELONGS = re.compile(
    r"""\b(?:    # "annexe", "schedule"
        annex(?: e | es )? | appendi(?: x | ces ) | schedules? | exhibits? | attachments? | pieces?\ jointes?
    )\b""",
    re.VERBOSE,
)
_AGREEMENT = re.compile(r"\b(?:agreements?|contracts?|contrats?|terms|conditions)\b")


def verdict_on(finding: Finding) -> str:
    """Return accept, reject, or "" while nobody has decided."""
    return str(finding.decision.get("verdict", "")) if finding.decision else ""


def counts_as_present(finding: Finding) -> bool:
    """Tell whether a finding proves that its clause is there: not rejected, and located or accepted."""
    verdict = verdict_on(finding)
    if finding.about or _is_deleted(finding):
        return False
    return verdict == "accept" or (verdict != "reject" and finding.alignment != "not_found")


def _is_deleted(finding: Finding) -> bool:
    """Tell whether an amendment certainly deleted the clause without replacing it."""
    over = finding.overridden
    return bool(over and over["certain"] and over["action"] == "delete")


def is_undecided_quote(finding: Finding) -> bool:
    """Tell whether a quote that is not in the document still waits for a decision."""
    return not verdict_on(finding) and finding.alignment == "not_found"


def refuted_absences(findings: Sequence[Finding]) -> set[str]:
    """Return the clause types whose absence a reviewer rejected: they are there, though nothing was found."""
    return {finding.about for finding in findings if finding.about and verdict_on(finding) == "reject"}


def present_types(findings: Sequence[Finding], playbook: Playbook) -> set[str]:
    """Return the clause types of the playbook that count as present."""
    playbook_types = set(playbook.types)
    return {
        finding.clause_type
        for finding in findings
        if counts_as_present(finding) and finding.clause_type in playbook_types
    }


def is_agreement(result: DocumentResult, types: Collection[str], parts: Collection[str] = ()) -> bool:
    """Tell whether a document with these clause types is an agreement, which can lack a clause.

    `parts` are documents known to belong to another; one whose name says that it changes another or hangs on it is
    left out too, since what it does not say stands elsewhere.
    """
    return (
        result.state == "done"
        and len(types) >= AGREEMENT_TYPES
        and result.document not in parts
        and not _is_named_as_part(result.document)
    )


def can_lack(result: DocumentResult, types: Collection[str], playbook: Playbook, parts: Collection[str] = ()) -> bool:
    """Tell whether a document with these clause types can lack what the playbook requires.

    Of a decision always, unless it is attached to another: one in which nothing was seen is what a person must see.
    """
    if playbook.kind == "decisions":
        return result.state == "done" and "#" not in result.document and result.document not in parts
    return is_agreement(result, types, parts)


def _is_named_as_part(document: str) -> bool:
    words = " ".join(re.findall(r"[^\W\d_]+", PurePosixPath(document).stem.casefold()))
    return bool(_CHANGES.search(words) or (_BELONGS.search(words) and not _AGREEMENT.search(words)))


def missing_clauses(
    findings: Sequence[Finding],
    documents: Sequence[DocumentResult],
    playbook: Playbook,
    search_scope: SearchScope,
    parts: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield a finding for each required clause that an agreement lacks, in the order of the run; not scored yet.

    None for a clause that another document of the supplier has, that a person has still to judge, or that nobody
    looked for.
    """
    by_document: Mapping[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_document[finding.document].append(finding)
    supplier_types: Mapping[str, set[str]] = defaultdict(set)
    for result in documents:
        document_findings = by_document[result.document]
        supplier_types[supplier_key(result)] |= present_types(document_findings, playbook) | {
            finding.clause_type for finding in document_findings if is_undecided_quote(finding)
        }
    for result in sorted(documents, key=lambda result: result.ordinal):
        if not can_lack(result, present_types(by_document[result.document], playbook), playbook, parts):
            continue
        sought = search_scope.types(result)
        for clause in playbook.clauses:
            if clause.required and clause.type in sought and clause.type not in supplier_types[supplier_key(result)]:
                yield _missing(result, clause, playbook)


def _missing(result: DocumentResult, clause: Clause, playbook: Playbook) -> Finding:
    read, total = page_counts(result)
    title = title_in(clause.title, clause.type)
    units = f"{total} {result.unit}{'' if total == 1 else 's'}"
    of_all = "" if read == total else f"{read} of "
    was = "was" if read == 1 else "were"
    span = f"the {of_all}{units} that {was} read"
    return Finding(
        finding_id=finding_id(result.sha256, MISSING, Location("absent"), clause.type),
        document=result.document,
        document_sha256=result.sha256,
        supplier=result.supplier,
        clause_type=MISSING,
        quote="",
        page=None,
        page_end=None,
        boxes=(),
        spans=(),
        alignment="absent",
        # How much of the document the statement rests on.
        confidence=round(read / total, 4) if total else 0.0,
        source=f"playbook:{playbook.name}@{playbook.version}",
        reasons=(f"no clause of type “{title}” was found in {span}",),
        about=clause.type,
        unit=result.unit,
    )
