"""Contract families: what an amendment overrides, and what is named and not there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from sample_families import (
    AMENDMENT,
    ATTACHED,
    FRENCH_AMENDMENT,
    FRENCH_MASTER,
    MASTER,
    MASTER_CLAUSES,
    found_in,
    member_of,
)

from nodes.domain.contracts.families.families import Families, families
from nodes.domain.contracts.families.overrides import article_at, find_overrides, numbering
from nodes.domain.evidence.findings import Finding

SECOND = (
    AMENDMENT.replace("No. 1", "No. 2").replace("150,000", "90,000").replace("12 September 2024", "3 May 2025")
)  # fmt: skip


def overrides(related: Families, texts: dict[str, str], findings: Sequence[Finding]) -> dict[str, tuple[str, bool]]:
    """Clause type → (by, certain) of each finding that is marked."""
    kinds = {finding.finding_id: f"{finding.document}:{finding.clause_type}" for finding in findings}
    numbered = {name: numbering(text) for name, text in texts.items()}
    return {kinds[key]: (over["by"], over["certain"]) for key, over in find_overrides(findings, related, numbered)}


def test_an_article_that_is_replaced_or_deleted_is_overridden_and_one_that_is_touched_may_be() -> None:
    related = families([member_of("master.pdf", MASTER), member_of("amendment.pdf", AMENDMENT, ordinal=1)])
    assert related.main_agreements == {"amendment.pdf": ("master.pdf", True)}
    findings = found_in("master.pdf", MASTER, **MASTER_CLAUSES)
    assert overrides(related, {"master.pdf": MASTER}, findings) == {
        "master.pdf:cap_on_liability": ("amendment.pdf", True),
        "master.pdf:payment_terms": ("amendment.pdf", False),
        "master.pdf:exclusivity": ("amendment.pdf", True),
    }


def test_a_later_amendment_overrides_what_an_earlier_one_put_there() -> None:
    texts = {"m.pdf": MASTER, "b.pdf": AMENDMENT, "a.pdf": SECOND}
    for order in itertools.permutations(texts):
        related = families(member_of(name, texts[name], ordinal=order.index(name)) for name in order)
        findings = found_in("m.pdf", MASTER, cap_on_liability=MASTER_CLAUSES["cap_on_liability"])
        cap = "The liability of the Supplier shall not exceed EUR 150,000."
        findings += found_in("b.pdf", AMENDMENT, cap_on_liability=cap)
        findings += found_in("a.pdf", SECOND, cap_on_liability=cap.replace("150,000", "90,000"))
        marks = overrides(related, {"m.pdf": MASTER}, findings)
        assert marks["b.pdf:cap_on_liability"] == ("a.pdf", True)
        assert marks["m.pdf:cap_on_liability"][1] and "a.pdf:cap_on_liability" not in marks


def test_a_french_amendment_finds_its_contract_by_title_and_date() -> None:
    members = [
        member_of("contrat.pdf", FRENCH_MASTER, language="fr", supplier="Verdelis"),
        member_of("avenant.pdf", FRENCH_AMENDMENT, ordinal=1, language="fr", supplier="Verdelis"),
    ]
    related = families(members)
    assert related.main_agreements == {"avenant.pdf": ("contrat.pdf", True)}
    clause = "2.1 L'Acheteur s'engage à s'approvisionner exclusivement auprès du Fournisseur."
    findings = found_in("contrat.pdf", FRENCH_MASTER, exclusivity=clause)
    assert overrides(related, {"contrat.pdf": FRENCH_MASTER}, findings) == {
        "contrat.pdf:exclusivity": ("avenant.pdf", True)
    }


def test_where_only_the_title_fits_an_override_is_not_claimed_and_where_two_fit_none_is_chosen() -> None:
    unnumbered = AMENDMENT.replace("AC/2023-017 dated 1 March 2023", "dated 1 March 2023")
    bare = MASTER.replace("Reference: AC/2023-017\n", "").replace("is made on 1 March 2023 ", "is made ")
    related = families([member_of("m.pdf", bare), member_of("a.pdf", unnumbered, ordinal=1)])
    assert related.main_agreements == {"a.pdf": ("m.pdf", False)}
    findings = found_in("m.pdf", bare, **MASTER_CLAUSES)
    assert {sure for _, sure in overrides(related, {"m.pdf": bare}, findings).values()} == {False}

    two = [member_of("m.pdf", bare), member_of("n.pdf", bare, ordinal=1), member_of("a.pdf", unnumbered, ordinal=2)]
    assert families(two).main_agreements == {}
    other = MASTER.replace("AC/2023-017", "ZZ/9999-001").replace("1 March 2023", "7 July 2021")
    assert families([member_of("m.pdf", other), member_of("a.pdf", AMENDMENT, ordinal=1)]).main_agreements == {}


def test_an_amendment_whose_agreement_is_not_there_is_a_finding_with_the_words_that_name_it() -> None:
    related = families([member_of("a.pdf", AMENDMENT)])
    (finding,) = related.findings
    assert (finding.clause_type, finding.page, finding.alignment) == ("missing_master", 1, "exact")
    assert finding.quote == "Master Services Agreement AC/2023-017 dated 1 March 2023"
    assert families([member_of("a.pdf", AMENDMENT), member_of("m.pdf", MASTER, ordinal=1)]).findings == ()


def test_an_annex_that_is_said_to_be_attached_and_is_nowhere_is_a_finding_with_its_reference() -> None:
    (finding,) = families([member_of("m.pdf", ATTACHED)]).findings
    assert (finding.clause_type, finding.reasons) == (
        "missing_annex",
        ("Annex 1 is said to be attached and is not there",),
    )
    assert "Annex 1, attached hereto" in finding.quote and finding.spans
    french = FRENCH_MASTER + "\nLes tarifs figurent à l'annexe n° 3, jointe au présent contrat.\n"
    (finding,) = families([member_of("c.pdf", french, language="fr")]).findings
    assert finding.clause_type == "missing_annex" and "annexe n° 3" in finding.quote


@pytest.mark.parametrize(
    ("name", "text", "supplier"),
    [
        ("m.pdf", "", "Acme Ltd"),
        ("m.pdf#Annex 1 - Prices.pdf", "Prices of the services", ""),
        ("Annex 1 prices.pdf", "Prices of the services", "Acme Ltd"),
        ("other.pdf", "Annex 1 – Prices\nHosting costs EUR 10.", "Acme Ltd"),
    ],
)
def test_an_annex_is_there_inside_the_document_embedded_in_it_or_beside_it(name: str, text: str, supplier: str) -> None:
    master = ATTACHED if text else ATTACHED + "\nAnnex 1: Prices\nHosting costs EUR 10.\n"
    members = [member_of("m.pdf", master)]
    members += [member_of(name, text, ordinal=1, supplier=supplier)] if text else []
    assert families(members).findings == ()


def test_the_annex_of_another_supplier_is_not_the_one_that_is_missing() -> None:
    stranger = member_of("z/Annex 1.pdf", "Annex 1 – Prices", ordinal=1, supplier="Other Ltd")
    assert [finding.clause_type for finding in families([member_of("m/m.pdf", ATTACHED), stranger]).findings] == [
        "missing_annex"
    ]


def test_a_part_that_names_no_supplier_stands_under_that_of_its_agreement() -> None:
    inside = member_of("m.pdf#Annex 1.pdf", "Annex 1 – Prices", ordinal=1, supplier="")
    related = families([member_of("m.pdf", ATTACHED), inside])
    assert related.adopted() == {"m.pdf#Annex 1.pdf": "Acme Ltd"}
    assert related.parts == {"m.pdf#Annex 1.pdf"}


def test_paragraphs_are_numbered_whatever_numbers_stand_at_the_beginning_of_a_line() -> None:
    text = "1. Term\n1.1 It lasts\n12 months from\n3 May 2020 on.\n2. Law\nArticle 3 – Court\n3.1 London.\n17 Streets"
    known = numbering(text)
    assert [number for _, number in known] == ["1", "1.1", "2", "3", "3.1"]
    assert article_at(known, text.index("London")) == "3.1" and article_at(known, 0) == "1"
