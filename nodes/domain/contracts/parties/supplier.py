"""The supplier of a contract, and the figures that a quote states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from nodes.domain.contracts.parties.parties import PREAMBLE, Party, parties
from nodes.domain.evidence.findings import Candidate
from nodes.domain.text.company_names import tidy
from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import simplify
from nodes.domain.text.quantities import negated, quantities

_MONTHS_OF = {"month": Decimal(1), "year": Decimal(12), "quarter": Decimal(3)}

# Example: Supplier name: Acme Hosting Ltd
_LABEL = re.compile(
    r"""
    ^[ \t]*(?:the\ |le\ |la\ )?(?P<role>
      supplier | vendor | (?:service\ )?provider | contractor | licensor | prestataire | fournisseur
      | titulaire
    )(?:\ name)?[ \t]*:[ \t]*(?P<name>[A-Z0-9][^\n\f]{1,119})$
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def supplier(text: DocumentText, candidates: Sequence[Candidate] = ()) -> tuple[str, str, int] | None:
    """Return name, defining words and offset of the party that sells or performs; None when it cannot be told.

    A party called supplier, vendor, provider, prestataire … comes first, then the one that faces a customer. Failing
    both, the party of which text and `candidates` say clearly oftener that it performs.
    """
    contract_parties = parties(text)
    chosen = next((party for party in contract_parties if party.supplies), None)
    if chosen is None and any(party.buys for party in contract_parties):
        non_buyers = [party for party in contract_parties if not party.buys]
        chosen = non_buyers[0] if len(non_buyers) == 1 else None
    elif chosen is None:
        chosen = _performing_party(contract_parties, simplify(text.text[:READ_FOR_DUTIES]), candidates)
    if chosen is not None:
        return chosen.name, text.text[chosen.start : chosen.end], chosen.start
    label = _LABEL.search(text.text, 0, PREAMBLE)
    if label is None:
        return None
    return tidy(label["name"]), label.group().strip(), label.start() + len(label.group()) - len(label.group().lstrip())


_PERFORMS = (
    r"(?:shall|will|agrees? to|undertakes? to|must|is to|s'engage a|assure|assurera|doit|devra)"
    r" (?:\w+ ){0,2}(?:provide|supply|deliver|perform|manufacture|render|host|maintain|develop|furnish|repair"
    r"|install|fournir|"
    r"livrer|realiser|executer|assurer|heberger|maintenir)\b"
)
_DUTIES = frozenset({"warranty_duration", "insurance", "indemnification", "liquidated_damages"})
READ_FOR_DUTIES = 120_000


def _performing_party(contract_parties: Sequence[Party], plain: str, candidates: Sequence[Candidate]) -> Party | None:
    """Return the one party that performs: the text says so at least twice as often as of any other."""
    quotes = [simplify(candidate.quote) for candidate in candidates if candidate.clause_type in _DUTIES]
    counts = sorted(
        ((_duties(party, plain, quotes), -index) for index, party in enumerate(contract_parties)), reverse=True
    )
    if len(counts) < 2 or counts[0][0] < 3 or counts[0][0] < 2 * counts[1][0]:
        return None
    return contract_parties[-counts[0][1]]


def _duties(party: Party, plain: str, quotes: Sequence[str]) -> int:
    if not party.alias:
        return 0
    alias = re.escape(simplify(party.alias))
    performs = re.compile(rf"\b{alias}(?: \w+)? {_PERFORMS}")
    bound = re.compile(rf"\b{alias} (?:shall|will|must|agrees|warrants)\b")
    return len(performs.findall(plain)) + sum(1 for quote in quotes if bound.search(quote))


def quote_figures(quote: str, language: str = "") -> dict[str, Any]:
    """Return amounts, durations, percentages and dates of a quote, and whether it negates; numbers as Decimal.

    A date of which day and month could be either is read in the order of the language: day first in French.
    """
    figures: dict[str, Any] = {
        "amounts": [],
        "durations": [],
        "percentages": [],
        "dates": [],
        "negated": negated(quote),
    }
    for quantity in quantities(quote):
        if quantity.kind == "amount":
            figures["amounts"].append({"value": quantity.value, "currency": quantity.unit})
        elif quantity.kind == "duration":
            scale = _MONTHS_OF.get(quantity.unit)
            months = quantity.value * scale if scale else None
            figures["durations"].append({"value": quantity.value, "unit": quantity.unit, "months": months})
        elif quantity.kind == "percentage":
            figures["percentages"].append(quantity.value)
        elif quantity.kind == "date":
            figures["dates"].append(ordered(quantity.unit, language))
    return figures


def ordered(date: str, language: str) -> str:
    """Return an ISO date; an ambiguous one is read day first in French, month first in English."""
    if "/" not in date or language not in ("en", "fr"):
        return date
    first, second, year = (int(part) for part in date.split("/"))
    day, month = (first, second) if language == "fr" else (second, first)
    return f"{year:04d}-{month:02d}-{day:02d}"
