"""What is read from a court decision, on decisions that nobody ever rendered."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sample_rulings import APPEAL, COUNCIL, EXHIBITS, QUASHED, social, text_of

from nodes.domain.case_law.head.dates import date_at
from nodes.domain.case_law.reader import TYPES, clauses, read
from nodes.domain.contracts.reader import read as read_as_contract
from nodes.domain.evidence.facts import Proposal


def values(words: str, kind: str, /, **detail: object) -> list[str]:
    return [
        fact.value
        for fact in read(text_of(words))
        if fact.kind == kind and all(fact.detail.get(key) == value for key, value in detail.items())
    ]


def the(stated: Sequence[Proposal], kind: str) -> Proposal:
    return next(fact for fact in stated if fact.kind == kind)


def test_the_head_of_a_judgement_gives_number_court_chamber_formation_date_and_solution() -> None:
    stated = read(text_of(social()))
    assert the(stated, "case_number").value == "21-18.442"
    assert the(stated, "case_number").quote == "Pourvoi n° F 21-18.442"
    assert the(stated, "court").value == "Cour de cassation"
    assert the(stated, "chamber").value == "Chambre sociale"
    assert the(stated, "formation").value == "Formation de section"
    assert the(stated, "formation").detail == {"mark": "FS-B", "publication": "B"}
    assert the(stated, "decision_date").value == "2022-03-14"
    assert the(stated, "solution").value == "Cassation partielle sans renvoi"
    assert the(stated, "solution").detail["category"] == "Cassation"


def test_every_quote_is_a_slice_of_the_text_at_the_offset_that_it_names() -> None:
    for words in (social(), APPEAL, COUNCIL):
        for fact in read(text_of(words)):
            assert fact.start is not None and words[fact.start : fact.start + len(fact.quote)] == fact.quote


def test_the_chamber_is_that_of_the_court_not_that_of_the_court_below() -> None:
    words = social().replace("4e chambre sociale", "chambre commerciale")
    assert values(words, "chamber") == ["Chambre sociale"]


def test_several_joined_cases_are_all_named_the_first_of_the_head_first() -> None:
    words = social().replace("Pourvoi n° F 21-18.442", "Pourvois n°\nF 21-18.442\nB 21-18.500 JONCTION", 1)
    assert values(words, "case_number", kind="pourvoi") == ["21-18.442", "21-18.500"]


@pytest.mark.parametrize("written", ["Pourvoin°F21-18.442", "Pourvoi n° F 21-18. 442", "POURVOI N°F 21-18 442"])
def test_a_number_is_read_from_what_a_scan_makes_of_its_spaces(written: str) -> None:
    words = social().replace("Pourvoi n° F 21-18.442", written, 1)
    assert values(words, "case_number", kind="pourvoi") == ["21-18.442"]


def test_a_number_that_head_and_formula_give_differently_is_not_sure() -> None:
    sure, unsure = read(text_of(social())), read(text_of(social().replace("F 21-18.442 contre", "F 21-18.443 contre")))
    assert the(sure, "case_number").detail["confidence"] > 0.9
    assert the(unsure, "case_number").detail["confidence"] < 0.5


def test_two_dates_that_disagree_make_the_date_unsure_and_the_third_place_decides() -> None:
    two = social(spelt="douze").replace("DU 14 MARS 2022", "DU 15 MARS 2022")
    assert the(read(text_of(two)), "decision_date").detail["confidence"] < 0.5
    third = the(read(text_of(social(spelt="douze"))), "decision_date")
    assert third.value == "2022-03-14" and third.detail["confidence"] < 0.5


def test_without_any_number_or_date_nothing_is_made_up() -> None:
    words = "COUR DE CASSATION\n\nNOTE\n\nLa chambre sociale se réunira."
    kinds = {fact.kind for fact in read(text_of(words))}
    assert not kinds & {"case_number", "decision_date", "solution"}


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("le vingt-quatre janvier deux mille dix-huit", "2018-01-24"),
        ("du premier juin deux mille vingt et un", "2021-06-01"),
        ("ler avril 2020", "2020-04-01"),
        ("mardi 15 fevrier 2022", "2022-02-15"),
        ("le 04/04/2016", "2016-04-04"),
        ("le trente mars mil neuf cent quatre-vingt-dix-huit", "1998-03-30"),
    ],
)
def test_a_date_is_read_in_figures_in_words_and_as_a_scan_shows_it(written: str, iso: str) -> None:
    found = date_at(written, 0, len(written))
    assert found is not None and found[0].isoformat() == iso


def test_a_day_that_does_not_exist_is_no_date() -> None:
    assert date_at("le 31 fevrier 2022", 0, 18) is None


def test_a_court_of_appeal_gives_its_own_register_number_not_that_of_the_judgement_below() -> None:
    stated = read(text_of(APPEAL))
    assert the(stated, "case_number").value == "21/01987" and the(stated, "case_number").detail["kind"] == "rg"
    assert the(stated, "court").value == "Cour d'appel de Nantua"
    assert the(stated, "chamber").value == "2ème chambre civile"
    assert the(stated, "decision_date").value == "2023-03-21"
    assert the(stated, "solution").value == "Confirmation partielle"
    assert [(fact.value, fact.detail["role"]) for fact in stated if fact.kind == "party"] == [
        ("S.A.R.L. LES RUCHERS DU BUGEY", "appelant"),
        ("Monsieur [K] [P]", "intimé"),
    ]


def test_the_council_of_state_gives_the_day_of_its_decision_not_that_of_its_session() -> None:
    stated = read(text_of(COUNCIL))
    assert the(stated, "court").value == "Conseil d'État"
    assert the(stated, "case_number").value == "498761"
    assert the(stated, "decision_date").value == "2024-03-14"
    assert the(stated, "solution").value == "Rejet"


def test_the_criminal_chamber_names_its_case_without_a_label() -> None:
    words = (
        "N° V 21-83.146 F-B\n\nN° 00532\n\n11 MAI 2022\n\nCASSATION PARTIELLE\n\nAU NOM DU PEUPLE FRANÇAIS\n\n"
        "ARRÊT DE LA COUR DE CASSATION, CHAMBRE CRIMINELLE,\nDU 11 MAI 2022\n\nM. [X] a formé un pourvoi contre "
        "l'arrêt n° 123 de la cour d'appel de Douai, 6e chambre, en date du 12 avril 2021.\n\nPAR CES MOTIFS, la Cour :"
        "\n\nCASSE et ANNULE l'arrêt susvisé de la cour d'appel de Douai, mais en ses seules dispositions pénales ;"
    )
    stated = read(text_of(words))
    assert the(stated, "case_number").value == "21-83.146"
    assert the(stated, "chamber").value == "Chambre criminelle"
    assert the(stated, "decision_date").value == "2022-05-11"
    assert the(stated, "solution").value == "Cassation partielle"


@pytest.mark.parametrize(
    ("orders", "value", "category"),
    [
        ("REJETTE le pourvoi ;", "Rejet", "Rejet"),
        ("CASSE ET ANNULE, en toutes ses dispositions, l'arrêt rendu ;", "Cassation", "Cassation"),
        ("DIT n'y avoir lieu de statuer sur le pourvoi ;", "Non-lieu à statuer", "Non-lieu à statuer"),
        ("DÉCLARE irrecevable le pourvoi ;", "Irrecevabilité", "Irrecevabilité"),
        ("DONNE ACTE à la société du désistement de son pourvoi ;", "Désistement", "Désistement"),
        ("DIT N'Y AVOIR LIEU DE RENVOYER au Conseil constitutionnel la question ;", "Non-lieu à renvoi", "QPC autres"),
        ("RENVOIE au Conseil constitutionnel la question prioritaire ;", "Renvoi", "QPC renvoi"),
    ],
)
def test_a_solution_that_the_head_does_not_state_follows_from_the_orders(
    orders: str, value: str, category: str
) -> None:
    found = the(read(text_of(social(solution="", orders=orders))), "solution")
    assert (found.value, found.detail["category"]) == (value, category)


def test_a_solution_that_no_order_bears_out_is_not_sure() -> None:
    found = the(read(text_of(social(solution="Rejet", orders=QUASHED))), "solution")
    assert found.detail["confidence"] < 0.5


def test_articles_of_a_list_keep_their_code_over_the_wording_that_applies() -> None:
    assert values(social(), "statute", role="visa") == [
        "article L. 1221-1 du code du travail",
        "article L. 3242-1 du code du travail",
        "article 1103 du code civil",
    ]
    assert values(social(), "statute", role="version") == ["loi n° 2008-789 du 20 août 2008"]


@pytest.mark.parametrize(
    ("written", "values_"),
    [
        ("l'article 1er de la loi du 29 juillet 1881", ["article 1er de la loi du 29 juillet 1881"]),
        ("l'article 1382, devenu 1240, du code civil", ["article 1382 du code civil", "article 1240 du code civil"]),
        (
            "les articles 1, § 2, et 5 de la directive 2002/14/CE",
            ["article 1 de la directive 2002/14/CE", "article 5 de la directive 2002/14/CE"],
        ),
        (
            "les articles L. 2314-1, alinéa 2, et R. 2314-3 du code du travail et 455 du code de procédure civile",
            [
                "article L. 2314-1 du code du travail",
                "article R. 2314-3 du code du travail",
                "article 455 du code de procédure civile",
            ],
        ),
        (
            "les articles 8 du code civil et 9 du même code",
            ["article 8 du code civil", "article 9 du code civil"],
        ),
    ],
)
def test_a_citation_names_each_article_with_its_text(written: str, values_: list[str]) -> None:
    words = social().replace("la prime figurait au contrat.", f"{written} s'appliquent.")
    found = values(words, "statute", role="cited", zone="reasons")
    assert [one for one in found if one in values_] == values_


def test_what_only_the_annexed_grounds_cite_is_marked_so() -> None:
    assert values(social(), "statute", zone="annex") == [
        "article L. 9999-1 du code du travail",
        "article 455 du code de procédure civile",
    ]


def test_a_line_that_goes_on_with_annexed_does_not_end_the_decision() -> None:
    assert "moyen unique de cassation\nannexé au présent arrêt" in social()
    assert values(social(), "summary_scope")[-1] == "DIT n'y avoir lieu à renvoi"


def test_parties_are_named_as_written_each_on_its_side() -> None:
    stated = [fact for fact in read(text_of(social())) if fact.kind == "party"]
    assert [(fact.value, fact.detail["role"]) for fact in stated] == [
        ("La société Tuilerie du Causse", "demandeur"),
        ("M. [V] [R]", "défendeur"),
        ("syndicat Terre cuite du Quercy", "défendeur"),
    ]


JOINED = (
    social()
    .replace("Pourvoi n° F 21-18.442", "Pourvois n° F 21-18.442\nB 21-18.500\net C 21-18.501 JONCTION", 1)
    .replace("a formé le pourvoi n° F 21-18.442 contre l'arrêt rendu",
             "a formé les pourvois n° F 21-18.442, B 21-18.500 et C 21-18.501 contre trois arrêts rendus")
    .replace("dans le litige l'opposant :", "dans les litiges l'opposant respectivement :")
)  # fmt: skip


def test_the_parties_of_joined_cases_are_named_also_where_it_says_respectively() -> None:
    stated = [fact for fact in read(text_of(JOINED)) if fact.kind == "party"]
    assert [(fact.value, fact.detail["role"]) for fact in stated] == [
        ("La société Tuilerie du Causse", "demandeur"),
        ("M. [V] [R]", "défendeur"),
        ("syndicat Terre cuite du Quercy", "défendeur"),
    ]
    assert values(JOINED, "attacked_decision") == ["trois arrêts rendus le 4 mai 2021 par la cour d'appel de Toulouse"]


def test_that_cases_are_joined_is_no_fact_of_them() -> None:
    line = "1. En raison de leur connexité, les pourvois n° 21-18.442 et 21-18.500 sont joints.\n\n2. Selon l'arrêt"
    assert values(JOINED.replace("1. Selon l'arrêt", line), "summary_facts")[0].startswith("Selon l'arrêt attaqué")


TOLD = COUNCIL.replace(
    "Par une requête, enregistrée",
    "L'association a demandé au tribunal de Tours d'annuler un arrêté. Par un jugement n° 2201 du 7 mars 2022, le "
    "tribunal a rejeté sa demande.\n\nPar une requête, enregistrée",
).replace(
    "Considérant ce qui suit :",
    "Vu les autres pièces du dossier ;\n\nVu :\n- le code de l'environnement ;\n- le code de justice "
    "administrative ;\n\nAprès avoir entendu en séance publique :\n\n- le rapport de Mme Une,\n\n- les conclusions "
    "de M. Deux ;\n\nConsidérant ce qui suit :",
)


def test_what_an_administrative_court_has_read_and_heard_is_no_part_of_the_facts() -> None:
    told = [*values(TOLD, "summary_facts"), *values(TOLD, "summary_procedure")]
    assert told == [
        "L'association a demandé au tribunal de Tours d'annuler un arrêté.",
        "Par un jugement n° 2201 du 7 mars 2022, le tribunal a rejeté sa demande.",
        "Par une requête, enregistrée le 2 mai 2023, l'association demande l'annulation du décret n° 2023-11 du "
        "6 janvier 2023.",
    ]


def test_the_judgement_that_an_administrative_court_tells_of_puts_its_own_date_in_no_doubt() -> None:
    day = the(read(text_of(TOLD.replace("Décision du 14", "Lecture du 14"))), "decision_date")
    assert day.value == "2024-03-14" and day.detail["confidence"] > 0.8


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        (EXHIBITS, "BORDEREAU DE PIÈCES COMMUNIQUÉES"),
        ("Pièce n° 12 : attestation\nN° RG 21/01987\n", "Pièce n° 12 : attestation"),
        ("ANNEXE 2\n\nPlan du four, n° RG 21/01987\n", "ANNEXE 2"),
    ],
)
def test_a_list_of_exhibits_an_exhibit_and_an_annex_say_that_they_are_attached(words: str, heading: str) -> None:
    assert values(words, "attachment") == [heading]


def test_no_decision_says_so_whatever_it_carries() -> None:
    assert [values(words, "attachment") for words in (social(), APPEAL, COUNCIL)] == [[], [], []]
    assert values(APPEAL.replace("2ème chambre civile", "ANNEXE 2\n\nBORDEREAU DE PIÈCES"), "attachment") == []
    unread = "COUR D'APPEL DE NANTUA\nN° RG 21/01987\nAU NOM DU PEUPLE FRANÇAIS\n\nANNEXE 1\n"
    assert values(unread, "attachment") == []


@pytest.mark.parametrize("words", [social(), APPEAL])
def test_a_decision_that_tells_of_an_amendment_is_none(words: str) -> None:
    for line in ("Selon un avenant du 5 novembre 2019", "Les parties ont signé un avenant au contrat du 5 mars 2019"):
        told = words.replace("Faits et procédure\n", f"Faits et procédure\n\n{line}\n")
        told = told.replace("FAITS ET PROCÉDURE\n", f"FAITS ET PROCÉDURE\n\n{line}\n")
        assert line in told and "title" not in {fact.kind for fact in read_as_contract(text_of(told), [])}
    # The same line in front of an agreement is its title.
    assert "title" in {fact.kind for fact in read_as_contract(text_of(f"Un avenant au contrat\n\n{line}\n"), [])}


def test_the_summary_has_the_five_parts_each_in_the_words_of_the_decision() -> None:
    stated = [fact for fact in read(text_of(social())) if fact.kind.startswith("summary_")]
    by_part = {fact.kind.removeprefix("summary_"): fact.value for fact in reversed(stated)}
    assert by_part["facts"].startswith("Selon l'arrêt attaqué (Toulouse, 4 mai 2021), M. [R] a été engagé")
    assert by_part["procedure"].startswith("Licencié le 9 octobre 2018, il a saisi")
    assert by_part["question"].endswith("à payer au salarié un rappel de prime")
    assert by_part["answer"].startswith("Il résulte de ces textes que l'employeur qui dénonce un usage")
    assert by_part["scope"].startswith("CASSE ET ANNULE, mais seulement")
    # What the court below held is no answer of the court.
    assert not any("la prime figurait au contrat" in fact.value for fact in stated)


def test_the_clauses_of_a_playbook_follow_from_the_facts_and_only_those_it_names() -> None:
    stated = read(text_of(social()))
    found = clauses(stated, sorted(TYPES))
    assert {clause.clause_type for clause in found} == TYPES
    assert {clause.clause_type for clause in clauses(stated, ["costs"])} == {"costs"}
    number = next(clause for clause in found if clause.clause_type == "case_number")
    assert number.quote == "Pourvoi n° F 21-18.442" and number.confidence > 0.9


@pytest.mark.parametrize("junk", [" " * 200_000, "\n" * 200_000, "1 " * 50_000, "d'une part, d'autre part, " * 5_000])
def test_what_fills_a_document_with_one_thing_does_not_hold_up_the_rules(junk: str) -> None:
    # The limit is the child's; a rule that tries every pair of blanks would take hours for this.
    words = f"COUR DE CASSATION\nAudience publique du 1er mars 2022\nPourvoi n° A 20-10.001\n{junk}"
    assert the(read(text_of(words)), "case_number").value == "20-10.001"


def test_an_article_of_an_agreement_is_not_given_to_a_code() -> None:
    words = social().replace(
        "la prime figurait au contrat.", "l'article 7.3.4 du règlement intérieur et l'article L. 1-2."
    )
    found = values(words, "statute", zone="reasons", role="cited")
    assert found == ["article L. 1-2 du code du travail"]


def test_initials_that_stand_for_names_keep_their_dots() -> None:
    words = social().replace("M. [V] [R], domicilié", "M. Jean Z..., domicilié")
    assert "M. Jean Z..." in values(words, "party")


def test_a_judgement_that_names_the_court_of_appeal_above_it_is_of_the_tribunal() -> None:
    words = (
        "COUR D'APPEL DE ROUEN\n\nTRIBUNAL JUDICIAIRE DE ROUEN\n\nRéférés\n\nN° RG 24/00954 - N° Portalis "
        "DB2W-W-B7I-MZZZ\n\nORDONNANCE DU 12 Décembre 2024\n\nDEMANDEUR\nM. [X]\n"
    )
    assert values(words, "court") == ["Tribunal judiciaire de Rouen"]
    assert values(words, "case_number", kind="rg") == ["24/00954"]
    assert values(words, "decision_date") == ["2024-12-12"]
