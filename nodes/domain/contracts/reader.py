"""Facts of a contract: parties, dates, terms, amounts, law; each with its own quote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nodes.domain.contracts.contract_text import ContractText
from nodes.domain.contracts.facts.dates import find_dates, read_dates
from nodes.domain.contracts.facts.duration import find_term, read_terms
from nodes.domain.contracts.facts.expiry import read_expiry
from nodes.domain.contracts.facts.law import read_law
from nodes.domain.contracts.facts.money import read_money
from nodes.domain.contracts.families.references import read_references
from nodes.domain.contracts.parties.parties import Party, parties
from nodes.domain.evidence.facts import Proposal
from nodes.domain.evidence.findings import Candidate
from nodes.domain.text.documents import DocumentText

VERSION = "3"
SOURCE = f"local:facts@{VERSION}"
KINDS = (
    "title", "party", "agreement_date", "effective_date", "expiration_date", "signature_date", "initial_term",
    "renewal_term", "notice_period", "cap_amount", "cap_base", "currency", "governing_law", "court",
    "reference_number", "parent", "replaces", "annex_reference", "annex_heading",
)  # fmt: skip
"""Kinds of facts, in the order in which a document's facts are kept."""


def read(text: DocumentText, candidates: Sequence[Candidate]) -> list[Proposal]:
    """Read all facts, in the order of KINDS; each quote is a slice of the text."""
    contract = ContractText(text, candidates, SOURCE)
    dates, term = find_dates(contract), find_term(contract)
    terms = list(read_terms(contract, term))
    renews = any(fact.kind == "renewal_term" and fact.detail["automatic"] for fact in terms)
    proposals = [
        *_parties(contract),
        *read_dates(contract, dates),
        *terms,
        *read_expiry(contract, dates, term, renews=renews),
        *read_money(contract),
        *read_law(contract),
        *read_references(contract),
    ]
    return sorted(proposals, key=lambda fact: KINDS.index(fact.kind))


def _parties(contract: ContractText) -> Iterator[Proposal]:
    for party in parties(contract.document):
        detail = {"alias": party.alias, "role": _role(party)}
        yield contract.fact("party", party.name, party.start, party.end, detail, exact=True)


def _role(party: Party) -> str:
    return "supplier" if party.supplies else "customer" if party.buys else ""
