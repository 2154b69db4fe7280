"""When a contract was made, signed, when it takes effect and when it ends, as it says itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.domain.entities import ordered
from nodes.domain.fact_text import HEAD, Reading
from nodes.domain.facts import Proposal
from nodes.domain.quantities import Quantity

NEAR = 90
"""Characters before or behind a date in which the words that say what it is stand."""

# A date behind one of these is another document's.
_GAP = r"(?:(?!\bth(?:is|ese)\b)[^.;])"
_OTHERS = re.compile(
    r"\b(?:(?:to|under|of|in|by|from|amends?|amending|supplements?|changes?|modif\w+|replaces?|extends?|terminates?"
    r"|pursuant to|with) (?:the|that(?: certain)?|a|an|its)"
    rf" {_GAP}{{0,80}}?(?:agreement|contract|order|lease|license|licence|letter|declaration|plan)\b{_GAP}{{0,50}}?"
    rf"|(?:au|du|le|au présent) (?:contrat|marché|accord|bail){_GAP}{{0,60}}?)(?:dated|made|entered into|as of|du"
    rf"|en date du)"
    rf"{_GAP}{{0,25}}$",
    re.IGNORECASE,
)
# "Master Agreement" means the agreement made on …
_DEFINED = re.compile(r"[\"“][A-Z][^\"”]{0,60}Agreement[\"”]:? (?:means|shall mean|the|that|is)\b[^.;]*$")
_MADE = re.compile(
    r"(?:\bdated?(?: of (?:the )?(?:agreement|contract|order))?\b|\bmade\b|\bsigned\b|\bentered into\b|\bexecuted\b"
    r"|\bconcluded\b"
    r"|\bconclue? (?:le|à|entre)\b|\bdate\b|\bdate du contrat\b|\bas of\b|\beffective\b|\bagreement,? (?:is )?(?:on"
    r"|of)\b)"
    r"[^.;]{0,60}$",
    re.IGNORECASE,
)
_EFFECTIVE_BEFORE = re.compile(
    r"(?:\beffective (?:date|as of|from|on)\b|\bcommencement date\b|\bstart(?:ing)? date\b"
    r"|\b(?:takes?|taking|come into|enter(?:s|ed)? into) (?:effect|force)\b|\b(?:shall |will )?(?:commence|begin"
    r"|start)s?\b"
    r"|\bbecomes? effective\b|\beffective\b|\bprend(?:ra)? effet\b|\bentre(?:ra)? en (?:vigueur|application)\b"
    r"|\bdate d'effet\b|\bdate de (?:début|prise d'effet|notification)\b|\bdébute(?:ra)?\b|\bprise d'effet\b)"
    r"[^.;]{0,70}$",
    re.IGNORECASE,
)
# An agreement that is made as of a date takes effect on it.
_AS_OF = re.compile(r"\b(?:made|entered into|dated|executed)\b[^.;]{0,30}\bas of(?: this| the)? ?$", re.IGNORECASE)
_EFFECTIVE_BEHIND = re.compile(
    r"^[^.;]{0,40}[\"“”«(] ?(?:the |la )?[\"“”«]? ?(?:effective|commencement|start) date|^[^.;]{0,30}« ?date d'effet",
    re.IGNORECASE,
)
_DUE_TO_CHANGE = re.compile(
    r"\b(?:charges?|fees?|prices?|prix|redevances?|invoices?|rates?|salary|milestone)\b", re.IGNORECASE
)
_STARTS_IN_TERM = re.compile(r"(?:à compter du|from|starting(?: on)?|beginning(?: on)?|as of) ?$", re.IGNORECASE)
_TERM = re.compile(r"\b(?:term|agreement|contract|contrat|convention|durée|mission)\b", re.IGNORECASE)
_EXPIRES = re.compile(
    r"(?:\b(?:expires?|expiring|terminates?|ends?|ending)\b[^.;]{0,40}?\b(?:on|until|through|at|as of)"
    r"(?: midnight| the close of business)?(?: on)?|\b(?:continues?|effect|force)\b[^.;]{0,40}?\b(?:until|through)"
    r"|\buntil|\bthrough|\bjusqu'au|\b(?:expire(?:ra)?|prend(?:ra)? fin"
    r"|s'achève(?:ra)?|arrive(?:ra)? à échéance|échéance) (?:au|le)"
    r"|\b(?:extended|prolonged|prorogée?|prolongée?|reportée?) (?:to|until|au|jusqu'au))(?: the)? ?$",
    re.IGNORECASE,
)
_SIGNED_AT = re.compile(r"\bfait (?:en [\w ]{1,20} )?(?:à|a) [^.;:]{2,40}?,? le ?$", re.IGNORECASE)
_SIGNED = re.compile(
    r"(?:\bsigned (?:by [^.;]{0,60} )?on(?: the)?|\bdate of signature ?:?|\bsignature date ?:?|\bsigné"
    r" (?:à [^.;]{2,40},? )?le"
    r"|\bdate de signature ?:?)[ _:]*$",
    re.IGNORECASE,
)
_SIGNING = re.compile(r"\bdated? ?:?[ _]*$", re.IGNORECASE)
_SIGNATURE_BLOCK = re.compile(r"\b(?:in witness whereof|signed|by ?:|name ?:|title ?:|signature)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Seen:
    date: Quantity
    before: str
    behind: str


def read_dates(reading: Reading) -> Iterator[Proposal]:
    """agreement_date, effective_date, expiration_date and signature_date, each at most once.

    A value is an ISO date; where day and month could be either, French text is read day first, other text month first.
    """
    seen = list(_dates(reading))
    made = next((one for one in seen if one.date.start < HEAD and _made(one)), None)
    if made:
        yield _fact(reading, "agreement_date", made.date)
    if effective := _effective(reading, seen):
        yield _fact(reading, "effective_date", effective.date)
    ends = next((one for one in seen if _EXPIRES.search(one.before) and _in_term(reading, one)), None)
    if ends:
        yield _fact(reading, "expiration_date", ends.date)
    if signed := _signed(reading, seen):
        yield _fact(reading, "signature_date", signed.date)


def _dates(reading: Reading) -> Iterator[_Seen]:
    plain = reading.plain
    for date in reading.quantities:
        if date.kind == "date":
            before = " ".join(plain[max(date.start - 2 * NEAR, 0) : date.start].split())
            behind = " ".join(plain[date.end : date.end + NEAR].split())
            yield _Seen(date, before + " ", " " + behind)


def _made(one: _Seen) -> bool:
    near = one.before[-NEAR:]
    return _MADE.search(near) is not None and not _OTHERS.search(one.before) and not _DEFINED.search(one.before)


def _effective(reading: Reading, seen: list[_Seen]) -> _Seen | None:
    defined = [one for one in seen if _EFFECTIVE_BEHIND.search(one.behind) and not _OTHERS.search(one.before)]
    said = [
        one
        for one in seen
        if (_EFFECTIVE_BEFORE.search(one.before[-NEAR:]) or (one.date.start < HEAD and _AS_OF.search(one.before)))
        and not _EXPIRES.search(one.before)
        and not _OTHERS.search(one.before)
        and (one.date.start < HEAD or _in_term(reading, one))
        and not _DUE_TO_CHANGE.search(_sentence(reading, one))
    ]
    begins = [one for one in seen if _STARTS_IN_TERM.search(one.before) and _of_term(reading, one)]
    for found in (defined, said, begins):
        if found:
            return found[0]
    return None


def _signed(reading: Reading, seen: list[_Seen]) -> _Seen | None:
    """The last date on which somebody signed."""
    done = [one for one in seen if _SIGNED_AT.search(one.before)]
    if not done:
        done = [one for one in seen if _SIGNED.search(one.before)]
    if not done:
        tail = len(reading.plain) * 3 // 5
        done = [
            one
            for one in seen
            if one.date.start > tail
            and _SIGNING.search(one.before)
            and _SIGNATURE_BLOCK.search(reading.plain[max(one.date.start - 600, 0) : one.date.start])
        ]
    known = [one for one in done if "/" not in one.date.unit]
    return max(known, key=lambda one: one.date.unit) if known else (done[-1] if done else None)


def _in_term(reading: Reading, one: _Seen) -> bool:
    return _TERM.search(_sentence(reading, one)) is not None


def _of_term(reading: Reading, one: _Seen) -> bool:
    """Is this the sentence that says how long the contract lasts?"""
    sentence = reading.at(one.date.start)
    if sentence is None or _DUE_TO_CHANGE.search(reading.plain[sentence.start : sentence.end]):
        return False
    return (
        re.search(r"\b(?:term|duration|durée)\b", f"{sentence.heading} {sentence.article}", re.IGNORECASE) is not None
    )


def _sentence(reading: Reading, one: _Seen) -> str:
    sentence = reading.at(one.date.start)
    if sentence is None:
        return f"{one.before}{one.behind}"
    return reading.plain[sentence.start : sentence.end]


def _fact(reading: Reading, kind: str, date: Quantity) -> Proposal:
    value = ordered(date.unit, reading.language)
    return reading.fact(
        kind, value, date.start, date.end, {"date": value, "written": reading.raw[date.start : date.end]}
    )
