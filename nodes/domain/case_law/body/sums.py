"""Sums of money as a French decision writes them: 10.000 €, 1 250,50 euros, dix mille euros et cinquante centimes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from nodes.domain.text.normalise import Span
from nodes.domain.text.number_words import LONE, WORDS, read_words

_UNIT = r"(?P<unit>€|euros?\b|eur\b|francs?\s+(?:cfp|pacifiques?)\b|francs?\b|f\s?cfp\b|dollars?\b)"
_CENTS = re.compile(rf",?(?:\s+et)?\s+(?:(?P<figure>\d{{1,2}})|(?P<words>{WORDS}))\s+centimes?\b")
_IN_FIGURES = re.compile(
    r"(?<![\d.,/-])(?P<whole>\d{1,3}(?:[ .']\d{3})+|\d+)(?:[,.](?P<part>\d{1,2}))?(?!\d)\s*(?:(?P<scale>millions?"
    rf"|milliards?)\s*d'\s*|(?P<short>[km])(?=€)|\([a-z' -]{{2,80}}\)\s*)?{_UNIT}"
)
_IN_WORDS = re.compile(WORDS)
_COUNTED = re.compile(rf"(?:\s*\([\d .,']{{1,20}}\))?\s+(?:d'\s*)?{_UNIT}")
_GLOSS = re.compile(r"\s*[,(]?\s*(?:soit\s+)?")
"""What may stand between a sum in words and the same sum in figures."""
_JOINED = re.compile(r"(?:[\s,-]|\bet\b|\band\b)*")
_CURRENCIES = {"€": "EUR", "e": "EUR", "f": "FRF", "d": "USD"}
_SCALES = {"million": 10**6, "milliard": 10**9, "k": 1000, "m": 10**6}


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum at a place of the plain text."""

    value: Decimal
    currency: str
    start: int
    end: int
    in_words: bool = False


def sums(plain: str, stop: int) -> Iterator[Sum]:
    """The sums before `stop` in the order of the text; one that is written in words and in figures once."""
    last: Sum | None = None
    for money in sorted((*_in_figures(plain, stop), *_in_words(plain, stop)), key=lambda money: money.start):
        if last is not None and money.start < last.end:
            continue
        twice = last is not None and last.in_words is not money.in_words and last.value == money.value
        if not (twice and _GLOSS.fullmatch(plain, last.end if last else 0, money.start)):
            yield money
        last = money


def _in_figures(plain: str, stop: int) -> Iterator[Sum]:
    for match in _IN_FIGURES.finditer(plain, 0, stop):
        value = Decimal(re.sub(r"\D", "", match["whole"])) + Decimal(f"0.{match['part'] or 0}")
        scale = match["scale"] or match["short"]
        value *= _SCALES[scale.rstrip("s")] if scale else 1
        yield _with_cents(plain, value, match["unit"], (match.start(), match.end()))


def _in_words(plain: str, stop: int) -> Iterator[Sum]:
    for run in _IN_WORDS.finditer(plain, 0, stop):
        counted = _COUNTED.match(plain, run.end(), stop)
        if counted is None or run.group() in LONE:
            continue
        words, position = run.group(), 0
        read = read_words(words)
        # Of "deux, trois mille" the last number is what the unit counts.
        while read.end and position + read.end < len(words):
            joined = _JOINED.match(words, position + read.end)
            position = joined.end() if joined else position + read.end
            read = read_words(words[position:])
        if read.value:
            yield _with_cents(
                plain, read.value, counted["unit"], (run.start() + position, counted.end()), in_words=True
            )


def _with_cents(plain: str, value: Decimal, unit: str, place: Span, *, in_words: bool = False) -> Sum:
    start, end = place
    currency = "XPF" if re.search("cfp|pacifique", unit) else _CURRENCIES[unit[0]]
    if cents := _CENTS.match(plain, end):
        part = Decimal(cents["figure"]) if cents["figure"] else read_words(cents["words"]).value
        if part < 100 and value == value.to_integral_value():
            value, end = value + part / 100, cents.end()
    return Sum(value, currency, start, end, in_words)
