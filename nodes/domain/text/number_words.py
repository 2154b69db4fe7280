"""Reads numbers written in English and French words: "one hundred and twenty", "quatre-vingt-dix-sept"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal


def numbered(words: str, values: range) -> dict[str, int]:
    """Map words, separated by blanks, to their values."""
    return dict(zip(words.split(), values, strict=True))


_ENGLISH = {
    **numbered("one two three four five six seven eight nine ten eleven twelve", range(1, 13)),
    **numbered("thirteen fourteen fifteen sixteen seventeen eighteen nineteen", range(13, 20)),
    **numbered("twenty thirty forty fifty sixty seventy eighty ninety", range(20, 100, 10)),
    "hundred": 100, "thousand": 1000, "million": 10**6, "millions": 10**6, "billion": 10**9,
}  # fmt: skip
_FRENCH = {
    **numbered("un deux trois quatre cinq six sept huit neuf dix onze douze", range(1, 13)),
    **numbered("treize quatorze quinze seize", range(13, 17)),
    **numbered("vingt trente quarante cinquante soixante", range(20, 70, 10)),
    "une": 1, "vingts": 20, "septante": 70, "huitante": 80, "nonante": 90, "cent": 100, "cents": 100, "mille": 1000,
    "million": 10**6, "millions": 10**6, "milliard": 10**9, "milliards": 10**9,
}  # fmt: skip
AMBIGUOUS = frozenset({"one", "un", "une", "neuf", "cent", "cents", "sept", "million", "millions", "mille", "six"})
"""Words that alone may be no number in one of the two languages: articles, coins, "new", a month's abbreviation."""
MULTIPLIERS = frozenset({"hundred", "thousand", "million", "millions", "billion", "milliard", "milliards"})
"""Words that only multiply: "several million euros" gives no number."""

_WORD = "(?:" + "|".join(sorted({**_ENGLISH, **_FRENCH}, key=len, reverse=True)) + ")"
# "two million, five hundred thousand": a comma joins only what is itself multiplied.
_JOINED = r"(?:-| {1,3}|- | ?-? ?\b(?:et|and)\b ?-? ?|, (?=[a-z]+[ -]hundred\b|[a-z]+(?:[ -][a-z]+)?[ -]thousand\b))"
WORDS = rf"\b{_WORD}(?:{_JOINED}{_WORD}){{0,40}}\b"
"""Pattern of a run of number words; it may hold several numbers, and no number has more words than it."""
_TOKEN = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class WordNumber:
    """The number with which a run of words begins."""

    value: Decimal
    end: int
    """Offset of its end in the run of words."""
    scale: int
    """Its last thousand, million or milliard; 1 without: "two million and a half" adds half of this."""


def read_words(words: str) -> WordNumber:
    """Read the first number of a run of number words: "two or three" and "one million and two million" stay two."""
    total = current = end = 0
    scale = 0
    # Where the number may have ended: behind its last multiplier, behind its last scale.
    multiplied = scaled = (0, 0, 0)
    english, french, joined = True, True, ""
    for word in _TOKEN.finditer(words):
        name = word.group().casefold()
        if name in ("et", "and"):
            joined = name
            continue
        english, french = english and name in _ENGLISH, french and name in _FRENCH
        value = _ENGLISH[name] if english else _FRENCH.get(name, 0)
        if not (english or french) or (joined and not _joins(joined, current, total, value)):
            break
        joined = ""
        if value >= 1000:
            if scale and value >= scale and (current or value == scale):
                total, current, end = scaled
                break
            # "six thousand million" multiplies what was multiplied.
            total = total * value if scale and not current and value > scale else total + max(current, 1) * value
            current, scale = 0, value
            multiplied = scaled = total, current, word.end()
        elif value == 100:
            if current >= 100 or (french and not english and (current == 1 or current > 16)):
                total, current, end = multiplied if current >= 100 else (total, current, end)
                break
            current = max(current, 1) * 100
            multiplied = total, current, word.end()
        elif name in ("vingt", "vingts") and current % 100 == 4:
            current += 76
        elif _fits(current, value, name):
            current += value
        else:
            break
        end = word.end()
    return WordNumber(Decimal(total + current), end, scale or 1)


def _joins(joined: str, current: int, total: int, value: int) -> bool:
    """ "one hundred and five", "vingt et un", "soixante et onze"; not "ninety and five" nor "cent et deux cents"."""
    if joined == "and":
        return current % 100 == 0 and bool(current or total)
    return value in (1, 10, 11) and bool(current or total)


def _fits(current: int, value: int, name: str) -> bool:
    low = current % 100
    if low == 10:
        return name in ("sept", "huit", "neuf")
    return low == 0 or (low % 10 == 0 and low >= 20 and value < 10) or (low in (60, 80) and 10 <= value < 20)
