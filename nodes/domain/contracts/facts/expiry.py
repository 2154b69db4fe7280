"""Expiry of a contract: the day that it states, else the day computed from its start and its term."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from nodes.domain.contracts.contract_text import ContractText
from nodes.domain.contracts.facts.dates import EXPIRES, DateMention, Dates, iso, label_before
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.quantities import Quantity, plain_number

POINTS_NEEDED = 4
"""Points that a stated day needs to count as the contract's end."""
LONGEST = 100
"""Years that a term may last."""
NEAR = 70
"""Characters behind a term in which the words that say from when it runs must begin."""

_TERM_HEADING = re.compile(r"\b(?:terms?|duration|durée|expir\w+)\b", re.IGNORECASE)
# Example: The term of this Agreement
_OF_CONTRACT = re.compile(
    r"""
    \b(?<!date\ of\ )(?:this|the|present)\ (?:[\w-]+\ ){0,3}
      (?:agreement|contract|addendum|amendment|schedule|appointment)\b
    | [\"“](?:the\ )?(?:initial\ )?
      (?:term|service\ period|expir\w+\ date|termination\ date|contract\ period)[\"”]
    | \b(?:initial|cooperation|effective|current)\ term\b
    | \b(?:contrat|marché|convention|accord|bail|mission)\b | ^[\W\d]*(?:initial\ )?term\b
    | \bterm\ of\ (?:this|the)\b | \bthe\ term\b | \bcontract\ period\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: commencing
_BEGINS = re.compile(
    r"""
    \b(?:
      commenc\w+ | begin\w* | start\w* | effective | from | in\ (?:full\ )?(?:force|effect)
      | continue\w* | remain\w* | valid | prend\ effet | entre\ en\ vigueur | à\ compter | conclue?
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: calendar year
_OTHER_THING = re.compile(
    r"""
    \b(?:
      options? | offer\w* | exclusiv\w+ | quarter\w* | fiscal | (?:calendar|contract|taxable)\ year
      | reports? | records? | insur\w+ | milestone\w* | warrant\w+ | budget | forecast\w* | minimum
      | invoices? | payments? | royalt\w+ | fees? | prices? | charges? | lease | audit\w* | support
      | non-?compet\w* | standstill | season | loan | notes? | shares? | patents? | garanti\w*
      | prix | paiement | facture\w* | assurance
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: Subscription End Date
_END_LABEL = re.compile(
    r"""
    \W*(?:(?:subscription|contract|agreement|service|services|licen[cs]e|initial|term)\ ){0,2}(?:
      (?:end|expiry|expiration|termination)\ date
      | date\ (?:de\ fin|d['’]expiration|d['’]échéance|de\ terme)
        (?:\ du\ contrat|\ de\ l['’]abonnement)?
    )[ :.–-]*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RANGE = re.compile(r"(?:19|20)\d\d,? ?(?:to|till|-|au) ?$")
_IS_TERM = re.compile(r"^[^.;]{0,15}[\"“] ?(?:the )?(?:initial )?term\b", re.IGNORECASE)
_SAYS_ELSE = re.compile(r"^ ?,? ?(?!and|or|but|unless)(?:[\w']+ ){1,4}(?:shall|will|agrees?|may)\b", re.IGNORECASE)
_MAYBE = re.compile(r"\b(?:elects?|may|if|would|option|peut|pourra|si)\b", re.IGNORECASE)
# Example: whichever is later
_LATER = re.compile(
    r"""
    \b
    (?:later\ (?:of|to\ occur)|whichever\ (?:is|comes|occurs)\ (?:the\ )?(?:later|last)|[\w-]+-by-)
    """,
    re.IGNORECASE | re.VERBOSE,
)

_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_START_WORDS = r"(?:\ and\ including|\ et\ y\ compris)?[\W_]*(?P<what>[^,;()]{1,60})"
# Example: from the date of its signature
_BEHIND = re.compile(
    rf"""
    \b(?:
      from\ and\ after | from | following | after | since | of | subsequent\ to
      | (?:commenc|begin+|start)(?:es|e|s|ing)?\b(?:\ as)?(?:\ (?:on|upon|of|from|with|at))?
      | effective(?:\ as)?(?:\ of|\ on|\ upon)? | à\ compter\ (?:de\ |du\ )?
      | à\ partir\ (?:de\ |du\ )? | depuis | suivant
    ){_START_WORDS}
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: commencing on the Effective Date
_BEFORE = re.compile(
    rf"""
    \b(?:
      (?:commenc|beg[ia]n+|start)(?:es|e|s|ing)?\b(?:\ as)?(?:\ (?:on|upon|of|from|with|at))?
      | effective(?:\ as)?(?:\ of|\ on|\ upon|\ from)?
      | (?:effect|force)(?:\ as)?\ (?:on|upon|of|from) | from
      | prend\ effet\ (?:à\ compter\ )?(?:le\ |du\ |de\ )
      | en\ vigueur\ (?:le\ |à\ compter\ (?:du\ |de\ )) | à\ compter\ (?:de\ |du\ )?
    ){_START_WORDS}
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: with automatic renewal
_STOPS = re.compile(
    r"""
    [;]
    | \b(?:
        unless | provided | subject\ to | except | which | whichever | thereafter | with\ automatic
        | and\ (?:shall|will|may) | sauf | puis | renouvel\w+
      )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ITS_DATE = re.compile(
    r"(?:the )?(?:date|day)(?: and year)? (?:hereof|of th(?:is|e) (?:\w+ )?(?:agreement|contract|document|addendum)"
    r"|(?:first )?(?:above|written|set forth|listed|stated)|first )|hereof\b|(?:the )?agreement date\b",
    re.IGNORECASE,
)
# Example: the date of its execution
_SIGNING = re.compile(
    r"""
    ^(?:the\ |its\ |sa\ |la\ )?(?:
      (?:date\ )?(?:of\ )?(?:its\ |the\ |full\ )*(?:execution|signature|signing|date\ signed)\b
      | date\ (?:on\ which\ )?(?:it\ is\ )?signed | date\ de\ (?:sa\ |la\ )?signature
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: the Effective Date
_EFFECTIVE = re.compile(
    r"""
    ^(?:the\ |la\ |sa\ )?(?:effective\ date|date\ d'effet|prise\ d'effet|entrée\ en\ vigueur)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: (the "Effective Date"
_IS_DEFINED = re.compile(
    r"""
    [\"“«(](?:the\ |la\ )?(?:effective\ date|date\ d'effet)
    | \b(?:effective\ date|date\ d'effet)\b[\"”»)]*\ ?(?:means|shall|is|[:=–-]|est|désigne)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SAME = re.compile(r"^(?:such|that|said) (?:date|day|time)\b|^(?:there|here)\w+\b", re.IGNORECASE)
_DATE_NAME = re.compile(r"^(?:the |such )?(?P<name>(?:[A-Z][\w-]* ){1,3}Date)\b")
# Example: third (3rd) anniversary
_ANNIVERSARY = re.compile(
    r"""
    \b(?P<word>
      first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth | fifteenth
      | twentieth | \d{1,2}\ ?(?:st|nd|rd|t\ ?h)
    )(?:\ ?\(\d{1,2}\ ?(?:st|nd|rd|t\ ?h)?\))?[ -]?(?:year\ )?anniversary\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "fifteenth": 15, "twentieth": 20,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Start:
    """Start of a term; `date` is None where it is an event of unknown date."""

    date: Quantity | None


def read_expiry(contract: ContractText, dates: Dates, term: Quantity | None, *, renews: bool) -> Iterator[Proposal]:
    """Yield expiration_date, at most once.

    A day that follows from beginning and term is marked `computed` in its detail and quoted with the words that state
    both: it is the day of the same number when the term has run, so that whether the day itself still belongs to it
    is left to the reader. `renews`: the contract goes on by itself after that day, which the detail then says.
    """
    after = {"renews": True} if renews else {}
    stated = _stated_end(contract, dates)
    if stated is not None:
        value = iso(contract, stated.date)
        written = contract.raw[stated.date.start : stated.date.end]
        detail = {"date": value, "written": written, **after}
        yield contract.fact("expiration_date", value, stated.date.start, stated.date.end, detail)
        return
    length = _anniversary(contract) or term
    start = _start_of_term(contract, dates, length) if length else None
    if length is None or start is None:
        return
    value, begins = _end_of_term(iso(contract, start), length), iso(contract, start)
    if value:
        detail = {"date": value, "computed": True, "from": begins, "count": plain_number(length.value)}
        places = [(start.start, start.end), (length.start, length.end)]
        yield contract.fact_of("expiration_date", value, places, {**detail, "unit": length.unit, **after})


def _stated_end(contract: ContractText, dates: Dates) -> DateMention | None:
    """Return the day on which the contract is said to end; None where none is likely to be that."""
    begun = [iso(contract, mention.date) for mention in (dates.effective, dates.agreement) if mention]
    best: tuple[int, DateMention] | None = None
    for mention in dates.mentions:
        labelled = _END_LABEL.match(label_before(contract, mention))
        ends = labelled or EXPIRES.search(mention.before) or _RANGE.search(mention.before)
        if ends and iso(contract, mention.date) > max(begun, default=""):
            points = POINTS_NEEDED if labelled else _points(contract, mention, dates.mentions)
            if points >= POINTS_NEEDED and (best is None or points > best[0]):
                best = points, mention
    return None if best is None else best[1]


def _points(contract: ContractText, mention: DateMention, mentions: list[DateMention]) -> int:
    sentence = contract.at(mention.date.start)
    low, high = (sentence.start, sentence.end) if sentence else contract.around(mention.date.start, mention.date.end)
    heading = f"{sentence.heading} {sentence.article}" if sentence else ""
    plain, before = contract.plain[low:high], contract.plain[low : mention.date.start]
    points = 1 + (3 if _OF_CONTRACT.search(before[-250:]) else 0)
    points += 2 if _TERM_HEADING.search(heading) else 0
    points += 2 if _IS_TERM.search(mention.behind) else 0
    points += 1 if _BEGINS.search(before) else 0
    points += 1 if any(low <= earlier.date.start < mention.date.start for earlier in mentions) else 0
    points -= 3 if _OTHER_THING.search(before[-200:]) else 0
    points -= 3 if _SAYS_ELSE.search(mention.behind) else 0
    points -= 3 if _LATER.search(plain) else 0
    points -= 2 if _MAYBE.search(before[-160:]) else 0
    return points


def _anniversary(contract: ContractText) -> Quantity | None:
    """Return the length of a term that ends on an anniversary."""
    for sentence in contract.sentences:
        plain = contract.plain[sentence.start : sentence.end]
        match = _ANNIVERSARY.search(plain)
        if match and EXPIRES.search(plain[: match.start()]) and _OF_CONTRACT.search(plain[: match.start()]):
            word = match["word"].casefold()
            number = _ORDINALS.get(word) or int(re.sub(r"\D", "", word))
            if not _OTHER_THING.search(plain[: match.start()][-120:]):
                start = sentence.start + match.start()
                return Quantity("duration", Decimal(number), "year", start, sentence.start + match.end())
    return None


def _start_of_term(contract: ContractText, dates: Dates, length: Quantity) -> Quantity | None:
    """Return the day from which a term runs, as its sentence says; None where it runs from an event of unknown date."""
    sentence = contract.at(length.start)
    low, high = (sentence.start, sentence.end) if sentence else contract.around(length.start, length.end)
    plain = contract.plain[low:high]
    if _LATER.search(plain):
        return None
    stop = _STOPS.search(plain, length.end - low)
    behind = _BEHIND.search(plain, length.end - low, stop.start() if stop else len(plain))
    places = [behind] if behind and behind.start() - (length.end - low) < NEAR else []
    for match in (*places, *_BEFORE.finditer(plain, 0, length.start - low)):
        start = _start_from_words(contract, dates, match["what"], low + match.start("what"))
        if start is not None:
            return start.date
    own = dates.effective or dates.agreement
    return own.date if own else None


def _start_from_words(contract: ContractText, dates: Dates, words: str, place: int) -> _Start | None:
    """Resolve the words behind "from" to a start; None where they only point back."""
    day = next((mention.date for mention in dates.mentions if place <= mention.date.start < place + 20), None)
    if day is not None:
        return _Start(day)
    if _SAME.search(words):
        return None
    own = dates.effective
    if _ITS_DATE.match(words):
        own = dates.agreement
    elif _SIGNING.search(words):
        own = dates.signed or dates.agreement
    elif _EFFECTIVE.search(words):
        # A date that is written large and defined nowhere is that of the contract.
        own = own or (None if _IS_DEFINED.search(contract.plain) else dates.agreement)
    else:
        match = _DATE_NAME.search(words)
        own = _defined_date(contract, dates, match["name"]) if match else None
    return _Start(own.date if own else None)


def _defined_date(contract: ContractText, dates: Dates, name: str) -> DateMention | None:
    """Find the date that the text defines under this name."""
    behind = re.compile(rf"^[^.;]{{0,40}}[\"“] ?(?:the )?{re.escape(name)}", re.IGNORECASE)
    before = re.compile(rf"\b{re.escape(name)}[\"”]? ?(?:means|shall mean|:|is)[^.;]{{0,40}}$", re.IGNORECASE)
    own_date, term = f"(?i:{_ITS_DATE.pattern})", re.escape(name)
    by_reference = (
        rf"\b{term}[\"”]? ?(?:means|shall mean|is) {own_date}|{own_date}[^.;()]{{0,20}} ?\([^()]{{0,12}}\b{term}"
    )
    if re.search(by_reference, contract.plain):
        return dates.agreement
    return next(
        (mention for mention in dates.mentions if behind.search(mention.behind) or before.search(mention.before)), None
    )


def _end_of_term(begins: str, length: Quantity) -> str:
    """Add a length of time to an ISO date; "" where the sum is no valid date."""
    try:
        day = date.fromisoformat(begins)
        if length.unit in _DAYS:
            return (day + timedelta(days=int(length.value * _DAYS[length.unit]))).isoformat()
        months = length.value * _MONTHS[length.unit]
        if months != int(months) or not 0 < months <= LONGEST * 12:
            return ""
        years, month = divmod(day.month - 1 + int(months), 12)
        year = day.year + years
        return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1])).isoformat()
    except (ValueError, OverflowError):
        return ""
