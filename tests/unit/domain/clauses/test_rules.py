"""Sentences keep their offsets; rules find clauses verbatim, in bounds, and quickly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paths import DATA, PLAYBOOKS
from sample_clauses import ENGLISH, document
from shared_data import needs_shared

from nodes.domain.clauses.local_engine import find_clauses
from nodes.domain.clauses.rules import find_by_rules, is_denial, load_rules, rules_sha256
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.text.normalise import simplify
from nodes.domain.text.sentences import sentences

SHIPPED = PLAYBOOKS / "due-diligence.toml"
TYPES = parse_playbook(SHIPPED.read_text(encoding="utf-8"), "due-diligence").types


def split(text: str, furniture: tuple[tuple[int, int], ...] = ()) -> list[str]:
    return [text[s.start : s.end] for s in sentences(document(text, furniture=furniture))]


@given(st.text(alphabet="aA bB.;:\n\f1(é)« Inc", max_size=300))
@settings(max_examples=300, deadline=None)
def test_sentences_are_in_order_disjoint_trimmed_and_lose_no_letter_but_headings(text: str) -> None:
    found = sentences(document(text))
    ends = [0, *(s.end for s in found)]
    assert all(end <= s.start < s.end for end, s in zip(ends, found, strict=False))
    assert all(text[s.start : s.end] == text[s.start : s.end].strip() for s in found)


def test_abbreviations_numbers_and_initials_do_not_end_a_sentence() -> None:
    text = (
        "Acme, Inc. and M. Dupont of Orange S.A. signed, i.e. both agreed under Art. 9 and No. 5. "
        "It cost 1.5 million, see Section 12.3 of it. The rest follows."
    )
    assert split(text) == [
        "Acme, Inc. and M. Dupont of Orange S.A. signed, i.e. both agreed under Art. 9 and No. 5.",
        "It cost 1.5 million, see Section 12.3 of it.",
        "The rest follows.",
    ]


def test_hard_line_breaks_and_page_breaks_within_a_sentence_do_not_end_it() -> None:
    text = "The Supplier shall\nmaintain insurance of\f five million euros. The\n\nend is near."
    assert split(text) == ["The Supplier shall\nmaintain insurance of\f five million euros.", "The\n\nend is near."]


def test_a_sentence_goes_on_behind_a_page_header() -> None:
    text = "The Supplier shall keep\nACME Confidential\fPage 2\nrecords of all work. Next one."
    marks = tuple((text.index(line), text.index(line) + len(line)) for line in ("ACME Confidential", "Page 2"))
    assert split(text, marks)[1:] == ["Next one."]
    assert split(text, marks)[0].endswith("records of all work.")


def test_each_sentence_knows_its_heading_and_its_article() -> None:
    text = (
        "ARTICLE 9 – RESPONSABILITÉ\n\nLe Prestataire répond de ses fautes.\n\n"
        "12. LIABILITY\n12.3 Limitation of Liability. In no event is it more. It is less.\n"
        "12.4 Insurance. The Supplier shall be insured.\n"
    )
    found = [(text[s.start : s.end], s.heading, s.article) for s in sentences(document(text))]
    assert found == [
        ("Le Prestataire répond de ses fautes.", "ARTICLE 9 – RESPONSABILITÉ", "ARTICLE 9 – RESPONSABILITÉ"),
        ("In no event is it more.", "12.3 Limitation of Liability.", "12. LIABILITY"),
        ("It is less.", "12.3 Limitation of Liability.", "12. LIABILITY"),
        ("The Supplier shall be insured.", "12.4 Insurance.", "12. LIABILITY"),
    ]


def test_a_clause_in_capitals_is_no_heading() -> None:
    text = "IN NO EVENT SHALL EITHER PARTY BE LIABLE FOR ANY\nINDIRECT OR CONSEQUENTIAL DAMAGES."
    assert split(text) == [text]


def test_both_languages_have_rules_for_every_type_of_the_shipped_playbook() -> None:
    for language, file in load_rules().items():
        assert [rule.type for rule in file.rule] == list(TYPES), language
        assert file.language == language


def test_the_hash_of_the_rules_is_a_sha256_and_stays() -> None:
    assert rules_sha256() == rules_sha256()
    assert len(bytes.fromhex(rules_sha256())) == 32


FRENCH = {
    "cap_on_liability": "La responsabilité du Prestataire ne pourra excéder le montant annuel du contrat.",
    "uncapped_liability": "Ce plafond ne s'applique pas en cas de faute lourde ou de dol.",
    "indemnification": "Le Prestataire garantit le Client contre toute action ou réclamation de tiers.",
    "termination_for_convenience": "Le Client peut résilier à tout moment moyennant un préavis de trois mois.",
    "governing_law": "Le présent contrat est soumis au droit français.",
    "insurance": "Le Prestataire déclare avoir souscrit une police d'assurance responsabilité civile.",
    "liquidated_damages": "Tout retard entraîne des pénalités de 100 euros par jour de retard.",
    "anti_assignment": "Aucune partie ne peut céder le contrat sans l'accord préalable et écrit de l'autre.",
    "audit_rights": "Le Client pourra faire réaliser un audit des prestations une fois par an.",
    "change_of_control": "Tout changement de contrôle du Prestataire est notifié au Client.",
    "warranty_duration": "Le matériel est garanti pendant une durée de douze mois à compter de la réception.",
    "exclusivity": "Le Prestataire consent au Client une exclusivité sur le territoire.",
    "non_compete": "Le Prestataire s'interdit toute activité concurrente pendant un an.",
    "renewal_term": "Le contrat est renouvelé par tacite reconduction pour des périodes d'un an.",
    "confidentiality": "Les parties s'engagent à ne pas divulguer les informations confidentielles.",
    "personal_data": "Le Prestataire s'engage à traiter les données à caractère personnel selon le RGPD.",
    "force_majeure": "Aucune partie n'est responsable d'un retard dû à un cas de force majeure.",
    "payment_terms": "Les factures sont payables à trente (30) jours fin de mois.",
}


@pytest.mark.parametrize(
    ("language", "clause_type", "sentence"),
    [(language, *item) for language, clauses in (("en", ENGLISH), ("fr", FRENCH)) for item in clauses.items()],
)
def test_a_plain_clause_of_every_type_is_found_verbatim(language: str, clause_type: str, sentence: str) -> None:
    text = f"Some words come first. {sentence} Others come behind."
    found = find_by_rules(document(text, language), [clause_type])
    assert [candidate.quote for candidate in found] == [sentence]
    assert found[0].start == text.index(sentence)
    assert found[0].source == "local:rules@1"
    assert 0 < found[0].confidence <= 1


def test_only_the_wanted_types_are_looked_for() -> None:
    text = " ".join(ENGLISH.values())
    assert {candidate.clause_type for candidate in find_by_rules(document(text), ["insurance", "unheard_of"])} == {
        "insurance"
    }
    assert find_by_rules(document(text), []) == []


def test_a_text_of_unknown_language_is_read_by_all_rules() -> None:
    text = f"{ENGLISH['governing_law']} {FRENCH['insurance']}"
    found = find_by_rules(document(text, ""), TYPES)
    assert {"governing_law", "insurance"} <= {candidate.clause_type for candidate in found}


def test_a_flood_of_the_same_clause_is_bounded() -> None:
    found = find_by_rules(document("\n\n".join([ENGLISH["governing_law"]] * 400)), TYPES)
    assert 0 < len(found) <= 6


@pytest.mark.parametrize(
    "sentence",
    [
        "The Supplier is a corporation organized under the laws of Delaware.",
        "The Customer grants a non- exclusive license to use the portal.",
        "Sections 5 and 6 survive termination of this Agreement for any reason.",
        "The assignment was a success and everybody was content.",
        "All information is kept in the central directory of the authority.",
    ],
)
def test_what_only_sounds_like_a_clause_is_none(sentence: str) -> None:
    assert find_by_rules(document(sentence), TYPES) == []


OPPOSITES = [
    ("en", "termination_for_convenience", "The Supplier may not terminate this Agreement for convenience."),
    ("en", "termination_for_convenience", "Neither party may terminate this Agreement without cause."),
    ("en", "indemnification", "The Customer shall not indemnify, defend or hold harmless the Supplier."),
    ("en", "indemnification", "Nothing in this Agreement requires the Customer to indemnify the Supplier."),
    ("en", "insurance", "The Customer is not required to take out any insurance."),
    ("en", "insurance", "The Supplier shall not be required to carry any insurance."),
    ("en", "liquidated_damages", "No liquidated damages are payable by the Customer."),
    ("en", "liquidated_damages", "The Customer shall not pay any penalty for late payment."),
    ("en", "exclusivity", "The Customer shall not be obliged to purchase exclusively from the Supplier."),
    ("en", "renewal_term", "It does not renew automatically and shall not be extended without a written agreement."),
    ("en", "renewal_term", "This Agreement shall not renew automatically for successive terms of one year."),
    ("en", "audit_rights", "The Supplier may not audit the Customer's books and records."),
    ("en", "change_of_control", "A change of control of the Customer does not entitle the Supplier to terminate it."),
    ("en", "non_compete", "Nothing in this Agreement prevents the Customer from competing with the Supplier."),
    ("en", "cap_on_liability", "The Supplier's liability under this Agreement is not limited in any way."),
    ("en", "confidentiality", "The information exchanged under this Agreement is not confidential."),
    ("en", "governing_law", "This Agreement shall not be governed by the laws of England."),
    ("en", "anti_assignment", "Nothing in this Agreement restricts the assignment of this Agreement by the Customer."),
    ("en", "personal_data", "The Supplier does not process any personal data."),
    ("fr", "termination_for_convenience", "Le Prestataire ne peut résilier le contrat sans motif."),
    ("fr", "termination_for_convenience", "Aucune des parties ne peut résilier le contrat à sa convenance."),
    ("fr", "renewal_term", "Il n'est pas renouvelable par tacite reconduction."),
    ("fr", "renewal_term", "Le contrat n’est pas reconduit tacitement pour une nouvelle durée d'un an."),
    ("fr", "exclusivity", "Le Client n'est tenu à aucune exclusivité envers le Prestataire."),
    ("fr", "insurance", "Le Prestataire n'est pas tenu de souscrire une assurance de responsabilité civile."),
    ("fr", "liquidated_damages", "Aucune pénalité n'est due par le Client."),
    ("fr", "liquidated_damages", "Le Client ne verse aucune pénalité au Prestataire."),
    ("fr", "cap_on_liability", "La responsabilité du Prestataire n'est pas limitée."),
    ("fr", "audit_rights", "Le Prestataire ne peut pas auditer le Client."),
    ("fr", "non_compete", "Le Client n'est soumis à aucune obligation de non-concurrence."),
    ("fr", "indemnification", "Le Client n'est pas tenu de garantir le Prestataire contre les réclamations de tiers."),
    ("fr", "governing_law", "Le présent contrat n'est pas soumis au droit suisse."),
    ("fr", "change_of_control", "Le changement de contrôle du Client ne permet pas au Prestataire de résilier."),
    ("fr", "confidentiality", "Les informations échangées ne sont pas confidentielles et aucun secret n'est dû."),
]


@pytest.mark.parametrize(("language", "clause_type", "sentence"), OPPOSITES)
def test_a_sentence_that_says_the_opposite_is_no_such_clause(language: str, clause_type: str, sentence: str) -> None:
    (rule,) = (one for one in load_rules()[language].rule if one.type == clause_type)
    assert is_denial(rule, simplify(sentence))
    assert (
        find_by_rules(document(f"Some words come first. {sentence} Others come behind.", language), [clause_type]) == []
    )


UNLIMITED = [
    ("en", "The Supplier's liability under this Agreement is not limited in any way.", True),
    ("en", "The Supplier shall be liable without limitation for any loss of the Customer.", True),
    ("en", "There is no cap on the Supplier's liability under this Agreement.", True),
    ("en", "The Contractor is liable to an unlimited extent for intent and gross negligence.", True),
    ("en", "The Supplier is liable for all damages, including without limitation loss of profit.", False),
    ("en", "The liability of the Supplier shall not be unlimited, whatever its cause.", False),
    ("en", "In no event shall the liability of either party be unlimited.", False),
    ("en", "The Supplier's liability is not limited to direct damages of the Customer.", False),
    ("fr", "La responsabilité du Prestataire n'est limitée d'aucune manière.", True),
    ("fr", "Le Prestataire répond sans limitation de tous les dommages causés au Client.", True),
    ("fr", "La responsabilité du Prestataire n'est pas limitée aux dommages directs du Client.", False),
]


@pytest.mark.parametrize(("language", "sentence", "unlimited"), UNLIMITED)
def test_what_says_that_there_is_no_cap_is_no_cap_and_says_so(language: str, sentence: str, unlimited: bool) -> None:
    types = ["cap_on_liability", "uncapped_liability"]
    text = document(f"Some words come first. {sentence} Others come behind.", language)
    found = [(candidate.clause_type, candidate.quote) for candidate in find_clauses(text, types).candidates]
    assert (("uncapped_liability", sentence) in found) is unlimited
    assert not (unlimited and any(name == "cap_on_liability" for name, _ in found))


NEGATED_AND_GENUINE = [
    ("en", "cap_on_liability", "The Supplier's liability shall not exceed the fees of one year."),
    ("en", "cap_on_liability", "Neither party shall be liable for indirect or consequential damages."),
    ("en", "cap_on_liability", "The Supplier's liability shall not exceed EUR 5, but it is unlimited for fraud."),
    ("en", "uncapped_liability", "The limitations of liability in this Section shall not apply to gross negligence."),
    ("en", "anti_assignment", "The Customer may not assign this Agreement without consent."),
    ("en", "non_compete", "The Supplier shall not directly or indirectly compete with the Customer."),
    ("en", "renewal_term", "It shall renew for successive terms of one year unless a party gives notice not to renew."),
    ("en", "termination_for_convenience", "The Supplier shall not, but the Customer may, terminate it without cause."),
    ("en", "governing_law", "It shall not be governed by the laws of England but by the laws of France."),
    ("en", "insurance", "It need not insure its staff, but shall maintain general liability insurance of $1,000,000."),
    ("en", "audit_rights", "The Customer may not audit the Supplier's books and records more than once a year."),
    ("en", "confidentiality", "It shall not disclose information of the other party, which it keeps in confidence."),
    ("en", "liquidated_damages", "No liquidated damages are payable for an interruption of less than an hour."),
    ("fr", "liquidated_damages", "Aucune pénalité n'est due pour la priorité P4."),
    ("fr", "cap_on_liability", "La responsabilité du Prestataire ne saurait excéder le montant annuel du contrat."),
    ("fr", "cap_on_liability", "La responsabilité du Prestataire est limitée à 5 euros par année d'assurance."),
    ("fr", "cap_on_liability", "Sa responsabilité est limitée aux montants garantis par son assurance."),
    ("fr", "anti_assignment", "Aucune partie ne peut céder le contrat sans l'accord préalable et écrit de l'autre."),
    ("fr", "termination_for_convenience", "Il ne peut résilier à tout moment que moyennant un préavis de 3 mois."),
    ("fr", "governing_law", "Il n'est pas soumis au droit suisse mais au droit français."),
    ("fr", "renewal_term", "Sauf dénonciation il n'est pas mis fin au contrat, reconduit pour une durée d'un an."),
    ("fr", "insurance", "Le Prestataire, qui n'est pas assuré de plein droit, justifie d'une police d'assurance."),
]


@pytest.mark.parametrize(("language", "clause_type", "sentence"), NEGATED_AND_GENUINE)
def test_a_clause_whose_negation_is_its_core_or_names_an_exception_stays(
    language: str, clause_type: str, sentence: str
) -> None:
    found = find_by_rules(document(f"Some words come first. {sentence} Others come behind.", language), [clause_type])
    assert [candidate.quote for candidate in found] == [sentence]


def test_of_a_sentence_and_its_opposite_only_the_one_that_grants_is_quoted() -> None:
    grants = "The Customer may terminate this Agreement without cause."
    text = f"{grants} The Supplier may not terminate this Agreement without cause. Nothing else is agreed."
    assert [candidate.quote for candidate in find_by_rules(document(text), ["termination_for_convenience"])] == [grants]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_hostile_text_comes_to_an_end_and_gives_hardly_a_clause(language: str) -> None:
    words = " liability not shall terminate insurance exclusive assign consent garantie responsabilité ne peut "
    for text in (
        words * 4000,
        "a" * 400_000,
        "(" * 200_000,
        "liability not exceed " * 20_000,
        "1.1 " * 100_000,
        "\n" * 400_000,
    ):
        assert len(find_by_rules(document(text, language), TYPES)) <= 6, text[:40]


@given(st.text(max_size=400))
@settings(max_examples=60, deadline=None)
def test_every_candidate_is_a_slice_of_the_text(noise: str) -> None:
    text = f"{noise} {ENGLISH['insurance']} {noise}\n\n{FRENCH['governing_law']}"
    for candidate in find_by_rules(document(text, ""), TYPES):
        assert candidate.start is not None
        assert text[candidate.start : candidate.start + len(candidate.quote)] == candidate.quote


@needs_shared(DATA / "contracts")
def test_in_the_longest_contract_at_least_eight_types_are_seen() -> None:
    longest = max((DATA / "contracts" / "txt").glob("*.txt"), key=lambda path: path.stat().st_size)
    text = longest.read_text(encoding="utf-8")
    found = find_by_rules(document(text), TYPES)
    assert len({candidate.clause_type for candidate in found}) >= 8
