"""Quotes of a French contract: amounts in euros, figures in both countries' manner, durations in words."""

from __future__ import annotations

import pytest

from nodes.domain.evidence.quote_locator import locate
from nodes.domain.text.documents import DocumentText, Page

CONTRAT = (
    "Article 9 – Responsabilité\n"
    "9.2 La responsabilité du Prestataire ne peut excéder la somme de cent cinquante mille euros (150 000 €) par\n"
    "sinistre, dans la limite de 2,5 % du prix, ni 1.250.000,50 € par an. L’œuvre reste la propriété du Client.\n"
    "Article 14 – Résiliation\n"
    "Chacune des parties peut résilier le contrat moyennant un préavis de quatre-vingt-dix jours, notifié par\n"
    "lettre recommandée, sans indemnité. Le contrat est conclu pour une durée de trois ans."
)
TEXT = DocumentText("0" * 64, CONTRAT, (Page(1, "read", "", 0, len(CONTRAT), 595, 842),), "fr")


@pytest.mark.parametrize(
    "quote",
    [
        "la somme de cent cinquante mille euros (150 000 €) par sinistre",
        "LA SOMME DE CENT CINQUANTE MILLE EUROS (150 000 €) PAR SINISTRE",
        "L'oeuvre reste la propriete du client",
        "moyennant un preavis de quatre-vingt-dix jours, notifie par lettre recommandee",
        "dans la limite de 2,5 % du prix, ni 1.250.000,50 € par an",
    ],
)
def test_what_the_contract_says_is_found_in_other_print(quote: str) -> None:
    assert locate(quote, TEXT).alignment in ("exact", "normalized")


@pytest.mark.parametrize(
    "quote",
    [
        "la somme de deux cent cinquante mille euros (150 000 €) par sinistre",
        "la somme de cent cinquante mille euros (250 000 €) par sinistre",
        "la somme de cent cinquante mille euros (150 000 $) par sinistre",
        "dans la limite de 25 % du prix, ni 1.250.000,50 € par an",
        "dans la limite de 2,5 % du prix, ni 1.250,00 € par an",
        "moyennant un préavis de quatre-vingts jours, notifié par lettre recommandée",
        "moyennant un préavis de quatre-vingt-dix mois, notifié par lettre recommandée",
        "La responsabilité du Prestataire peut excéder la somme de cent cinquante mille euros",
        "lettre recommandée, avec indemnité. Le contrat est conclu pour une durée de trois ans.",
        "Le contrat est conclu pour une durée de cinq ans.",
        "Chacune des parties peut résilier le contrat moyennant le versement d'une indemnité égale au solde du prix",
        "La responsabilité du Client ne peut excéder la somme de cent cinquante mille euros",
    ],
)
def test_another_amount_duration_party_or_negation_is_not_found(quote: str) -> None:
    assert locate(quote, TEXT).alignment == "not_found"


def test_a_quote_joined_by_an_ellipsis_is_one_span_for_each_part() -> None:
    found = locate("La responsabilité du Prestataire … par an. […] pour une durée de trois ans.", TEXT)
    assert len(found.spans) == 3
    parts = [CONTRAT[start:end] for start, end in found.spans]
    assert parts == ["La responsabilité du Prestataire", "par an.", "pour une durée de trois ans."]
