"""Which sums a decision orders to be paid, on decisions that nobody ever rendered."""

from __future__ import annotations

import pytest
from sample_rulings import APPEAL, COUNCIL, social, text_of

from nodes.domain.case_law.reader import read


def test_amounts_tell_whether_they_are_ordered_and_whether_for_the_costs() -> None:
    stated = [fact for fact in read(text_of(social())) if fact.kind == "amount"]
    assert [(fact.value, fact.detail["ordered"], fact.detail["costs"]) for fact in stated] == [
        ("EUR 1250.50", True, False),
        ("EUR 3000", True, True),
        ("EUR 150", False, False),
    ]


def ordered(words: str) -> dict[str, bool]:
    """Sums of the operative part, and whether they are to be paid."""
    stated = [fact for fact in read(text_of(words)) if fact.kind == "amount" and fact.detail["zone"] == "operative"]
    return {fact.detail["amount"]: fact.detail["ordered"] for fact in stated}


def on_appeal(orders: str) -> str:
    begin, end = APPEAL.index("CONFIRME le jugement"), APPEAL.index("Prononcé par mise")
    return f"{APPEAL[:begin]}{orders}\n\n{APPEAL[end:]}"


@pytest.mark.parametrize(
    ("orders", "sums"),
    [
        (
            "CASSE ET ANNULE, mais seulement en ce qu'ils condamnent A à payer 18 000 euros, les arrêts rendus ;",
            {"18000": False},
        ),
        (
            "CASSE ET ANNULE, mais seulement en ce qu'il dit le licenciement nul et condamne A à payer 20 000 euros, "
            "4 632 euros et 463,20 euros, l'arrêt rendu le 4 mai 2021 ;",
            {"20000": False, "4632": False, "463.20": False},
        ),
        (
            "CASSE ET ANNULE, mais seulement en ce qu'il dit le licenciement nul et\ncondamne A à payer 18 000 euros, "
            "l'arrêt rendu ;",
            {"18000": False},
        ),
        (
            "CASSE ET ANNULE, en ce qu'il condamne A à payer 18 000 euros, l'arrêt rendu le 4 mai 2021. Condamne M. X "
            "aux dépens et à payer 3 000 euros ;",
            {"18000": False, "3000": True},
        ),
        (
            "CASSE ET ANNULE, en toutes ses dispositions, l'arrêt rendu ;\n\nCondamne M. X aux dépens et à payer "
            "3 000 euros ;",
            {"3000": True},
        ),
        ("REJETTE le pourvoi de A qui demandait 2 000 euros et la condamne à payer 3 000 euros ;",
         {"2000": False, "3000": True}),
    ],
)  # fmt: skip
def test_a_sum_of_the_decision_that_is_quashed_is_not_ordered_and_one_behind_it_is(
    orders: str, sums: dict[str, bool]
) -> None:
    assert ordered(social(solution="", orders=orders)) == sums


@pytest.mark.parametrize(
    ("orders", "sums"),
    [
        ("CONFIRME le jugement sauf en ce qu'il a condamné A à payer 12 000 euros ;", {"12000": False}),
        ("CONFIRME le jugement en ce qu'il a condamné A à payer 12 000 euros ;", {"12000": True}),
        ("CONFIRME le jugement en ce qu'il a débouté A de sa demande de 12 000 euros ;", {"12000": False}),
        ("CONFIRME le jugement sauf à porter à 15 000 euros la somme allouée ;", {"15000": True}),
        ("INFIRME le jugement en ce qu'il a condamné A à payer 12 000 euros ;", {"12000": False}),
        ("INFIRME le jugement en ce qu'il a dit la vente nulle, condamné A à payer 5 000 euros et débouté B de sa "
         "demande de 6 000 euros ;", {"5000": False, "6000": False}),
        ("INFIRME le jugement en ce qu'il a :\n- condamné A à payer 5 000 euros ;\n- débouté B de sa demande de "
         "6 000 euros ;\nStatuant à nouveau,\nCONDAMNE A à payer 7 000 euros ;",
         {"5000": False, "6000": False, "7000": True}),
        ("INFIRME le jugement sauf en ce qu'il a condamné A à payer 12 000 euros ;", {"12000": True}),
        ("infirme le jugement en ce qu'il a alloué 3 000 euros et condamne A à payer 4 000 euros ;",
         {"3000": False, "4000": True}),
        ("DIT n'y avoir lieu à condamner A à payer 1 500 euros ;", {"1500": False}),
        ("DÉBOUTE B de sa demande de 4 000 euros ;", {"4000": False}),
        ("REJETTE la demande de B tendant à voir condamner A à payer 3 000 euros ;", {"3000": False}),
        ("DÉCLARE irrecevable la demande de B en paiement de 5 000 euros ;", {"5000": False}),
        ("REJETTE la demande de 2 000 euros et condamne A à payer 3 000 euros ;", {"2000": False, "3000": True}),
        ("CONDAMNE A à payer 5 000 euros et déboute B de sa demande de 6 000 euros ;", {"5000": True, "6000": False}),
        ("ORDONNE la restitution de la somme de 4 000 euros ;", {"4000": True}),
        ("ORDONNE à A de rembourser 4 000 euros à B ;", {"4000": True}),
        ("ORDONNE la remise des clés sous astreinte de 50 euros par jour de retard ;", {"50": False}),
        ("CONDAMNE A à payer à B :\n\n- 3 000 euros au titre du préavis ;\n\n- 300 euros au titre des congés ;\n\n"
         "FIXE la moyenne des salaires à 2 100 euros ;", {"3000": True, "300": True, "2100": False}),
        ("FIXE la créance de B au passif à la somme de 8 000 euros ;", {"8000": True}),
        ("RAPPELLE que A a été condamnée à payer 5 000 euros ;", {"5000": False}),
        ("DIT que A devra payer à B la somme de 5 000 euros ;", {"5000": True}),
    ],
)  # fmt: skip
def test_on_appeal_a_sum_is_ordered_where_the_court_or_what_it_leaves_standing_says_so(
    orders: str, sums: dict[str, bool]
) -> None:
    assert ordered(on_appeal(orders)) == sums


def test_an_administrative_court_orders_what_it_puts_at_the_charge_of_a_party() -> None:
    articles = (
        "Article 1er : Le jugement est annulé en tant qu'il condamne l'Etat à verser 9 000 euros.\n\n"
        "Article 2 : L'Etat versera une somme de 3 000 euros à M. X.\n\n"
        "Article 3 : Une somme de 2 000 euros est mise à la charge de M. Y.\n\n"
        "Article 4 : Les conclusions tendant au versement de 1 000 euros sont rejetées.\n\n"
    )
    words = COUNCIL.replace("Article 1er : La requête de l'association des rives du Loir est rejetée.\n\n", articles)
    assert ordered(words) == {"9000": False, "3000": True, "2000": True, "1000": False}


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("dix mille euros", "10000"),
        ("dix mille euros (10 000 euros)", "10000"),
        ("10.000 €", "10000"),
        ("10 000,50 euros", "10000.50"),
        ("1500.50 €", "1500.50"),
        ("vingt-cinq mille (25 000) euros", "25000"),
        ("deux mille trois cent quarante-cinq euros et soixante centimes", "2345.60"),
        ("un million deux cent mille euros", "1200000"),
        ("150 k€", "150000"),
        ("1,2 M€", "1200000"),
    ],
)
def test_a_sum_is_read_once_in_words_in_figures_and_in_both(written: str, amount: str) -> None:
    orders = (
        f"Infirme le jugement ;\n\nCONDAMNE la société A à payer à M. P la somme de {written} à titre de dommages ;"
    )
    assert ordered(on_appeal(orders)) == {amount: True}


def test_words_that_count_no_money_and_scales_without_a_number_are_no_sums() -> None:
    orders = "CONDAMNE la société A à payer plusieurs millions d'euros dans un délai de trois mois à M. P et à Mme Q ;"
    assert ordered(on_appeal(orders)) == {}
    sums = "la somme de 3 000 euros, une indemnité de 3 000 euros et deux, trois mille euros de plus"
    stated = [fact for fact in read(text_of(on_appeal(f"CONDAMNE A à payer {sums} ;"))) if fact.kind == "amount"]
    assert [fact.value for fact in stated] == ["EUR 3000"] * 3
