"""What contracts state about themselves: parties, dates, terms, amounts, law, each with its own quote."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_terms import ENGLISH, document

from nodes.domain.clauses.local_engine import find_clauses
from nodes.domain.contracts.reader import KINDS, read
from nodes.domain.evidence.facts import Fact, Proposal
from nodes.domain.evidence.findings import Candidate
from nodes.domain.evidence.locate_findings import locate_facts
from nodes.domain.text.quantities import numbers_in

TYPES = ("cap_on_liability", "governing_law", "renewal_term", "termination_for_convenience")


FRENCH = """Contrat-cadre de prestation de services

ENTRE la société Ateliers Vauban, SAS au capital de 180 000 €, ci-après « le Prestataire », et la société
Meridian Foods, SA au capital de 12 400 000 €, ci-après « le Client ».

Article 1 – Durée
Le contrat entre en vigueur le 1er avril 2023 pour une durée ferme de trois ans. À l'issue de cette période,
il se renouvelle tacitement d'année en année, sauf dénonciation notifiée par lettre recommandée six mois au
moins avant l'échéance.

Article 2 – Responsabilité
La responsabilité totale du Prestataire est limitée, par sinistre, à la somme de 1 500 000 €.

Article 3 – Résiliation
Le Client peut résilier le contrat pour convenance à tout moment, moyennant un préavis de quatre mois.

Article 4 – Droit applicable
Le présent contrat est régi par le droit français. Tout litige est porté devant le tribunal de commerce de
Grenoble.

Fait à Grenoble, le 20 mars 2023, en deux exemplaires.
"""


def stated(text: str, language: str = "en", candidates: list[Candidate] | None = None) -> list[Proposal]:
    found = document(text, language)
    return read(found, find_clauses(found, TYPES).candidates if candidates is None else candidates)


def values(facts: list[Proposal]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for fact in facts:
        found.setdefault(fact.kind, []).append(fact.value)
    return found


def test_an_english_contract_states_its_parties_dates_terms_cap_law_and_court() -> None:
    found = values(stated(ENGLISH))
    assert found["title"] == ["MASTER SERVICES AGREEMENT"]
    assert found["party"] == ["Acme Hosting Ltd", "Meridian Foods SA"]
    assert (found["agreement_date"], found["effective_date"]) == (["2023-03-01"], ["2023-03-15"])
    assert (found["initial_term"], found["renewal_term"]) == (["36 months"], ["12 months"])
    assert sorted(found["notice_period"]) == ["6 months", "90 days"]
    assert found["cap_amount"] == ["EUR 500000"]
    assert found["cap_base"] == ["150 % of the fees of 12 months"]
    assert (found["currency"], found["governing_law"]) == (["EUR"], ["England and Wales"])
    assert (found["court"], found["reference_number"]) == (["courts of London"], ["AC/2023-017"])
    assert (found["annex_reference"], found["annex_heading"]) == (["Annex 1", "Annex 2"], ["Annex 1: Services"])


def test_a_french_contract_states_the_same_in_its_own_words() -> None:
    facts = stated(FRENCH, "fr")
    found = values(facts)
    assert found["party"] == ["Ateliers Vauban, SAS", "Meridian Foods, SA"]
    assert (found["effective_date"], found["signature_date"]) == (["2023-04-01"], ["2023-03-20"])
    assert (found["initial_term"], found["renewal_term"]) == (["3 years"], ["1 year"])
    notices = {fact.detail["for"]: fact.value for fact in facts if fact.kind == "notice_period"}
    assert notices == {"renewal": "6 months", "termination": "4 months"}
    assert (found["cap_amount"], found["cap_base"]) == (["EUR 1500000"], ["fixed sum"])
    assert (found["governing_law"], found["court"]) == (["France"], ["tribunal de commerce de Grenoble"])


@pytest.mark.parametrize(("text", "language"), [(ENGLISH, "en"), (FRENCH, "fr")])
def test_every_fact_is_located_exactly_and_its_numbers_are_in_its_quote(text: str, language: str) -> None:
    facts = locate_facts(document(text, language), [fact.to_json() for fact in stated(text, language)])
    assert facts and {fact.alignment for fact in facts} == {"exact"}
    assert all(text[fact.spans[0][0] : fact.spans[0][1]] == fact.quote for fact in facts)
    assert all(fact.kind in KINDS and fact.source == "local:facts@3" and fact.page == 1 for fact in facts)
    for fact in facts:
        if fact.computed:
            length = f"{fact.detail['count']} {fact.detail['unit']}s"
            assert numbers_in(f"{fact.detail['from']} {length}") <= numbers_in(fact.quote), fact
        elif fact.kind in ("initial_term", "notice_period", "cap_amount") or fact.kind.endswith("_date"):
            assert numbers_in(str(fact.detail.get("written") or fact.value)) <= numbers_in(fact.quote), fact
    again = [Fact.from_json(json.loads(json.dumps(fact.to_json()))) for fact in facts]
    assert again == facts


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            'This Amendment changes the Services Agreement dated 4 May 2020 between A Ltd ("A") and B Ltd ("B").',
            "agreement_date",
        ),
        ("The Supplier shall keep all information confidential for a period of five (5) years.", "initial_term"),
        ("The Products are warranted for a term of twelve (12) months from delivery.", "initial_term"),
        ("Either party may dispose of records until 31 December 2030.", "expiration_date"),
        ("The price includes value added tax.", "currency"),
        ("The Supplier follows the laws of physics.", "governing_law"),
    ],
)
def test_what_is_said_of_something_else_is_no_fact_of_the_contract(text: str, kind: str) -> None:
    assert kind not in values(stated(text, candidates=[]))


def test_a_date_in_figures_is_read_in_the_order_of_the_language() -> None:
    assert values(stated("This Agreement is made on 03/04/2021 by us.", "en", []))["agreement_date"] == ["2021-03-04"]
    assert values(stated("Le contrat prend effet le 03/04/2021.", "fr", []))["effective_date"] == ["2021-04-03"]


MADE = "This Agreement is made on 1 March 2020 between us. "


@pytest.mark.parametrize(
    ("text", "language", "ends"),
    [
        (MADE + "The term of this Agreement begins on the date hereof and ends on 31 May 2024.", "en", "2024-05-31"),
        (MADE + "This Agreement continues in force until the earlier of (i) 31 May 2024 and (ii) a sale.", "en",
         "2024-05-31"),
        (MADE + "2. Term\n\nThe term runs from 1 April 2020 to 31 March 2022.", "en", "2022-03-31"),
        ("Le contrat prend effet le 1er mai 2021 et prend fin le 30 avril 2024.", "fr", "2024-04-30"),
        ("ORDER FORM\nSubscription Start Date   1 February 2024\nSubscription End Date   31 January 2027\n"
         "Annual Fee   EUR 48,000\n", "en", "2027-01-31"),
    ],
)  # fmt: skip
def test_a_day_on_which_the_contract_says_that_it_ends_is_taken_as_it_stands(
    text: str, language: str, ends: str
) -> None:
    (fact,) = (fact for fact in stated(text, language, []) if fact.kind == "expiration_date")
    assert fact.value == ends and "computed" not in fact.detail
    assert numbers_in(ends) <= numbers_in(fact.quote)


@pytest.mark.parametrize(
    ("text", "language", "begins", "ends"),
    [
        (MADE + "The term of this Agreement is two (2) years from the date hereof.", "en", "2020-03-01", "2022-03-01"),
        (MADE + "This Agreement takes effect on 31 August 2020. The initial term of this Agreement begins on that date "
         "and continues for a period of eighteen (18) months.", "en", "2020-08-31", "2022-02-28"),
        ('Made on 4 May 2019 (the "Effective Date"). This Agreement shall commence on the Effective Date and terminate '
         "on the third (3rd) anniversary of the Effective Date.", "en", "2019-05-04", "2022-05-04"),
        (MADE + 'It starts on 1 June 2020 (the "Service Start Date"). The term of this Agreement shall be for one (1) '
         "year from the Service Start Date.", "en", "2020-06-01", "2021-06-01"),
        (MADE + "This Agreement will begin on the Effective Date and continue for four (4) years.", "en", "2020-03-01",
         "2024-03-01"),
        (MADE + '"EFFECTIVE DATE" - 2 May 2020. The term of this Agreement is three years from the Effective Date.',
         "en", "2020-05-02", "2023-05-02"),
        (MADE + "10. LIMITED WARRANTY\nNo warranty is given.\nThis Agreement shall become effective upon the date "
         "first written above and shall remain in full force and effect for a period of two years (2).", "en",
         "2020-03-01", "2022-03-01"),
        ("Le contrat prend effet le 1er mai 2021. Il est conclu pour une durée ferme de trois ans.", "fr",
         "2021-05-01", "2024-05-01"),
    ],
)  # fmt: skip
def test_an_end_that_follows_from_beginning_and_term_says_that_it_is_computed_and_from_what(
    text: str, language: str, begins: str, ends: str
) -> None:
    (proposed,) = (fact for fact in stated(text, language, []) if fact.kind == "expiration_date")
    assert (proposed.value, proposed.detail["from"], proposed.detail["computed"]) == (ends, begins, True)
    assert ends not in numbers_in(proposed.quote) and begins in numbers_in(proposed.quote)
    (located,) = locate_facts(document(text, language), [proposed.to_json()])
    assert located.alignment == "exact" and located.computed
    assert " … ".join(text[start:end] for start, end in located.spans) == located.quote


@pytest.mark.parametrize(
    "text",
    [
        MADE + "This Agreement shall continue until terminated by either party.",
        MADE + "The term of this Agreement is perpetual.",
        MADE + "The term of this Agreement is five (5) years from the First Commercial Sale.",
        MADE + "The term of this Agreement is three years from the Launch Date.",
        MADE
        + 'The "Effective Date" is the day of the first delivery. It continues for two years from the Effective Date.',
        "ORDER FORM\nWarranty End Date   31 January 2027\nInvoice date   1 February 2024\n",
        MADE + "The term of this Agreement is two years or until the studies are completed, whichever is later.",
        MADE + "The term of this Agreement ends on the later of 31 May 2024 and the last delivery.",
        MADE + "The Supplier keeps the records of this Agreement until 31 December 2030.",
        "The term of this Agreement is two (2) years.",
    ],
)
def test_no_end_is_given_to_a_contract_that_states_none(text: str) -> None:
    assert "expiration_date" not in values(stated(text, candidates=[]))


def test_an_end_behind_which_the_contract_goes_on_by_itself_says_so() -> None:
    (renewing,) = (fact for fact in stated(ENGLISH) if fact.kind == "expiration_date")
    assert (renewing.value, renewing.detail["renews"]) == ("2026-03-15", True)
    facts = stated(MADE + "The term of this Agreement is 2 years.", "en", [])
    (ending,) = (fact for fact in facts if fact.kind == "expiration_date")
    assert "renews" not in ending.detail


@pytest.mark.parametrize(
    ("text", "date"),
    [
        (MADE + 'In it "Effective Date" means the date first written above.', "2020-03-01"),
        (MADE + "The term of this Agreement shall commence on the date hereof.", "2020-03-01"),
        (MADE + "This Agreement becomes effective on the date of its last signature. " + "x " * 200
         + "Signed on 9 April 2020.", "2020-04-09"),
        ('This Agreement, made as of March 14, 2012 but effective as of March 1, 2012 ("Effective Date"), binds us.',
         "2012-03-01"),
    ],
)  # fmt: skip
def test_a_date_of_effect_may_be_given_by_another_date_and_is_quoted_with_both(text: str, date: str) -> None:
    (fact,) = (fact for fact in stated(text, candidates=[]) if fact.kind == "effective_date")
    assert fact.value == date and date in numbers_in(fact.quote)
    (located,) = locate_facts(document(text), [fact.to_json()])
    assert located.alignment == "exact"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It renews for one year unless a party gives sixty (60) days notice of non-renewal.", ["60 days"]),
        ("It renews for one year unless terminated on sixty (60) days written notice.", ["60 days"]),
        ("The Customer may renew it for one year by giving sixty (60) days written notice.", []),
        ("A party that desires to renew this Agreement gives notice sixty (60) days before its end.", []),
        ("Il est renouvelé pour un an, sauf dénonciation avec un préavis de deux mois.", ["2 months"]),
        ("Le Client peut demander son renouvellement pour un an avec un préavis de deux mois.", []),
    ],
)
def test_notice_by_which_a_party_asks_for_a_renewal_is_none_against_it(text: str, found: list[str]) -> None:
    facts = stated(text, "en", [Candidate("renewal_term", text, 0.9, "x", 0)])
    assert [fact.value for fact in facts if fact.kind == "notice_period"] == found


def test_the_initial_term_is_not_taken_for_that_of_a_renewal() -> None:
    text = "The term of this Agreement is five years and it shall renew automatically each year thereafter."
    found = values(stated(text, "en", [Candidate("renewal_term", text, 0.9, "x", 0)]))
    assert (found["initial_term"], found["renewal_term"]) == (["5 years"], ["1 year"])


def test_a_law_is_read_in_a_text_that_is_set_with_wide_spaces() -> None:
    text = "This  Agreement  is governed  by  the   laws  of  the  State\n of  New  York,  without  more."
    assert values(stated(text, "en", []))["governing_law"] == ["New York"]


def test_what_is_not_in_the_document_is_kept_as_not_found_and_twins_are_one() -> None:
    text = document("The term is two years.")
    proposal = {
        "kind": "initial_term",
        "value": "2 years",
        "quote": "two years",
        "detail": {},
        "start": 12,
        "source": "x",
    }
    invented = {**proposal, "value": "9 years", "quote": "nine years"}
    facts = locate_facts(text, [proposal, proposal, invented])
    assert [(fact.value, fact.alignment, fact.page) for fact in facts] == [
        ("2 years", "exact", 1), ("9 years", "not_found", None),
    ]  # fmt: skip


@given(st.text(alphabet="0123456789,.' %€$ EURfteninsx()\n", max_size=40))
@settings(max_examples=300)
def test_whatever_stands_in_a_contract_its_facts_are_slices_of_it(text: str) -> None:
    whole = f"This Agreement is made on 1 May 2020. The liability shall not exceed {text} and lasts for {text} years."
    candidate = Candidate("cap_on_liability", whole[38:], 0.9, "x", 38)
    for fact in stated(whole, "en", [candidate]):
        first = fact.quote.split(" … ")[0]
        assert fact.start is not None and whole[fact.start : fact.start + len(first)] == first
        assert all(part in whole for part in fact.quote.split(" … "))


@pytest.mark.parametrize("odd", ["09.296.295", "4,513 547,032", "250,000,00", "0 330,000,000", "1,234.567,89"])
def test_a_number_grouped_by_no_custom_is_still_a_number(odd: str) -> None:
    assert len(numbers_in(odd)) == 1
    assert numbers_in("$1,600,00") == {"1600", "1600 USD"}


def test_a_notice_stops_at_the_comma_and_is_not_the_length_of_what_is_renewed() -> None:
    french = stated(
        "Le présent contrat est conclu pour une durée d'un an à compter du 1er janvier 2020, renouvelable par tacite "
        "reconduction par périodes d'un an, sauf dénonciation trois mois avant l'échéance.",
        "fr",
    )
    found = values(french)
    assert (found["renewal_term"], found["notice_period"]) == (["1 year"], ["3 months"])


def test_an_order_form_does_not_take_the_date_of_the_agreement_that_it_is_under() -> None:
    order = stated("ORDER FORM No. 1\n\nunder the Framework Agreement of 3 March 2021 between Acme Ltd and Foo SA.")
    assert "agreement_date" not in {fact.kind for fact in order}


def test_nothing_but_blanks_comes_to_an_end_with_no_fact() -> None:
    assert stated(" " * 40_000) == stated("\t" * 40_000) == []


def test_a_numbered_sentence_before_another_is_no_heading_and_its_term_is_read() -> None:
    found = stated(
        "2. Term\n2.1 This Agreement starts on 1 April 2021 and continues for three (3) years. It renews automatically "
        "for successive periods of one year unless either party gives ninety (90) days' written notice."
    )
    assert {"initial_term": ["3 years"], "expiration_date": ["2024-04-01"]}.items() <= values(found).items()
