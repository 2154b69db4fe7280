"""Messages about the reading of documents: a code with values, and its English and French wording.

Whoever finds something wrong names the code; nobody tests the words. What is stored is the English sentence, as earlier
versions stored it, so `recognise` turns a stored sentence back into its code and values. A sentence that no code of
today has made is shown as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter
from typing import Any

from nodes.domain.shared.formats import count


@dataclass(frozen=True, slots=True)
class Wording:
    """One message in both languages. `{count:clause}` is a number with its noun; recognition gives the number alone."""

    english: str
    french: str


@dataclass(frozen=True, slots=True)
class Message:
    """A code of `CATALOGUE` with the values that its wordings name."""

    code: str
    values: Mapping[str, Any]


REFUSALS = {
    "vanished": Wording(
        "{document} cannot be opened any more ({detail}): put it back, or start a new run without it.",
        "{document} ne s’ouvre plus ({detail}) : remettez-le, ou lancez une nouvelle exécution sans lui",
    ),
    "changed": Wording(
        "{document} changed since the run began: start a new run to read it as it is now.",
        "{document} a changé depuis le début de l’exécution : lancez-en une nouvelle pour le lire tel qu’il est",
    ),
    "large": Wording(
        "{document} has {detail} bytes, which is more than the limit of {max_bytes}: split it or raise the limit.",
        "{document} fait {detail} octets, plus que la limite de {max_bytes} : divisez-le ou relevez la limite",
    ),
    "none": Wording(
        "{document} is empty (0 bytes): fetch it again.",
        "{document} est vide (0 octet) : récupérez-le de nouveau",
    ),
    "foreign": Wording(
        "{document} is {detail}, which Reprise does not read: save it as PDF.",
        "{document} ({detail}) n’est pas d’un format que Reprise lit : enregistrez-le en PDF",
    ),
    "encrypted": Wording(
        "{document} is encrypted and no password for it was given: add it to the file given with --passwords.",
        "{document} est chiffré et aucun mot de passe n’a été donné : ajoutez-le au fichier donné à --passwords",
    ),
    "password": Wording(
        "{document} is encrypted and the password given for it is wrong: "
        "correct it in the file given with --passwords.",
        "{document} est chiffré et le mot de passe donné est faux : corrigez-le dans le fichier donné à --passwords",
    ),
    "corrupt": Wording(
        "{document} is damaged and could not be repaired ({detail}): fetch it again.",
        "{document} est endommagé et n’a pu être réparé ({detail}) : récupérez-le de nouveau",
    ),
    "pages": Wording(
        "{document} claims to have {detail} pages, which cannot be: check it in a PDF viewer and save it anew.",
        "{document} dit avoir {detail} pages, ce qui ne peut être : vérifiez-le dans une visionneuse et "
        "enregistrez-le de nouveau",
    ),
}
"""Why a document was not read, by the kind of refusal that its reader names."""

CATALOGUE = {
    **REFUSALS,
    "parsing_timeout": Wording(
        "{document} could not be read within {seconds} s and was given up: {advice}",
        "{document} n’a pu être lu en {seconds} s et a été abandonné",
    ),
    "repaired": Wording(
        "The file is damaged and was read after a repair; parts of it may be missing.",
        "Le fichier est endommagé et a été lu après réparation ; des parties peuvent manquer.",
    ),
    "comments_apart": Wording(
        "What readers have commented was kept apart, on {places}.",
        "Les commentaires de lecteurs ont été mis à part, {places}.",
    ),
    "struck_out_apart": Wording(
        "Text that was struck out with changes tracked was kept apart, on {places}.",
        "Du texte supprimé en suivi des modifications a été mis à part, {places}.",
    ),
    "hidden_apart": Wording(
        "Text that a person does not see ({reason}) was kept apart, on {places}.",
        "Du texte qu’une personne ne voit pas a été mis à part ({reason}), {places}.",
    ),
    "ocr_layer": Wording(
        "The text of {places} is the OCR layer that came with the scan; it was not checked.",
        "Le texte de {places} est la couche de reconnaissance livrée avec la numérisation ; il n’a pas été vérifié.",
    ),
    "sections": Wording(
        "The file has no pages: its places are counted in {unit}s, {count} of them.",
        "Le fichier n’a pas de pages : ses endroits sont comptés en sections, au nombre de {count}.",
    ),
    "unsupported_sentences": Wording(
        "{count:sentence} of a model's summary left out, since the passages cited do not bear them out.",
        "Phrases du résumé d’un modèle écartées, faute d’appui dans les passages cités : {count}.",
    ),
    "no_summary": Wording("No summary by a model: {detail}", "Pas de résumé par un modèle : {detail}"),
    "unknown_type": Wording(
        "{count:clause} of an unknown type left out.", "Clauses d’un type inconnu écartées : {count}."
    ),
    "no_form": Wording("{count:clause} in no readable form left out.", "Clauses illisibles écartées : {count}."),
    "no_quote": Wording(
        "{count:clause} without a quote left out.", "Clauses sans citation utilisable écartées : {count}."
    ),
    "long_quote": Wording(
        "{count:clause} with a quote that is too long left out.", "Clauses sans citation utilisable écartées : {count}."
    ),
    "too_many": Wording(
        "{count:clause} beyond the first {limit} left out.",
        "Clauses au-delà des {limit} premières écartées : {count}.",
    ),
    "reported_twice": Wording(
        "{count:clause} reported twice left out.", "Clauses signalées deux fois, comptées une seule : {count}."
    ),
}
"""Every message about reading, by code."""


def english(code: str, **values: Any) -> str:
    """The English wording of a message: the form in which messages are stored."""
    return "".join(literal + _filled(field, noun, values) for literal, field, noun in _parts(CATALOGUE[code].english))


def recognise(sentence: str) -> Message | None:
    """The message whose English wording a stored sentence is, with its values as text; None for any other sentence."""
    for code, pattern in _patterns().items():
        if match := pattern.fullmatch(sentence):
            return Message(code, match.groupdict())
    return None


def french(sentence: str) -> str:
    """A stored message in French; a sentence that is no message of the catalogue as it stands."""
    message = recognise(sentence)
    return sentence if message is None else CATALOGUE[message.code].french.format(**message.values)


def _parts(wording: str) -> list[tuple[str, str, str]]:
    """(literal text, name of the value behind it, noun of a counted value) in order."""
    return [(literal, field or "", noun or "") for literal, field, noun, _ in Formatter().parse(wording)]


def _filled(field: str, noun: str, values: Mapping[str, Any]) -> str:
    if not field:
        return ""
    return count(values[field], noun) if noun else str(values[field])


@lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    """By code, the pattern that its English wording makes; the full stop at its end may be missing."""
    return {code: re.compile(_pattern(wording.english)) for code, wording in CATALOGUE.items()}


def _pattern(wording: str) -> str:
    pattern = "".join(re.escape(literal) + _group(field, noun) for literal, field, noun in _parts(wording))
    return pattern.removesuffix(r"\.") + r"\.?" if wording.startswith("{document}") else pattern


def _group(field: str, noun: str) -> str:
    if not field:
        return ""
    return rf"(?P<{field}>\d+) {re.escape(noun)}s?" if noun else rf"(?P<{field}>.*)"
