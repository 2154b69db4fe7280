"""What tells two suppliers apart, and what does not."""

from __future__ import annotations

import pytest
from sample_findings import result

from nodes.domain.contracts.families.members import supplier_key
from nodes.domain.text.supplier_names import canonical_names, display_names, fullest, spelling, without_form

SAME = [
    ("Northwall Systems Ltd", "Northwall Systems Limited", "NORTHWALL SYSTEMS, LTD.", "Northwall Systems"),
    ("Acme Inc.", "Acme, Incorporated", "Acme Corp.", "Acme Corporation", "Acme LLC", "Acme L.L.C.", "ACME"),
    (
        "Durand Informatique", "Durand Informatique, SAS", "la société Durand Informatique, SAS",
        "SAS Durand Informatique", "S.A.S. Durand Informatique", "Durand Informatique (SAS)",
        "DURAND INFORMATIQUE, société par actions simplifiée", "Société Durand Informatique S. A. S.",
    ),
    ("Luxor S.à r.l.", "Luxor SARL", "Luxor S.A.R.L."),
    ("Müller GmbH", "Muller", "Müller Gesellschaft mit beschränkter Haftung"),
    ("Bianchi S.p.A.", "Bianchi SpA", "Bianchi"),
    ("Zhejiang Parts Co., Ltd.", "Zhejiang Parts Company Limited"),
    ("Smith & Co", "Smith & Co. Ltd"),
    ("Halden Packaging B.V.", "Halden Packaging BV"),
]  # fmt: skip
DIFFERENT = (
    "Durand SA", "Durand Conseil SAS", "Northwind Hosting Ltd", "Northwind Hébergement France, SAS", "Smith & Co",
    "Smith", "Grand Hotel Spa", "Grand Hotel", "The Limited", "SA", "Mars A", "Visa", "Acme (UK) Ltd", "Acme",
)  # fmt: skip


@pytest.mark.parametrize("names", SAME, ids=lambda names: names[0])
def test_case_accents_and_legal_form_tell_no_suppliers_apart(names: tuple[str, ...]) -> None:
    assert len({supplier_key(result(supplier=name)) for name in canonical_names(names).values()}) == 1
    assert len(set(canonical_names(names).values())) == 1


def test_different_companies_stay_different() -> None:
    assert len({supplier_key(result(supplier=name)) for name in canonical_names(DIFFERENT).values()}) == len(DIFFERENT)


def test_forms_of_two_laws_are_two_companies_and_a_name_without_form_is_neither() -> None:
    names = ["Acme Inc.", "Acme GmbH", "Acme, Incorporated", "ACME"]
    assert canonical_names(names) == {
        "Acme Inc.": "Acme, Incorporated", "Acme, Incorporated": "Acme, Incorporated",
        "Acme GmbH": "Acme GmbH", "ACME": "ACME",
    }  # fmt: skip
    assert canonical_names(["ACME", "Acme GmbH"]) == {"ACME": "Acme GmbH", "Acme GmbH": "Acme GmbH"}


def test_a_name_that_is_nothing_but_a_form_keeps_it() -> None:
    assert [without_form(name) for name in ("SAS", "Limited", "Société", "")] == ["sas", "limited", "societe", ""]
    assert spelling("***") == "***"


def test_documents_without_a_supplier_stand_for_themselves() -> None:
    assert supplier_key(result("a.pdf", supplier="")) != supplier_key(result("b.pdf", supplier="—"))


def test_the_most_complete_spelling_is_shown_and_of_equals_the_first() -> None:
    assert fullest(["Acme", "ACME S.A.S.", "Acme SAS"]) == "ACME S.A.S."
    assert fullest([]) == ""
    assert list(display_names(["Acme S.A.S.", "Durand SA", "Acme SAS"]).values()) == ["Acme S.A.S.", "Durand SA"]
