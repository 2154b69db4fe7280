"""Dates that a contract states about itself: when it was made, signed, and takes effect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from nodes.domain.contracts.contract_text import HEAD, ContractText, spaced
from nodes.domain.contracts.parties.supplier import ordered
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.normalise import Span
from nodes.domain.text.quantities import Quantity

NEAR = 90
"""Characters before or behind a date that are searched for the words which say what it is."""

# A date behind one of these is another document's.
_GAP = r"(?:(?!\bth(?:is|ese)\b)[^.;])"
# Example: to the Services Agreement dated
_OTHER_DOCUMENT = re.compile(
    rf"""
    \b(?:
      (?:
          to | under | of | in | by | from | amends? | amending | supplements? | changes? | modif\w+
          | replaces? | extends? | terminates? | pursuant\ to | with | except | than
        )\ (?:(?:the|that(?:\ certain)?|a|an|its)\b|(?=letters?\b))\ {_GAP}{{0,80}}?
        (?:agreement|contract|order|lease|license|licence|letter|declaration|plan)\b{_GAP}{{0,50}}?
      | (?:au|du|le|au\ présent)\ (?:contrat|marché|accord|bail){_GAP}{{0,60}}?
    )(?:
      dated | made | entered\ into | as\ of | du | en\ date\ du
      | (?:(?<=agreement\ )|(?<=contract\ ))of(?=\ $)
    ){_GAP}{{0,25}}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# "Master Agreement" means the agreement made on …
# Example: "Master Agreement" means the
_DEFINED = re.compile(
    r"""
    [\"“][A-Z][^\"”]{0,60}Agreement[\"”]:?\ (?:means|shall\ mean|the|that|is)\b[^.;]*$
    | [\"“](?![^\"”]{0,20}\b[Dd]ate)[A-Z][^\"”]{0,60}[\"”]:?\ (?:means|shall\ mean)[ ]
      (?:the|that|an?)\b[^.;]*$
    """,
    re.VERBOSE,
)
# Example: entered into as of
_AGREEMENT_DATE = re.compile(
    r"""
    (?:
      \bdated?(?:\ of\ (?:the\ )?(?:agreement|contract|order))?\b | \bmade\b | \bsigned\b
      | \bentered\ into\b | \bexecuted\b | \bconcluded\b | \bconclue?\ (?:le|à|entre)\b | \bdate\b
      | \bdate\ du\ contrat\b | \bas\ of\b | \beffective\b | \bagreement,?\ (?:is\ )?(?:on|of)\b
    )[^.;]{0,60}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: Effective Date of the Agreement through
_EFFECTIVE_BEFORE = re.compile(
    r"""
    (?:
      \beffective\ (?:date|as\ of|from|on)\b | \bcommencement\ date\b | \bstart(?:ing)?\ date\b
      | \b(?:takes?|taking|come\ into|enter(?:s|ed)?\ into)\ (?:effect|force)\b
      | \b(?:shall\ |will\ )?(?:commence|begin|start)s?\b | \bbecomes?\ effective\b | \beffective\b
      | \bprend(?:ra)?\ effet\b | \bentre(?:ra)?\ en\ (?:vigueur|application)\b | \bdate\ d'effet\b
      | \bdate\ de\ (?:début|prise\ d'effet|notification)\b | \bdébute(?:ra)?\b | \bprise\ d'effet\b
    )[^.;]{0,70}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: (the "Effective Date
_EFFECTIVE_BEHIND = re.compile(
    r"""
    ^[^.;]{0,40}[\"“”«(]\ ?(?:the\ |la\ )?[\"“”«]?\ ?(?:effective|commencement|start)\ date
    | ^[^.;]{0,30}«\ ?date\ d'effet
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A line of a form or of a table, which is no sentence.
# Example: Subscription Start Date
_EFFECTIVE_LABEL = re.compile(
    r"""
    \W*(?:(?:subscription|contract|agreement|service|services|licen[cs]e|initial|term)\ ){0,2}(?:
      (?:effective|start|commencement)\ date
      | date\ (?:de\ début|d['’]effet|de\ prise\ d['’]effet|d['’]entrée\ en\ vigueur)
        (?:\ du\ contrat|\ de\ l['’]abonnement)?
    )[ :.–-]*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: invoices
_DUE_TO_CHANGE = re.compile(
    r"""
    \b(?:charges?|fees?|prices?|prix|redevances?|invoices?|rates?|salary|milestone)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_STARTS_IN_TERM = re.compile(r"(?:à compter du|from|starting(?: on)?|beginning(?: on)?|as of) ?$", re.IGNORECASE)
_TERM = re.compile(r"\b(?:term|agreement|contract|contrat|convention|durée|mission)\b", re.IGNORECASE)
# Example: shall expire on
EXPIRES = re.compile(
    r"""
    (?:
      \b(?:expir(?:es?|ing|ation)|terminat(?:es?|ing)|ends?|ending|concludes?|concluding)
        \b[^.;]{0,40}?\b(?:on|until|through|at|as\ of|means|shall\ be|is)
        (?:\ midnight|\ the\ close\ of\ business)?(?:\ on)?
      | \b(?:expires?|expiring|terminates?|ends?|ending|concluding)
      | \b(?:continues?|effect|force)\b[^.;]{0,60}?\b(?:until|through)
      | \b(?:until|through)(?:\ to|\ and\ including)? | \bup\ to(?:\ and\ including)? | \bjusqu'au
      | \b(?:expire(?:ra)?|prend(?:ra)?\ fin|s'achève(?:ra)?|arrive(?:ra)?\ à\ échéance|échéance)[ ]
        (?:au|le)
      | \b(?:extended|prolonged|prorogée?|prolongée?|reportée?)\ (?:to|until|au|jusqu'au)
    )(?:\ the)?(?:\ earlier\ (?:of|to\ occur\ of)(?:\ \(?[ia1]\))?)?\ ?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SIGNED_AT = re.compile(r"\bfait (?:en [\w ]{1,20} )?(?:(?:à|a) [^.;:]{2,40}?,? )?le ?$", re.IGNORECASE)
# Example: signed by both parties on the
_SIGNED = re.compile(
    r"""
    (?:
      \bsigned\ (?:by\ [^.;]{0,60}\ )?on(?:\ the)? | \bdate\ of\ signature\ ?:?
      | \bsignature\ date\ ?:? | \bsigné\ (?:à\ [^.;]{2,40},?\ )?le | \bdate\ de\ signature\ ?:?
    )[ _:]*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SIGNING = re.compile(r"\bdated? ?:?[ _]*$", re.IGNORECASE)
_SIGNATURE_BLOCK = re.compile(r"\b(?:in witness whereof|signed|by ?:|name ?:|title ?:|signature)", re.IGNORECASE)


# Where a copy was filed is said above it; its date is none of the contract.
_FILED = re.compile(r"\bsource ?: [^;]{0,80}$", re.IGNORECASE)
_LEAVES = re.compile(r"\b(?:terminat\w+|cancel\w*|resign\w*|at any time|résili\w+)\b[^.;]{0,60}$", re.IGNORECASE)
_WHEREAS = re.compile(r"^\W*(?:whereas|considérant|attendu)\b", re.IGNORECASE)
_RECITES = re.compile(rf"{_WHEREAS.pattern}|\b(?:super[sc]ed\w+|remplace)\b|\bthat certain\b", re.IGNORECASE)
# Example: the "Effective Date" means
_MEANS = re.compile(
    r"""
    [\"“](?:the\ )?(?:effective|commencement|start)\ date[\"”]\ ?(?:\(\w+\)\ )?
    (?:(?:means|shall\ mean|is|shall\ be)\b(?:[^.;]|[ap]\.m\.){0,60}|[-–—:=]\ {0,3}(?:the\ )?)$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TAKES_EFFECT = (
    r"(?:[\"“](?:the\ )?(?:effective|commencement)\ date[\"”]\ (?:of\ this\ \w+\ )?(?:means|shall\ mean|is|shall\ be)"
    r"|\b(?:is|are|be|become|becomes)(?:\ made)?(?:\ and)?\ effective(?:\ as\ of|\ on|\ from|\ upon)?"
    r"|\b(?:executed|entered\ into)\ and\ effective\ as\ of"
    r"|\b(?:takes?|comes?|enters?\ into)\ (?:in|into)?\ ?(?:effect|force)(?:\ as\ of|\ on|\ from|\ upon)?"
    r"|\b(?:term|agreement|contract)\b[^.;]{0,60}?\b(?:commences?|begins?)(?:\ as\ of|\ on|\ from|\ upon))"
)
# Example: term of this Agreement begins on the date hereof
_ON_ITS_DATE = re.compile(
    spaced(rf"""
    {_TAKES_EFFECT}\ (?:the\ )?(?:date|day)(?:\ and\ year)?\ (?:
        hereof | (?:of|on)\ th(?:is|e)\ (?:agreement|contract)
        | (?:first\ )?(?:above\ )?(?:written|set\ forth|listed|stated)(?:\ above)?
        | first\ (?:above\ )?\w+
      )\b
    | \bdate\ first\ (?:above\ )?(?:written|set\ forth|mentioned)(?:\ above)?,?\ ?\([^()]{{0,12}}\b
      (?:effective|commencement)\ date
    """),
    re.IGNORECASE | re.VERBOSE,
)
# Example: is effective on the date of its signature
_ON_SIGNATURE = re.compile(
    spaced(rf"""
    {_TAKES_EFFECT}\ (?:the\ )?(?:
        (?:date\ of\ (?:its\ )?(?:the\ )?(?:last\ )?(?:execution|signature|signing)\b)
        | (?:last\ )?date\ (?:signed|written)\ below | last\ date\ signed\b | signing\ date\b
        | (?:its\ )?(?:execution|signature)\b
        | date\ (?:\w+\ ){{0,4}}last\ \w+\ (?:\w+\ ){{0,3}}(?:executed|signed)
        | later\ of\ the\ dates?[ ]
      )
    | \b(?:
        last\ (?:written|signed|dated?) | of\ (?:the\ )?(?:last|latest)\ signature
        | last\ date\ of\ (?:execution|signature)
      )\b[^.;()]{{0,60}}\ ?\([^()]{{0,12}}\beffective\ date
    """),
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date of the text with the words around it, blanks collapsed."""

    date: Quantity
    before: str
    behind: str
    """Up to the next date."""


@dataclass(frozen=True, slots=True)
class Dates:
    """The dates of one contract; None for those that it does not state."""

    mentions: list[DateMention]
    agreement: DateMention | None
    effective: DateMention | None
    defined: Span | None
    """The words that define the effective date by another date, such as that of signature."""
    signed: DateMention | None


def find_dates(contract: ContractText) -> Dates:
    """Collect all dates and tell which of them are the contract's own."""
    mentions = list(_date_mentions(contract))
    agreement = next(
        (mention for mention in mentions if mention.date.start < HEAD and _is_agreement_date(contract, mention)), None
    )
    signed = _signature_date(contract, mentions)
    effective, defined = _effective_date(contract, mentions), None
    if effective is None:
        effective, defined = _by_reference(contract, agreement, signed)
    return Dates(mentions, agreement, effective, defined, signed)


def read_dates(contract: ContractText, dates: Dates) -> Iterator[Proposal]:
    """Yield agreement_date, effective_date and signature_date, each at most once.

    A value is an ISO date; where day and month could be either, French text is read day first, other text month first.
    An effective date that is defined by another date is quoted with both, and says so in its detail.
    """
    if dates.agreement:
        yield _fact(contract, "agreement_date", dates.agreement.date)
    if dates.effective:
        yield _fact(contract, "effective_date", dates.effective.date, dates.defined)
    if dates.signed:
        yield _fact(contract, "signature_date", dates.signed.date)


def iso(contract: ContractText, date: Quantity) -> str:
    """Return the ISO date; an ambiguous one is read in the day-month order of the contract's language."""
    return ordered(date.unit, contract.language)


def _date_mentions(contract: ContractText) -> Iterator[DateMention]:
    plain = contract.plain
    dates = [quantity for quantity in contract.quantities if quantity.kind == "date"]
    for date, following in zip_longest(dates, dates[1:]):
        end = min(date.end + NEAR, following.start if following else len(plain))
        before = " ".join(plain[max(date.start - 2 * NEAR, 0) : date.start].split())
        yield DateMention(date, before + " ", " " + " ".join(plain[date.end : end].split()))


def _is_agreement_date(contract: ContractText, mention: DateMention) -> bool:
    near = mention.before[-NEAR:]
    if _OTHER_DOCUMENT.search(mention.before) or _DEFINED.search(mention.before) or _FILED.search(near):
        return False
    return _AGREEMENT_DATE.search(near) is not None and not _WHEREAS.search(_sentence(contract, mention))


def _effective_date(contract: ContractText, mentions: list[DateMention]) -> DateMention | None:
    if labelled := [
        mention
        for mention in mentions
        if mention.date.start < HEAD and _EFFECTIVE_LABEL.match(label_before(contract, mention))
    ]:
        return labelled[0]
    foreign = (_OTHER_DOCUMENT, _DEFINED, _FILED, _LEAVES)
    own = [mention for mention in mentions if not any(pattern.search(mention.before) for pattern in foreign)]
    defined = [mention for mention in own if _EFFECTIVE_BEHIND.search(mention.behind) or _MEANS.search(mention.before)]
    stated = [
        mention
        for mention in own
        if _EFFECTIVE_BEFORE.search(mention.before[-NEAR:])
        and not EXPIRES.search(mention.before)
        and (mention.date.start < HEAD or _mentions_term(contract, mention))
        and not _DUE_TO_CHANGE.search(_sentence(contract, mention))
        and not _RECITES.search(_sentence(contract, mention))
    ]
    begins = [
        mention
        for mention in mentions
        if _STARTS_IN_TERM.search(mention.before)
        and not EXPIRES.search(mention.before)
        and _states_term(contract, mention)
    ]
    for group in (defined, stated, begins):
        if group:
            return group[0]
    return None


def label_before(contract: ContractText, mention: DateMention) -> str:
    """Return the words before a date on its line, the label of a form or table."""
    near = max(mention.date.start - NEAR, 0)
    start = max(contract.raw.rfind(mark, near, mention.date.start) for mark in "\n\f") + 1
    return contract.plain[start : mention.date.start] if start or not near else ""


def _by_reference(
    contract: ContractText, agreement: DateMention | None, signed: DateMention | None
) -> tuple[DateMention | None, Span | None]:
    """Resolve an effective date that is defined as the day of the agreement or of its signature."""
    for pattern, date in ((_ON_ITS_DATE, agreement), (_ON_SIGNATURE, signed or agreement)):
        if date and (match := pattern.search(contract.plain)):
            return date, (match.start(), match.end())
    return None, None


def _signature_date(contract: ContractText, mentions: list[DateMention]) -> DateMention | None:
    """Find the last date on which somebody signed."""
    mentions = [mention for mention in mentions if not _OTHER_DOCUMENT.search(mention.before)]
    signings = [mention for mention in mentions if _SIGNED_AT.search(mention.before)]
    if not signings:
        signings = [mention for mention in mentions if _SIGNED.search(mention.before)]
    if not signings:
        tail = len(contract.plain) * 3 // 5
        signings = [
            mention
            for mention in mentions
            if mention.date.start > tail
            and _SIGNING.search(mention.before)
            and _SIGNATURE_BLOCK.search(contract.plain[max(mention.date.start - 600, 0) : mention.date.start])
        ]
    unambiguous = [mention for mention in signings if "/" not in mention.date.unit]
    return (
        max(unambiguous, key=lambda mention: mention.date.unit) if unambiguous else (signings[-1] if signings else None)
    )


def _mentions_term(contract: ContractText, mention: DateMention) -> bool:
    return _TERM.search(_sentence(contract, mention)) is not None


def _states_term(contract: ContractText, mention: DateMention) -> bool:
    """Tell whether the mention stands in a sentence about how long the contract lasts."""
    sentence = contract.at(mention.date.start)
    if sentence is None or _DUE_TO_CHANGE.search(contract.plain[sentence.start : sentence.end]):
        return False
    return (
        re.search(r"\b(?:term|duration|durée)\b", f"{sentence.heading} {sentence.article}", re.IGNORECASE) is not None
    )


def _sentence(contract: ContractText, mention: DateMention) -> str:
    sentence = contract.at(mention.date.start)
    if sentence is None:
        return f"{mention.before}{mention.behind}"
    return contract.plain[sentence.start : sentence.end]


def _fact(contract: ContractText, kind: str, date: Quantity, defined: Span | None = None) -> Proposal:
    value = iso(contract, date)
    detail: dict[str, object] = {"date": value, "written": contract.raw[date.start : date.end]}
    if defined is not None:
        return contract.fact_of(kind, value, [defined, (date.start, date.end)], {**detail, "by_reference": True})
    return contract.fact(kind, value, date.start, date.end, detail)
