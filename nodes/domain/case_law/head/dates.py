"""Dates of court rulings: in figures, in words, and with the errors of scans; matched against plain text."""

from __future__ import annotations

import re
from datetime import date

_MONTH_NAMES = [
    "janvier",
    "fevrier",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "aout",
    "septembre",
    "octobre",
    "novembre",
    "decembre",
]
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_UNITS = [
    "zero",
    "un",
    "deux",
    "trois",
    "quatre",
    "cinq",
    "six",
    "sept",
    "huit",
    "neuf",
    "dix",
    "onze",
    "douze",
    "treize",
    "quatorze",
    "quinze",
    "seize",
]
_NUMBERS = {name: number for number, name in enumerate(_UNITS)} | {
    "premier": 1, "vingt": 20, "vingts": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
    "septante": 70, "huitante": 80, "octante": 80, "nonante": 90,
}  # fmt: skip
NUMBER_WORD = "(?:" + "|".join(sorted([*_NUMBERS, "et", "mille", "mil", "cent", "cents"], key=len, reverse=True)) + ")"
WEEKDAY = r"(?:(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\s+)?"
_MONTH = "(?P<month>" + "|".join(_MONTH_NAMES) + ")"
FIGURES = rf"{WEEKDAY}(?:le\s+)?(?P<day>\d\s?\d?|l)\s*(?:er|°|e)?\s*{_MONTH}\s*(?P<year>(?:1[89]|20)\s?\d\s?\d)(?!\d)"
SLASHED = r"(?P<day>\d{1,2})\s?[/.]\s?(?P<month>\d{1,2})\s?[/.]\s?(?P<year>(?:1[89]|20)\d\d)(?!\d)"
WORDS = (
    rf"{WEEKDAY}(?P<day>{NUMBER_WORD}(?:[\s-]+{NUMBER_WORD})?(?:[\s-]+{NUMBER_WORD})?)\s+{_MONTH}\s+"
    rf"(?P<year>(?:deux\s+|dix[\s-]neuf\s+)?(?:mille?|mil|cents?)(?:[\s-]+{NUMBER_WORD})*)(?![a-z])"
)
_KINDS = tuple(re.compile(pattern) for pattern in (FIGURES, SLASHED, WORDS))


def date_at(plain: str, start: int, end: int) -> tuple[date, int, int] | None:
    """Return the first date of a range of plain text with its span; None when there is none."""
    matches = [match for kind in _KINDS if (match := kind.search(plain, start, end))]
    for match in sorted(matches, key=lambda match: match.start()):
        read = _date_of_match(match)
        if read is not None:
            return read, match.start(), match.end()
    return None


def date_after(plain: str, start: int, reach: int = 40) -> tuple[date, int, int] | None:
    """Return the date that begins within `reach` characters of `start`; None when there is none."""
    nearest = date_at(plain, start, min(start + reach + 80, len(plain)))
    return nearest if nearest and nearest[1] <= start + reach else None


def french(day: date) -> str:
    """Write a date in French: 1er juillet 1901."""
    month = [
        "janvier",
        "février",
        "mars",
        "avril",
        "mai",
        "juin",
        "juillet",
        "août",
        "septembre",
        "octobre",
        "novembre",
        "décembre",
    ][day.month - 1]
    return f"{day.day}{'er' if day.day == 1 else ''} {month} {day.year}"


def _date_of_match(match: re.Match[str]) -> date | None:
    day, month, year = match["day"], match["month"], match["year"]
    try:
        return date(_read_number(year), _MONTHS.get(month) or int(month), _read_number(day))
    except ValueError:
        return None


def _read_number(words: str) -> int:
    """Read a number: 12 from "12", "1 2", "douze"; 2018 from "deux mille dix-huit"; 1 from a scan's "l"."""
    joined = "".join(words.split())
    if joined.isdigit() or joined == "l":
        return 1 if joined == "l" else int(joined)
    return _read_number_words(re.split(r"[\s-]+", words))


def _read_number_words(words: list[str]) -> int:
    total = part = 0
    for word in words:
        if word in ("mille", "mil"):
            total, part = (part or 1) * 1000, 0
        elif word in ("cent", "cents"):
            part = (part or 1) * 100
        elif word in ("vingt", "vingts") and part % 100 == 4:
            part += 76
        elif word != "et":
            part += _NUMBERS[word]
    return total + part
