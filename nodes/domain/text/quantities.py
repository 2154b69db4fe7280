"""Finds numbers, amounts, durations, percentages and dates in English and French prose, in figures and words."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from nodes.domain.text.number_words import AMBIGUOUS, MULTIPLIERS, WORDS, read_words
from nodes.domain.text.written_dates import written_dates

Kind = Literal["number", "amount", "duration", "percentage", "date", "reference"]

_FIGURE = r"(?<![\w.,])\d{1,3}(?:[ ,.']\d{3})+(?:[.,]\d{1,2})?(?![\d])|\d+(?:\.\d+){2,}|\d+(?:[.,]\d+)?"
_NUMBER = re.compile(rf"(?P<figure>{_FIGURE})|(?P<words>{WORDS})", re.IGNORECASE)

# Example: US$
_BEFORE = re.compile(
    r"""
    (?:
      (?<![^\W\d_])(?:(?P<scale>[kmt]|md)?(?P<euro>€|EUR)|(?P<code>CAD|USD|GBP|CHF|RMB))
      | (?P<sign>US\ ?\$|C\$|€|\$|£|¥)
    )\ {0,3}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ARTICLE = re.compile(r"(?:\b(?P<half>half[ -]an?|demi)|\b(?:an?|per|each|every))[ -]{1,3}$", re.IGNORECASE)
_GLOSS = re.compile(r" ?\( ?(?P<gloss>[^()]{1,60}?) ?(?P<percent>%)? ?\)")
_MONEY = (
    r"(?:€|US\ ?\$|\$|£|(?:EUR|USD|GBP|CHF|CAD)\b|euros?\b|(?:US\ |U\.S\.\ )?dollars?\b|pounds?\b"
    r"|(?:swiss\ )?francs?\b)"
)
# Example: million
_LONG = re.compile(
    rf"""
    \ {{0,3}}(?P<scale>thousand|millions?|billions?|milliards?|mille|mio|bn|mrds?)\b(?:\.(?=\ ?{_MONEY}))?
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Behind a figure with a currency before or behind it: "1.2m" alone is metres, and "M&A" no million.
# Example: m€
_SHORT = re.compile(
    rf"""
    \ ?(?P<scale>[kKmM]|mm|MM|[mM]n|[mM]ds?|(?<=\d)[bB])(?:
      (?P<behind>\ ?(?:d'|de\ )?(?i:{_MONEY})) | \b(?![&'²]|\ (?:LI|EURI)BOR)
    )
    """,
    re.VERBOSE,
)
_SCALES = {"thousand": 1000, "mille": 1000, "k": 1000, "t": 1000, "million": 10**6, "mio": 10**6, "m": 10**6,
           "mm": 10**6, "mn": 10**6, "billion": 10**9, "milliard": 10**9, "bn": 10**9, "b": 10**9, "mrd": 10**9,
           "md": 10**9}  # fmt: skip
# Example: two and a half
_FRACTION = re.compile(
    r"""
    \ ?[½¼¾] | (?<=\d)[ -]{1,2}(?:1/2|1/4|3/4)(?![\d/])
    | [ -]{1,3}(?:and|et)[ -]{1,3}(?:(?:an?|one|un|1)[ -]{1,3})?(?:half|quarter|demie?|quart)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HALF = re.compile(r" {1,3}(?:and|et) {1,3}(?:an? |one[ -])?(?:half|demie?)\b", re.IGNORECASE)
_FILLER = (
    r"(?:(?:consecutive|calendar|business|working|full|complete|additional|successive|more|further|trading|bank"
    r"|whole|derniers|dernières|premiers|premières|prochains|prochaines) )*"
)
_UNITS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, unit, re.compile(rf"[ -]*{'(?:d.|de |of )?' if kind == 'amount' else ''}{pattern}", re.IGNORECASE))
    for kind, unit, pattern in (
        ("percentage", "%", r"(?:%|per ?cent\b|percent(?:age)?\b|pour ?cent\b|p\. ?100)"),
        ("amount", "EUR", r"(?:€(?!\d)|euros?\b|eur\b)"),
        ("amount", "CAD", r"(?:canadian dollars?\b|cad\b)"),
        ("amount", "USD", r"(?:(?:US ?)?\$(?! ?\d)|(?:u\.?s\.? {1,3}|united states {1,3})?dollars?\b|usd\b)"),
        ("amount", "GBP", r"(?:£(?! ?\d)|pounds?\b|gbp\b)"),
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

# Example: shall not be liable
_NEGATION = re.compile(
    r"""
    \b(?:
      not | never | nor | neither | none | nothing | cannot | without | unless | ne | pas | jamais | aucun
      | aucune | ni | nul | nulle | sans | rien | sauf | non
    )\b
    | \bno\b(?!\.?\ ?[\d°]) | n['’]t\b | \bn['’](?=\w)
    """,
    re.IGNORECASE | re.VERBOSE,
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
    """Find all quantities in the order of the text; "twelve (12) months" is one."""
    plain = text.translate(PLAIN)
    collected = [Quantity("date", Decimal(year), iso, start, end) for year, iso, start, end in written_dates(plain)]
    dates = sorted((date.start, date.end) for date in collected)
    begins = [start for start, _ in dates]
    position = 0
    while match := _NUMBER.search(plain, position):
        last = bisect_right(begins, match.start()) - 1
        if last >= 0 and match.start() < dates[last][1]:
            position = dates[last][1]
            continue
        number, end = _number(plain, match, position)
        if number is not None:
            collected.append(number)
        position = max(end, number.end if number else 0)
    return sorted(collected, key=lambda quantity: quantity.start)


def numbers_in(text: str) -> set[str]:
    """Collect normalised tokens of every number: "12", and "12 month" where its unit is known; dates as ISO and year.

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


_CUT_CONTEXT = 150
"""Characters on each side of a cut within which a number that it may split is read."""
_MULTIPLIES = re.compile(r"\w*(?:\d|million|milliard|billion|thousand|half|demi|½)\w*|" + WORDS, re.IGNORECASE)


def splits_number(text: str, at: int, *, behind: bool) -> bool:
    """Would a quote that ends at `at`, or begins there if `behind`, give another number than the text does?

    "un million" of "un million deux cent mille", "trente" of "trente-six", "1.2" of "1.2 million". The cut may part a
    number from its bracket or from what it counts: "twelve" of "twelve (12) months" gives no other.
    """
    low = max(0, at - _CUT_CONTEXT)
    plain = text[low : at + _CUT_CONTEXT].translate(PLAIN)
    cut = at - low
    if not _MULTIPLIES.search(plain, max(0, cut - 24), cut):
        return False
    for quantity in quantities(plain):
        if quantity.start < cut < quantity.end and quantity.kind not in ("date", "reference"):
            fragment = plain[cut : quantity.end] if behind else plain[quantity.start : cut]
            match = _NUMBER.search(fragment)
            if match is None:
                return _MULTIPLIES.search(fragment) is not None
            fragment_quantities = quantities(fragment)
            core = _core(fragment, match, money=quantity.kind == "amount")
            return (
                fragment_quantities[0].value if fragment_quantities else core.value if core else None
            ) != quantity.value
    return False


def negations(text: str) -> list[str]:
    """List the negating words of a text, folded, in order."""
    return [match.group().casefold().replace("’", "'") for match in _NEGATION.finditer(text)]


def negated(text: str) -> bool:
    """Does the text have a negating word?"""
    return _NEGATION.search(text) is not None


def plain_number(value: Decimal) -> str:
    """Format a number in its shortest decimal form without exponent: 150000, 2.5."""
    form = format(value, "f")
    return form.rstrip("0").rstrip(".") if "." in form else form


@dataclass(frozen=True, slots=True)
class _Core:
    """A number with what multiplies it, without what it counts."""

    value: Decimal
    start: int
    end: int
    certain: bool
    """Whether it is a number even when nothing is counted by it."""
    percent: bool


def _core(plain: str, match: re.Match[str], money: bool) -> _Core | None:
    """Read the number at a match; None for a word that only multiplies. `money`: a currency stands before it."""
    start, end, last, certain = match.start(), match.end(), 1, True
    if figure := match["figure"]:
        scale, euros = _scale(plain, end, money), _UNITS[1][2].match(plain, end)
        # "$1.125 million" has decimals, "1.250 k€" thousands.
        value = _figure_value(figure, bool(money or euros) if scale is None else scale[0] == 1000)
    else:
        words = read_words(match["words"])
        value, end, last = words.value, start + words.end, words.scale
        name = plain[start:end].casefold()
        certain = name not in AMBIGUOUS
        if name in MULTIPLIERS:
            article = _ARTICLE.search(plain, max(0, start - 12), start)
            if article is None:
                return None
            if article["half"]:
                value, start = value / 2, article.start()
    value, end = _with_fraction(plain, value, end, last)
    percent = False
    if gloss := _GLOSS.match(plain, end):
        same = _repeats_value(gloss["gloss"], value)
        end, certain, percent = (gloss.end(), True, bool(gloss["percent"])) if same else (end, certain, False)
    if scale := _scale(plain, end, money):
        factor, end = scale
        value, end = _with_fraction(plain, value * factor, end, factor)
        if (gloss := _GLOSS.match(plain, end)) and _repeats_value(gloss["gloss"], value):
            end = gloss.end()
    return _Core(value, start, end, certain, percent)


def _scale(plain: str, end: int, money: bool) -> tuple[int, int] | None:
    """Find the factor behind a number and its end: "million", "bn"; "m" and "k" for money only."""
    if match := _LONG.match(plain, end):
        return _SCALES[match["scale"].casefold().removesuffix("s")], match.end()
    match = _SHORT.match(plain, end)
    if match and (money or match["behind"]):
        return _SCALES[match["scale"].casefold().removesuffix("s")], match.end("scale")
    return None


def _with_fraction(plain: str, value: Decimal, end: int, scale: int) -> tuple[Decimal, int]:
    """ "two and a half", "12 1/2"; "two million and a half" adds half a million."""
    match = _FRACTION.match(plain, end)
    if match is None or (scale > 1 and scale < 10**6):
        return value, end
    fraction = match.group().casefold()
    share = "0.75" if "¾" in fraction or "3/4" in fraction else "0.25" if re.search("¼|1/4|quart", fraction) else "0.5"
    return value + Decimal(share) * scale, match.end()


def _number(plain: str, match: re.Match[str], behind: int) -> tuple[Quantity | None, int]:
    """Read the quantity at a match, and the offset to go on from; `behind` is the end of the quantity before."""
    figure = match["figure"]
    if figure and figure.count(".") >= 2 and not re.fullmatch(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?", figure):
        return Quantity("reference", Decimal(0), figure, match.start(), match.end()), match.end()
    sign = _BEFORE.search(plain, max(behind, match.start() - 10), match.start())
    core = _core(plain, match, sign is not None)
    if core is None:
        return None, match.end()
    if sign:
        code = _SIGNS[(sign["euro"] or sign["code"] or sign["sign"]).upper().replace(" ", "")]
        value = core.value * _SCALES[sign["scale"].casefold()] if sign["scale"] else core.value
        return Quantity("amount", value, code, sign.start(), core.end), core.end
    return _with_unit(plain, core), core.end


def _with_unit(plain: str, core: _Core) -> Quantity | None:
    if core.percent:
        return Quantity("percentage", core.value, "%", core.start, core.end)
    for kind, unit, pattern in _UNITS:
        if match := pattern.match(plain, core.end):
            value, end = core.value, match.end()
            if kind == "duration" and (half := _HALF.match(plain, end)):
                value, end = value + Decimal("0.5"), half.end()
            return Quantity(kind, value, unit, core.start, end)  # type: ignore[arg-type]
    return Quantity("number", core.value, "", core.start, core.end) if core.certain else None


def _repeats_value(gloss: str, value: Decimal) -> bool:
    """Does a bracket behind a number repeat it? A bracket with other words does not."""
    cleaned = re.sub(r"^(?:US ?\$|€|\$|£) ?", "", gloss)
    match = _NUMBER.match(cleaned)
    if not match:
        return False
    inner = _figure_value(match["figure"], True) if match["figure"] else read_words(match["words"]).value
    return inner == value


def _figure_value(figure: str, money: bool) -> Decimal:
    """A number in figures; one group of three behind a point is thousands only in an amount of money."""
    compact = figure.replace(" ", "").replace("'", "")
    comma, point = compact.rfind(","), compact.rfind(".")
    if comma >= 0 and point >= 0:
        integer_part, _, cents = compact.rpartition("." if point > comma else ",")
        return Decimal(f"{integer_part.replace(',', '').replace('.', '')}.{cents}")
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
