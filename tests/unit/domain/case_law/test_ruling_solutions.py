"""How a decision ends, where its head says nothing of it, or says it in several lines, on invented decisions."""

from __future__ import annotations

import pytest
from sample_rulings import APPEAL, COUNCIL, social, text_of

from nodes.domain.case_law.reader import read


def solution(words: str) -> tuple[str, str]:
    """Value and category."""
    (one,) = (fact for fact in read(text_of(words)) if fact.kind == "solution")
    return one.value, one.detail["category"]


def ended(whole: str, begin: str, end: str, orders: str) -> str:
    return f"{whole[: whole.index(begin)]}{orders}\n\n{whole[whole.index(end) :]}"


def test_a_line_of_prose_that_goes_on_with_cassation_is_not_the_head_of_the_decision() -> None:
    orders = "DÉCLARE le pourvoi irrecevable ;"
    words = social(solution="", orders=orders).replace(
        "moyen unique de cassation\nannexé au", "moyen de\ncassation.\nLe"
    )
    assert "de\ncassation.\n" in words
    assert solution(words) == ("Irrecevabilité", "Irrecevabilité")


@pytest.mark.parametrize(
    ("head", "orders", "value", "category"),
    [
        ("Désistement partiel\nRejet", "REJETTE le pourvoi ;", "Désistement partiel, rejet", "Rejet"),
        ("Rectification d'erreur matérielle", "RECTIFIE l'arrêt n° 12 du 15 janvier 2022 ;",
         "Rectification d'erreur matérielle", "Rectification"),
        ("Rabat d'arrêt\nCassation", "RABAT l'arrêt ;\n\nCASSE ET ANNULE l'arrêt rendu le 4 mai 2021 ;",
         "Rabat d'arrêt, cassation", "Cassation"),
    ],
)  # fmt: skip
def test_a_head_of_several_lines_is_one_solution(head: str, orders: str, value: str, category: str) -> None:
    assert solution(social(solution=head, orders=orders)) == (value, category)


@pytest.mark.parametrize(
    ("orders", "value"),
    [
        (
            "Ordonne la rectification de l'erreur matérielle affectant l'arrêt rendu le 9 janvier 2023 ;",
            "Rectification",
        ),
        ("Constate le désistement d'appel de la société ;\n\nCondamne l'appelante aux dépens ;", "Désistement"),
        ("Donne acte à M. P de son désistement à l'égard de M. X ;\n\nCondamne A à payer 500 euros ;", "Condamnation"),
        ("Prononce la caducité de la déclaration d'appel ;", "Caducité"),
    ],
)
def test_a_court_of_appeal_may_end_without_confirming_or_reversing(orders: str, value: str) -> None:
    assert solution(ended(APPEAL, "CONFIRME le jugement", "Prononcé par mise", orders))[0] == value


@pytest.mark.parametrize(
    ("orders", "value"),
    [
        ("Article 1er : L'arrêt du 9 décembre 2022 de la cour administrative d'appel de Lyon est\nannulé.\n\n"
         "Article 2 : L'affaire est renvoyée à cette cour.", "Annulation"),
        ("Article 1er : Le jugement est annulé en tant qu'il statue sur les intérêts.\n\n"
         "Article 2 : Le surplus de la requête est rejeté.", "Annulation partielle"),
        ("Article 1er : Il n'y a pas lieu de renvoyer au Conseil constitutionnel la question soulevée.",
         "Non-lieu à renvoi"),
    ],
)  # fmt: skip
def test_an_administrative_court_annuls_wholly_or_in_part_also_over_the_end_of_a_line(orders: str, value: str) -> None:
    assert solution(ended(COUNCIL, "Article 1er : La requête", "Délibéré à l'issue", orders))[0] == value


@pytest.mark.parametrize("head", ["N° 498761, 498800", "Nos 498761 et 498800", "N° 498761\nN° 498800"])
def test_the_council_of_state_names_every_request_that_it_joins(head: str) -> None:
    found = [fact for fact in read(text_of(COUNCIL.replace("N° 498761", head))) if fact.kind == "case_number"]
    assert [fact.value for fact in found] == ["498761", "498800"]


def test_the_day_of_the_decision_that_is_rectified_puts_that_of_the_rectification_in_no_doubt() -> None:
    orders = "Rectifie l'erreur matérielle affectant l'arrêt rendu le 9 janvier 2022 ;\n\nLaisse les dépens au Trésor."
    words = f"{APPEAL[: APPEAL.index('CONFIRME le jugement')]}{orders}\n"
    (day,) = (fact for fact in read(text_of(words)) if fact.kind == "decision_date")
    assert day.value == "2023-03-21" and day.detail["confidence"] > 0.5
