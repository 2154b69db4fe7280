"""A contract as the fact readers see it: plain text of equal length, its sentences and its quantities."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from nodes.domain.evidence.facts import Proposal
from nodes.domain.evidence.findings import Candidate
from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import Span
from nodes.domain.text.quantities import PLAIN, Quantity, quantities
from nodes.domain.text.sentences import Sentence, sentences

LONGEST_QUOTE = 420
"""Characters; from a longer sentence only the words around the value are quoted."""
MARGIN = 150
SHORTEST_PART = 30
"""Characters that each part of a quote in several parts has at least."""
EDGE = 80
"""Characters on each side of a quote's edge that are searched for a number which the edge would cut."""

HEAD = 6_000
"""Characters from the start that hold parties, title and date of a contract."""


def spaced(pattern: str) -> str:
    """Widen each space of a verbose pattern to a run of spaces, since a text may be set wide or in columns.

    A space is written as an escaped one, or as `[ ]` where it ends a line.
    """
    return re.sub(r"\\ (?![?*+{])", r"\\ +", pattern.replace("[ ]", r"\ ").replace(r"\ ?", r"\ *"))


class ContractText:
    """One document with its candidates; offsets of `plain` are offsets of the text."""

    def __init__(self, text: DocumentText, candidates: Sequence[Candidate], source: str) -> None:
        self.document, self.raw, self.source = text, text.text, source
        self.plain = text.text.translate(PLAIN)
        self.language = text.language
        self.sentences = sentences(text)
        self._starts = [sentence.start for sentence in self.sentences]
        self._candidates = candidates

    def clauses(self, *types: str) -> Iterator[Span]:
        """Yield the spans of candidates of these clause types, the most confident first."""
        ranked = sorted(self._candidates, key=lambda candidate: (-candidate.confidence, candidate.start or 0))
        for candidate in ranked:
            if candidate.clause_type in types and candidate.start is not None:
                yield candidate.start, candidate.start + len(candidate.quote)

    def at(self, offset: int) -> Sentence | None:
        """The sentence that holds this offset; None in a heading or between sentences."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or offset >= self.sentences[index].end:
            return None
        return self.sentences[index]

    @cached_property
    def quantities(self) -> list[Quantity]:
        """All quantities of the text, in order; computed once, since this takes longer than everything else."""
        return quantities(self.plain)

    def within(self, start: int, end: int) -> list[Quantity]:
        """Return the quantities that lie in [start, end)."""
        first = bisect_left(self._places, start)
        contained = []
        for quantity in self.quantities[first:]:
            if quantity.start >= end:
                break
            if quantity.end <= end:
                contained.append(quantity)
        return contained

    @cached_property
    def _places(self) -> list[int]:
        return [quantity.start for quantity in self.quantities]

    def parts(self, start: int, end: int) -> Iterator[Span]:
        """Yield the sentences of [start, end), clipped to it; the range itself where it holds no sentence."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        covered = False
        for sentence in self.sentences[first:]:
            if sentence.start >= end:
                break
            if sentence.end > start:
                covered = True
                yield max(sentence.start, start), min(sentence.end, end)
        if not covered:
            yield start, end

    def around(self, start: int, end: int) -> Span:
        """Return the span to quote for a value at this place: its sentence, else its line, else the words around it."""
        sentence = self.at(start)
        low, high = (sentence.start, sentence.end) if sentence else self._line(start, end)
        low, high = min(low, start), max(high, end)
        if high - low <= LONGEST_QUOTE:
            return low, high
        return self._words(max(low, start - MARGIN), min(high, end + MARGIN), low, high)

    def fact(
        self,
        kind: str,
        value: str,
        start: int,
        end: int,
        detail: Mapping[str, Any] | None = None,
        *,
        exact: bool = False,
    ) -> Proposal:
        """Make a fact of the value at [start, end), quoted with its sentence, or with these words alone if `exact`."""
        low, high = (start, end) if exact else self.around(start, end)
        return Proposal(kind, value, self.raw[low:high], dict(detail or {}), low, self.source)

    def fact_of(
        self, kind: str, value: str, places: Sequence[Span], detail: Mapping[str, Any] | None = None
    ) -> Proposal:
        """Make a fact that follows from several places, quoting the sentence of each in the order of the text."""
        parts: list[Span] = []
        for low, high in sorted(self._long_enough(*self.around(*place)) for place in places):
            if parts and low <= parts[-1][1]:
                parts[-1] = parts[-1][0], max(high, parts[-1][1])
            else:
                parts.append((low, high))
        quote = " … ".join(self.raw[low:high] for low, high in parts)
        return Proposal(kind, value, quote, dict(detail or {}), parts[0][0], self.source)

    def _long_enough(self, low: int, high: int) -> Span:
        """Widen a short part of a quote until it can be found wherever the other parts stand."""
        return (low, high) if high - low > SHORTEST_PART else self._words(max(low - MARGIN // 2, 0), high, 0, high)

    def _line(self, start: int, end: int) -> Span:
        low = max(self.raw.rfind("\n", 0, start), self.raw.rfind("\f", 0, start)) + 1
        ends = [at for mark in "\n\f" if (at := self.raw.find(mark, end)) >= 0]
        high = min(ends, default=len(self.raw))
        line = self.raw[low:high]
        return low + len(line) - len(line.lstrip()), low + len(line.rstrip())

    def _words(self, start: int, end: int, low: int, high: int) -> Span:
        """Narrow a range so that it cuts no word and no number at its edges."""
        if start > low and (blank := self.plain.find(" ", start, end)) >= 0:
            start = blank + 1
        if end < high and (blank := self.plain.rfind(" ", start, end)) > start:
            end = blank
        # A quote ends beside a number, never in it: half of one would say another.
        for quantity in self.within(start - EDGE, end + EDGE):
            start = quantity.end if quantity.start < start < quantity.end else start
            end = quantity.start if quantity.start < end < quantity.end else end
        return start, len(self.plain[:end].rstrip())
