"""The summary of a court decision by a model: its schema, the passages shown, and the check of each sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from nodes.domain.answers.passages import Passage
from nodes.domain.evidence.facts import Fact, of_kind
from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_check import check
from nodes.domain.evidence.note_model import Sentence
from nodes.domain.evidence.quote_locator import Locator
from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import simplify

MOST_SENTENCES = 14
MOST_SENTENCE_CHARS = 600
"""Characters of a sentence; a longer one is left out."""
MOST_CITED_PASSAGES = 4
"""Passages that one sentence may cite; one that cites more says nothing in particular."""
PARAGRAPH_CHARS = 900
"""Characters that are shown under one number, so that a citation is a place."""
_PARAGRAPH_BREAK = re.compile(r"\n[ \t]*\n\s*|\f\s*|\n(?=\d{1,3}\s?\.\s)")

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


def _parse_part(value: object) -> object:
    return value.strip().casefold() if isinstance(value, str) else value


def _parse_passage_ids(value: object) -> object:
    """Read the numbers of passages from [1, "2", "passage 3"], 4 or "5"."""
    ids = value if isinstance(value, list | tuple) else [value]
    return [int(match[0]) for passage_id in ids if (match := re.search(r"\d{1,6}", str(passage_id)))]


class SummarySentence(BaseModel):
    """One sentence of the summary."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    part: Annotated[Literal["facts", "procedure", "question", "answer", "scope"], BeforeValidator(_parse_part)] = Field(
        description="What the sentence is about."
    )
    text: str = Field(description="The sentence.")
    passages: Annotated[
        list[int], BeforeValidator(_parse_passage_ids), WithJsonSchema({"type": "array", "items": {"type": "integer"}})
    ] = Field(description="Numbers of the passages that it rests on.")


class DecisionSummary(BaseModel):
    """The sentences of the summary of one decision."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    sentences: list[SummarySentence] = Field(description="Empty when the passages do not say.")


def summary_passages(text: DocumentText, facts: Sequence[Fact], budget: int) -> list[Passage]:
    """Select what a model reads of a decision, in its order, up to `budget` characters: the operative part, the reasons
    that carry it, the facts, the ground before those reasons, and the parties."""
    # Late: their patterns take long to compile, and a run over contracts needs none of them.
    from nodes.domain.case_law.body.summary import decisive
    from nodes.domain.case_law.ruling_text import RulingText

    ruling = RulingText(text)
    category = next((str(fact.detail.get("category", "")) for fact in of_kind(facts, "solution")), "")
    decisive_zones = decisive(ruling, category)
    stories = [(zone.start, zone.end) for zone in ruling.zones_named("story")]
    before = [
        zone for zone in ruling.zones_named("grounds") if not decisive_zones or zone.start < decisive_zones[0].start
    ]
    head = next((fact.spans[0][0] for fact in of_kind(facts, "party") if fact.spans), 0)
    spans = [
        *_limited([(ruling.operative, ruling.end)], budget // 6),
        *_limited([(zone.start, zone.end) for zone in decisive_zones], budget // 2),
        *_limited(stories, budget // 5),
        *_limited([(zone.start, zone.end) for zone in before[-1:]], budget // 8),
        *_limited([(head, ruling.zones[0].end)], budget // 12),
    ]
    passages: list[Passage] = []
    room = budget
    for start, end in spans:
        for first, last in _paragraphs(text.text, start, end):
            if last - first <= room and not any(passage.start < last and first < passage.end for passage in passages):
                passages.append(Passage(first, last, text.page_at(first).number))
                room -= last - first
    return sorted(passages, key=lambda passage: passage.start)


def _limited(spans: Sequence[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """Shorten spans to `limit` characters together; of one that is too long, the beginning and the end stay."""
    limited: list[tuple[int, int]] = []
    for start, end in spans:
        share = min(limit, max(limit // len(spans), 600))
        if end - start <= share:
            limited.append((start, end))
        else:
            limited += [(start, start + share * 2 // 5), (end - share * 3 // 5, end)]
    return limited


def _paragraphs(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [start, *(match.end() for match in _PARAGRAPH_BREAK.finditer(text, start, end)), end]
    paragraphs: list[tuple[int, int]] = []
    for first, last in pairwise(cuts):
        while last - first > PARAGRAPH_CHARS:
            blank = text.rfind(" ", first + PARAGRAPH_CHARS // 2, first + PARAGRAPH_CHARS)
            cut = blank if blank > 0 else first + PARAGRAPH_CHARS
            paragraphs.append((first, cut))
            first = cut
        if text[first:last].strip():
            paragraphs.append((first, last))
    return paragraphs


def read_summary(
    raw: Mapping[str, Any], text: DocumentText, passages: Sequence[Passage], facts: Sequence[Fact], source: str
) -> tuple[list[Fact], int]:
    """Return the sentences that their passages support, as facts in the order of the parts, and how many were left out.

    Total: any mapping gives a result. A sentence that gives a number, a date, a name or a negation which its passages
    do not have is left out, like one that cites no passage, shares no words with them, or ends the matter otherwise.
    """
    rows = raw.get("sentences")
    listed = list(rows) if isinstance(rows, list | tuple) else []
    court = ", ".join(fact.value for kind in ("court", "chamber") for fact in of_kind(facts, kind)[:1])
    locator = Locator(text)
    summary_facts: list[Fact] = []
    for row in listed[:MOST_SENTENCES]:
        try:
            sentence = SummarySentence.model_validate(row)
        except ValidationError:
            continue
        fact = _fact(sentence, text, passages, locator, source)
        if (
            fact is not None
            and _is_supported(fact, text, court)
            and fact.value not in [earlier.value for earlier in summary_facts]
        ):
            summary_facts.append(fact)
    from nodes.domain.case_law.body.summary import PARTS

    summary_facts.sort(key=lambda fact: PARTS.index(fact.kind.removeprefix("summary_")))
    return summary_facts, len(listed) - len(summary_facts)


def _fact(
    sentence: SummarySentence, text: DocumentText, passages: Sequence[Passage], locator: Locator, source: str
) -> Fact | None:
    words = " ".join(sentence.text.split())
    numbers = sorted(set(sentence.passages))
    if not 0 < len(words) <= MOST_SENTENCE_CHARS or not 0 < len(numbers) <= MOST_CITED_PASSAGES:
        return None
    if numbers[0] < 1 or numbers[-1] > len(passages):
        return None
    cited = [passages[number - 1] for number in numbers]
    places = [locator.locate(text.text[passage.start : passage.end].strip(), passage.start) for passage in cited]
    if any(not place.spans for place in places):
        return None
    spans = tuple(span for place in places for span in place.spans)
    return Fact(
        kind=f"summary_{sentence.part}",
        value=words,
        quote=" … ".join(text.text[start:end] for start, end in spans),
        detail={"written_by_model": True},
        page=min(place.page or 1 for place in places),
        page_end=max(place.page_end or place.page or 1 for place in places),
        spans=spans,
        boxes=tuple(box for place in places for box in place.boxes),
        alignment="exact",
        source=source,
        unit=text.unit,
    )


def _is_supported(fact: Fact, text: DocumentText, court: str) -> bool:
    """Check a sentence by its words and like every sentence of a note; the court may be named unquoted."""
    if not supports(fact.value, fact.quote):
        return False
    evidence = Finding(
        "0" * 12, "", text.sha256, court, fact.kind, fact.quote, fact.page, fact.page_end, (), fact.spans, "exact", 1.0,
        fact.source, unit=text.unit,
    )  # fmt: skip
    return check(Sentence(fact.value, (evidence.finding_id,), "fact"), {evidence.finding_id: evidence}) is None


def supports(sentence: str, passages: str) -> bool:
    """Tell whether a sentence is complete, shares its words with these passages, and reports no other outcome."""
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
