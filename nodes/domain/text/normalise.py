"""Normalises text for comparison: folding with a map back to offsets, simplifying for patterns, letters alone."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

Span = tuple[int, int]

_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00ad\ufffe\uffff\ufe63\uff0d")
# Quotation marks and apostrophes of every kind; dropped on both sides.
_QUOTES = frozenset("'\"`\u00ab\u00bb\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033\u2039\u203a\u00b4")
_SPECIAL = {"œ": "oe", "Œ": "oe", "æ": "ae", "Æ": "ae", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "№": "no"}


class _CharFold(dict[str, str]):
    """Cache of the folded form of each character."""

    def __missing__(self, char: str) -> str:
        self[char] = folded = _fold_char(char)
        return folded


def _fold_char(char: str) -> str:
    if char in _SPECIAL:
        return _SPECIAL[char]
    out = []
    for part in unicodedata.normalize("NFKD", char):
        category = unicodedata.category(part)
        if category[0] in "ZM" or category in ("Cc", "Cf", "Cs", "Cn") or part.isspace():
            continue
        if part not in _DASHES and part not in _QUOTES:
            out.append(part.casefold())
    return "".join(out)


_FOLD = _CharFold()


@dataclass(frozen=True, slots=True)
class Folded:
    """A text without white space, hyphens, quotation marks, dashes, accents, ligatures and capitals."""

    text: str
    offsets: array[int]
    """Offset in the source of each folded character."""

    def raw(self, start: int, end: int) -> Span:
        """Source offsets of a non-empty folded range."""
        return self.offsets[start], self.offsets[end - 1] + 1


def fold(text: str, skip: Iterable[Span] = ()) -> Folded:
    """Fold a text, leaving out the ranges of `skip` (sorted, disjoint)."""
    pieces: list[str] = []
    offsets = array("L")
    position = 0
    for start, end in (*skip, (len(text), len(text))):
        _fold_range(text, position, start, pieces, offsets)
        position = end
    return Folded("".join(pieces), offsets)


def _fold_range(text: str, start: int, end: int, pieces: list[str], offsets: array[int]) -> None:
    table = _FOLD
    for offset in range(start, end):
        char = text[offset]
        folded = table[char]
        if folded:
            pieces.append(folded)
            if len(folded) == 1:
                offsets.append(offset)
            else:
                offsets.extend([offset] * len(folded))
        elif char in _DASHES and 0 < offset < end - 1 and text[offset - 1].isdigit() and text[offset + 1].isdigit():
            # "5-10 days" is not "510 days".
            pieces.append("-")
            offsets.append(offset)


_QUOTE_MARKS = str.maketrans(dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'") | dict.fromkeys("“”„«»", '"'))


def simplify(text: str) -> str:
    """Simplify a text for patterns: lower case, no accents, plain quotation marks and hyphens, single spaces.

    Offsets do not survive.
    """
    joined = re.sub(r"(?<=[^\W\d_])[-\u00ad\u2010\ufffe]\n\s*(?=[^\W\d_])", "", text)
    plain = unicodedata.normalize("NFKD", joined.translate(_QUOTE_MARKS)).lower()
    plain = _bare(plain).replace("\u2013", "-").replace("\u2014", "-")
    return re.sub(r"\bnon- ?", "non-", " ".join(plain.split()))


def unaccented(text: str) -> str:
    """Remove accents and open the ligatures œ and æ; capitals stay."""
    return _bare(unicodedata.normalize("NFD", text))


def _bare(decomposed: str) -> str:
    letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    return letters.replace("œ", "oe").replace("æ", "ae")


class LetterIndex:
    """Finds quotes in a text by letters and digits alone, whatever its line breaks, hyphens, accents and marks."""

    def __init__(self, text: str) -> None:
        self._letters, self._offsets = _letters_of(text)

    def spans(self, quote: str) -> list[Span]:
        """Find all places of these words; [] when there is none, or with fewer than four letters."""
        needle, _ = _letters_of(quote)
        spans: list[Span] = []
        at = self._letters.find(needle) if len(needle) >= 4 else -1
        while at >= 0:
            spans.append((self._offsets[at], self._offsets[at + len(needle) - 1] + 1))
            at = self._letters.find(needle, at + 1)
        return spans


def _letters_of(text: str) -> tuple[str, list[int]]:
    """Letters and digits in compatible form without case, each with its offset in the text."""
    letters: list[str] = []
    offsets: list[int] = []
    for offset, char in enumerate(text):
        for part in unicodedata.normalize("NFKD", char).casefold():
            if part.isalnum():
                letters.append(part)
                offsets.append(offset)
    return "".join(letters), offsets
