"""Checks quotes with an ellipsis: do their parts say together what the source says?"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from nodes.domain.text.normalise import Span
from nodes.domain.text.quantities import negations, numbers_in, quantities
from nodes.domain.text.sentences import Sentence

MAX_RESTORED = 600
"""Most characters of a sentence that are added to a quote; a longer sentence is a list, read item by item."""

# Example: Section 12.3(a) and 12.4
_REFERENCE = re.compile(
    r"""
    \b(?:
      sections? | articles? | clauses? | paragraph(?:e?s)? | annexe?s? | schedules? | exhibits? | appendix
      | appendices | pages? | §+
    )
    \ *(?:n\ ?[°º]\ ?)?\d+(?:\.\d+)*(?:\([a-z\d]+\))*(?:
      (?:,|\ and|\ or|\ et|\ ou|\ to|\ à)\ ?\d+(?:\.\d+)*(?:\([a-z\d]+\))*
    )*
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A number that refers to a place; leaving it out changes no amount and no term."""
# Example: Article 7.
_LABEL = re.compile(
    r"""
    [\W_]*(?:
      (?:
        (?:article|section|clause|paragraph)\s+(?:\d[\d.]*|[ivxlc]+\b) | \d+(?:\.\d+)+ | \d+[.)]
        | (?:[ivxlc]{1,5}|[a-z]{1,2})[.)]
      )[\W_]*
    ){0,2}
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Number of a clause or an item; matches everywhere, if only the empty text."""
# Example: the Supplier shall
_MODAL = re.compile(
    r"""
    \b(?:may|shall|must|should|can|will|peut|peuvent|doit|doivent|devra|devront|pourra|pourront|s'engagent?)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: The cap is set at twice the yearly fees paid
_STATEMENT = re.compile(
    r"""
    \b(?:
      is | are | was | were | has | have | shall | will | may | must | est | sont | ont | sera | seront | peut
      | doit | pourra | devra
    )\b(?:\W+\w+){6}
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A verb and six words behind it: enough of a statement not to be completed by the sentence that follows."""
# Example: the Customer
_PARTY = re.compile(
    r"""
    \b(?:
      supplier | vendor | provider | contractor | licensor | licensee | customer | client | buyer | seller
      | purchaser | lessor | lessee | distributor | franchis(?:or|ee) | prestataire | fournisseur | titulaire
      | acheteur | vendeur | bailleur | preneur | part(?:y|ies)
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


class EllipsisCheck:
    """Judges the gaps of elided quotes in one document."""

    def __init__(self, text: str, sentences: Sequence[Sentence]) -> None:
        self._text, self._sentences = text, sentences
        self._starts = [sentence.start for sentence in sentences]

    def misleads(self, first: Span, second: Span, gap: str) -> bool:
        """May the two parts, read as one, say what the source does not? `gap` is what was left out between them.

        Within a sentence: when a negation, a number, or a clause about another party was left out. From one sentence
        to another: unless the first part goes to the end of its sentence, or says enough by itself, and the second
        begins with one. A heading may be followed by a part of the first sentence below it.
        """
        before, after = self._sentence_at(first[1] - 1), self._sentence_at(second[0])
        if before is not None and before is after:
            return _hides_term(gap) or _has_another_clause(gap)
        if before is None and after is not None and self._follows(first, after):
            skipped = self._text[after.start : second[0]]
            return _hides_term(skipped[_LABEL.match(skipped).end() :])  # type: ignore[union-attr]
        ended = (
            before is None
            or not re.search(r"\w", self._text[first[1] : before.end])
            or self._is_statement(first, second)
        )
        begins = after is None or _LABEL.fullmatch(self._text[after.start : second[0]]) is not None
        return not (ended and begins)

    def with_negations(self, spans: Sequence[Span]) -> list[Span]:
        """Extend a quote by the beginning and end of its sentence where these deny something that it left out.

        "party shall be liable" becomes "Neither party shall be liable".
        """
        (start, _), (_, end) = spans[0], spans[-1]
        first, last = self._sentence_at(start), self._sentence_at(end - 1)
        if first is not None and start - first.start <= MAX_RESTORED and negations(self._text[first.start : start]):
            start = first.start
        if last is not None and last.end - end <= MAX_RESTORED and negations(self._text[end : last.end]):
            end = last.end
        if len(spans) == 1:
            return [(start, end)]
        return [(start, spans[0][1]), *spans[1:-1], (spans[-1][0], end)]

    def _sentence_at(self, offset: int) -> Sentence | None:
        index = bisect_right(self._starts, offset) - 1
        return self._sentences[index] if index >= 0 and offset < self._sentences[index].end else None

    def _is_statement(self, first: Span, second: Span) -> bool:
        """Is the first part a statement by itself, which no amount at the head of the second can complete?"""
        head = quantities(self._text[second[0] : second[0] + 40])
        counted = bool(head) and head[0].start == 0 and head[0].kind not in ("number", "reference")
        return not counted and _STATEMENT.search(self._text, *first) is not None

    def _follows(self, first: Span, after: Sentence) -> bool:
        """Is it the first sentence behind this part?"""
        index = bisect_left(self._starts, first[1])
        return index < len(self._sentences) and self._sentences[index] is after


def _hides_term(gap: str) -> bool:
    return bool(negations(gap) or numbers_in(_REFERENCE.sub(" ", gap)))


def _has_another_clause(gap: str) -> bool:
    """ "The Supplier … shall pay the price" of "The Supplier shall deliver and the Customer shall pay the price"."""
    return _MODAL.search(gap) is not None and _PARTY.search(gap) is not None
