"""Annexes without a number, and general terms without a version: named, and there or missing."""

from __future__ import annotations

import pytest
from sample_families import MASTER, member_of

from nodes.domain.contracts.families.families import families

ENGLISH = (
    MASTER
    + """5. Data and prices
5.1 Personal data is processed in accordance with the Data Processing Annex, which forms part of this Agreement.
5.2 The charges are set out in the Pricing Schedule attached to this Agreement.
"""
)
FRENCH = """Contrat de maintenance
Article 1 – Prix
1.1 Les équipements sont décrits dans l'annexe technique jointe au présent contrat. Les prix figurent à l'annexe
financière.
"""


def missing(text: str, *others: tuple[str, str], language: str = "en") -> list[str]:
    members = [member_of("room/contract.pdf", text, language=language)]
    members += [
        member_of(name, words, ordinal=place, language=language) for place, (name, words) in enumerate(others, 1)
    ]
    return [finding.reasons[0] for finding in families(members).findings if finding.document == "room/contract.pdf"]


def test_an_annex_that_bears_a_name_only_is_missing_where_it_is_nowhere() -> None:
    assert missing(ENGLISH) == [
        "Data Processing Annex is named and is not there",
        "Pricing Schedule is said to be attached and is not there",
    ]
    assert missing(FRENCH, language="fr") == [
        "annexe technique is said to be attached and is not there",
        "annexe financière is named and is not there",
    ]


@pytest.mark.parametrize(
    "tail",
    [
        "\nDATA PROCESSING ANNEX\n\nThe Supplier is a processor.\n\nPRICING SCHEDULE\n\nEUR 10 a day.\n",
        "\nAnnex 1 – Data Processing\n\nThe Supplier is a processor.\n\nSchedule 2: Pricing\n\nEUR 10 a day.\n",
        "\nANNEX 1\nData Processing\n\nThe Supplier is a processor.\n\nSCHEDULE 2\nPRICING\n\nEUR 10 a day.\n",
    ],
)
def test_a_named_annex_is_there_under_its_name_or_as_the_title_of_a_numbered_one(tail: str) -> None:
    assert missing(ENGLISH + tail) == []


def test_a_named_annex_may_be_a_file_beside_the_contract() -> None:
    prices = ("room/Pricing Schedule 2024.pdf", "Prices of the services\n")
    data = ("room/DPA.pdf", "Data Processing Agreement\nThe Supplier is a processor.\n")
    assert missing(ENGLISH, prices, data) == []
    technical = ("room/annexe_technique.pdf", "Liste des équipements\n")
    assert missing(FRENCH, technical, language="fr") == ["annexe financière is named and is not there"]


@pytest.mark.parametrize(
    "words",
    [
        "The charges are set out in the Pricing Schedule annexed as Exhibit A-1.",
        "The charges are set out in Attachment 7 (the Pricing Schedule).",
        'The work is done as set out in the Delivery Schedule. "Delivery Schedule" means the dates of the Gantt chart.',
        "The service is rendered as specified in Rate Schedule FT-A.",
        "The schedule is set out in the order. This Schedule is not attached.",
    ],
)
def test_a_name_beside_a_number_a_defined_term_and_a_tariff_are_no_missing_named_annex(words: str) -> None:
    names = [one for one in missing(f"{MASTER}5. Price\n5.1 {words}\n") if not any(c.isdigit() for c in one)]
    assert [name for name in names if "Exhibit" not in name] == []


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ("The Supplier's general terms and conditions of sale apply to this Agreement.", "en",
         "general terms and conditions of sale"),
        ("Orders are subject to the Supplier's standard terms and conditions of sale.", "en",
         "terms and conditions of sale"),
        ("Le contrat est soumis aux conditions générales de vente du Vendeur.", "fr", "conditions générales de vente"),
    ],
)  # fmt: skip
def test_general_terms_that_bind_are_missing_also_without_a_version(text: str, language: str, name: str) -> None:
    assert missing(f"{MASTER}5. Terms\n5.1 {text}\n", language=language) == [f"{name} is named and is not there"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Les conditions générales de vente du Vendeur ne s'appliquent pas au présent contrat.", "fr"),
        ("Le Client accepte les présentes conditions générales de vente.", "fr"),
        ("Each order is subject to the terms and conditions of this Agreement.", "en"),
        ("Service is subject to the General Terms and Conditions of Transporter's FERC Gas Tariff.", "en"),
    ],
)
def test_terms_of_the_contract_itself_of_a_tariff_and_those_that_are_excluded_are_not_missing(
    text: str, language: str
) -> None:
    assert missing(f"{MASTER}5. Terms\n5.1 {text}\n", language=language) == []


def test_the_heading_of_an_annex_is_seen_behind_what_a_web_page_left_of_its_blanks() -> None:
    contract = f"{MASTER}5. Staff\n5.1 The staff is listed on Exhibit G hereto.\n\n"
    assert missing(contract) == ["Exhibit G is named and is not there"]
    assert missing(f"{contract}   &sbsp;  &nbsp; EXHIBIT G\n\nMr. Roux\n") == []
