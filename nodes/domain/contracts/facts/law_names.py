"""Names of laws: which country's or state's law a sentence chooses."""

from __future__ import annotations

import re

from nodes.domain.contracts.contract_text import spaced
from nodes.domain.contracts.facts.contract_wide import about_whole_contract
from nodes.domain.text.negation import mask_denials
from nodes.domain.text.normalise import simplify

_ADJECTIVES = {
    "french": "France", "francais": "France", "francaise": "France", "english": "England", "anglais": "England",
    "anglaise": "England", "dutch": "Netherlands", "neerlandais": "Netherlands", "german": "Germany",
    "allemand": "Germany", "allemande": "Germany", "swiss": "Switzerland", "suisse": "Switzerland",
    "belgian": "Belgium", "belge": "Belgium", "italian": "Italy", "italien": "Italy", "italienne": "Italy",
    "spanish": "Spain", "espagnol": "Spain", "espagnole": "Spain", "irish": "Ireland", "irlandais": "Ireland",
    "scots": "Scotland", "luxembourgeois": "Luxembourg", "luxembourgeoise": "Luxembourg", "austrian": "Austria",
    "swedish": "Sweden", "danish": "Denmark", "norwegian": "Norway", "finnish": "Finland", "israeli": "Israel",
    "chinese": "China", "prc": "China", "japanese": "Japan", "indian": "India", "canadian": "Canada",
    "quebecois": "Quebec", "quebecoise": "Quebec", "portuguese": "Portugal", "polish": "Poland",
    "singapore": "Singapore", "texas": "Texas", "delaware": "Delaware", "californian": "California",
}  # fmt: skip
_FRENCH_NAMES = {
    "france": "France", "republique francaise": "France", "prc": "China", "suisse": "Switzerland",
    "belgique": "Belgium", "allemagne": "Germany", "l'angleterre": "England", "angleterre": "England",
    "luxembourg": "Luxembourg",
    "pays-bas": "Netherlands", "espagne": "Spain", "italie": "Italy", "quebec": "Quebec",
    "republic of france": "France",
}  # fmt: skip
_ADJECTIVE = "|".join(sorted(_ADJECTIVES, key=len, reverse=True))
_WORD = r"(?-i:[A-Z])(?:\.(?:(?-i:[A-Z])\.)+|[\w'’-]*)"
NAME = rf"{_WORD}(?:,?\ (?:(?:and|&|of|du|de|des|la|et)\ (?:the\ )?)*{_WORD}){{0,5}}"
# Example: laws of the State of New York
_OF_PLACE = re.compile(
    spaced(rf"""
    \b(?:
      (?:(?:substantive|internal|local|domestic|civil)\ )*laws? | legislation | lois? | droit
      | jurisdiction
    )(?:\ \([^)]{{1,80}}\))?(?:\ (?:in\ force|applicable|and\ \w+))?(?:,\ and\ not\ [^,]{{1,60}},)?
    \ (?:of|in|de|du|des|(?=the\ state\ of|state\ of)|d')\ ?(?:the\ |la\ |l')?(?:
      (?:state|commonwealth|province|kingdom|country|territory|city|canton|état)\ (?:and\ [a-z]+\ )?
      (?:of|de|du)[ ]
    )?(?P<place>république\ française|(?:Republic\ of\ )?{NAME})
    """),
    re.IGNORECASE | re.VERBOSE,
)
# Example: Delaware law governs
_STATE_LAW = re.compile(
    spaced(r"""
    \b(?P<place>(?-i:[A-Z])[a-z]+(?:\ (?-i:[A-Z])[a-z]+)?)(?:\ state)?\ laws?[ ]
    (?:shall|will|governs?|applies|apply|without)
    """),
    re.IGNORECASE | re.VERBOSE,
)
# Example: droit francais
_BY_ADJECTIVE = re.compile(
    spaced(rf"""
    \b(?:
      (?P<en>{_ADJECTIVE})\ (?:substantive\ |civil\ |positive\ )*laws?
      | (?:droit|loi|législation|legislation)s?\ (?P<fr>{_ADJECTIVE})s?
    )\b
    """),
    re.VERBOSE,
)
# Example: est regi par
_GOVERNED = re.compile(
    r"""
    \b(?:govern(?:ed|s)|constru(?:ed|es)|regie?|regissent|regit|soumise?|soumises?)\b
    """,
    re.VERBOSE,
)
# Example: united states
_WIDE = re.compile(
    r"""
    united\ (?:states|kingdom) | \bu\.?s\.?(?:a\.?)?$ | \bu\.?k\.?$ | america | great\ britain
    | canada | australia | european\ union
    """,
    re.VERBOSE,
)
"""Places whose law includes that of others: England is part of the United Kingdom."""
# Example: , without
_TAIL = re.compile(
    r"""
    (?:[,;.]|\b(?:and|without|excluding|as|applicable|et|sans|USA|U\.S\.A\.?|Without|Regardless)\b)*
    \s*$
    """,
    re.VERBOSE,
)
# Example: , and the parties submit to its courts
_OTHER_WORDS = re.compile(
    r"""
    ,?\ (?:and|et)\ (?:the\ )?(?:
      part(?:y|ies) | each | any | no | all | be | is | shall | will | agreements? | contracts?
      | courts? | united\ nations
    )\b.*$
    """,
    re.IGNORECASE | re.VERBOSE,
)


def first_law(sentence: str) -> str:
    """Return the country or state of the first law that a sentence names and does not exclude; "" for none."""
    place = law_place(mask_denials(sentence))
    return place[0] if place else ""


def law_place(plain: str) -> tuple[str, int, int] | None:
    """Return the country or state of a law, in English where it is known, with the span of its name."""
    adjective = _BY_ADJECTIVE.search(_same_length(plain))
    match = _OF_PLACE.search(plain) or _STATE_LAW.search(plain)
    if adjective and (match is None or adjective.start() <= match.start()):
        name = _ADJECTIVES[(adjective["en"] or adjective["fr"])]
        return name, adjective.start(), adjective.end()
    if match is None:
        return None
    name = tidy(match["place"])
    if not name or name.casefold() in ("agreement", "contract", "state", "parties"):
        return None
    return _FRENCH_NAMES.get(simplify(name), name), match.start(), match.end()


def _same_length(plain: str) -> str:
    """Lower the text and strip accents, keeping one character for each."""
    return "".join(simple if len(simple := simplify(char)) == 1 else " " for char in plain)


def tidy(place: str) -> str:
    place = _OTHER_WORDS.sub("", " ".join(place.split()))
    previous = None
    while place != previous:
        previous, place = place, _TAIL.sub("", place).strip(" ,")
    return place


def law_of_contract(sentence: str) -> str:
    """Return the law of the whole contract; "" where the sentence is about less, or says more."""
    plain = about_whole_contract(sentence)
    return first_law(sentence) if plain and _GOVERNED.search(plain) else ""


def differs_from_law(first: str, second: str) -> bool:
    """Tell whether two laws differ, that is, neither includes the other."""
    names = simplify(first), simplify(second)
    return not any(_WIDE.search(name) for name in names) and names[0] not in names[1] and names[1] not in names[0]
