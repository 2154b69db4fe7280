"""Money in a contract: the sum that caps liability, what that sum is reckoned from, and the currency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from nodes.domain.contracts.contract_text import ContractText
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.normalise import Span
from nodes.domain.text.quantities import Quantity, plain_number, quantities

CLAUSES_READ = 6
SAME_SUM_REACH = 60

# Example: shall not exceed
_LIMITS = re.compile(
    r"""
    \b(?:
      exceed\w* | limit\w* | cap(?:ped)? | maximum | not\ be\ (?:liable|greater) | excéd\w*
      | plafon\w* | supérieure? | dépass\w*
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: maintain liability insurance
_INSURES = re.compile(
    r"""
    \b(?:carry|maintain|procure|obtain|take\ out|souscri\w+|justifie\ d'une)\b[^.;]{0,80}\b
    (?:insurance|coverage|assurance)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: damages
_LIABILITY = re.compile(
    r"""
    \b(?:liab\w+|damages|claims|losses|responsab\w+|indemni\w+|dommages|obligations?)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: purchase price for
_FEES = re.compile(
    r"""
    \b(?P<fees>
        (?:total\ |aggregate\ |net\ |annual\ |amounts?\ of\ (?:the\ )?)*
        (?:subscription\ |service\ |licen[sc]e\ |contract\ |purchase\ )?(?:
          fees? | charges? | amounts? | sums? | payments? | price | consideration | compensation
          | value | commissions? | royalt(?:y|ies) | premiums?
        )
      )\ (?:[\w'’/-]+\ ){0,6}?
      (?:paid|payable|received|due|owed|owing|invoiced|earned|actually|hereunder|under|for|of)\b
    | \b(?P<prix>montant|prix|redevances?|honoraires|sommes?|rémunération|valeur)\b
      (?:\ (?:[\w'’/-]+\ ){0,8}?)(?P<suite>
        payée?s? | facturée?s? | versée?s? | dues? | acquittée?s? | perçue?s? | encaissée?s?
        | annuelle?s? | hors\ taxes? | hors\ TVA | de\ la\ commande | du\ contrat | du\ marché
      )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ORDER = re.compile(r"\b(?:order|commande|statement of work|bon de commande)\b", re.IGNORECASE)
# Example: per occurrence
_PER_CLAIM = re.compile(
    r"""
    \bper\ (?:event|claim|occurrence|incident) | \bpar\ (?:sinistre|événement|évènement|réclamation)
    | \b(?:each|any\ one)\ (?:claim|event|occurrence)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: per contract year
_PER_YEAR = re.compile(
    r"""
    \b(?:per|(?:in|within|during)\ (?:each|any|a|that)|each)[ ]
      (?:calendar\ |contract\ |insurance\ )?year
    | \bpar\ an\b | \bpar\ année | \bannuel\w* | \ban\ d'assurance
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: made in US Dollars
_PAYABLE_IN = re.compile(
    r"""
    \b(?:
      payable | paid | expressed | made | invoiced | denominated | stated | libell\w+ | payables?
      | exprim\w+ | établi\w* | facturé\w*
    )\ (?:[\w'’]+\ ){0,3}?(?:in|en)\ (?P<currency>
      euros? | EUR | (?:US|U\.S\.|United\ States)\ ?dollars? | USD | pounds?\ sterling | GBP
      | sterling | swiss\ francs? | CHF
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CODES = {"e": "EUR", "u": "USD", "p": "GBP", "g": "GBP", "s": "GBP", "c": "CHF"}


def read_money(contract: ContractText) -> Iterator[Proposal]:
    """Yield cap_amount (one for each sum that limits liability), cap_base (once) and currency (once)."""
    base: Proposal | None = None
    fixed: Proposal | None = None
    counted: list[tuple[Decimal, int]] = []
    for start, end in list(contract.clauses("cap_on_liability"))[:CLAUSES_READ]:
        plain = contract.plain[start:end]
        if not _LIMITS.search(plain) or not _LIABILITY.search(plain):
            continue
        for amount in _amounts(contract, start, end):
            placed = amount.start, amount.end
            if _INSURES.search(contract.plain[slice(*contract.around(*placed))]):
                continue
            # "five hundred thousand euros (EUR 500,000)" says one sum twice.
            if any(amount.value == value and abs(amount.start - place) < SAME_SUM_REACH for value, place in counted):
                continue
            counted.append((amount.value, amount.start))
            fact = _cap_fact(contract, amount, (start, end))
            fixed = fixed or contract.fact("cap_base", "fixed sum", *placed, {"of": "fixed sum"})
            yield fact
        base = base or _cap_base(contract, start, plain)
    if base or fixed:
        yield base or fixed  # type: ignore[misc]
    yield from _currency(contract)


def _amounts(contract: ContractText, start: int, end: int) -> Iterator[Quantity]:
    for amount in contract.within(start, end):
        if amount.kind == "amount" and amount.value > 0:
            yield amount


def _cap_fact(contract: ContractText, amount: Quantity, clause: Span) -> Proposal:
    number = plain_number(amount.value)
    placed = amount.start, amount.end
    written = " ".join(contract.raw[amount.start : amount.end].split())
    detail = {"amount": number, "currency": amount.unit, "written": written}
    before = contract.plain[max(amount.start - 200, clause[0]) : amount.start]
    behind = contract.plain[amount.end : min(amount.end + 45, clause[1])]
    per = "claim" if _PER_CLAIM.search(behind) else ""
    if not per and (_PER_YEAR.search(behind) or _PER_YEAR.search(before)):
        per = "year"
    return contract.fact("cap_amount", f"{amount.unit} {number}", *placed, {**detail, **({"per": per} if per else {})})


def _cap_base(contract: ContractText, start: int, plain: str) -> Proposal | None:
    """Return what the cap is reckoned from, where that is what was paid."""
    fees = _FEES.search(plain)
    if fees is None:
        return None
    low, high = max(fees.start() - 120, 0), min(fees.end() + 180, len(plain))
    months, share = _months(plain, fees.start(), high), _share(plain, low, fees.start())
    order = _ORDER.search(plain, fees.start(), high) is not None and not months
    of = "order value" if order else "fees"
    value = f"fees of {months} months" if months else of
    value = f"{share} % of the {value}" if share else value
    detail = {"of": of, **({"months": months} if months else {}), **({"share": share} if share else {})}
    return contract.fact("cap_base", value, start + fees.start(), start + fees.end(), detail)


def _months(plain: str, low: int, high: int) -> str:
    for period in quantities(plain[low:high]):
        if period.kind == "duration" and period.unit in ("month", "year"):
            return plain_number(period.value * (12 if period.unit == "year" else 1))
    if re.search(r"\bannu\w+|\bper (?:year|annum)|\bcontract year|\bpar année", plain[low:high], re.IGNORECASE):
        return "12"
    return ""


def _share(plain: str, low: int, high: int) -> str:
    shares = [quantity for quantity in quantities(plain[low:high]) if quantity.kind == "percentage"]
    return plain_number(shares[-1].value) if shares else ""


def _currency(contract: ContractText) -> Iterator[Proposal]:
    """Yield the currency that is stated for payments, else that of most sums."""
    if match := _PAYABLE_IN.search(contract.plain):
        code = _CODES[match["currency"][0].casefold()]
        yield contract.fact("currency", code, match.start(), match.end(), {"currency": code})
        return
    sums = list(_amounts(contract, 0, len(contract.plain)))
    if sums:
        counts = Counter(amount.unit for amount in sums)
        code = max(counts, key=lambda unit: (counts[unit], unit))
        first = next(amount for amount in sums if amount.unit == code)
        yield contract.fact("currency", code, first.start, first.end, {"currency": code, "sums": str(counts[code])})
