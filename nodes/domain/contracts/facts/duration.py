"""Terms of a contract: how long it lasts, how it is renewed, and the notice that ends it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.domain.contracts.contract_text import ContractText, spaced
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.normalise import Span
from nodes.domain.text.quantities import Quantity, plain_number

UNITS = ("day", "week", "month", "quarter", "year")
POINTS_NEEDED = 4
"""Points that a duration needs to count as the contract's term."""
CLAUSES_READ = 4
"""Clauses of one type that are searched for a period, the most confident first."""

_TERM_HEADING = re.compile(r"\b(?:terms?|duration|durée)\b", re.IGNORECASE)
# Example: Payment terms
_OTHER_HEADING = re.compile(
    r"""
    confidential | warrant | non-?compet | payment | terms\ of | garantie | paiement | secret
    | insurance | assurance | definition | définition | non-?solicit | surviv | delivery | livraison
    | audit | force\ majeure
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: The term of this Agreement is
_TERM_BEFORE = re.compile(
    r"""
    (?:
      \binitial\ (?:term|period)\b | \bterm\ of\ (?:this|the)\ (?:agreement|contract)\b
      | \b(?:a|an|the)\ (?:\w+\ ){0,2}(?:term|period)\ of\b
      | \bfor\ (?:a|an)\ (?:\w+\ ){0,3}(?:term|period)\ of\b
      | \bterm\b[^.;]{0,60}\b(?:is|be|of|for)\b
      | \b(?:
          concluded | made | valid | in\ (?:full\ )?(?:force|effect)(?:\ and\ effect)? | effective
          | continues? | remains? | runs?
        )\b[^.;]{0,60}\bfor\b
      | \bterm\ ?:?\ ?$
      | \bdurée\ (?:initiale\ |ferme\ |déterminée\ |totale\ |minimale\ )*
        (?:du\ (?:contrat|marché)\ )?(?:est\ |fixée\ )*(?:fixée\ )?(?:à|de)\b
      | \b(?:conclue?|souscrite?|établie?)\b[^.;]{0,60}\bpour\b | \bdurée\ ?:?\ ?$
    )[^.;]{0,50}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: The term of this Agreement
_OF_CONTRACT = re.compile(
    r"""
    \b(?:this|the)\ (?:\w+\ ){0,3}(?:agreement|contract)\b | \binitial\ term\b | \b[\"“]term[\"”]
    | \bcontrat\b | \bmarché\b | \bconvention\b | \bmission\b | \baccord\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: renewal terms of the Agreement, and for a period of
_OTHER_PERIOD = re.compile(
    r"""
    \b(?:
      renew\w* | extend\w* | extension | successive | additional | further | option | notice | prior
      | before | within | after | following
      | (?<!continue\ )(?<!remain\ )(?<!effect\ )(?<!force\ )thereafter | surviv\w* | confiden\w*
      | warrant\w* | préavis | renouvel\w* | recondu\w* | prorog\w* | prolong\w* | après | avant
      | suivant | garanti\w* | délai | preceding | last | every | each
    )\b[^.;]{0,60}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: maximum
_NOT_THE_TERM = re.compile(
    r"""
    \b(?:
      confiden\w* | warrant\w* | indemnif\w* | compet\w* | solicit\w* | audit\w* | records?
      | insur\w* | invoices? | payments? | prices? | fees? | maximum | request | garantit?
      | factures? | terminat\w* | résili\w* | breach | default | force\ majeure | secret
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BEHIND_NOTICE = re.compile(
    r"^['’]? ?(?:(?!unless\b|sauf\b|à\b)[\w'’]+ ){0,3}?(?:notice|préavis|prior|before|avant|au moins avant)\b",
    re.IGNORECASE,
)

# Example: renew for successive
_RENEWED_FOR = re.compile(
    r"""
    \b(?:
      successive | additional | further | consecutive | renewal | subsequent | like | another
      | extend\w* | extension | renew\w* | renouvel\w* | recondu\w* | prorog\w* | prolong\w*
    )\b[^.;]{0,60}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NOT_RENEWAL = re.compile(rf"{_BEHIND_NOTICE.pattern}|^[^.;]{{0,25}}[\"“(] ?(?:the )?[\"“]?initial term", re.IGNORECASE)
_RENEWED = re.compile(r"\b(?:periods?|terms?|périodes?|durées?)\b[^.;]{0,40}$", re.IGNORECASE)
# Example: renewed
_RENEWS = re.compile(
    r"""
    \b(?:renew\w*|extend\w*|extension|successive|recondu\w*|renouvel\w*|prorog\w*|prolong\w*)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ENDS = re.compile(r"\b(?:terminat\w*|cancel\w*|withdraw\w*|résili\w*|mettre fin|met fin|dénonc\w*)\b", re.IGNORECASE)
# Example: non-renewal
_REFUSES = re.compile(
    r"""
    \bnot\b[^.;]{0,30}\b(?:renew|extend|continu|prolong)\w* | \bnon-?\ ?(?:renew\w*|extension)
    | \bsauf\b | \bdénonc\w* | \bne\b[^.;]{0,40}\b(?:renouvel|recondu|prolong|proroge)\w*
    | \bnon[- ](?:reconduction|renouvellement) | \bfaute\ de\b | \bà\ moins\ que\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: unless terminated
_ENDS_INSTEAD = re.compile(
    r"""
    \bunless\b
    | \b(?:terminat\w+|cancel\w*|discontinu\w*|to\ the\ contrary|résili\w*|mettre\ fin|met\ fin)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A party that asks for a renewal does not refuse one.
# Example: intention not to renew
_ASKS = re.compile(
    r"""
    \b(?:
        elect\w* | options? | rights? | desires? | choice | wish\w* | inten\w+ | may | request\w*
        | mutual\w* | proposal | agree\ in\ writing
      )\b[^.;]{0,60}\b(?:renew\w*|extend\w*|extension)
    | \brenewal\ notice\b | \b(?:renew\w*|extend\w*)[^.;]{0,60}\b(?:options?|mutual\w*|discretion)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: from year to year
_YEARLY = re.compile(
    spaced(r"""
    \b(?:
      (?:from\ )?year[ +-]to[ +-]year | annual\ periods? | for\ successive\ years
      | annual(?:ly)?\ (?:basis|renew\w*)
      | renew\w*\ (?:automatically\ |tacitly\ )?(?:each|every)\ (?:calendar\ )?year
      | renew\w*\ (?:annually|yearly) | on\ a\ yearly\ basis | d'année\ en\ année
      | par\ périodes\ annuelles
    )\b
    """),
    re.IGNORECASE | re.VERBOSE,
)
# Example: par tacite reconduction
_AUTOMATIC = re.compile(
    r"""
    \b(?:
      automatic\w* | tacite\w* | unless\ (?:either|a|one|any|the) | evergreen
      | sauf\ (?:dénonciation|préavis) | à\ moins\ que
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: shall not be renewed
_NOT_RENEWED = re.compile(
    r"""
    \b(?:not|no)\ (?:be\ )?(?:automatic\w*|extended|renewed) | \bexclu\w*\b
    | \bne\ (?:peut|pourra|sera)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: upon giving written notice of
_NOTICE_BEFORE = re.compile(
    r"""
    (?:
      \b(?:
        notice | préavis | notif\w+ | upon | on | with | giving | by | at\ least | not\ less\ than
        | no\ (?:less|later)\ than | minimum | moyennant | au\ moins | dénonc\w+ | respect\w+
      )\b
    )[^.;]{0,60}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: days' prior written notice
_NOTICE_BEHIND = re.compile(
    r"""
    ^['’]?\ ?(?:(?!(?:unless|sauf|except)\b)[\w'’()-]+\ ){0,6}?
    (?:notice|préavis|before|prior|avant|in\ advance|preceding|letter|de\ préavis)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: successive periods of
_IS_TERM = re.compile(
    r"""
    \b(?:terms?|periods?\ of|périodes?\ de|durée\ de|successive|additional)\b[^.;]{0,12}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: fails to cure the breach
_CURES = re.compile(
    r"""
    \b(?:
      cure | remed\w+ | fail\w* | continues?\ for | breach | default | bankrupt\w* | insolv\w*
      | manquement | mise\ en\ demeure | force\ majeure | changement\ de\ contrôle
      | change\ (?:of|in)\ control
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


# Example: term of this Agreement is
_LASTS = re.compile(
    r"""
    \bterm\ of\ (?:this|the)\ (?:[\w-]+\ ){0,3}(?:agreement|contract|addendum)\b[^;]{0,140}$
    | \bth(?:is|e)\ (?:[\w-]+\ ){0,3}(?:agreement|contract|addendum)\b[^;]{0,140}\b
      (?:continues?|remains?|force|effect|valid|term|duration|terminates?|expires?|ends?)
      \b[^;]{0,60}$
    | \bthe\ (?-i:Term|TERM)(?:\ of\ this\ agreement)?\ (?:shall|will|is|be)\b[^;]{0,60}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: and for a period of
_AFTER_IT = re.compile(
    r"""
    \b(?:during|throughout|so\ long\ as)\b
    | \band\ for\ (?:a|an)\ (?:\w+\ ){0,2}(?:period|term)\ of\ $
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: until the date that is
_RUNS_TO = re.compile(
    r"""
    \b(?:until|ends?|ending|expires?|expiring|terminates?|terminating|extends?)(?:\ on)?(?:\ the)?
    (?:\ date)?(?:\ that\ is|\ which\ is)?(?:\ for)?\ $
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: from the anniversary
_FROM = re.compile(
    r"""
    ^(?:\(s\))?,?\ ?(?:from|after|following|thereafter|there\w+|hence|subsequent\ to|anniversary)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: Unless sooner terminated in accordance with the provisions hereof,
_EARLIER_END = re.compile(
    r"""
    \b(?:unless|until|if|except|subject\ to|and)\b[^.;,]{0,25}\b(?:
      (?:sooner|earlier|otherwise|previously|prior)\ terminat\w+
      | terminat\w+\ (?:earlier|sooner|as|in\ accordance|pursuant)
    )[^,;.]{0,120}(?:,|$)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words that allow an earlier end; they say nothing about the term itself."""


@dataclass(frozen=True, slots=True)
class _Period:
    period: Quantity
    before: str
    behind: str


def read_terms(contract: ContractText, term: Quantity | None) -> Iterator[Proposal]:
    """Yield initial_term, renewal_term and notice_period; a notice's detail tells its purpose."""
    if term is not None:
        yield _fact(contract, "initial_term", term)
    yield from _renewal(contract, term)
    yield from _notices(contract, "renewal", "renewal_term", _RENEWS)
    yield from _notices(contract, "termination", "termination_for_convenience", _ENDS)


def _durations(contract: ContractText, start: int, end: int) -> Iterator[_Period]:
    plain = contract.plain
    for period in contract.within(start, end):
        if period.kind == "duration" and period.unit in UNITS and period.value:
            before = plain[max(period.start - 160, start) : period.start]
            behind = plain[period.end : min(period.end + 100, end)]
            yield _Period(period, " ".join(before.split()) + " ", " ".join(behind.split()))


def find_term(contract: ContractText) -> Quantity | None:
    """Return the likeliest duration of the contract itself; None where none is likely."""
    best: tuple[int, int, Quantity] | None = None
    for sentence in contract.sentences:
        plain = contract.plain[sentence.start : sentence.end]
        if not re.search(r"\b(?:term\w*|period|durée|pour|for|until|expir\w+|end\w*)\b", plain, re.IGNORECASE):
            continue
        for mention in _durations(contract, sentence.start, sentence.end):
            points = _points(f"{sentence.article} / {sentence.heading}", plain, mention)
            if points >= POINTS_NEEDED and (best is None or points > best[0]):
                best = points, sentence.start, mention.period
    return None if best is None else best[2]


def _points(heading: str, sentence: str, mention: _Period) -> int:
    before = _EARLIER_END.sub(" ", mention.before)
    runs_to = _RUNS_TO.search(before) and _FROM.search(mention.behind)
    points = 2 if _TERM_BEFORE.search(before) or runs_to else 0
    points += 2 if _LASTS.search(before) else 0
    points += 2 if _TERM_HEADING.search(heading) else 0
    points += 1 if _OF_CONTRACT.search(sentence) else 0
    points += (
        2 if re.search(r"\binitial|\bdurée (?:ferme|initiale|déterminée)", mention.before[-80:], re.IGNORECASE) else 0
    )
    points += 1 if re.search(r"\bterm ?[\"”)]", mention.behind[:60], re.IGNORECASE) else 0
    points += 3 if re.search(r"[\"“]initial term", mention.behind[:40], re.IGNORECASE) else 0
    points -= 4 if _OTHER_PERIOD.search(before) or _BEHIND_NOTICE.search(mention.behind) else 0
    # The heading of another article may be the last one that was seen: a sentence that says itself that this contract
    # lasts so long needs none.
    elsewhere = _OTHER_HEADING.search(heading) and not _TERM_HEADING.search(heading)
    points -= 4 if elsewhere and not (_LASTS.search(before) and _TERM_BEFORE.search(before)) else 0
    points -= 2 if not runs_to and _NOT_THE_TERM.search(before[-90:]) else 0
    points -= 4 if _AFTER_IT.search(before) and _FROM.search(mention.behind) else 0
    points -= 3 if mention.period.unit in ("day", "week") else 0
    return points


def _renewal(contract: ContractText, term: Quantity | None) -> Iterator[Proposal]:
    for start, end in list(contract.clauses("renewal_term"))[:CLAUSES_READ]:
        plain = contract.plain[start:end]
        if not _RENEWS.search(plain):
            continue
        detail = {"automatic": bool(_AUTOMATIC.search(plain)) and not _NOT_RENEWED.search(plain)}
        if yearly := _YEARLY.search(plain):
            place = start + yearly.start(), start + yearly.end()
            yield contract.fact("renewal_term", "1 year", *place, {"count": "1", "unit": "year", **detail})
            return
        fit = [
            mention
            for mention in _durations(contract, start, end)
            if mention.period != term and not _NOT_RENEWAL.search(mention.behind) and mention.period.unit != "day"
        ]
        for pattern in (_RENEWED_FOR, _RENEWED):
            if chosen := next((mention for mention in fit if pattern.search(mention.before)), None):
                yield _fact(contract, "renewal_term", chosen.period, **detail)
                return


def _notices(contract: ContractText, purpose: str, clause_type: str, about: re.Pattern[str]) -> Iterator[Proposal]:
    """Yield the notice period for one purpose, from a sentence that is itself about renewal or termination.

    A notice by which a party asks for a renewal is none against it.
    """
    for start, end in list(contract.clauses(clause_type))[:CLAUSES_READ]:
        for low, high in contract.parts(start, end):
            plain = contract.plain[low:high]
            if not about.search(plain) or (purpose == "renewal" and not _refuses_renewal(plain)):
                continue
            period = _notice_period(contract, (low, high))
            if period is not None:
                yield _fact(contract, "notice_period", period, **{"for": purpose})
                return


def _refuses_renewal(plain: str) -> bool:
    asks = _ASKS.search(plain) is not None
    return _REFUSES.search(plain) is not None or (not asks and _ENDS_INSTEAD.search(plain) is not None)


def _notice_period(contract: ContractText, span: Span) -> Quantity | None:
    for mention in _durations(contract, *span):
        if _CURES.search(mention.before) or _CURES.search(mention.behind[:40]) or _IS_TERM.search(mention.before):
            continue
        if _NOTICE_BEHIND.search(mention.behind) or (
            _NOTICE_BEFORE.search(mention.before)
            and re.search(r"notice|préavis|dénonc", mention.before + mention.behind, re.I)
        ):
            return mention.period
    return None


def _fact(contract: ContractText, kind: str, period: Quantity, **detail: object) -> Proposal:
    number = plain_number(period.value)
    value = f"{number} {period.unit}{'' if number == '1' else 's'}"
    return contract.fact(kind, value, period.start, period.end, {"count": number, "unit": period.unit, **detail})
