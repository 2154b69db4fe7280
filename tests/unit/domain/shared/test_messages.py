"""Messages about reading: a code with values has two wordings, and a stored sentence leads back to its code."""

from __future__ import annotations

import pytest

from nodes.domain.shared.messages import CATALOGUE, REFUSALS, Message, english, french, recognise

VALUES = {
    "document": "Acme/a.pdf",
    "detail": "an old Office document",
    "max_bytes": 512,
    "seconds": 120,
    "advice": "open it in a PDF viewer and print it to a new PDF.",
    "places": "pages 1–4, 7",
    "reason": "white on white",
    "unit": "section",
    "count": 3,
    "limit": 200,
}


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_stored_sentence_leads_back_to_its_code_and_values(code: str) -> None:
    message = recognise(english(code, **VALUES))
    assert message is not None and message.code == code
    assert (
        message.values and all(text == str(VALUES[name]) for name, text in message.values.items())
    ) or not message.values


@pytest.mark.parametrize("code", CATALOGUE)
def test_every_message_has_a_french_wording_with_the_same_document(code: str) -> None:
    sentence = english(code, **VALUES)
    translated = french(sentence)
    assert translated != sentence and "{" not in translated
    assert ("Acme/a.pdf" in sentence) == ("Acme/a.pdf" in translated)


@pytest.mark.parametrize("code", REFUSALS)
def test_a_reason_that_was_stored_without_its_full_stop_is_recognised_too(code: str) -> None:
    assert recognise(english(code, **VALUES).removesuffix(".")) == recognise(english(code, **VALUES))


def test_a_number_is_told_with_its_noun_and_read_as_a_number() -> None:
    assert english("unknown_type", count=1) == "1 clause of an unknown type left out."
    assert english("unknown_type", count=2) == "2 clauses of an unknown type left out."
    assert recognise("2 clauses of an unknown type left out.") == Message("unknown_type", {"count": "2"})


def test_a_sentence_that_no_code_has_made_is_shown_as_it_stands() -> None:
    assert recognise("The moon was full.") is None
    assert french("The moon was full.") == "The moon was full."
