"""Selection of the passages that a model reads: the opening, and the surroundings of what the local rules found.

A model reads a fraction of a contract. Passages are exact slices of the document's text, in its order and without
overlap; a prompt shows them numbered from 1, and code, never the model, says where a quote stands.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from nodes.domain.evidence.findings import Candidate
from nodes.domain.playbook.prompt_injection import mask_instructions
from nodes.domain.text.documents import PAGE_BREAK, DocumentText
from nodes.domain.text.paragraphs import cut, nearest_break, paragraphs

SHORT_CHARS = 6_000
"""A document up to this length is read whole: choosing would save less than it can lose."""

HEAD_CHARS = 1_500
"""The opening that is always read: it names the parties and the date."""

SHORT_HEAD_CHARS = 700
"""The same where places are known sentence by sentence."""

BRIDGED_CHARS = 60
"""A gap this short between such places is read too: mostly a heading."""

MARGIN_CHARS = 300
"""A neighbourhood reaches at least this far beyond a candidate, so that a short heading is no neighbour alone."""

SMALLEST_CHARS = 400
"""A passage that is not split any further."""

READ_SHARE, READ_LEAST = 0.4, 12_000
"""A model reads at most this share of a document's characters, but this many in any case."""

_TAG = re.compile(r"<(?=\s*/?\s*passage\b)", re.I)
_UNSENDABLE = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Passage:
    """A slice of a document's text."""

    start: int
    end: int
    """Half-open."""
    page: int
    """1-based page of the first character; shown to the model, never taken from it."""

    @property
    def chars(self) -> int:
        return self.end - self.start


def choose(
    text: DocumentText, candidates: Sequence[Candidate], budget_chars: int, likely: Sequence[Candidate] = ()
) -> list[Passage]:
    """Choose what a model reads of this document, at most `budget_chars` of it unless it is short.

    The opening comes first, then the paragraph of the best candidate of each clause type with its neighbours,
    then those of the other candidates, as long as the budget allows. Where there are `likely` sentences too, they are
    read in their order, after the candidates, and none has its paragraph: many places count for more than the words
    around them.
    Without any: the opening, the end and evenly spread paragraphs between them.
    """
    size = len(text.text)
    best, secondary = (_places(text.text, part) for part in _rank_by_type(candidates))
    likely_spans = _places(text.text, likely)
    if size <= SHORT_CHARS or (not best and size <= budget_chars):
        return _passages(text, [(0, size)])
    blocks = paragraphs(text.text, 0, size)
    if not blocks:
        return []
    if likely_spans:
        return _passages(
            text, _fitting([_opening(text.text), *best, *secondary, *likely_spans], budget_chars, BRIDGED_CHARS)
        )
    starts = [start for start, _ in blocks]
    spans = [_grown(blocks, 0, 0, 0, HEAD_CHARS)]
    for start, end in [*best, *secondary]:
        first = max(bisect_right(starts, start) - 1, 0)
        last = max(bisect_right(starts, max(end - 1, start)) - 1, first)
        spans.append(_grown(blocks, first, last, MARGIN_CHARS, MARGIN_CHARS))
    if len(spans) == 1:
        spans += _spread(blocks, budget_chars)
    return _passages(text, _fitting(spans, budget_chars))


def _opening(text: str) -> tuple[int, int]:
    return 0, nearest_break(text, 0, SHORT_HEAD_CHARS, SHORT_HEAD_CHARS)


def _fitting(spans: Sequence[tuple[int, int]], budget_chars: int, bridged: int = 2) -> list[tuple[int, int]]:
    """Keep the spans that fit into the budget, in order of priority."""
    chosen: list[tuple[int, int]] = []
    for span in spans:
        grown = _merged([*chosen, span], bridged)
        if sum(end - start for start, end in grown) <= budget_chars:
            chosen = grown
    return chosen


def chunks(text: DocumentText, passages: Sequence[Passage], chunk_chars: int) -> list[list[Passage]]:
    """Group passages in order so that none of the groups is longer than `chunk_chars`; longer passages are split."""
    limit = max(chunk_chars, 1)
    groups: list[list[Passage]] = []
    room = 0
    for passage in passages:
        for part in _parts(text, passage, limit):
            if part.chars > room:
                groups.append([])
                room = limit
            groups[-1].append(part)
            room -= part.chars
    return groups


def halve(text: DocumentText, chunk: Sequence[Passage]) -> list[list[Passage]]:
    """Split a chunk into two of about equal length; [] when it cannot be made smaller."""
    if len(chunk) == 1:
        passage = chunk[0]
        if passage.chars < 2 * SMALLEST_CHARS:
            return []
        middle = nearest_break(text.text, passage.start, passage.end, passage.start + passage.chars // 2)
        return [[part] for part in _passages(text, [(passage.start, middle), (middle, passage.end)])]
    if not chunk:
        return []
    total = sum(passage.chars for passage in chunk)
    before = list(accumulate(passage.chars for passage in chunk))
    middle = min(range(1, len(chunk)), key=lambda index: abs(2 * before[index - 1] - total))
    return [list(chunk[:middle]), list(chunk[middle:])]


def render(text: DocumentText, passages: Iterable[Passage]) -> str:
    """Render passages for a prompt: numbered blocks, with nothing inside that could end a block."""
    blocks = (
        f'<passage id="{number}" page="{passage.page}">\n{visible_text(text, passage)}\n</passage>'
        for number, passage in enumerate(passages, start=1)
    )
    return "\n".join(blocks)


def visible_text(text: DocumentText, passage: Passage) -> str:
    """Return the text of a passage as a model sees it: without instructions to a machine reader."""
    plain = mask_instructions(text.text[passage.start : passage.end], passage.start, text.instructions).replace(
        PAGE_BREAK, "\n"
    )
    return _TAG.sub("‹", _UNSENDABLE.sub(" ", plain))


def fingerprint(text: DocumentText, passage: Passage) -> str:
    """Return the sha256 of what a model sees of a passage."""
    return hashlib.sha256(f"{passage.page}\n{visible_text(text, passage)}".encode()).hexdigest()


def reading_list(
    text: DocumentText, candidates: Sequence[Candidate], chunk_chars: int, passages: Sequence[Sequence[Any]] = ()
) -> list[list[Passage]]:
    """Select what a model reads of a document, in chunks of one question each."""
    budget = max(READ_LEAST, int(len(text.text) * READ_SHARE))
    return chunks(text, choose(text, candidates, budget, likely_candidates(text, passages)), chunk_chars)


def likely_candidates(text: DocumentText, passages: Sequence[Sequence[Any]]) -> list[Candidate]:
    """Turn the passages of the local engine, [clause type, start, length, confidence], into candidates."""
    return [
        Candidate(clause_type, text.text[start : start + length], confidence, "local", start)
        for clause_type, start, length, confidence in passages
    ]


def _rank_by_type(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Separate the best candidate of each clause type from the rest; both by falling confidence."""
    ranked = sorted(candidates, key=lambda candidate: -candidate.confidence)
    seen_types: set[str] = set()
    best: list[Candidate] = []
    secondary: list[Candidate] = []
    for candidate in ranked:
        (secondary if candidate.clause_type in seen_types else best).append(candidate)
        seen_types.add(candidate.clause_type)
    return best, secondary


def _places(text: str, candidates: Sequence[Candidate]) -> list[tuple[int, int]]:
    return [place for candidate in candidates if (place := _place(text, candidate)) is not None]


def _place(text: str, candidate: Candidate) -> tuple[int, int] | None:
    start = candidate.start
    if start is None or not 0 <= start < len(text):
        start = text.find(candidate.quote) if candidate.quote else -1
    return None if start < 0 else (start, min(start + max(len(candidate.quote), 1), len(text)))


def _grown(blocks: Sequence[tuple[int, int]], first: int, last: int, before: int, after: int) -> tuple[int, int]:
    """Extend the span of blocks `first` to `last` by whole blocks until the margins are reached."""
    start, end = blocks[first][0], blocks[last][1]
    low, high = start - before, (end if before else start) + after
    while first > 0 and blocks[first][0] > low:
        first -= 1
    while last < len(blocks) - 1 and blocks[last][1] < high:
        last += 1
    return blocks[first][0], blocks[last][1]


def _spread(blocks: Sequence[tuple[int, int]], budget_chars: int) -> list[tuple[int, int]]:
    """Pick the last block, then blocks at even distances, about as many as the budget holds."""
    mean = sum(end - start for start, end in blocks) / len(blocks)
    count = max(int(budget_chars / max(mean, 1.0)), 1)
    step = max(len(blocks) / count, 1.0)
    evenly = [blocks[int(index * step)] for index in range(count) if int(index * step) < len(blocks)]
    return [blocks[-1], *evenly]


def _merged(spans: Iterable[tuple[int, int]], bridged: int = 2) -> list[tuple[int, int]]:
    """Sort spans, and join those that overlap or stand at most `bridged` characters apart."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1] + bridged:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def _parts(text: DocumentText, passage: Passage, limit: int) -> list[Passage]:
    return _passages(text, cut(text.text, passage.start, passage.end, limit))


def _passages(text: DocumentText, spans: Iterable[tuple[int, int]]) -> list[Passage]:
    return [
        Passage(start, end, text.page_at(start).number if text.pages else 1)
        for start, end in spans
        if text.text[start:end].strip()
    ]
