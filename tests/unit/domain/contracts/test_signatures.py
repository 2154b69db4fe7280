"""Parties of contracts whose first page names nobody, from the blocks in which they sign."""

from __future__ import annotations

import pytest

from nodes.domain.contracts.parties.parties import parties
from nodes.domain.contracts.parties.supplier import supplier
from nodes.domain.text.documents import DocumentText, Page

BODY = """SERVICES AGREEMENT

1. Services. The work is done at the premises in Leeds.

2. Law. This Agreement is governed by the laws of England and Wales.

"""
COLUMNS = (
    BODY
    + """IN WITNESS WHEREOF, the parties have executed this Agreement.
COMPANY: CONSULTANT:
Hartwell Freight, Inc. Iberia Advisory S.L.
By: ______________ By: ______________
Name: Dana Cole Name: Luis Prado
"""
)
BEHALF = (
    BODY
    + """Signed for and on behalf of Brightwater Cleaning Limited (the "Supplier")
By: ______________
Name: Ann Hope

Signed for and on behalf of
Calder Mills plc
By: ______________
"""
)
FRENCH = """CONTRAT DE NETTOYAGE

Article 1 – Le prestataire nettoie les locaux.

Fait à Nantes, le 3 mars 2025, en deux exemplaires.
Pour la société Clairval Propreté SAS Pour la société Minoterie du Bocage SA
Nom : Jeanne Petit Nom : Paul Roux
"""


def text_of(text: str, language: str = "en") -> DocumentText:
    return DocumentText("0" * 64, text, (Page(1, "read", "", 0, len(text), 595, 842),), language)


@pytest.mark.parametrize(
    ("text", "language", "found"),
    [
        (COLUMNS, "en", [("Hartwell Freight, Inc.", "COMPANY"), ("Iberia Advisory S.L.", "CONSULTANT")]),
        (BEHALF, "en", [("Brightwater Cleaning Limited", "Supplier"), ("Calder Mills plc", "")]),
        (FRENCH, "fr", [("Clairval Propreté SAS", ""), ("Minoterie du Bocage SA", "")]),
    ],
)
def test_companies_that_sign_are_the_parties_where_the_first_page_names_none(
    text: str, language: str, found: list[tuple[str, str]]
) -> None:
    known = parties(text_of(text, language))
    assert [(one.name, one.alias) for one in known] == found
    assert all(text[one.start : one.end].startswith(one.name) for one in known)


def test_who_is_called_a_supplier_where_it_signs_is_the_supplier() -> None:
    chosen = supplier(text_of(BEHALF))
    assert chosen is not None and chosen[0] == "Brightwater Cleaning Limited"


def test_where_the_first_page_names_the_parties_those_who_sign_are_none_beside_them() -> None:
    head = 'This Agreement is made between Acme Ltd (the "Supplier") and Meridian SA (the "Customer").\n'
    assert [one.name for one in parties(text_of(head + COLUMNS))] == ["Acme Ltd", "Meridian SA"]


@pytest.mark.parametrize(
    "block",
    [
        "Signed by the manager of the Supplier\nBy: ____\n",
        "IN WITNESS WHEREOF the parties sign.\nBy: Uniform Manager LLC, its general partner\nBy: ____\n",
        "Executed by both parties. The shares of Brightwater Cleaning Limited are sold to nobody.\nBy: ____\n",
    ],
)
def test_a_role_a_partner_or_a_sentence_over_a_signature_is_no_party(block: str) -> None:
    assert parties(text_of(BODY + block)) == []


def test_a_definition_that_is_broken_at_its_hyphen_still_defines() -> None:
    text = (
        "Entre les soussignées :\nLa société Boréal Conseil, SAS au capital de 50 000 euros, dont le siège est à "
        "Lille, ci-\naprès dénommée « le Prestataire »,\n"
        "Et la société Grande Rue, SA, ci-après dénommée « le Client ».\n\nArticle 1\n"
    )
    assert [(one.name, one.alias) for one in parties(text_of(text, "fr"))] == [
        ("Boréal Conseil, SAS", "Prestataire"),
        ("Grande Rue, SA", "Client"),
    ]
