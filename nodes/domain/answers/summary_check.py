"""Does a sentence of a model's summary say what the passages say that it cites? By its words, beside its numbers."""

from __future__ import annotations

import re

from nodes.domain.text.normalise import simplify

LEAST_SHARE = 0.25
"""Of the words of a sentence that must stand in its passages, by their stems. Sentences in other words than the
decision's have 0.3 of them and more, invented ones and those in another language 0.2 at most."""
STEM = 5
_WORD = re.compile(r"[a-z]{4,}")
_COMMON_WORDS = (
    "dans pour avec sans cette leur leurs sont etait etaient elle elles plus mais donc dont lors apres avant entre"
    " selon ainsi alors lorsque comme tout toute tous toutes etre avoir fait faire cour ayant avait avaient with that"
    " this from which were have been"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_COURT = re.compile(r"\b(?:cour|pourvois?|moyens?|defende\w+|demande\w+) (?:de|en|a la) cassation\b")
_ENDINGS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?:cass(?:e|ent|er|ee?s?|ation)|annul\w+|censur\w+|viol(?:e|ent|er|ation))\b",
        r"\b(?:rejet\w*|debout\w+)\b",
        r"\b(?:confirm\w+|approuv\w+)\b",
        r"\b(?:infirm\w+|reform\w+)\b",
        r"\b(?:irrecevab\w+|desist\w+|decheance)\b",
    )
)
"""How decisions end, each with its other words."""
_BROKEN = ",:(["


def supports(sentence: str, passages: str) -> bool:
    """Whether a sentence is one, shares its words with these passages, and ends the matter in no other way."""
    sentence_text, passage_text = simplify(sentence), simplify(passages)
    if not sentence_text or sentence_text[-1] in _BROKEN:
        return False
    own = {word[:STEM] for word in _WORD.findall(sentence_text) if word not in _COMMON}
    shared = own & {word[:STEM] for word in _WORD.findall(passage_text)}
    if len(shared) < LEAST_SHARE * len(own):
        return False
    ended, ending = _endings(sentence_text), _endings(passage_text)
    return not ended or not ending or bool(ended & ending)


def _endings(text: str) -> set[int]:
    plain = _COURT.sub(" ", text)
    return {number for number, pattern in enumerate(_ENDINGS) if pattern.search(plain)}
