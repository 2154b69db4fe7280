"""Quotes that are joined by an ellipsis, and quotes that end within a number: what they say together must be said."""

from __future__ import annotations

import pytest

from nodes.domain.evidence.quote_locator import locate
from nodes.domain.text.documents import DocumentText, Page

CONTRACT = """1. LIABILITY
1.1 The Supplier's liability under this Agreement for each claim shall not exceed EUR 100,000.
1.2 The Customer's liability for damage to leased equipment shall not exceed EUR 1,000,000.
If the Customer fails to pay, the Supplier may, at its option and as set out in Section 9.2, suspend the services.
1.3 The cap is EUR 50,000 for each claim and EUR 900,000 in total.

2. DELIVERY
2.1 The Supplier shall deliver the goods at its own risk and the Customer shall pay the price within ten days.
2.2 The Supplier shall: (a) keep the equipment insured; (b) repair it on request of Acme Inc. and its affiliates.
2.3 The Supplier shall not sub-license the software and shall keep it in a safe place.
The fee is two and a half million dollars, the term one year and a half, and the deposit EUR 1.2m in cash.
La responsabilité du Prestataire est plafonnée à un million deux cent mille euros (1 200 000 €). Le préavis est de
trente-six mois. La caution est de soixante et onze mille euros et le délai de quatre-vingt-dix-sept jours."""
TEXT = DocumentText("0" * 64, CONTRACT, (Page(1, "read", "", 0, len(CONTRACT), 595, 842),), "en")


@pytest.mark.parametrize(
    "quote",
    [
        "1.1 The Supplier's liability … shall not exceed EUR 100,000.",
        "The Customer's liability … shall not exceed EUR 1,000,000",
        "the Supplier may … suspend the services",
        "1.1 The Supplier's liability under this Agreement for each claim shall not exceed EUR 100,000. […] 2.1 The"
        " Supplier shall deliver the goods",
        "shall not exceed EUR 100,000 … The cap is EUR 50,000 for each claim",
        "The Supplier shall: … (b) repair it on request",
        "The Supplier's liability under this Agreement … shall not exceed EUR 100,000",
        "1. LIABILITY … for each claim shall not exceed EUR 100,000",
    ],
)
def test_what_is_left_out_of_one_sentence_or_between_whole_ones_changes_nothing(quote: str) -> None:
    found = locate(quote, TEXT)
    assert (found.alignment, len(found.spans)) == ("exact", 2)


@pytest.mark.parametrize(
    "quote",
    [
        "1.1 The Supplier's liability … shall not exceed EUR 1,000,000.",
        "The Supplier's liability … for damage to leased equipment",
        "The Supplier's liability … shall deliver the goods",
        "The Supplier's liability … The cap is EUR 50,000 for each claim",
        "shall not exceed EUR 100,000. … fails to pay, the Supplier may",
        "for each claim shall not exceed … EUR 900,000 in total",
        "The cap is EUR 50,000 for each claim … in total",
        "The cap is … for each claim",
        "2.1 The Supplier … shall pay the price within ten days",
        "2.3 The Supplier … keep it in a safe place",
        "1. LIABILITY … suspend the services",
        "If the Customer fails to pay […] suspend the services.",
        "for each claim shall not exceed ... The Supplier shall deliver the goods at its own risk",
        "La responsabilité du Prestataire … est de trente-six mois",
    ],
)
def test_parts_that_say_together_what_the_text_does_not_go_to_a_person(quote: str) -> None:
    assert locate(quote, TEXT).alignment == "fuzzy"


def test_a_later_place_where_the_parts_belong_together_is_preferred() -> None:
    quote = "liability … for damage to leased equipment"
    found = locate(quote, TEXT)
    start = found.spans[0][0]
    assert found.alignment == "exact" and CONTRACT[start - 11 : start] == "Customer's "


@pytest.mark.parametrize(
    "quote",
    [
        "plafonnée à un million",
        "plafonnée à un million deux cent",
        "deux cent mille euros (1 200 000 €)",
        "Le préavis est de trente",
        "six mois. La caution",
        "The fee is two",
        "half million dollars, the term",
        "million dollars, the term",
        "the term one year",
        "the deposit EUR 1.2",
        "La caution est de soixante",
        "onze mille euros et le délai",
        "le délai de quatre-vingt",
        "le délai de quatre-vingt-dix",
        "dix-sept jours",
        "sept jours",
    ],
)
def test_a_quote_that_begins_or_ends_within_a_number_is_not_found(quote: str) -> None:
    assert locate(quote, TEXT).alignment == "not_found"


@pytest.mark.parametrize(
    "quote",
    [
        "plafonnée à un million deux cent mille",
        "un million deux cent mille euros",
        "(1 200 000 €). Le préavis",
        "Le préavis est de trente-six",
        "trente-six mois. La caution",
        "The fee is two and a half million",
        "the term one year and a half",
        "the deposit EUR 1.2m",
        "1.2m in cash",
        "le délai de quatre-vingt-dix-sept",
    ],
)
def test_a_whole_number_may_stand_at_the_edge_of_a_quote_without_what_it_counts(quote: str) -> None:
    assert locate(quote.replace("\n", " "), TEXT).alignment in ("exact", "normalized")
