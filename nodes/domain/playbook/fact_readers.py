"""Chooses the reader of facts for a kind of playbook: contracts or court decisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nodes.domain.evidence.facts import Proposal
from nodes.domain.evidence.findings import Candidate
from nodes.domain.playbook.model import Playbook
from nodes.domain.text.documents import DocumentText

Reader = Callable[[DocumentText, Sequence[Candidate]], list[Proposal]]


def _reader(kind: str) -> tuple[str, Reader] | None:
    """By kind of playbook: the version of the code, which is part of every question, and the code.

    Each is loaded when it is first asked for: a run of one kind begins sooner without the other.
    """
    if kind == "contracts":
        from nodes.domain.contracts import reader as contract_facts

        return contract_facts.VERSION, contract_facts.read
    if kind == "decisions":
        from nodes.domain.case_law import reader as decisions

        return decisions.VERSION, lambda text, _: decisions.read(text)
    return None


def facts_version(playbook: Playbook) -> str:
    """Version of the code that reads facts: contracts@1; "" when no facts are read."""
    kind = playbook.kind
    reader = _reader(kind)
    return f"{kind}@{reader[0]}" if reader else ""


def read_ruling(
    version: str, text: DocumentText, types: Sequence[str]
) -> tuple[list[Candidate], list[Proposal]] | None:
    """Read clauses and facts of a court ruling; None for documents of another kind."""
    if version.partition("@")[0] != "decisions":
        return None
    from nodes.domain.case_law import reader as decisions

    stated = decisions.read(text)
    return decisions.clauses(stated, types), stated


def propose_facts(version: str, text: DocumentText, candidates: Sequence[Candidate]) -> list[Proposal]:
    """Propose facts by the code of a `facts_version`, with the help of its clauses; not located yet."""
    kind = version.partition("@")[0]
    reader = _reader(kind)
    return reader[1](text, candidates) if reader else []
