"""A note with its findings, documents and playbook."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import Note, SupplierRating
from nodes.domain.playbook.model import Clause, Playbook
from nodes.domain.report.writers.note_writer import NoteInput, write_note
from nodes.domain.runs.settings import DocumentResult

CAP = "The aggregate liability of Acme SAS shall not exceed EUR 100,000 in any twelve (12) month period."


CHANGE = "The Client may terminate this Agreement on thirty (30) days' written notice from 1 March 2025."


EXCLUDED = "The Supplier shall not be liable for loss of profit."


def make_finding(finding_id: str, quote: str, **changes: Any) -> Finding:
    values: dict[str, Any] = {
        "finding_id": finding_id,
        "document": "acme/master.pdf",
        "document_sha256": "d" * 64,
        "supplier": "Acme SAS",
        "clause_type": "cap_on_liability",
        "quote": quote,
        "page": 3,
        "page_end": 3,
        "boxes": (),
        "spans": ((10, 10 + len(quote)),),
        "alignment": "exact",
        "confidence": 0.9,
        "source": "local:rules@1",
        "risk": "high",
        "score": 60,
    }
    return Finding(**{**values, **changes})


def make_playbook() -> Playbook:
    clauses = [
        Clause(type="cap_on_liability", title={"en": "Cap on liability", "fr": "Plafond"}, question="?", required=True),
        Clause(type="termination_for_convenience", title={"en": "Termination for convenience"}, question="?"),
        Clause(type="governing_law", title={"en": "Governing law"}, question="?"),
        Clause(type="insurance", title={"en": "Insurance"}, question="?", points_if_missing=10),
    ]
    return Playbook(name="due-diligence", version=1, title="Due diligence", clauses=tuple(clauses))


def make_document(ordinal: int, document: str, supplier: str, **changes: Any) -> DocumentResult:
    pages = tuple((number, "read", "") for number in range(1, 7))
    values: dict[str, Any] = {"ordinal": ordinal, "sha256": "d" * 64, "state": "done", "pages": pages}
    return DocumentResult(document=document, supplier=supplier, **{**values, **changes})


DECIDED = {"verdict": "reject", "reviewer": "A. Martin", "reason": "a heading", "at": "2026-11-29T03:12:40+00:00"}


RUN_FINDINGS = (
    make_finding("a1", CAP),
    make_finding("a2", CHANGE, clause_type="termination_for_convenience", risk="low", score=5),
    make_finding("a3", "This Agreement is governed by French law.", clause_type="governing_law", page_end=4),
    make_finding("b1", "Limitation of liability", decision=DECIDED),
    make_finding("b2", EXCLUDED, needs_review=True, review_reason="risk is high"),
    make_finding("b3", "Liability is unlimited.", alignment="not_found", page=None, spans=()),
)


RUN_DOCUMENTS = (
    make_document(0, "acme/master.pdf", "Acme SAS"),
    make_document(1, "acme/annex.pdf", "ACME S.A.S.", pages=((1, "ocr", ""), (2, "failed", "time-out"))),
    make_document(2, "broken.pdf", "", state="failed", reason="not a PDF", pages=()),
)


def make_note(language: str = "en", **changes: Any) -> Note:
    note_input = NoteInput(
        "Acme suppliers",
        RUN_FINDINGS,
        RUN_DOCUMENTS,
        make_playbook(),
        [SupplierRating("Acme SAS", "high", 62, ("60 Cap on liability, page 3: +60 low cap",))],
        language,
    )
    return write_note(replace(note_input, **changes))


def said(note: Note, kind: Any) -> list[str]:
    section = note.section(kind)
    return [sentence.text for sentence in section.sentences] if section else []


HOSTILE = "<script>alert(1)</script> [click](javascript:x) ![i](http://evil.example) \x1b[31m*b* \u202egnp\x00\ud800"
