"""What the documents of a run say of one another, for the steps that see them all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from nodes.domain.contracts.families.families import Families, families
from nodes.domain.contracts.families.members import Member, member
from nodes.domain.contracts.families.overrides import Numbering, marked, numbering
from nodes.domain.evidence.facts import Fact
from nodes.domain.evidence.findings import Finding
from nodes.domain.playbook.model import Playbook
from nodes.domain.report.writers.contract_terms import KEPT
from nodes.domain.runs.settings import DocumentResult, Run
from nodes.domain.text.supplier_names import settled
from nodes.ports import Services
from nodes.steps.batches import facts_of, text_of


@dataclass(frozen=True, slots=True)
class Related:
    """The documents and findings of a run once they are seen together."""

    documents: Sequence[DocumentResult]
    """Each with its supplier, in one spelling; of a part that names none, that of its agreement."""
    findings: list[Finding]
    """With what amendments override, and with what is named and not there."""
    parts: Collection[str]
    """Documents that belong to another."""


async def related(
    services: Services, run: Run, playbook: Playbook, documents: Sequence[DocumentResult], findings: Sequence[Finding]
) -> Related:
    """See a run's documents together; nothing but facts, and the text of agreements that have amendments, is read.

    Of court decisions: which documents are attached to one, so that nothing is missed in them.
    """
    if playbook.kind == "decisions":
        return Related(documents, list(findings), await _attached(services, run, documents))
    if playbook.kind != "contracts":
        return Related(documents, list(findings), ())
    known = await family_of(services, run, documents)
    settled_rows = adopted(documents, known)
    suppliers = {
        row.document: row.supplier
        for row, before in zip(settled_rows, documents, strict=True)
        if row.supplier != before.supplier
    }
    amended = {master for master, _ in known.amendments()}
    numbered = {one.document: await _numbering(services, run, one) for one in documents if one.document in amended}
    over = dict(marked(findings, known, numbered))
    seen = [
        one.with_(supplier=suppliers.get(one.document, one.supplier), overridden=over.get(one.finding_id))
        if one.document in suppliers or one.finding_id in over
        else one
        for one in (*findings, *known.findings)
    ]
    return Related(settled_rows, seen, known.parts)


async def family_of(
    services: Services, run: Run, documents: Sequence[DocumentResult], kept: dict[str, list[Fact]] | None = None
) -> Families:
    """The families of a run's documents; one document's facts are in memory at a time.

    `kept` takes the facts of its kinds that a note states, without their boxes.
    """
    members: list[Member] = []
    for one in documents:
        facts = [Fact.from_json(each) for each in await facts_of(services, run, one)]
        members.append(member(one, facts))
        if kept is not None:
            kept[one.document] = [replace(fact, boxes=()) for fact in facts if fact.kind in KEPT]
    return families(members)


async def _attached(services: Services, run: Run, documents: Sequence[DocumentResult]) -> frozenset[str]:
    """What lies beside a court decision and belongs to it; one document's facts are in memory at a time."""
    from nodes.domain.case_law.groups import KINDS, grouped, paper  # only a run of this kind needs its rules

    papers = []
    for one in documents:
        facts = [Fact.from_json(each) for each in await facts_of(services, run, one) if each["kind"] in KINDS]
        papers.append(paper(one, facts))
    return frozenset(grouped(papers).attached)


def adopted(documents: Sequence[DocumentResult], known: Families) -> list[DocumentResult]:
    """The documents, each under its supplier: a part that names none under that of its agreement, and one company
    under one spelling."""
    suppliers = known.adopted()
    named = [suppliers.get(one.document, one.supplier) for one in documents]
    spelled = settled(name for name in named if name)
    return [
        replace(one, supplier=spelled.get(name, name)) if spelled.get(name, name) != one.supplier else one
        for one, name in zip(documents, named, strict=True)
    ]


async def _numbering(services: Services, run: Run, document: DocumentResult) -> Numbering:
    raw = await text_of(services, run, document) or b'{"text": ""}'
    return await asyncio.to_thread(lambda: numbering(json.loads(raw)["text"]))
