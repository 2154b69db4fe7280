"""Two engines that looked at the same document: where they differ, a person decides. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from nodes.domain.clauses import Candidate

SURE = 0.6
"""A clause of the local engine that is less sure is no contradiction to a model that reports none."""


def compared(model: Sequence[Candidate], local: Sequence[Candidate], judged: Collection[str]) -> list[Candidate]:
    """What the model saw, and what it did not see although the local engine is sure of it.

    They differ where one of them sees a clause of a type in the document and the other sees none; the words that each
    quotes may be others. `judged` are the types for which the local engine looks in such a document.
    """
    sure = [candidate for candidate in local if candidate.confidence >= SURE]
    by_model = {candidate.clause_type for candidate in model}
    by_local = {candidate.clause_type for candidate in local}
    seen = [
        replace(candidate, disputed=_said(candidate.source, "the local engine"))
        if candidate.clause_type in judged and candidate.clause_type not in by_local
        else candidate
        for candidate in model
    ]
    who = next((candidate.source for candidate in model), "the model")
    return seen + [
        replace(candidate, disputed=_said(candidate.source, who))
        for candidate in sure
        if candidate.clause_type not in by_model
    ]


def _said(who: str, other: str) -> str:
    return f"{who} found it, {other} did not"
