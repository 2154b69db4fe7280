"""Finds dates in English and French prose: "1st day of May 2020", "1er mai 2020", "2020-05-01", "01/05/2020"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.domain.text.number_words import numbered

_MONTHS: dict[str, int] = {}
for _names in (
    "january february march april may june july august september october november december",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "janv fevrier mars avr mai juin juil aout sept octobre nov decembre",
):
    _MONTHS.update(numbered(_names, range(1, 13)))

_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
# Readers part a raised "th" from its number, or from itself.
_DAY = r"\b(?P<day>\d{1,2})(?: ?(?:er|s ?t|n ?d|r ?d|t ?h))?\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_DATES = (
    re.compile(rf"{_DAY} {{0,3}}(?:(?:day {{1,3}})?of {{1,9}})?{_MONTH} ?,? {{0,3}}{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} {{0,3}}{_DAY} ?,? {{0,3}}{_YEAR}", re.IGNORECASE),
    re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b"),
    # Example: 01/05/2020
    re.compile(
        r"""
        \b(?P<day>\d{1,2})(?P<mark>[/.-])(?P<month>\d{1,2})(?P=mark)(?P<year>(?:19|20)?\d\d)\b(?!-)
        """,
        re.VERBOSE,
    ),
)

CENTURY = 70
"""Least year of two digits that belongs to the last century."""


def written_dates(plain: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield (year, ISO form, start, end) of each full date; "3/4/2020" stays as written: either may be the day."""
    end = -1
    matches = sorted((m for pattern in _DATES for m in pattern.finditer(plain)), key=lambda m: (m.start(), -m.end()))
    for match in matches:
        if match.start() < end:
            continue
        iso = _iso(match)
        if iso:
            end = match.end()
            yield int(re.findall(r"\d{4}", iso)[0]), iso, match.start(), end


def _iso(match: re.Match[str]) -> str:
    """Convert a match to an ISO date; the written digits where day and month could be either; "" when it is no date."""
    month = match["month"].casefold()
    if month in _MONTHS:
        return _checked(int(match["year"]), _MONTHS[month], int(match["day"]))
    year, first, second = match["year"], int(match["day"]), int(month)
    full = int(year) if len(year) == 4 else int(year) + (2000 if int(year) < CENTURY else 1900)
    if match.group()[:4] == year and len(year) == 4:
        return _checked(full, second, first)
    if first > 12 or first == second:
        return _checked(full, second, first)
    if second > 12:
        return _checked(full, first, second)
    return f"{first}/{second}/{full}"


def _checked(year: int, month: int, day: int) -> str:
    return f"{year:04d}-{month:02d}-{day:02d}" if 1 <= month <= 12 and 1 <= day <= 31 else ""
