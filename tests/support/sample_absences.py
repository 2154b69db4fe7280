"""A playbook with required clauses, and findings scored with what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from sample_findings import finding, result

from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_check import drop_unsupported
from nodes.domain.evidence.note_model import Note, SupplierRating
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.playbook.searched_types import SearchScope
from nodes.domain.report.writers.note_writer import NoteInput, write_note
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.scoring.absence import missing_clauses
from nodes.domain.scoring.risk import Scored, score

CLAUSE = '[[clauses]]\ntype = "{0}"\ntitle = {{ en = "{1}" }}\nquestion = "?"\n'


NAMES = [
    ("cap_on_liability", "Cap"),
    ("governing_law", "Law"),
    ("insurance", "Insurance"),
    ("exclusivity", "Exclusive"),
]


TEXT = 'name = "test"\nversion = 3\ntitle = "Test"\n' + "".join(CLAUSE.format(*names) for names in NAMES)


CAP = 'points_if_missing = 40\nmissing_reason = "no limit"\nrequired = true\n'


PLAYBOOK = parse_playbook(TEXT.replace('"Cap" }\nquestion = "?"\n', '"Cap" }\nquestion = "?"\n' + CAP), "test")


OTHERS = ("governing_law", "insurance", "exclusivity")


READ = ((1, "read", ""), (2, "ocr", ""), (3, "empty", ""))


def lacking(
    findings: Sequence[Finding], documents: Sequence[DocumentResult] = (), playbook: Playbook = PLAYBOOK
) -> list[Finding]:
    return list(missing_clauses(findings, documents or [result(pages=READ)], playbook, SearchScope(playbook)))


def scored(
    findings: Sequence[Finding], documents: Sequence[DocumentResult], *verdicts: str, playbook: Playbook = PLAYBOOK
) -> Scored:
    """Scored with what is missing, on which reviewers said this."""
    absent = lacking(findings, documents, playbook)
    for place, verdict in enumerate(verdicts):
        decision = {"verdict": verdict, "reviewer": "A. Martin", "reason": "it is in clause 9", "at": "", "packet": ""}
        absent[place] = absent[place].with_(decision=decision)
    return score([*findings, *absent], documents, playbook)


def note_of(scoring: Scored, documents: Sequence[DocumentResult], playbook: Playbook = PLAYBOOK) -> Note:
    standings = [SupplierRating(name, one.risk, one.score, one.reasons) for name, one in scoring.suppliers.items()]
    note, dropped = drop_unsupported(write_note(NoteInput("T", scoring.findings, documents, playbook, standings)))
    assert not dropped
    return note


def others(document: str = "a.pdf") -> list[Finding]:
    return [finding(name, document=document) for name in OTHERS]
