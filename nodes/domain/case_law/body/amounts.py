"""Sums of money in a ruling, and whether its operative part orders them to be paid."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from nodes.domain.case_law.body.orders import COSTS, Order
from nodes.domain.case_law.ruling_text import RulingText
from nodes.domain.text.normalise import Span
from nodes.domain.text.number_words import MULTIPLIERS, WORDS, read_words

MOST_AMOUNTS = 60
LONGEST_QUOTE = 900
REACH = 80
"""Characters before a verb that tell its subject and its tense."""

_PAYING = (
    r"(?:paiement|payer|verser|versement|reverser|reversement|restituer|restitution|rembourser|remboursement|amende)\b"
)
_VERBS: tuple[tuple[str, str], ...] = (
    ("quashes", r"casse|annule"),
    ("reverses", r"infirme|reforme|retracte"),
    ("keeps", r"confirme|maintient"),
    ("denies", r"deboute|rejett?e|refuse|dispense"),
    # The wage from which sums are reckoned is fixed, nobody is to pay it.
    ("other", r"fixe(?=[^;:]{0,60}?\b(?:salaires?\s+(?:mensuel|moyen|de\s+reference)|remuneration|moyenne)\b)"),
    ("pays", rf"condamne|fixe|alloue|accorde|octroie|(?:porte|ramene|reduit)(?=e?s?\s+a\s)"
             rf"|(?:ordonne|enjoint|prononce|impose)(?=[^;]{{0,80}}?\b{_PAYING})"),
    ("other", r"dit|declare|constate|rappelle|precise|remet|renvoie|laisse|ordonne"),
)  # fmt: skip
_PHRASES: tuple[tuple[str, str], ...] = (
    ("recites", r"en\s+(?:ce|tant)\s+qu(?=e\b|')"),
    ("excepts", r"sauf(?!\s+a\s)|excepte|exception|hormis"),
    ("anew", r"statuant\s+(?:a|de)\s+nouveau|y\s+ajoutant"),
    ("closes", r"l'(?:arret|ordonnance)\s+rendue?|le\s+jugement\s+rendu|les\s+(?:arrets|jugements)\s+rendus"),
    ("denies", r"irrecevables?|n'y\s+(?:avoir|a)\s+(?:pas\s+|plus\s+)?lieu"),
    ("pays", r"sauf\s+a\s+(?:porter|fixer|ramener|reduire)|versera|verseront|paiera|payera|paieront|payeront"
             r"|remboursera|rembourseront|restituera|restitueront"
             rf"|(?:devra|devront|tenue?s?\s+d[e'])(?=[^;]{{0,40}}?\b{_PAYING})"
             r"|mise?s?\s+a\s+la\s+charge|met\s+a\s+la\s+charge"),
    ("named", r"condamnations?"),
)  # fmt: skip
_TOKEN = re.compile(
    r"\b(?:(?:"
    + "|".join(f"(?P<v{place}>{words})" for place, (_, words) in enumerate(_VERBS))
    + r")(?P<end>nt|es?|s)?\b|(?:"
    + "|".join(f"(?P<p{place}>{words})" for place, (_, words) in enumerate(_PHRASES))
    + r")(?![a-z]))"
)
_SENSES = {f"v{place}": sense for place, (sense, _) in enumerate(_VERBS)}
_SENSES |= {f"p{place}": sense for place, (sense, _) in enumerate(_PHRASES)}
_ADVERB = r"(?:\w+ment\s+|in\s+solidum\s+|en\s+outre\s+)*\Z"
# Example: avait en outre
_HELPED = re.compile(
    rf"""
    \b(?:a|ont|avait|avaient|ayant|ete)\s+{_ADVERB}
    """,
    re.VERBOSE,
)
_IS = re.compile(rf"\b(?:est|sont|sera|seront)\s+{_ADVERB}")
_SUBJECT = re.compile(r"(?:\b|')(?:il|elle|qui)s?\s+(?:(?:l[ea]s?|lui|leur|y|en|ne)\s+|l'|n'|s')*\Z")
# Example: la somme de
_GOES_ON = re.compile(
    r"""
    [-•*–·\d] | [a-z]\) | (?:la|une|les)\s+sommes?\b | et\b | ainsi\s+que\b | outre\b | au\s+titre\b
    | a\s+titre\b | a\s+(?:m\.|mm\.|mme|monsieur|madame|la\s|l')
    """,
    re.VERBOSE,
)
_LISTED = re.compile(r"[-•*–·]")
# Example: est mise a la charge
_BEHIND = re.compile(
    r"""
    \b(?:est|sont|sera|seront)\s+(?:\w+\s+)?
    (?:mise?s?\s+a\s+la\s+charge|(?:paye|verse|alloue|accorde|fixe)e?s?\b)
    """,
    re.VERBOSE,
)
_PENALTY = re.compile(r"\bastreinte\b[^,;]{0,60}\Z")

_UNIT = r"(?P<unit>€|euros?\b|eur\b|francs?\s+(?:cfp|pacifiques?)\b|francs?\b|f\s?cfp\b|dollars?\b)"
_CENTS = re.compile(rf",?(?:\s+et)?\s+(?:(?P<figure>\d{{1,2}})|(?P<words>{WORDS}))\s+centimes?\b")
# Example: 3 000 euros
_IN_FIGURES = re.compile(
    rf"""
    (?<![\d.,/-])(?P<whole>\d{{1,3}}(?:[ .']\d{{3}})+|\d+)(?:[,.](?P<part>\d{{1,2}}))?(?!\d)\s*
    (?:(?P<scale>millions?|milliards?)\s*d'\s*|(?P<short>[km])(?=€)|\([a-z' -]{{2,80}}\)\s*)?{_UNIT}
    """,
    re.VERBOSE,
)
_IN_WORDS = re.compile(WORDS)
# Example: (500) euros
_COUNTED = re.compile(
    rf"""
    (?:\s*\([\d .,']{{1,20}}\))?\s+(?:d'\s*)?{_UNIT}
    """,
    re.VERBOSE,
)
_GLOSS = re.compile(r"\s*[,(]?\s*(?:soit\s+)?")
"""Words between a sum in words and the same sum in figures."""
_JOINED = re.compile(r"(?:[\s,-]|\bet\b|\band\b)*")
_CURRENCIES = {"€": "EUR", "e": "EUR", "f": "FRF", "d": "USD"}
_SCALES = {"million": 10**6, "milliard": 10**9, "k": 1000, "m": 10**6}


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of money in a ruling, with the span to quote for it."""

    amount: Decimal
    currency: str
    start: int
    end: int
    zone: str
    ordered: bool
    """Whether the operative part orders it to be paid, or upholds such an order of the court below."""
    costs: bool
    """Whether it is for the costs of the proceedings."""


def amounts(ruling: RulingText, ordered: Sequence[Order]) -> Iterator[Amount]:
    """Yield the sums of money of a ruling, those ordered to be paid first."""
    plain = ruling.plain
    stop = ruling.end
    orders = _OperativePart(ruling, ordered)
    mentions = []
    for money in sums(plain, stop):
        zone = ruling.zone_at(money.start)
        order = next((order for order in ordered if order.start <= money.start < order.end), None)
        paid = order is not None and orders.payment(order, money.start, money.end)
        costs = order is not None and COSTS.search(order.words) is not None
        start, end = (order.start, order.end) if order else _surrounding_clause(plain, money.start, money.end, stop)
        mentions.append(Amount(money.value, money.currency, start, min(end, start + LONGEST_QUOTE), zone, paid, costs))
    mentions.sort(key=lambda amount: not amount.ordered)
    yield from mentions[:MOST_AMOUNTS]


class _OperativePart:
    """State of the operative part, verb by verb: what this court orders and what it recites of another."""

    def __init__(self, ruling: RulingText, ordered: Sequence[Order]) -> None:
        self.ruling = ruling
        self.rule = self.recited = "other"
        """pays, denies, keeps, reverses, quashes or other: the rule of this court, and of the recited court below."""
        self.tense = ""
        """Tense while another ruling is recited: open until the first verb, then past or present; "" otherwise."""
        self.excepted = False
        self.turns: list[tuple[int, bool, bool]] = []
        """(offset, paid, silent): whether sums behind the offset are to be paid, and whether no verb decides it."""
        for order in ordered:
            self._read(order)

    def payment(self, order: Order, start: int, end: int) -> bool:
        """Tell whether the sum at [start, end) is to be paid."""
        plain = self.ruling.plain
        if _PENALTY.search(plain, order.start, start):
            return False
        place = bisect_right(self.turns, start, key=lambda turn: turn[0])
        _, paid, silent = self.turns[place - 1]
        return paid or (silent and _BEHIND.search(plain, end, order.end) is not None)

    def _read(self, order: Order) -> None:
        plain = self.ruling.plain
        if not _GOES_ON.match(plain, order.start):
            self._set_rule("other")
        elif not _LISTED.match(plain, order.start):
            self.tense = ""
        self._record_turn(order.start)
        for token in _TOKEN.finditer(plain, order.start, order.end):
            name = next(name for name in _SENSES if token[name] is not None)
            if name.startswith("p"):
                self._read_phrase(_SENSES[name])
            else:
                self._read_verb(_SENSES[name], token, max(order.start, token.start() - REACH))
            self._record_turn(token.end())

    def _read_phrase(self, sense: str) -> None:
        if sense == "recites":
            self.tense, self.recited = "open", "other"
        elif sense == "excepts":
            self.excepted = True
        elif sense == "closes":
            self.tense = ""
        elif sense == "anew":
            self._set_rule("other")
        elif sense == "named":
            self.recited = "pays"
        elif self.tense:
            self.recited = sense
        else:
            self._set_rule(sense)

    def _read_verb(self, sense: str, token: re.Match[str], begin: int) -> None:
        """Apply a verb of this court, or of the court whose ruling is recited."""
        plain, text = self.ruling.plain, self.ruling.text
        recites = bool(self.tense) or self.rule in ("keeps", "reverses", "quashes")
        if self._is_participle(token, begin):
            if recites:
                self.recited = sense
                self.tense = "past" if self.tense else ""
            elif _IS.search(plain, begin, token.start()):
                self._set_rule(sense)
        elif _SUBJECT.search(plain, begin, token.start()):
            if recites:
                self.recited = sense
                self.tense = "present" if self.tense else ""
        elif self.tense and not text[token.start()].isupper() and (self.tense != "past" or token.group() == "dit"):
            self.recited, self.tense = sense, self.tense if self.tense == "past" else "present"
        else:
            self._set_rule(sense)

    def _is_participle(self, token: re.Match[str], begin: int) -> bool:
        """Tell whether a verb is a participle: by ending, accent or auxiliary, since a scan may lose the accent."""
        text, plain, end = self.ruling.text, self.ruling.plain, token.end()
        accented = text[end - 1] in "éÉ" or text[end : end + 1] == "\u0301"
        ending = token["end"] in ("e", "es", "s") or token.group().startswith("rejete")
        helped = any(auxiliary.search(plain, begin, token.start()) for auxiliary in (_HELPED, _IS))
        return accented or ending or helped

    def _set_rule(self, rule: str) -> None:
        self.rule, self.recited, self.tense, self.excepted = rule, "other", "", False

    def _record_turn(self, offset: int) -> None:
        upheld = {"keeps": not self.excepted, "reverses": self.excepted}.get(self.rule, False)
        paid = self.rule == "pays" or (upheld and self.recited == "pays")
        self.turns.append((offset, paid, self.rule == "other"))


def _surrounding_clause(plain: str, start: int, end: int, stop: int) -> tuple[int, int]:
    """Return the clause that holds a range, with at most some two lines on either side."""
    begin = max(plain.rfind(mark, max(0, start - 160), start) for mark in (";", ". ", " : "))
    begin = begin + 2 if begin >= 0 else plain.find(" ", max(0, start - 160)) + 1
    ends = [place for mark in (";", ". ", ".\n") if (place := plain.find(mark, end, min(end + 160, stop))) >= 0]
    close = min(ends) if ends else (plain.rfind(" ", end, min(end + 160, stop)) if end + 1 < stop else end)
    return min(begin, start), max(close, end)


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of money at an offset of the plain text."""

    value: Decimal
    currency: str
    start: int
    end: int
    in_words: bool = False


def sums(plain: str, stop: int) -> Iterator[Sum]:
    """Yield the sums before `stop` in order; one that is written in words and in figures only once."""
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
        if counted is None or run.group() in MULTIPLIERS:
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
