"""Matches spellings of one supplier's name: case, punctuation, accents and the way its legal form is written.

Forms of different laws tell companies apart: Acme Inc. is not Acme GmbH. A name without any is the company of that
name, where a run knows but one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from nodes.domain.text.normalise import simplify

_INITIAL_FORMS = (
    "sas", "sasu", "sarl", "sa", "snc", "sca", "scs", "sci", "scop", "scic", "selarl", "selas", "eurl", "gie", "sprl",
    "srl", "sl", "bv", "nv", "ag", "se", "kg", "kgaa", "ohg", "ug", "gmbh", "ab", "oy", "oyj", "as", "aps",
    "llc", "llp", "lp", "plc", "inc", "ltd", "corp", "pty", "pte", "ltda",
)  # fmt: skip
_WORD_FORMS = (
    "limited", "incorporated", "corporation", "public limited company", "limited liability company",
    "limited partnership", "limited liability partnership", "private limited", "proprietary limited",
    "gesellschaft mit beschrankter haftung", "aktiengesellschaft",
    "societe par actions simplifiee(?: unipersonnelle)?", "societe anonyme(?: simplifiee)?",
    "societe a responsabilite limitee", "societe en nom collectif", "societe europeenne",
)  # fmt: skip
_LAWS = {
    "american": "inc incorporated corp corporation llc limitedliabilitycompany",
    "british": "ltd limited plc llp lp pty pte publiclimitedcompany privatelimited proprietarylimited"
    " limitedpartnership limitedliabilitypartnership",
    "german": "gmbh ag kg kgaa ohg ug gesellschaftmitbeschrankterhaftung aktiengesellschaft",
    "dutch": "bv nv",
    "nordic": "ab oy oyj as aps",
    "italian": "spa srl sl",
    "french": "sas sasu sarl sa snc sca scs sci scop scic selarl selas eurl gie sprl societeparactionssimplifiee"
    " societeparactionssimplifieeunipersonnelle societeanonyme societeanonymesimplifiee societearesponsabilitelimitee"
    " societeennomcollectif",
}
"""By law: its legal forms, spellings and exchangeable forms alike."""
_LAW = {form: law for law, forms in _LAWS.items() for form in forms.split()}
_IN_FRONT = ("sas", "sasu", "sarl", "sa", "snc", "sci", "scop", "selarl", "eurl", "gie")
"""Forms that stand in front of French names as often as behind."""


def _spelling_pattern(forms: Iterable[str]) -> str:
    """Pattern of forms with or without their points: SAS, S.A.S., S. A. S."""
    return "|".join(r"\.?\ ?".join(form) + r"\.?" for form in forms)


_ANY_FORM = (
    "|".join(sorted(_WORD_FORMS, key=len, reverse=True))
    + "|"
    + _spelling_pattern(sorted(_INITIAL_FORMS, key=len, reverse=True))
)
_FORM_BEHIND = re.compile(rf"(?<=[^\s(])[\s,;]*[\s,;(](?:{_ANY_FORM})\)?[\s,;]*$")
_COMPANY_BEHIND = re.compile(r"(?<=[^\s(])(?<!&)(?<! and)(?<! et)[\s,;]*[\s,;](?:company|co\.?)[\s,;]*$")
_ITALIAN_FORM = re.compile(r"(?<=\w)[\s,]+(?:SpA|S\. ?[pP]\. ?A\.?)\s*$")
"""The Italian form in its Italian spellings only: "Spa" is a word too."""
# Example: la societe anonyme durand
_FORM_IN_FRONT = re.compile(
    rf"""
    ^(?:the\ |la\ |l\ |une\ )?(?:
      societe(?:\ (?:par\ actions\ simplifiee|anonyme|a\ responsabilite\ limitee|dite|denommee))?
      | (?:{_spelling_pattern(_IN_FRONT)})(?=\ )
    )[\s,;:]+(?=\S)
    """,
    re.VERBOSE,
)


def without_form(name: str) -> str:
    """Remove the legal form, accents and capitals of a name: "durand informatique" of "Durand Informatique, S.A.S.".

    A name that is nothing but a form stays.
    """
    plain = " ".join(simplify(_ITALIAN_FORM.sub("", name)).split())
    shorter = _FORM_IN_FRONT.sub("", _FORM_IN_FRONT.sub("", plain))
    while (cut := _COMPANY_BEHIND.sub("", _FORM_BEHIND.sub("", shorter))) != shorter:
        shorter = cut
    return plain if shorter in ("the", "la", "le", "les") else shorter


@lru_cache(maxsize=4096)
def base_name(name: str) -> str:
    """Reduce a name to what all its spellings share; a name without letters and digits stays."""
    return _letters(without_form(name)) or _letters(name.casefold()) or name


@lru_cache(maxsize=4096)
def spelling(name: str) -> str:
    """Key of a name: its base and the law of its legal form, if any. See `canonical_names`."""
    return f"{base_name(name)} {_law(name)}".rstrip()


def canonical_names(names: Iterable[str]) -> dict[str, str]:
    """Map each name of a run to the name of its company there.

    Spellings of one company get the most complete of them. A name without legal form is that of the company with one,
    unless there are several of different laws: then nobody can tell, and it stays alone.
    """
    companies: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in dict.fromkeys(names):
        companies[base_name(name)][_law(name)].append(name)
    display: dict[str, str] = {}
    for by_law in companies.values():
        one_law = len(by_law.keys() - {""}) <= 1
        for spellings in [[name for names in by_law.values() for name in names]] if one_law else by_law.values():
            display |= dict.fromkeys(spellings, fullest(spellings))
    return display


def _law(name: str) -> str:
    """Name the law of a name's legal form; "" where it has none."""
    if _ITALIAN_FORM.search(name):
        return "italian"
    letters, bare = _letters(simplify(name)), base_name(name)
    before, common, behind = letters.partition(bare)
    if not common:
        return ""
    for form in (
        behind,
        before,
        behind.removeprefix("co"),
        behind.removeprefix("company"),
        before.partition("societe")[2],
    ):
        if form in _LAW:
            return _LAW[form]
    return ""


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def fullest(names: Iterable[str]) -> str:
    """Choose the spelling to show: the most complete, and of equals the first."""
    return max(names, key=lambda name: sum(map(str.isalnum, name)), default="")


def display_names(names: Iterable[str]) -> dict[str, str]:
    """Map the key of each spelling to the name to show for it."""
    display: dict[str, str] = {}
    for name in names:
        display[spelling(name)] = fullest((display.get(spelling(name), ""), name))
    return display
