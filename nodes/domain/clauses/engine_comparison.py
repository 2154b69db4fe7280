"""Compares the candidates of a model and of the local engine: where they differ, a person decides. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from nodes.domain.evidence.findings import Candidate

MIN_CONFIDENCE = 0.6
"""Least confidence of a local candidate that contradicts a model which reports no such clause."""


def compare_engines(
    model: Sequence[Candidate],
    local: Sequence[Candidate],
    judged: Collection[str],
    lost: Collection[str] = frozenset(),
    bare: Collection[str] = frozenset(),
) -> list[Candidate]:
    """Combine the model's candidates with those of the local engine that the model did not report.

    They differ where one of them sees a clause of a type in the document and the other sees none; the words that each
    quotes may be others. `judged` are the types for which the local engine looks in such a document. `lost` are the
    quotes of the model that the document does not have: a type that it proves by none but these it has not seen, and
    what the local engine sees of it is kept, however sure it is. `bare` are those that state nothing, such as a
    heading: they prove no more, and give way to what states the clause, whoever quotes it.
    """
    by_model = {
        candidate.clause_type for candidate in model if candidate.quote not in lost and candidate.quote not in bare
    }
    only_lost = {candidate.clause_type for candidate in model} - by_model
    by_local = {candidate.clause_type for candidate in local}
    model_source = next((candidate.source for candidate in model), "the model")
    model = [
        candidate
        for candidate in model
        if not (candidate.quote in bare and candidate.clause_type in by_local | by_model)
    ]
    invented = {candidate.clause_type for candidate in model if candidate.quote in lost}
    candidates = [
        replace(candidate, disputed=_not_seen(candidate.source, "the local engine"))
        if candidate.clause_type in judged and candidate.clause_type not in by_local
        else candidate
        for candidate in model
    ]
    for candidate in local:
        if candidate.clause_type in only_lost:
            why = _not_quoted if candidate.clause_type in invented else _not_stated
            candidates.append(replace(candidate, disputed=why(candidate.source, model_source)))
        elif candidate.confidence >= MIN_CONFIDENCE and candidate.clause_type not in by_model:
            candidates.append(replace(candidate, disputed=_not_seen(candidate.source, model_source)))
    return candidates


def _not_seen(engine: str, second_engine: str) -> str:
    return f"{engine} found it, {second_engine} did not"


def _not_stated(engine: str, second_engine: str) -> str:
    return f"{engine} found it, {second_engine} quoted only a heading or a word"


def _not_quoted(engine: str, second_engine: str) -> str:
    return f"{engine} found it, {second_engine} quoted words that are not in the document"
