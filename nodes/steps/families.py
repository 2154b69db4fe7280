"""Relations between the documents of a run: suppliers, agreements, amendments and attachments."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from nodes.domain.contracts.families.families import Families, families
from nodes.domain.contracts.families.members import Member, member
from nodes.domain.contracts.families.overrides import Numbering, find_overrides, numbering
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.model import Playbook
from nodes.domain.report.writers.contract_terms import NOTE_FACT_KINDS
from nodes.domain.runs.settings import DocumentResult, Run
from nodes.domain.text.supplier_names import canonical_names
from nodes.ports import Services
from nodes.steps.batches import facts_of, text_of


@dataclass(frozen=True, slots=True)
class RelatedDocuments:
    """Documents and findings of a run, related to each other."""

    documents: Sequence[DocumentResult]
    """Each with its supplier, in one spelling; a part that names none has that of its agreement."""
    findings: list[Finding]
    """With overrides by amendments, and findings on named documents that are absent."""
    parts: Collection[str]
    """Documents that belong to another."""


async def relate_documents(
    services: Services, run: Run, playbook: Playbook, documents: Sequence[DocumentResult], findings: Sequence[Finding]
) -> RelatedDocuments:
    """Relate a run's documents; only facts, and the text of agreements that have amendments, are read.

    Of court decisions: which documents are attached to one, so that nothing is missed in them.
    """
    if playbook.kind == "decisions":
        return RelatedDocuments(documents, list(findings), await _attached_documents(services, run, documents))
    if playbook.kind != "contracts":
        return RelatedDocuments(documents, list(findings), ())
    run_families = await load_families(services, run, documents)
    rows = with_adopted_suppliers(documents, run_families)
    suppliers = {
        row.document: row.supplier
        for row, before in zip(rows, documents, strict=True)
        if row.supplier != before.supplier
    }
    amended = {master for master, _ in run_families.amendments()}
    numbered = {row.document: await _numbering(services, run, row) for row in documents if row.document in amended}
    overrides = dict(find_overrides(findings, run_families, numbered))
    marked_findings = [
        finding.with_(
            supplier=suppliers.get(finding.document, finding.supplier), overridden=overrides.get(finding.finding_id)
        )
        if finding.document in suppliers or finding.finding_id in overrides
        else finding
        for finding in (*findings, *run_families.findings)
    ]
    return RelatedDocuments(rows, marked_findings, run_families.parts)


async def load_families(
    services: Services,
    run: Run,
    documents: Sequence[DocumentResult],
    facts_by_document: dict[str, list[Fact]] | None = None,
) -> Families:
    """Build the families of a run's documents; one document's facts are in memory at a time.

    `facts_by_document` is filled with the facts that a note states, without their boxes.
    """
    members: list[Member] = []
    for row in documents:
        facts = [Fact.from_json(record) for record in await facts_of(services, run, row)]
        members.append(member(row, facts))
        if facts_by_document is not None:
            facts_by_document[row.document] = [
                replace(fact, boxes=()) for fact in facts if fact.kind in NOTE_FACT_KINDS
            ]
    return families(members)


async def _attached_documents(services: Services, run: Run, documents: Sequence[DocumentResult]) -> frozenset[str]:
    """Find the documents attached to a court decision; one document's facts are in memory at a time."""
    from nodes.domain.case_law.groups import (
        KINDS,
        group_rulings,
        ruling_document,
    )  # only a run of this kind needs its rules

    papers = []
    for row in documents:
        facts = [Fact.from_json(record) for record in await facts_of(services, run, row) if record["kind"] in KINDS]
        papers.append(ruling_document(row, facts))
    return frozenset(group_rulings(papers).attached)


def with_adopted_suppliers(documents: Sequence[DocumentResult], run_families: Families) -> list[DocumentResult]:
    """Set the supplier of each document: a part that names none gets its agreement's, and a company one spelling."""
    suppliers = run_families.adopted()
    names = [suppliers.get(row.document, row.supplier) for row in documents]
    spelled = canonical_names(name for name in names if name)
    return [
        replace(row, supplier=spelled.get(name, name)) if spelled.get(name, name) != row.supplier else row
        for row, name in zip(documents, names, strict=True)
    ]


async def _numbering(services: Services, run: Run, document: DocumentResult) -> Numbering:
    raw = await text_of(services, run, document) or b'{"text": ""}'
    return await asyncio.to_thread(lambda: numbering(json.loads(raw)["text"]))
