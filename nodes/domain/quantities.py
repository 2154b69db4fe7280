"""Numbers, amounts, durations, percentages and dates in English and French prose, in figures and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal["number", "amount", "duration", "percentage", "date", "reference"]


def _numbered(words: str, values: range) -> dict[str, int]:
    return dict(zip(words.split(), values, strict=True))


_WORDS: dict[str, int] = {
    **_numbered("one two three four five six seven eight nine ten eleven twelve", range(1, 13)),
    **_numbered("thirteen fourteen fifteen sixteen seventeen eighteen nineteen", range(13, 20)),
    **_numbered("twenty thirty forty fifty sixty seventy eighty ninety", range(20, 100, 10)),
    **_numbered("un deux trois quatre cinq six sept huit neuf dix onze douze", range(1, 13)),
    **_numbered("treize quatorze quinze seize", range(13, 17)),
    **_numbered("vingt trente quarante cinquante soixante", range(20, 70, 10)),
    "une": 1, "vingts": 20, "septante": 70, "huitante": 80, "nonante": 90,
    "hundred": 100, "cent": 100, "cents": 100, "thousand": 1000, "mille": 1000,
    "million": 10**6, "millions": 10**6, "billion": 10**9, "milliard": 10**9, "milliards": 10**9,
}  # fmt: skip
_SCALES = {"million": 10**6, "millions": 10**6, "billion": 10**9, "milliard": 10**9, "milliards": 10**9,
           "thousand": 1000, "hundred": 100, "mille": 1000}  # fmt: skip
# Words that are no number by themselves in one of the two languages: articles, coins, "new", a month's abbreviation.
_AMBIGUOUS = frozenset({"one", "un", "une", "neuf", "cent", "cents", "sept", "million", "millions", "mille", "six"})

_MONTHS: dict[str, int] = {}
for _names in (
    "january february march april may june july august september october november december",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "janv fevrier mars avr mai juin juil aout sept octobre nov decembre",
):
    _MONTHS.update(_numbered(_names, range(1, 13)))

_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
# Readers part a raised "th" from its number, or from itself.
_DAY = r"\b(?P<day>\d{1,2})(?: ?(?:er|s ?t|n ?d|r ?d|t ?h))?\b"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_DATES = (
    re.compile(rf"{_DAY} {{0,3}}(?:(?:day {{1,3}})?of {{1,9}})?{_MONTH} ?,? {{0,3}}{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} {{0,3}}{_DAY} ?,? {{0,3}}{_YEAR}", re.IGNORECASE),
    re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b"),
    re.compile(r"\b(?P<day>\d{1,2})(?P<mark>[/.-])(?P<month>\d{1,2})(?P=mark)(?P<year>(?:19|20)?\d\d)\b(?!-)"),
)

CENTURY = 70
"""A year of two digits from here on is of the last century."""

_FIGURE = r"(?<![\w.,])\d{1,3}(?:[ ,.']\d{3})+(?:[.,]\d{1,2})?(?![\d])|\d+(?:\.\d+){2,}|\d+(?:[.,]\d+)?"
_WORD = "(?:" + "|".join(sorted(_WORDS, key=len, reverse=True)) + ")"
_NUMBER = re.compile(rf"(?P<figure>{_FIGURE})|\b(?P<words>{_WORD}(?:(?:[ -]| et | and ){_WORD})*)\b", re.IGNORECASE)

_BEFORE = re.compile(r"(US ?\$|C\$|CAD|USD|EUR|GBP|CHF|RMB|€|\$|£|¥) ?$", re.IGNORECASE)
_GLOSS = re.compile(r" ?\( ?(?P<gloss>[^()]{1,60}?) ?(?P<percent>%)? ?\)")
_SCALE = re.compile(
    r" ?(?:(?P<long>thousand|millions?|billion|milliards?|mille)\b|(?P<short>[kKmM])(?=[€$£]))(?: (?:de|d'|of))? ?",
    re.IGNORECASE,
)
_FILLER = (
    r"(?:(?:consecutive|calendar|business|working|full|complete|additional|successive|more|further|trading|bank"
    r"|whole) )*"
)
_UNITS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, unit, re.compile(rf"[ -]*{pattern}", re.IGNORECASE))
    for kind, unit, pattern in (
        ("percentage", "%", r"(?:%|per ?cent\b|percent(?:age)?\b|pour ?cent\b|p\. ?100)"),
        ("amount", "EUR", r"(?:€|euros?\b|eur\b)"),
        ("amount", "CAD", r"(?:canadian dollars?\b|cad\b)"),
        ("amount", "USD", r"(?:US ?\$|\$|(?:u\.?s\.? |united states )?dollars?\b|usd\b)"),
        ("amount", "GBP", r"(?:£|pounds?\b|gbp\b)"),
        ("amount", "CHF", r"(?:chf\b|swiss francs?\b|francs? suisses?\b)"),
        ("amount", "CNY", r"(?:rmb\b|yuan\b|cny\b)"),
        ("duration", "day", rf"{_FILLER}(?:days?|jours?)\b"),
        ("duration", "week", rf"{_FILLER}(?:weeks?|semaines?)\b"),
        ("duration", "month", rf"{_FILLER}(?:months?|mois)\b"),
        ("duration", "quarter", rf"{_FILLER}(?:quarters?|trimestres?)\b"),
        ("duration", "year", rf"{_FILLER}(?:years?|ans?|années?)\b"),
        ("duration", "hour", rf"{_FILLER}(?:hours?|heures?)\b"),
    )
)
_SIGNS = {"€": "EUR", "EUR": "EUR", "$": "USD", "US$": "USD", "USD": "USD", "C$": "CAD", "CAD": "CAD", "£": "GBP",
          "GBP": "GBP", "CHF": "CHF", "RMB": "CNY", "¥": "JPY"}  # fmt: skip
# One character for one, so that offsets hold.
PLAIN = str.maketrans(dict.fromkeys("\u00a0\u202f\u2009\u2007\n\r\t\f\v\x00", " ") | {"’": "'", "–": "-", "‑": "-"})

_NEGATION = re.compile(
    r"\b(?:not|never|nor|neither|none|nothing|cannot|without|unless|ne|pas|jamais|aucun|aucune|ni|nul|nulle|sans|rien"
    r"|sauf|non)\b|\bno\b(?!\.? ?[\d°])|n['’]t\b|\bn['’](?=\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a text with what it counts."""

    kind: Kind
    value: Decimal
    unit: str
    """Currency code, %, day, month …; for a date its ISO form, for a reference its digits; "" for a bare number."""
    start: int
    end: int


def quantities(text: str) -> list[Quantity]:
    """All quantities in the order of the text; "twelve (12) months" is one."""
    plain = text.translate(PLAIN)
    found = list(_dates(plain))
    taken = [(date.start, date.end) for date in found]
    position = 0
    while match := _NUMBER.search(plain, position):
        inside = next((end for start, end in taken if start <= match.start() < end), None)
        if inside is not None:
            position = inside
            continue
        number = _number(plain, match)
        if number is not None:
            found.append(number)
        position = max(_number_end(plain, match), number.end if number else 0)
    return sorted(found, key=lambda quantity: quantity.start)


def numbers_in(text: str) -> set[str]:
    """Normalised tokens of every number: "12", and "12 month" where its unit is known; dates as ISO and year.

    A statement is covered by a source when its tokens are among the source's: figures, words, French and English
    forms of the same number give the same token.
    """
    tokens: set[str] = set()
    for quantity in quantities(text):
        if quantity.kind == "date":
            tokens.update((quantity.unit, plain_number(quantity.value)))
        elif quantity.kind == "reference":
            tokens.add(quantity.unit)
        else:
            tokens.add(plain_number(quantity.value))
            if quantity.unit:
                tokens.add(f"{plain_number(quantity.value)} {quantity.unit}")
    return tokens


def negations(text: str) -> list[str]:
    """The negating words of a text, folded, in order."""
    return [match.group().casefold().replace("’", "'") for match in _NEGATION.finditer(text)]


def negated(text: str) -> bool:
    """Does the text say no somewhere?"""
    return _NEGATION.search(text) is not None


def plain_number(value: Decimal) -> str:
    """Shortest decimal form without exponent: 150000, 2.5."""
    form = format(value, "f")
    return form.rstrip("0").rstrip(".") if "." in form else form


def _dates(plain: str) -> Iterator[Quantity]:
    end = -1
    matches = sorted((m for pattern in _DATES for m in pattern.finditer(plain)), key=lambda m: (m.start(), -m.end()))
    for match in matches:
        if match.start() < end:
            continue
        iso = _iso(match)
        if iso:
            end = match.end()
            yield Quantity("date", Decimal(match["year"]), iso, match.start(), end)


def _iso(match: re.Match[str]) -> str:
    """ISO date; the written digits where day and month could be either; "" when it is no date."""
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


def _number(plain: str, match: re.Match[str]) -> Quantity | None:
    figure = match["figure"]
    if figure and figure.count(".") >= 2 and not re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", figure):
        return Quantity("reference", Decimal(0), figure, match.start(), match.end())
    sign = _BEFORE.search(plain, max(0, match.start() - 6), match.start())
    end, words_ambiguous = match.end(), False
    if figure:
        value = _figure_value(figure, bool(sign) or bool(_UNITS[1][2].match(plain, end)))
    else:
        value, end = _words_value(plain, match)
        words_ambiguous = plain[match.start() : end].casefold() in _AMBIGUOUS
    gloss = _GLOSS.match(plain, end)
    percent = bool(gloss and gloss["percent"])
    if gloss and _same(gloss["gloss"], value):
        end, words_ambiguous = gloss.end(), False
    elif percent:
        gloss, percent = None, False
    if scale := _SCALE.match(plain, end):
        value *= _SCALES[scale["long"].casefold()] if scale["long"] else 10 ** (3 if scale["short"] in "kK" else 6)
        end = scale.end() if scale.group().endswith(" ") is False else scale.end() - 1
    return _with_unit(plain, match.start(), end, value, sign, percent, words_ambiguous)


def _with_unit(
    plain: str, start: int, end: int, value: Decimal, sign: re.Match[str] | None, percent: bool, ambiguous: bool
) -> Quantity | None:
    if sign:
        code = _SIGNS[sign.group(1).upper().replace(" ", "")]
        return Quantity("amount", value, code, sign.start(), end)
    if percent:
        return Quantity("percentage", value, "%", start, end)
    for kind, unit, pattern in _UNITS:
        if unit_match := pattern.match(plain, end):
            return Quantity(kind, value, unit, start, unit_match.end())  # type: ignore[arg-type]
    return None if ambiguous else Quantity("number", value, "", start, end)


def _number_end(plain: str, match: re.Match[str]) -> int:
    return match.end() if match["figure"] else _words_value(plain, match)[1]


def _same(gloss: str, value: Decimal) -> bool:
    """Does a bracket behind a number say the same number? A bracket with other words is none."""
    cleaned = re.sub(r"^(?:US ?\$|€|\$|£) ?", "", gloss)
    match = _NUMBER.match(cleaned)
    if not match:
        return False
    inner = _figure_value(match["figure"], True) if match["figure"] else _words_value(cleaned, match)[0]
    return inner == value


def _figure_value(figure: str, money: bool) -> Decimal:
    """A number in figures; one group of three behind a point is thousands only in an amount of money."""
    compact = figure.replace(" ", "").replace("'", "")
    comma, point = compact.rfind(","), compact.rfind(".")
    if comma >= 0 and point >= 0:
        whole, _, cents = compact.rpartition("." if point > comma else ",")
        return Decimal(f"{whole.replace(',', '').replace('.', '')}.{cents}")
    mark = "," if comma >= 0 else "."
    head, *groups = compact.split(mark)
    grouped = bool(groups) and all(len(group) == 3 for group in groups) and not head.startswith("0")
    if grouped and (mark == "," or money or len(groups) > 1):
        return Decimal(head + "".join(groups))
    if not groups or (len(groups) == 1 and head):
        return Decimal(compact.replace(",", "."))
    # Groups that no custom explains: "250,000,00" has cents behind its last mark, of others the digits are kept.
    cents = groups.pop() if len(groups[-1]) < 3 else "0"
    return Decimal(f"{head}{''.join(groups)}.{cents}")


def _words_value(plain: str, match: re.Match[str]) -> tuple[Decimal, int]:
    """Value of the leading words that form one number, and where they end; "two or three" stays two numbers."""
    total = current = 0
    end = match.start()
    for word in re.finditer(r"[^\W\d_]+", match["words"]):
        name = word.group().casefold()
        if name in ("et", "and"):
            continue
        value = _WORDS[name]
        if name in ("vingt", "vingts") and current % 100 == 4:
            current += 76
        elif value >= 1000:
            total, current = total + max(current, 1) * value, 0
        elif value == 100:
            current = max(current, 1) * 100
        elif _fits(current, value):
            current += value
        else:
            break
        end = match.start() + word.end()
    return Decimal(total + current), end


def _fits(current: int, value: int) -> bool:
    low = current % 100
    return low == 0 or (low % 10 == 0 and low >= 20 and value < 10) or (low in (60, 80) and 10 <= value < 20)
