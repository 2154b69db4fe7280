"""What contracts state about themselves: parties, dates, terms, amounts, law, each with its own quote."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from cli_room import objects, room, run_here
from hypothesis import given, settings
from hypothesis import strategies as st
from world import environment, rows

from graph import Reprise
from nodes.domain.clauses import Candidate
from nodes.domain.contract_facts import KINDS, read
from nodes.domain.documents import DocumentText, Page
from nodes.domain.facts import Fact, Proposal
from nodes.domain.local_engine import look
from nodes.domain.placing import located_facts
from nodes.domain.quantities import numbers_in

TYPES = ("cap_on_liability", "governing_law", "renewal_term", "termination_for_convenience")

ENGLISH = """MASTER SERVICES AGREEMENT
Reference: AC/2023-017

This Master Services Agreement is made on 1 March 2023 between Acme Hosting Ltd, a company incorporated in
England (the "Supplier"), and Meridian Foods SA, a société anonyme (the "Customer"). It replaces the letter of
intent dated 4 January 2022.

1. Term
1.1 This Agreement takes effect on 15 March 2023 and continues for an initial term of thirty-six (36) months.

1.2 At the end of the initial term this Agreement renews automatically for successive periods of twelve (12)
months, unless either party gives the other written notice of non-renewal at least ninety (90) days before the
end of the current period.

2. Liability
2.1 The total aggregate liability of the Supplier under this Agreement shall not exceed the greater of five
hundred thousand euros (EUR 500,000) and 150 % of the fees paid in the twelve (12) months before the claim.

3. Insurance
3.1 The Supplier shall maintain professional liability insurance of EUR 9,000,000 per claim.

4. Termination
4.1 The Customer may terminate this Agreement for convenience at any time on six (6) months' written notice.

5. Law
5.1 This Agreement is governed by the laws of England and Wales without regard to its conflict of laws rules.
The courts of London have exclusive jurisdiction.

The services are described in Annex 1, attached hereto, and in Annex 2, attached hereto.

Annex 1: Services
"""

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


def document(text: str, language: str = "en") -> DocumentText:
    return DocumentText("0" * 64, text, (Page(1, "read", "", 0, len(text), 595, 842),), language)


def stated(text: str, language: str = "en", candidates: list[Candidate] | None = None) -> list[Proposal]:
    found = document(text, language)
    return read(found, look(found, TYPES).candidates if candidates is None else candidates)


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
    facts = located_facts(document(text, language), [fact.to_json() for fact in stated(text, language)])
    assert facts and {fact.alignment for fact in facts} == {"exact"}
    assert all(text[fact.spans[0][0] : fact.spans[0][1]] == fact.quote for fact in facts)
    assert all(fact.kind in KINDS and fact.source == "local:facts@1" and fact.page == 1 for fact in facts)
    for fact in facts:
        if fact.kind in ("initial_term", "notice_period", "cap_amount") or fact.kind.endswith("_date"):
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
    facts = located_facts(text, [proposal, proposal, invented])
    assert [(fact.value, fact.alignment, fact.page) for fact in facts] == [
        ("2 years", "exact", 1), ("9 years", "not_found", None),
    ]  # fmt: skip


@given(st.text(alphabet="0123456789,.' %€$ EURfteninsx()\n", max_size=40))
@settings(max_examples=300)
def test_whatever_stands_in_a_contract_its_facts_are_slices_of_it(text: str) -> None:
    whole = f"This Agreement is made on 1 May 2020. The liability shall not exceed {text} and lasts for {text} years."
    candidate = Candidate("cap_on_liability", whole[38:], 0.9, "x", 38)
    for fact in stated(whole, "en", [candidate]):
        assert fact.start is not None and whole[fact.start : fact.start + len(fact.quote)] == fact.quote


@pytest.mark.parametrize("odd", ["09.296.295", "4,513 547,032", "250,000,00", "0 330,000,000", "1,234.567,89"])
def test_a_number_grouped_by_no_custom_is_still_a_number(odd: str) -> None:
    assert len(numbers_in(odd)) == 1
    assert numbers_in("$1,600,00") == {"1600", "1600 USD"}


async def test_facts_of_a_run_are_stored_beside_its_findings_and_read_without_a_call(
    database: str, home: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(ENGLISH.replace("Acme", name.title()))
    async with Reprise.open(database_url=database, home=home) as reprise:
        await reprise.start(tmp_path, thread="f", review="never")
        calls = len(await reprise.journal("f"))
        facts = await reprise.facts("f")
        assert Counter(one.document for one in facts) == {"one.txt": len(facts) // 2, "two.txt": len(facts) // 2}
        assert [one.fact.value for one in facts if one.fact.kind == "party"] == [
            "One Hosting Ltd", "Meridian Foods SA", "Two Hosting Ltd", "Meridian Foods SA",
        ]  # fmt: skip
        assert {one.supplier for one in facts} == {"One Hosting Ltd", "Two Hosting Ltd"}
        assert len(await reprise.journal("f")) == calls
        assert "<table>" in facts._repr_html_()
    stored = rows(database, "SELECT facts_ref, findings_ref FROM reprise.run_document")
    assert all(len(row["facts_ref"]) == 64 and row["facts_ref"] != row["findings_ref"] for row in stored)


def test_the_command_prints_one_fact_a_line_or_a_table(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    assert (
        run_here(["start", room(tmp_path / "room", 2), "--thread", "c", "--review", "never"], env, capsys).returncode
        == 0
    )
    listed = objects(run_here(["facts", "c", "--json"], env, capsys))
    assert {"document", "supplier", "kind", "value", "quote", "page", "alignment", "spans", "source"} <= set(listed[0])
    laws = objects(run_here(["facts", "c", "--kind", "governing_law", "--document", "1.pdf", "--json"], env, capsys))
    assert [(one["document"], one["value"], one["page"]) for one in laws] == [("contract 1.pdf", "France", 1)]
    shown = run_here(["facts", "c", "--kind", "renewal_term"], env, capsys)
    assert shown.returncode == 0 and shown.stdout.count("36 months") == 2
