"""Of a summary that a model writes, only what the decision says stays: not what merely holds no wrong number."""

from __future__ import annotations

import pytest

from nodes.domain.answers.summary_answer import supports
from nodes.domain.shared.messages import french

FACTS = (
    "Attendu, selon le jugement attaqué, que le Syndicat des ateliers a agi en annulation des deux tours des élections "
    "des délégués du personnel au sein de la société Alpha ;"
)
REFUSED = (
    "Attendu que pour rejeter la demande, le jugement retient que l'employeur a refusé de négocier le protocole avec "
    "le syndicat, mais qu'il appartient à celui-ci de prouver une influence sur le résultat des élections ;"
)
ORDER = "CASSE ET ANNULE, en toutes ses dispositions, le jugement rendu par le tribunal d'instance de Nantua ;"


@pytest.mark.parametrize(
    ("sentence", "passages"),
    [
        ("Le syndicat a demandé l'annulation des élections de la société Alpha.", FACTS),
        ("Le tribunal a débouté le syndicat alors que l'employeur avait refusé de négocier.", REFUSED),
        ("Le demandeur reprochait au jugement d'exiger la preuve d'une influence sur le scrutin.", REFUSED),
        ("La chambre sociale casse le jugement en toutes ses dispositions.", ORDER),
        ("La Cour de cassation censure le jugement du tribunal d'instance.", ORDER),
        ("Qu'en statuant ainsi, le tribunal a violé le texte.", "Qu'en statuant ainsi, il a violé le texte susvisé ;"),
    ],
)
def test_a_sentence_in_other_words_than_the_decision_stays(sentence: str, passages: str) -> None:
    assert supports(sentence, passages)


@pytest.mark.parametrize(
    ("sentence", "passages"),
    [
        ("La salariée a volé son employeur pendant ses congés.", FACTS),
        ("Le licenciement repose sur une cause réelle et sérieuse.", ORDER),
        ("The union asked the court to cancel the ballot.", FACTS),
        ("Le jugement du tribunal d'instance est confirmé en toutes ses dispositions.", ORDER),
        ("Le pourvoi contre le jugement du tribunal d'instance est rejeté.", ORDER),
        ("Le Syndicat des ateliers, dont les délégués du personnel,", FACTS),
        ("", FACTS),
    ],
    ids=["invented", "of another decision", "translated", "the opposite", "another end", "a fragment", "nothing"],
)
def test_what_the_passages_do_not_say_is_left_out_though_no_number_is_wrong(sentence: str, passages: str) -> None:
    assert not supports(sentence, passages)


@pytest.mark.parametrize(
    "warning",
    [
        "2 sentences of a model's summary left out, since the passages cited do not bear them out.",
        "No summary by a model: gpt-4.1-mini gave an empty answer.",
        "1 clause of an unknown type left out.",
        "3 clauses without a quote left out.",
        "2 clauses with a quote that is too long left out.",
        "2 clauses reported twice left out.",
    ],
)
def test_what_is_said_of_a_models_answer_is_french_in_a_french_note(warning: str) -> None:
    translated = french(warning)
    assert translated != warning and "left out" not in translated and "No summary" not in translated
