"""How far a negation reaches: no further than what it denies for sure."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.domain.text.negation import denials, mask_denials


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The Supplier may not terminate without cause. It ends.", "The Supplier |. It ends."),
        ("Neither party may terminate without cause.", "|."),
        ("The Customer shall not indemnify, defend or hold harmless.", "The Customer |."),
        ("No liquidated damages are payable.", "|."),
        ("Nothing in this Agreement requires the Customer to indemnify.", "|."),
        ("It shall not be governed by English law but by French law.", "It |but by French law."),
        ("A may terminate and B may not terminate.", "A may terminate and B |."),
        ("A may not, and B may, terminate.", "A |and B may, terminate."),
        ("If A does not pay, B may terminate.", "If A |, B may terminate."),
        ("If neither party objects, it shall renew.", "If |, it shall renew."),
        ("A may not terminate unless B fails.", "A |unless B fails."),
        ("A may not terminate without giving 15 days' notice.", "A |without giving 15 days' notice."),
        ("Nothing shall prevent A from terminating.", "Nothing shall prevent A from terminating."),
        ("It shall not exceed 15 days.", "It shall not exceed 15 days."),
        ("It may end for any or no reason.", "It may end for any or no reason."),
        ("The laws of New York apply.", "The laws of New York apply."),
        ("A ne peut résilier sans motif.", "A |."),
        ("Aucune des parties ne peut résilier à sa convenance.", "|."),
        ("A ne peut résilier que moyennant un préavis.", "A ne peut résilier que moyennant un préavis."),
        ("Aucune pénalité n’est due.", "|."),
        ("Il n'est pas soumis au droit suisse mais au droit français.", "Il |mais au droit français."),
        ("A ne saurait devoir plus, et B devra payer.", "A |et B devra payer."),
        ("La somme ne saurait excéder un mois.", "La somme ne saurait excéder un mois."),
    ],
)
def test_what_is_denied_is_dotted_out(text: str, left: str) -> None:
    shown = mask_denials(text)
    assert (re.sub("·+", "|", shown), len(shown)) == (left, len(text))


def test_a_denial_names_its_negation() -> None:
    text = "A may not sell. Neither party may buy. Aucune somme n'est due. Il n'est pas tenu."
    assert [denial.word for denial in denials(text)] == ["may not", "Neither", "Aucune", "n'est pas"]


@given(st.text(alphabet="no tnemaycus, .;'ave", max_size=200))
def test_any_text_keeps_its_length_and_its_denials_are_apart(text: str) -> None:
    spans = [denial.span for denial in denials(text)]
    assert all(start < end <= len(text) for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    assert len(mask_denials(text)) == len(text)


def test_a_long_text_of_negations_is_read_once() -> None:
    text = "the supplier may not and shall not, nor will it, " * 4_000
    assert sum(1 for _ in denials(text)) >= 4_000
