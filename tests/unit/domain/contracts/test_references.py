"""What documents say of one another: what an amendment deletes, whose it is, which annexes make up a contract."""

from __future__ import annotations

import pytest
from sample_families import (
    AMENDMENT,
    FRENCH_AMENDMENT,
    FRENCH_MASTER,
    MASTER,
    MASTER_CLAUSES,
    found_in,
    member_of,
    text_of,
)

from nodes.domain.contracts.families.families import Families, families
from nodes.domain.contracts.families.overrides import find_overrides, numbering
from nodes.domain.contracts.reader import read
from nodes.domain.scoring.absence import counts_as_present

HEAD = (
    "Amendment No. 1\nThis Amendment is made on 12 September 2024 and amends the Services Agreement of 1 March 2023.\n"
)
TETE = "Avenant n° 1\nau contrat-cadre d'approvisionnement du 12 juin 2023\n"


def changes_in(text: str, language: str = "en") -> list[tuple[str, str, bool]]:
    """(articles, action, whole) of each change that an amendment of these words states."""
    given = text_of((HEAD if language == "en" else TETE) + text, language)
    facts = [fact for fact in read(given, []) if fact.kind == "replaces"]
    return [(", ".join(fact.detail["articles"]), fact.detail["action"], fact.detail["whole"]) for fact in facts]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Clause 4 is deleted in its entirety.", ("4", "delete", True)),
        ("Clauses 3.1 and 5.1 are deleted in their entirety.", ("3.1, 5.1", "delete", True)),
        ("Section 4 is hereby deleted in its entirety without replacement.", ("4", "delete", True)),
        ("Clause 4 is deleted and shall not be replaced.", ("4", "delete", True)),
        ("Clause 4 is deleted and intentionally left blank.", ("4", "delete", True)),
        ("The parties agree to delete clause 4 in its entirety.", ("4", "delete", True)),
        ("Clause 4 is hereby deleted and replaced with the following:", ("4", "replace", True)),
        ("Clause 4 is deleted in its entirety and replaced as set out in the annex.", ("4", "replace", True)),
        ("Clause 4 is deleted in its entirety and the following is inserted in its place:", ("4", "replace", True)),
        ("Clause 4 is deleted in its entirety and substituted by clause 4 below.", ("4", "replace", True)),
        ("Clause 4 is amended in its entirety to read as follows:", ("4", "replace", True)),
        ("Clause 4 is amended and restated in its entirety.", ("4", "replace", True)),
        ("In clause 4 the words “in its entirety” are deleted.", ("4", "change", False)),
    ],
)  # fmt: skip
def test_an_article_is_deleted_unless_something_is_put_in_its_place(
    sentence: str, expected: tuple[str, str, bool]
) -> None:
    assert changes_in(sentence) == [expected]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("L'article 4 est abrogé.", ("4", "delete", True)),
        ("L'article 4 est supprimé dans son intégralité.", ("4", "delete", True)),
        ("L'article 4 est purement et simplement supprimé.", ("4", "delete", True)),
        ("L'article 4 est supprimé sans être remplacé.", ("4", "delete", True)),
        ("L'article 4 est supprimé et n'est pas remplacé.", ("4", "delete", True)),
        ("Les articles 4 et 5.2 sont supprimés.", ("4, 5.2", "delete", True)),
        ("Les parties conviennent de supprimer l'article 4 du contrat.", ("4", "delete", True)),
        ("L'article 4 est supprimé et remplacé par les stipulations suivantes :", ("4", "replace", True)),
        ("L'article 4 est abrogé et remplacé par l'annexe 2.", ("4", "replace", True)),
        ("L'article 4 est modifié dans son intégralité comme suit :", ("4", "replace", True)),
        ("L'article 4 est modifié.", ("4", "change", False)),
    ],
)  # fmt: skip
def test_a_french_article_is_deleted_unless_something_is_put_in_its_place(
    sentence: str, expected: tuple[str, str, bool]
) -> None:
    assert changes_in(sentence, "fr") == [expected]


def over_by(*sentences: str) -> dict[str, tuple[str, str, bool, bool]]:
    """Clause type → (by, action, certain, does it still count) of the master's clauses, an amendment a sentence."""
    members = [member_of("m.pdf", MASTER)]
    for number, sentence in enumerate(sentences, 1):
        text = AMENDMENT.partition("1. Clause")[0].replace("No. 1", f"No. {number}")
        members.append(member_of(f"{number}.pdf", text + sentence, ordinal=number))
    related = families(members)
    findings = {one.finding_id: one for one in found_in("m.pdf", MASTER, **MASTER_CLAUSES)}
    marks = dict(find_overrides(list(findings.values()), related, {"m.pdf": numbering(MASTER)}))
    return {
        findings[key].clause_type: (
            over["by"], over["action"], over["certain"], counts_as_present(findings[key].with_(overridden=over))
        )
        for key, over in marks.items()
    }  # fmt: skip


def test_a_clause_that_is_deleted_in_its_entirety_no_longer_counts_and_one_that_is_replaced_does() -> None:
    found = over_by("1. Clause 4 is deleted in its entirety.\n2. Clause 2.1 is deleted and replaced by the annex.\n")
    assert found == {
        "exclusivity": ("1.pdf", "delete", True, False),
        "cap_on_liability": ("1.pdf", "replace", True, True),
    }


def test_what_one_amendment_deleted_does_not_come_back_because_a_later_one_names_a_word_of_it() -> None:
    found = over_by("1. Clause 4.1 is deleted.\n", "1. In clause 4.1 the word “only” is replaced by “mainly”.\n")
    assert found == {"exclusivity": ("1.pdf", "delete", True, False)}
    found = over_by("1. Clause 4.1 is deleted.\n", "1. Clause 4.1 is replaced by the following: “4.1 None.”\n")
    assert found == {"exclusivity": ("2.pdf", "replace", True, True)}


UNDATED = "Services Agreement\nThis Services Agreement is made on 3 March 2021 between Acme Ltd and Meridian SA.\n"
OWN = 'made on 2 February 2022 between Acme Ltd (the "Supplier") and Meridian SA (the "Customer")'


@pytest.mark.parametrize(
    "text",
    [
        f"AMENDMENT No. 1 TO THE SERVICES AGREEMENT\n\nThis Amendment is {OWN} and amends the Services Agreement "
        "dated 3 March 2021.\n",
        f"AMENDMENT No. 1 TO THE SERVICES AGREEMENT\nThis Amendment is {OWN} and amends the Services Agreement dated 3 "
        "March 2021.\n",
        f"Amendment No. 1\nThis Amendment is {OWN}.\nThe Services Agreement of 3 March 2021 is amended as follows:\n",
        "Amendment No. 1\n\nto the Services Agreement\n\ndated 3 March 2021\n",
        "Amendment No. 2 to the Services Agreement dated 3 March 2021, as amended by Amendment No. 1 of 10 May 2022\n",
        'First Amendment to the Services Agreement\nThis First Amendment to the Services Agreement (the "Amendment") '
        "is entered into as of 2 February 2022 and amends the Services Agreement between Acme Ltd and Meridian SA "
        "dated as of 3 March 2021.\n",
        "Order Form No. 7\nunder the Services Agreement of 3 March 2021 between Acme Ltd and Meridian SA\n",
    ],
)  # fmt: skip
def test_a_part_names_its_agreement_by_the_date_of_that_agreement_and_not_by_its_own(text: str) -> None:
    related = families([member_of("m.pdf", UNDATED), member_of("a.pdf", text, ordinal=1)])
    assert (related.main_agreements, related.findings) == ({"a.pdf": ("m.pdf", True)}, ())
    assert related.members["a.pdf"].parent["date"] == "2021-03-03"
    assert "2021-03-03" not in related.members["a.pdf"].dates


@pytest.mark.parametrize(
    "named",
    [
        "à la convention de services du 12 juin 2023",
        "à la convention de services conclue le 12 juin 2023",
        "La convention de services du 12 juin 2023 est modifiée comme suit.",
        "à la convention de services du 12 juin 2023, telle que modifiée par l'avenant du 4 mai 2024",
    ],
)
def test_a_french_amendment_names_its_agreement_in_either_gender(named: str) -> None:
    master = FRENCH_MASTER.replace("Contrat-cadre d'approvisionnement", "Convention de services")
    members = [
        member_of("c.pdf", master, language="fr"),
        member_of("a.pdf", f"Avenant n° 2\n{named}\nFait à Lyon, le 3 avril 2025.\n", ordinal=1, language="fr"),
    ]
    assert families(members).main_agreements == {"a.pdf": ("c.pdf", True)}


def test_the_day_on_which_an_agreement_takes_effect_does_not_make_it_another_one() -> None:
    unsigned = FRENCH_MASTER.partition("Fait à Nantes")[0] + "Il prend effet le 1er juillet 2023.\n"
    master = member_of("c.pdf", unsigned, language="fr")
    assert master.dates == {"2023-07-01"}
    amendment = member_of("a.pdf", FRENCH_AMENDMENT, ordinal=1, language="fr")
    assert families([master, amendment]).main_agreements == {"a.pdf": ("c.pdf", False)}
    other = member_of("c.pdf", FRENCH_MASTER.replace("12 juin", "13 juin"), language="fr")
    assert [finding.clause_type for finding in families([other, amendment]).findings] == ["missing_master"]
    by_effect = FRENCH_AMENDMENT.replace("du 12 juin 2023", "du 1er juillet 2023")
    assert families([master, member_of("a.pdf", by_effect, ordinal=1, language="fr")]).main_agreements["a.pdf"][1]


def test_a_title_that_is_named_without_a_date_is_enough_to_look_for_the_agreement_but_not_to_be_sure() -> None:
    text = f"AMENDMENT No. 1 TO THE SERVICES AGREEMENT\n\nThis Amendment is {OWN}.\n"
    amendment = member_of("a.pdf", text, ordinal=1)
    assert families([member_of("m.pdf", UNDATED), amendment]).main_agreements == {"a.pdf": ("m.pdf", False)}
    lease = UNDATED.replace("Services Agreement", "Office Lease")
    assert [finding.clause_type for finding in families([member_of("m.pdf", lease), amendment]).findings] == [
        "missing_master"
    ]


DECISION = """COUR DE CASSATION
AU NOM DU PEUPLE FRANÇAIS
La société Verdelis a formé le pourvoi contre l'arrêt rendu par la cour d'appel de Metz.
2. L'unité économique, selon un avenant du 5 novembre 2019, est composée de deux associations
et de la société Verdelis. L'article 4 est supprimé. Les pièces sont jointes en annexe 2.
"""


def test_neither_a_decision_that_speaks_of_an_amendment_nor_prose_is_an_amendment() -> None:
    assert families([member_of("arrêt.pdf", DECISION, language="fr")]).findings == ()
    prose = DECISION.replace("AU NOM DU PEUPLE FRANÇAIS\n", "").replace("COUR DE CASSATION\n", "")
    assert member_of("x.pdf", prose, language="fr").form != "amendment"
    for title in ("Avenant n° 2 au contrat de bail", "Contrat de bail – Avenant n° 2", "ACME – AMENDMENT NO. 2"):
        assert member_of("a.pdf", title + "\n").form == "amendment"


def missing(text: str, *others: tuple[str, str], language: str = "en") -> list[str]:
    """Values of what a contract names and nobody gave."""
    members = [member_of("room/m.pdf", text, language=language)]
    members += [member_of(name, other, ordinal=place) for place, (name, other) in enumerate(others, 1)]
    found: Families = families(members)
    assert {finding.clause_type for finding in found.findings} <= {"missing_annex"} and all(
        finding.spans for finding in found.findings
    )
    return [finding.reasons[0] for finding in found.findings]


NAMED = """Framework Agreement
This Framework Agreement is made on 3 March 2021 between Acme Ltd (the "Supplier") and Meridian SA (the "Customer").
1. Documents
1.1 The following documents form part of this Agreement: Schedule 1 (Services), Schedule 2 (Prices), Schedule 3
(Service Levels) and Annex B (Data Processing).
1.2 The prices are set out in Schedule 2. The service levels set out in Schedule 3 apply. The Supplier's General Terms
and Conditions of Sale (version 2020) apply.

SCHEDULE 1
SERVICES
The Supplier hosts the applications of the Customer.
"""


def test_what_makes_up_a_contract_and_is_nowhere_is_missing() -> None:
    levels = ("room/Schedule 3 - Service Levels.txt", "SCHEDULE 3 - SERVICE LEVELS\nAvailability 99.5 % a month.\n")
    assert missing(NAMED, levels) == [
        "Schedule 2 is named and is not there",
        "Annex B is named and is not there",
        "General Terms and Conditions of Sale (version 2020) is named and is not there",
    ]
    terms = ("room/terms.pdf", "General Terms and Conditions of Sale\nThe following terms apply to each order.\n")
    assert missing(NAMED, levels, terms)[2:] == []
    below = ("room/Annexes/Annex B.pdf", "Processing of data\n")
    assert missing(NAMED, levels, terms, below) == ["Schedule 2 is named and is not there"]
    rest = ("room/Schedules 2 to 4.pdf", "Prices of the services\n")
    assert missing(NAMED, terms, rest) == ["Annex B is named and is not there"]


FRENCH_NAMED = """Contrat de services
Les documents suivants font partie intégrante du contrat :
- le présent document ;
- l'annexe 1 « Prestations » ;
- l'annexe 2 « Prix » ;
- les Conditions Générales (version 2020).
Article 2 – Prix
Les prix figurent à l'annexe 2. Les données sont traitées conformément à l'annexe 3.

ANNEXE 1
Prestations
Le Prestataire héberge les applications.
"""


def test_a_french_list_of_the_documents_of_a_contract_is_read_over_its_lines() -> None:
    assert missing(FRENCH_NAMED, language="fr") == [
        "annexe 2 is named and is not there",
        "Conditions Générales (version 2020) is named and is not there",
        "annexe 3 is named and is not there",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "Table of contents\nSchedule 2 Prices ........ 12\nSchedule 3 Service Levels ........ 14\n",
        "Taxes are computed as set out in Schedule 2 of the Finance Act 2020.",
        "Data are protected as described in Annex II of Regulation (EU) 2016/679.",
        "Les seuils sont définis à l'annexe 2 du code de la commande publique.",
        "A change is made in the form set out in Schedule 4, if any.",
        "The general terms and conditions of the Customer (version 2020) do not apply.",
        "Les conditions générales d'achat du Client (version 2020) sont exclues.",
        "The Supplier may publish general terms and conditions.",
        "Services that are in the scope of Schedule 2 of the Master Agreement are set out there.",
    ],
)
def test_neither_a_list_of_contents_nor_the_schedule_of_a_law_is_a_missing_annex(sentence: str) -> None:
    contract = MASTER + f"5. Miscellaneous\n5.1 {sentence}\n"
    assert missing(contract, language="fr" if " du " in sentence else "en") == []


def test_a_list_of_the_annexes_at_the_end_is_not_the_annexes() -> None:
    text = MASTER + "5. Prices\n5.1 The prices are set out in Schedule 2.\n\nSchedules:\nSchedule 1 – Services\n"
    assert missing(text + "Schedule 2 – Prices\n") == ["Schedule 2 is named and is not there"]
    assert (
        missing(text + "Schedule 2 – Prices\n\nSchedule 1 – Services\nHosting.\n\nSchedule 2 – Prices\nEUR 10.\n") == []
    )


def test_an_amendment_or_order_that_names_a_schedule_of_its_agreement_misses_none() -> None:
    amendment = AMENDMENT + "4. The prices set out in Schedule 2 are increased by 3 %.\n"
    found = families([member_of("m.pdf", MASTER), member_of("a.pdf", amendment, ordinal=1)])
    assert found.findings == ()
