"""The local engine: the classifier for English, rules everywhere else; quotes are slices of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nodes.domain.clauses.classifier import LANGUAGE, Array, Model, clause_probabilities, load_model
from nodes.domain.clauses.rules import SHORTEST, find_by_rules, find_opposites, is_denial, load_rules
from nodes.domain.evidence.findings import Candidate
from nodes.domain.text.documents import PAGE_BREAK, DocumentText
from nodes.domain.text.normalise import simplify
from nodes.domain.text.sentences import Sentence, sentences

SOURCE = "local:model@3"
JOIN_PROBABILITY, JOIN_PROBABILITY_APART = 0.02, 0.05
"""Least probability of a neighbour that joins a quote, in the same paragraph and in another one."""
LONGEST = 800
"""Most characters of a quote of several sentences."""
MAX_QUOTES = 20
"""Most quotes of one type in one document; the most probable count."""
TRUSTED_RULE = 0.9
"""Least confidence of a rule that counts where the model finds no clause of the type."""
SHORT_TEXT, TRUSTED_RULE_IN_SHORT_TEXT = 3_000, 0.6
"""Characters of a short text, and the least confidence there: the model has learned from whole contracts."""
PASSAGE_SHARE = 0.4
"""Greatest share of a text that its passages may be."""
UNLIKELY = 0.01
"""Least probability of a sentence that is worth a model's reading."""


@dataclass(frozen=True, slots=True)
class LocalReading:
    """The reading of a document by the local engine."""

    candidates: list[Candidate]
    """Clauses, in the order of the document."""
    passages: list[Candidate]
    """Sentences that a model should read besides the clauses, the most probable first."""


def find_clauses(text: DocumentText, types: Sequence[str]) -> LocalReading:
    """Find clauses of these types. Raises MissingPart when rules or model are not installed."""
    if text.language not in (LANGUAGE, ""):
        rule_candidates = find_by_rules(text, types)
        return LocalReading(rule_candidates, [])
    return find_clauses_with(load_model(), text, types)


def find_clauses_with(model: Model, text: DocumentText, types: Sequence[str]) -> LocalReading:
    """Find clauses with a given model, in a text that is English as far as can be told."""
    rule_candidates = find_by_rules(text, types)
    by_model, passages = classify(model, text, types)
    types_seen = {candidate.clause_type for candidate in by_model}
    judged = set(map(str, model.types)) if text.language == LANGUAGE else set()
    sure_rule = TRUSTED_RULE if len(text.text) >= SHORT_TEXT else TRUSTED_RULE_IN_SHORT_TEXT
    from_rules = [
        candidate
        for candidate in rule_candidates
        if candidate.clause_type not in types_seen
        and (candidate.clause_type not in judged or candidate.confidence >= sure_rule)
    ]
    return LocalReading(
        _in_order([*by_model, *from_rules, *_opposites(text, types, [*by_model, *from_rules])]), passages
    )


def _opposites(text: DocumentText, types: Sequence[str], candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates of opposite clauses, except where a candidate of their own type lies already."""
    occupied = [
        (candidate.clause_type, candidate.start, candidate.start + len(candidate.quote))
        for candidate in candidates
        if candidate.start is not None
    ]
    return [
        candidate
        for candidate in find_opposites(text, types)
        if not any(
            name == candidate.clause_type and start <= (candidate.start or 0) < end for name, start, end in occupied
        )
    ]


def _in_order(candidates: list[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: (candidate.start or 0, candidate.clause_type))


def classify(model: Model, text: DocumentText, types: Sequence[str]) -> tuple[list[Candidate], list[Candidate]]:
    """Find clauses and passages by the model, for the types that it knows."""
    split = sentences(text)
    probabilities = sentence_probabilities(model, text, split)
    candidates: list[Candidate] = []
    for index, name in enumerate(map(str, model.types)):
        if name not in types or not split:
            continue
        probability = zero_denials(text, split, probabilities[:, index], name)
        if probability.max() >= model.present[index]:
            candidates += quotes(
                text, split, probability, name, min(float(model.seed[index]), float(probability.max()))
            )
    return candidates, _passages(text, split, probabilities, list(map(str, model.types)), types)


def _passages(
    text: DocumentText,
    split: Sequence[Sentence],
    probabilities: Array,
    model_types: Sequence[str],
    types: Sequence[str],
) -> list[Candidate]:
    """Select sentences that may state a clause of these types, the most probable first."""
    columns = [index for index, name in enumerate(model_types) if name in types]
    if not columns or not split:
        return []
    best = probabilities[:, columns].max(axis=1)
    budget = PASSAGE_SHARE * len(text.text)
    passages: list[Candidate] = []
    for place in map(int, np.argsort(-best, kind="stable")):
        budget -= split[place].end - split[place].start
        if budget < 0 or best[place] < UNLIKELY:
            break
        name = model_types[columns[int(probabilities[place, columns].argmax())]]
        passages.append(_candidate(text, split, name, float(best[place]), place, place))
    return passages


def sentence_probabilities(model: Model, text: DocumentText, split: Sequence[Sentence]) -> Array:
    """Probabilities of the model for each sentence (rows) and type (columns)."""
    plain = [simplify(text.text[sentence.start : sentence.end]) for sentence in split]
    headings = [simplify(f"{sentence.article} / {sentence.heading}") for sentence in split]
    probabilities = clause_probabilities(model, plain, headings, [sentence.block for sentence in split])
    return zero_titles(probabilities, plain)


def zero_titles(probabilities: Array, plain: Sequence[str]) -> Array:
    """Set the probabilities of titles and lines of a table of contents to zero."""
    states = np.array([len(sentence) >= SHORTEST and "....." not in sentence for sentence in plain], dtype=bool)
    return np.asarray(probabilities * states[:, None] if len(plain) else probabilities, dtype=np.float32)


def zero_denials(text: DocumentText, split: Sequence[Sentence], probability: Array, clause_type: str) -> Array:
    """Set the probabilities of sentences that say the opposite to zero: to the model they look alike."""
    rule = next((rule for rule in load_rules()[LANGUAGE].rule if rule.type == clause_type), None)
    affirmed = probability.copy()
    for place in map(int, np.flatnonzero(probability >= JOIN_PROBABILITY)):
        if rule and is_denial(rule, simplify(text.text[split[place].start : split[place].end])):
            affirmed[place] = 0
    return affirmed


def quotes(
    text: DocumentText, split: Sequence[Sentence], probability: Array, clause_type: str, seed: float
) -> list[Candidate]:
    """Quote sentences from probability `seed` on, each with its neighbours of the same clause, the best first."""
    used: set[int] = set()
    candidates: list[Candidate] = []
    for begin in map(int, np.argsort(-probability, kind="stable")):
        if probability[begin] < seed or len(candidates) == MAX_QUOTES:
            break
        if begin in used:
            continue
        first = last = begin
        while (neighbour := _neighbour(text, split, probability, first, last, used)) is not None:
            first, last = min(first, neighbour), max(last, neighbour)
        used.update(range(first, last + 1))
        candidates.append(_candidate(text, split, clause_type, float(probability[begin]), first, last))
    return candidates


def _neighbour(
    text: DocumentText, split: Sequence[Sentence], probability: Array, first: int, last: int, used: set[int]
) -> int | None:
    """Choose the more probable of the sentences before and behind that belong to the same clause, if any."""
    near = []
    for place, edge in ((first - 1, first), (last + 1, last)):
        if not 0 <= place < len(split) or place in used:
            continue
        if probability[place] < (
            JOIN_PROBABILITY if split[place].block == split[edge].block else JOIN_PROBABILITY_APART
        ):
            continue
        start, end = split[min(first, place)].start, split[max(last, place)].end
        upper, lower = sorted((place, edge))
        if end - start <= LONGEST and PAGE_BREAK not in text.text[split[upper].end : split[lower].start]:
            near.append((float(probability[place]), place))
    return max(near)[1] if near else None


def _candidate(
    text: DocumentText, split: Sequence[Sentence], clause_type: str, probability: float, first: int, last: int
) -> Candidate:
    start, end = split[first].start, split[last].end
    return Candidate(clause_type, text.text[start:end], round(probability, 4), SOURCE, start)
