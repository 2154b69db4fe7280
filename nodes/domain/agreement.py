"""Two engines that looked at the same document: where they differ, a person decides. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from nodes.domain.clauses import Candidate

SURE = 0.6
"""A clause of the local engine that is less sure is no contradiction to a model that reports none."""


def compared(
    model: Sequence[Candidate],
    local: Sequence[Candidate],
    judged: Collection[str],
    lost: Collection[str] = frozenset(),
) -> list[Candidate]:
    """What the model saw, and what it did not see although the local engine is sure of it.

    They differ where one of them sees a clause of a type in the document and the other sees none; the words that each
    quotes may be others. `judged` are the types for which the local engine looks in such a document. `lost` are the
    quotes of the model that the document does not have: a type that it proves by none but these it has not seen, and
    what the local engine sees of it is kept, however sure it is.
    """
    by_model = {candidate.clause_type for candidate in model if candidate.quote not in lost}
    only_lost = {candidate.clause_type for candidate in model} - by_model
    by_local = {candidate.clause_type for candidate in local}
    seen = [
        replace(candidate, disputed=_said(candidate.source, "the local engine"))
        if candidate.clause_type in judged and candidate.clause_type not in by_local
        else candidate
        for candidate in model
    ]
    who = next((candidate.source for candidate in model), "the model")
    for candidate in local:
        if candidate.clause_type in only_lost:
            seen.append(replace(candidate, disputed=_unproved(candidate.source, who)))
        elif candidate.confidence >= SURE and candidate.clause_type not in by_model:
            seen.append(replace(candidate, disputed=_said(candidate.source, who)))
    return seen


def _said(who: str, other: str) -> str:
    return f"{who} found it, {other} did not"


def _unproved(who: str, other: str) -> str:
    return f"{who} found it, {other} quoted words that are not in the document"
