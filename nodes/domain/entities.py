"""Who supplies under a contract, and what a quote states in figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from nodes.domain.clauses import Candidate
from nodes.domain.documents import DocumentText
from nodes.domain.folding import simplify
from nodes.domain.quantities import negated, numbers_in, quantities

__all__ = ["Party", "facts", "negated", "numbers_in", "ordered", "parties", "supplier"]

PREAMBLE = 8_000
"""Parties are named in so many first characters."""
LONGEST_NAME = 120
LONGEST_PREAMBLE = 2_500
LOOSE = 3_000
LONGEST_GAP = 900
"""Characters from one definition to the next, or from "between" to the first."""
_MONTHS_OF = {"month": Decimal(1), "year": Decimal(12), "quarter": Decimal(3)}

_SUPPLIER_ROLES = re.compile(
    r"\b(?:supplier|vendor|(?:service |hosting |cloud )?provider|contractor|consultant|seller|licensor|manufacturer"
    r"|carrier|lessor|franchisor|prestataire|fournisseur|titulaire|vendeur|bailleur|editeur|concedant"
    r"|hebergeur|sous-traitant"
    r"|transporteur|developpeur|editor|publisher|sub-?adviser|sub-?advisor|servicer|operator)\b"
)
_CUSTOMER_ROLES = re.compile(
    r"\b(?:customer|client|buyer|purchaser|licensee|lessee|distributor|reseller|franchisee|recipient|subscriber|user"
    r"|owner|shipper|sponsor|acheteur|commanditaire|locataire|preneur|licencie|abonne|beneficiaire|donneur d'ordre"
    r"|maitre d'ouvrage|pouvoir adjudicateur|acquereur|utilisateur)\b"
)
_NO_PARTY = re.compile(
    r"\b(?:agreement|contract|effective date|party(?! [a-z0-9]\b)|parties|date|term|territory|products?"
    r"|services?|contrat|convention"
    r"|accord|presentes?|you|your|we|us|our|annexe|exhibit|attachment|schedule|recitals?|commission|act|affiliates?)\b"
)
_OPENING = re.compile(
    r"\b(?:by and (?:between|among)|between|among|entre(?: les soussign[ée]e?s)?|entered into with)\b\s*:?",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\b(?:whereas|witnesseth|recitals?|background|now,? therefore|it is (?:hereby )?agreed"
    r"|il a [ée]t[ée] (?:pr[ée]alablement )?(?:convenu|expos[ée]|arr[êe]t[ée])|pr[ée]ambule|article (?:1"
    r"|premier)\b|table of contents)",
    re.IGNORECASE,
)
_ALIAS = r"[\"“”«]\s*(?:the |le |la |les |l['’])?(?P<{0}>[^\"“”»«]{{1,60}}?)\s*[\"“”»]"
_DEFINITION = re.compile(
    rf"\([^()\"“”«]{{0,80}}{_ALIAS.format('a')}[^()]{{0,120}}\)"
    rf"|(?:ci-apr[èe]s|hereinafter|hereafter)[^\"“”«().]{{0,60}}{_ALIAS.format('b')}"
    r"|\((?:the )?(?P<c>(?-i:[A-Z])[a-z]{3,20}|(?-i:[A-Z]{3,12}))\)"
    r"(?!,? ?(?:inc|ltd|limited|llc|corp|plc|gmbh|s\.?a)\b)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^[ \t]*(?:the |le |la )?(?P<role>supplier|vendor|(?:service )?provider|contractor|licensor|prestataire"
    r"|fournisseur|titulaire)(?: name)?[ \t]*:[ \t]*(?P<name>[A-Z0-9][^\n\f]{1,119})$",
    re.IGNORECASE | re.MULTILINE,
)
_LEAD = re.compile(
    r"(?:[\s,;:.()–—-]|\b(?:and|et|or|also|on the one (?:hand|part)|on the other (?:hand|part)|of the (?:first"
    r"|second|one"
    r"|other) part|d['’]une part|d['’]autre part|la soci[ée]t[ée]|the company|le|la|\(?\d\)|\(?[a-z]\))(?=[\s,;:(]))+",
    re.IGNORECASE,
)
_NAME_END = re.compile(
    r"\s*(?:[,;(\n]\s*)?(?:\b(?:an?|whose|having|with|located|organi[sz]ed|incorporated|existing|acting|represented"
    r"|a company|duly|of|at|doing business|dont|au capital|immatricul[ée]e?|enregistr[ée]e?|repr[ée]sent[ée]e?|agissant"
    r"|sise|ayant|domicili[ée]e?|soci[ée]t[ée] (?:[àa]|anonyme|par)|and its|on behalf|for itself|formerly|hereinafter"
    r"|hereafter|ci-apr[èe]s|f/k/a|d/b/a)\b|\d"
    r"|\((?!\w{2,12}\),? ?(?i:inc|ltd|limited|llc|corp|plc|gmbh|s\.a)))|\n\s*\n",
)
_AND = re.compile(r"(?:[,;)]\s*|\s)(?:and|et|AND|ET)\s*[:–-]?\s+(?:\(?\d\)\s*)?(?=[A-Z0-9{\[])")
_SENTENCE = re.compile(r"\b(?:agrees?|shall|will|is|are|may|hereby|sont|est)\b")
_TITLE = re.compile(r"\b(?:inc|llc|ltd|corp|co|plc|l\.p)\b\.?,? and\b|\bagreement\b", re.IGNORECASE)
_COMPANY = re.compile(
    r"(?P<name>(?!The )[A-ZÀ-Ý][\w&.'’-]*,? (?:[A-ZÀ-Ý][\w&.'’-]*,? |(?:of|and|de|du|des|&) ){0,6}?(?:Inc|INC|LLC"
    r"|L\.L\.C|Ltd|LTD|Limited|LIMITED|Corp|CORP|Corporation|CORPORATION|Company|COMPANY|L\.P|LP|PLC|plc|GmbH|S\.A|SA|SAS|SARL|B\.V|N\.V|AG|Bank|N\.A)\b\.?)"
)
_PLAIN_WORDS = re.compile(r"(?:Holding|Parent|Issuing|This|Such|Each|If|Operating|Surviving) ")
_LEGAL_FORM = re.compile(
    r",?\s*(?:inc|llc|ltd|limited|corp|l\.?p|plc|gmbh|s\.?a\.?s?|sarl|n\.v|b\.v|co)\b\.?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Party:
    """A party as the preamble defines it."""

    name: str
    alias: str
    """What the contract calls it from then on."""
    start: int
    end: int
    """Of the words that name and define it."""

    @property
    def supplies(self) -> bool:
        return _SUPPLIER_ROLES.search(simplify(self.alias)) is not None

    @property
    def buys(self) -> bool:
        return _CUSTOMER_ROLES.search(simplify(self.alias)) is not None


def supplier(text: DocumentText, candidates: Sequence[Candidate] = ()) -> tuple[str, str, int] | None:
    """Name of the party that sells or performs, the words that name it, and their offset; None when it cannot be told.

    A party called supplier, vendor, provider, prestataire … comes first, then the one that faces a customer. Failing
    both, the party of which text and `candidates` say clearly oftener that it performs.
    """
    known = parties(text)
    chosen = next((party for party in known if party.supplies), None)
    if chosen is None and any(party.buys for party in known):
        others = [party for party in known if not party.buys]
        chosen = others[0] if len(others) == 1 else None
    elif chosen is None:
        chosen = _bound(known, simplify(text.text[:READ_FOR_DUTIES]), candidates)
    if chosen is not None:
        return chosen.name, text.text[chosen.start : chosen.end], chosen.start
    label = _LABEL.search(text.text, 0, PREAMBLE)
    if label is None:
        return None
    return _tidy(label["name"]), label.group().strip(), label.start() + len(label.group()) - len(label.group().lstrip())


def parties(text: DocumentText) -> list[Party]:
    """The parties that the preamble defines by name, in its order."""
    head = text.text[:PREAMBLE]
    best: list[Party] = []
    openings = [match.end() for match in _OPENING.finditer(head)]
    for start, following in zip(openings, [*openings[1:], PREAMBLE], strict=False):
        closing = _CLOSING.search(head, start + 20)
        end = min(closing.start() if closing else PREAMBLE, start + LONGEST_PREAMBLE)
        found = list(_defined(head, start, end))
        # On a title page no definition stands between "between" and the next "between".
        if found and found[0].end < following and len(found) > len(best):
            best = found
        if len(best) > 1:
            break
    return best or list(_loose(head))


def _loose(head: str) -> Iterator[Party]:
    """Parties of a preamble without "between": names with a legal form, each defined shortly behind it."""
    position = 0
    for definition in _DEFINITION.finditer(head, 0, LOOSE):
        alias = " ".join((definition["a"] or definition["b"] or definition["c"]).split())
        names = list(_COMPANY.finditer(head, max(position, definition.start() - LONGEST_GAP // 5), definition.start()))
        names = [one for one in names if not _SENTENCE.search(one["name"]) and not _PLAIN_WORDS.match(one["name"])]
        if names and not _NO_PARTY.search(simplify(alias)) and not _TITLE.search(names[-1]["name"]):
            position = definition.end()
            yield Party(_tidy(names[-1]["name"]), alias, names[-1].start("name"), definition.end())


def _defined(head: str, start: int, end: int) -> Iterator[Party]:
    position = start
    for definition in _DEFINITION.finditer(head, start, end):
        if definition.start() - position > LONGEST_GAP:
            return
        alias = " ".join((definition["a"] or definition["b"] or definition["c"]).split())
        plain = simplify(alias)
        if _NO_PARTY.search(plain) and not (_SUPPLIER_ROLES.search(plain) or _CUSTOMER_ROLES.search(plain)):
            continue
        begin, name = _named(head, position, definition.start())
        position = definition.end()
        if name and not _SENTENCE.search(name) and not _TITLE.search(name):
            yield Party(name, alias, begin, definition.end())


def _named(head: str, start: int, end: int) -> tuple[int, str]:
    """Where the name before a definition begins, and the name: behind the last "and" when more precedes it."""
    lead = _LEAD.match(head, start, end)
    begins = [lead.end() if lead else start]
    begins += [match.end() for match in _AND.finditer(head, start, end)]
    fit = [(begin, name) for begin in begins if (name := _name(head[begin:end]))]
    if not fit:
        return start, ""
    # An address or a description of the party before fills the gap up to the last "and".
    return fit[0] if lead or len(fit) == 1 or start == begins[0] else fit[-1]


def _name(chunk: str) -> str:
    """The name at the beginning of the words before a definition; "" when they begin with none."""
    end = _NAME_END.search(chunk)
    name = chunk[: end.start()] if end else chunk
    comma = name.find(",")
    if comma >= 0 and not _LEGAL_FORM.match(name, comma):
        name = name[:comma]
    elif comma >= 0 and (second := name.find(",", comma + 1)) >= 0:
        name = name[:second]
    name = _tidy(name)
    fine = 2 <= len(name) <= LONGEST_NAME and (name[0].isupper() or name[0].isdigit() or name[0] in "{[")
    return name if fine and any(char.isalpha() for char in name) else ""


def _tidy(name: str) -> str:
    name = " ".join(name.split()).strip(' ,;:-–—"“”«»')
    return (
        name
        if re.search(r"\b(?:inc|ltd|corp|co|l\.?p|l\.?l\.?c|s\.?a|n\.?v|b\.?v)\.$", name, re.I)
        else name.rstrip(".")
    )


_PERFORMS = (
    r"(?:shall|will|agrees? to|undertakes? to|must|is to|s'engage a|assure|assurera|doit|devra)"
    r" (?:\w+ ){0,2}(?:provide|supply|deliver|perform|manufacture|render|host|maintain|develop|furnish|repair"
    r"|install|fournir|"
    r"livrer|realiser|executer|assurer|heberger|maintenir)\b"
)
_DUTIES = frozenset({"warranty_duration", "insurance", "indemnification", "liquidated_damages"})
READ_FOR_DUTIES = 120_000


def _bound(known: Sequence[Party], plain: str, candidates: Sequence[Candidate]) -> Party | None:
    """The one party that performs: of which the text says so at least twice as often as of any other."""
    quotes = [simplify(candidate.quote) for candidate in candidates if candidate.clause_type in _DUTIES]
    counts = sorted(((_duties(party, plain, quotes), -index) for index, party in enumerate(known)), reverse=True)
    if len(counts) < 2 or counts[0][0] < 3 or counts[0][0] < 2 * counts[1][0]:
        return None
    return known[-counts[0][1]]


def _duties(party: Party, plain: str, quotes: Sequence[str]) -> int:
    alias = re.escape(simplify(party.alias))
    performs = re.compile(rf"\b{alias}(?: \w+)? {_PERFORMS}")
    bound = re.compile(rf"\b{alias} (?:shall|will|must|agrees|warrants)\b")
    return len(performs.findall(plain)) + sum(1 for quote in quotes if bound.search(quote))


def facts(quote: str, language: str = "") -> dict[str, Any]:
    """Amounts, durations, percentages and dates of a quote, and whether it negates; numbers as Decimal.

    A date of which day and month could be either is read in the order of the language: day first in French.
    """
    found: dict[str, Any] = {"amounts": [], "durations": [], "percentages": [], "dates": [], "negated": negated(quote)}
    for quantity in quantities(quote):
        if quantity.kind == "amount":
            found["amounts"].append({"value": quantity.value, "currency": quantity.unit})
        elif quantity.kind == "duration":
            scale = _MONTHS_OF.get(quantity.unit)
            months = quantity.value * scale if scale else None
            found["durations"].append({"value": quantity.value, "unit": quantity.unit, "months": months})
        elif quantity.kind == "percentage":
            found["percentages"].append(quantity.value)
        elif quantity.kind == "date":
            found["dates"].append(ordered(quantity.unit, language))
    return found


def ordered(date: str, language: str) -> str:
    """A date whose day and month could be either, day first in French and month first in English."""
    if "/" not in date or language not in ("en", "fr"):
        return date
    first, second, year = (int(part) for part in date.split("/"))
    day, month = (first, second) if language == "fr" else (second, first)
    return f"{year:04d}-{month:02d}-{day:02d}"
