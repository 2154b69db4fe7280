"""Suppliers are told from the preamble; numbers are the same number in figures, in words, in English and in French."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.domain.contracts.parties.parties import parties
from nodes.domain.contracts.parties.supplier import quote_figures, supplier
from nodes.domain.evidence.findings import Candidate
from nodes.domain.text.documents import DocumentText, Page
from nodes.domain.text.quantities import negated, numbers_in, quantities


def document(text: str) -> DocumentText:
    return DocumentText("0" * 64, text, (Page(1, "read", "", 0, len(text), 595, 842),), "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('This Agreement is made by and between Acme Corp., a Delaware corporation ("Supplier"), and Big Bank plc '
         '("Customer").', "Acme Corp."),
        ('between Big Bank, N.A., having its seat at 1 Main Street ("Customer"), and Northwind Systems, Inc., a '
         'Nevada corporation ("Vendor").',
         "Northwind Systems, Inc."),
        ('THIS AGREEMENT of 25 September 2018 BETWEEN: (1) Blue Harbour Limited of 333 South Street ("Client"); '
         'and (2) Red Cliff Hosting Limited, a company registered in England ("Red Cliff").',
         "Red Cliff Hosting Limited"),
        ("ENTRE LES SOUSSIGNÉS :\nLa société Dupont Conseil, SAS au capital de 10 000 €, RCS de Lyon, "
         "ci-après dénommée « le Prestataire »,\nd'une part,\nET\nLa société Mercier SA, dont le siège est à Paris, "
         "ci-après dénommée « le Client »,\nd'autre part.", "Dupont Conseil, SAS"),
        ("Entre la Ville de Nantes, représentée par son maire, ci-après « l'Acheteur », et Atlantique Travaux SARL, "
         "ci-après désignée « le Titulaire ».", "Atlantique Travaux SARL"),
        ("ORDER FORM\nSupplier: Contoso Cloud Ltd\nCustomer: Big Bank plc\n", "Contoso Cloud Ltd"),
    ],
)  # fmt: skip
def test_the_party_in_the_role_of_a_supplier_is_named(text: str, name: str) -> None:
    found = supplier(document(text), [])
    assert found is not None
    assert found[0] == name
    assert text[found[2] : found[2] + len(found[1])] == found[1]
    assert name in " ".join(found[1].split())


def test_without_roles_the_party_that_performs_is_the_supplier() -> None:
    head = 'between Alpha Foods, Inc., a Utah corporation ("Alpha"), and Beta Packaging LLC ("Beta"). WHEREAS '
    body = "Beta shall provide boxes. Beta shall deliver them. Beta will manufacture lids. Alpha shall pay. "
    named = supplier(document(head + body), [])
    assert named is not None and named[0] == "Beta Packaging LLC"
    quote = "Beta shall maintain insurance."
    duties = [Candidate("insurance", quote, 0.9, "local:rules@1", number) for number in range(3)]
    named = supplier(document(head), duties)
    assert named is not None and named[0] == "Beta Packaging LLC"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A text that names nobody.",
        'between Alpha Foods, Inc. ("Alpha") and Beta Packaging LLC ("Beta").',
        'The difference between the "Agreement" and the ("Effective Date") is explained below.',
    ],
)
def test_a_supplier_that_cannot_be_told_is_none(text: str) -> None:
    assert supplier(document(text), []) is None


def test_parties_keep_name_and_alias_and_skip_what_is_no_party() -> None:
    text = (
        'This ("Agreement") is made by and between Erchonia Corporation ("Erchonia") and Inner Ltd (the "Distributor")'
    )
    assert [(party.name, party.alias) for party in parties(document(text))] == [
        ("Erchonia Corporation", "Erchonia"),
        ("Inner Ltd", "Distributor"),
    ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('between 2THEMART.COM, INC. ("2TheMart") and iShip.com, Inc. ("iShip").',
         [("2THEMART.COM, INC.", "2TheMart"), ("iShip.com, Inc.", "iShip")]),
        ('between Bank of America, N.A. ("Bank of America") and 2205925 Ontario Limited (the "Reseller").',
         [("Bank of America, N.A.", "Bank of America"), ("2205925 Ontario Limited", "Reseller")]),
        ("between Acme Ltd of 1 Main Street ('Supplier') and Louisville Gas and Electric Company ('Customer').",
         [("Acme Ltd", "Supplier"), ("Louisville Gas and Electric Company", "Customer")]),
        ('between Acme Inc., referred to in this Agreement as "Company" or "Vendor", and Big Inc. ("Sponsor").',
         [("Acme Inc.", "Company"), ("Big Inc.", "Sponsor")]),
        ('by and between Acme, Inc. ("Acme"), a Utah corporation, and Pagemaster Corporation located in Utah, shall.',
         [("Acme, Inc.", "Acme"), ("Pagemaster Corporation", "")]),
        ("is entered into BETWEEN KIROMIC Inc., a Delaware company, AND MOLIPHARMA S.R.L. an Italian company.",
         [("KIROMIC Inc.", ""), ("MOLIPHARMA S.R.L.", "")]),
        ("Party A: Beike Security Technology Co., Ltd.\nAddress: Beijing\nParty B: Baidu (Beijing) Co., Ltd.\n",
         [("Beike Security Technology Co., Ltd.", "Party A"), ("Baidu (Beijing) Co., Ltd.", "Party B")]),
        ('between Acme Inc. ("Acme"), Marathon L.P., Focus Fund L.P. and Big LLC (collectively, the "Investors").',
         [("Acme Inc.", "Acme"), ("Marathon L.P.", "Investors"), ("Focus Fund L.P.", "Investors"),
          ("Big LLC", "Investors")]),
        ("entre Brume et Associés, SARL au capital de 40 000 €, et la société Meridian Foods, SA au capital de 9 000 €",
         [("Brume et Associés, SARL", ""), ("Meridian Foods, SA", "")]),
        ("ENTRE la société Vauban, SAS, ci-après « le Prestataire », ET La société Mercier SA, ci-après « le Client ».",
         [("Vauban, SAS", "Prestataire"), ("Mercier SA", "Client")]),
    ],
)  # fmt: skip
def test_parties_bear_the_names_and_aliases_that_the_preamble_gives_them(
    text: str, named: list[tuple[str, str]]
) -> None:
    found = parties(document(text))
    assert [(party.name, party.alias) for party in found] == named
    for party in found:
        words = " ".join(text[party.start : party.end].split())
        assert party.name.rstrip(".") in words and party.alias in words


@pytest.mark.parametrize(
    "text",
    [
        'between Acme Inc. ("Acme") and the individual named on the cover page ("Franchisee"). R E C I T A L S A. Acme '
        'owns a method (the "Method").',
        'between Acme Inc. ("Acme") and you. In it Terms and Conditions ("Supplier") are attached.',
        'between Acme Inc. ("Acme") and its Agent. Acme uses coke dry quenching (CDQ) in the plant (Beijing).',
    ],
)
def test_what_is_no_name_is_no_party(text: str) -> None:
    assert [party.name for party in parties(document(text))] == ["Acme Inc."]


def test_a_role_given_beside_the_short_name_tells_the_supplier() -> None:
    named = supplier(document('between Acme Inc. ("Acme") and Ferrer SA ("Ferrer" and/or "Supplier").'), [])
    assert named is not None and named[0] == "Ferrer SA"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("twelve (12) months", "12 mois"),
        ("12-month period", "douze mois"),
        ("one (1) year", "un an"),
        ("ninety days", "quatre-vingt-dix jours"),
        ("EUR 150,000", "150 000 €"),
        ("€1,000,000.00", "1 000 000 euros"),
        ("150.000 €", "cent cinquante mille euros"),
        ("$5 million", "USD 5,000,000"),
        ("five million dollars", "US$ 5,000,000.00"),
        ("2.5 percent", "2,5 %"),
        ("ten percent (10%)", "10 pour cent"),
        ("June 21, 1999", "21 juin 1999"),
        ("1st day of January 2020", "2020-01-01"),
        ("21/06/1999", "le 21 juin 1999"),
    ],
)
def test_the_same_number_gives_the_same_tokens(one: str, other: str) -> None:
    assert numbers_in(one) == numbers_in(other) != set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 months", "24 months"),
        ("12 months", "12 weeks"),
        ("150 000 €", "250 000 €"),
        ("150 000 €", "150 000 $"),
        ("10 %", "10"),
        ("1.5 %", "15 %"),
        ("June 21, 1999", "June 22, 1999"),
        ("1,500", "1.5"),
        ("Section 12.3.1", "Section 12.3"),
    ],
)
def test_another_number_unit_or_date_gives_other_tokens(one: str, other: str) -> None:
    assert not numbers_in(one) <= numbers_in(other)


def test_articles_and_pronouns_are_no_numbers() -> None:
    assert numbers_in("No one shall assign a contract; un contrat, une partie, un nouveau site neuf.") == set()
    assert numbers_in("two and three") == {"2", "3"}


@given(st.integers(0, 10**9))
def test_a_whole_number_is_read_back_however_it_is_grouped(number: int) -> None:
    forms = {f"{number} euros", f"{number:,} euros", f"{number:,} euros".replace(",", "\u202f"), f"EUR {number:,}"}
    assert {frozenset(numbers_in(form)) for form in forms} == {frozenset({str(number), f"{number} EUR"})}


@given(st.text(max_size=200))
def test_quantities_lie_in_the_text_in_order_whatever_it_is(text: str) -> None:
    found = quantities(text)
    assert all(0 <= quantity.start < quantity.end <= len(text) for quantity in found)
    assert [quantity.start for quantity in found] == sorted(quantity.start for quantity in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shall not be liable", True),
        ("in no event", True),
        ("it isn’t due", True),
        ("ne pourra être engagée", True),
        ("n'est pas responsable", True),
        ("sans préavis", True),
        ("aucune des parties", True),
        ("See No. 5 of the notes", False),
        ("shall be liable", False),
        ("est responsable de la notification", False),
    ],
)
def test_negation_is_seen(text: str, expected: bool) -> None:
    assert negated(text) is expected


def test_facts_of_a_quote_are_typed() -> None:
    found = quote_figures(
        "Liability shall not exceed EUR 1.5 million or 20 % of the fees of two (2) years before June 1, 2021.", "en"
    )
    assert found == {
        "amounts": [{"value": Decimal("1500000.0"), "currency": "EUR"}],
        "durations": [{"value": Decimal(2), "unit": "year", "months": Decimal(24)}],
        "percentages": [Decimal(20)],
        "dates": ["2021-06-01"],
        "negated": True,
    }


def test_a_date_in_figures_is_read_in_the_order_of_the_language() -> None:
    assert quote_figures("le 03/04/2021", "fr")["dates"] == ["2021-04-03"]
    assert quote_figures("on 03/04/2021", "en")["dates"] == ["2021-03-04"]
    assert quote_figures("03/04/2021")["dates"] == ["3/4/2021"]
