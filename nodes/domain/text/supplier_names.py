"""One supplier under several spellings of its name: case, punctuation, accents and how its legal form is written.

Forms of different laws tell companies apart: Acme Inc. is not Acme GmbH. A name without any is the company of that
name, where a run knows but one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from nodes.domain.text.normalise import simplify

_INITIALS = (
    "sas", "sasu", "sarl", "sa", "snc", "sca", "scs", "sci", "scop", "scic", "selarl", "selas", "eurl", "gie", "sprl",
    "srl", "sl", "bv", "nv", "ag", "se", "kg", "kgaa", "ohg", "ug", "gmbh", "ab", "oy", "oyj", "as", "aps",
    "llc", "llp", "lp", "plc", "inc", "ltd", "corp", "pty", "pte", "ltda",
)  # fmt: skip
_WORDS = (
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
"""Forms that are written in different ways, or exchanged for another, under the same law."""
_LAW = {form: law for law, forms in _LAWS.items() for form in forms.split()}
_IN_FRONT = ("sas", "sasu", "sarl", "sa", "snc", "sci", "scop", "selarl", "eurl", "gie")
"""French names have their form in front as often as behind."""


def _spelled(forms: Iterable[str]) -> str:
    """Each form with or without its points: SAS, S.A.S., S. A. S."""
    return "|".join(r"\.?\ ?".join(form) + r"\.?" for form in forms)


_ANY = "|".join(sorted(_WORDS, key=len, reverse=True)) + "|" + _spelled(sorted(_INITIALS, key=len, reverse=True))
_BEHIND = re.compile(rf"(?<=[^\s(])[\s,;]*[\s,;(](?:{_ANY})\)?[\s,;]*$")
_COMPANY = re.compile(r"(?<=[^\s(])(?<!&)(?<! and)(?<! et)[\s,;]*[\s,;](?:company|co\.?)[\s,;]*$")
_SPA = re.compile(r"(?<=\w)[\s,]+(?:SpA|S\. ?[pP]\. ?A\.?)\s*$")
"""A form only as Italians write it: "Spa" is a word too."""
# Example: la societe anonyme durand
_FRONT = re.compile(
    rf"""
    ^(?:the\ |la\ |l\ |une\ )?(?:
      societe(?:\ (?:par\ actions\ simplifiee|anonyme|a\ responsabilite\ limitee|dite|denommee))?
      | (?:{_spelled(_IN_FRONT)})(?=\ )
    )[\s,;:]+(?=\S)
    """,
    re.VERBOSE,
)


def without_form(name: str) -> str:
    """A name in small letters without accents and without legal form: "durand informatique" of "Durand
    Informatique, S.A.S."; a name that is nothing but a form stays."""
    plain = " ".join(simplify(_SPA.sub("", name)).split())
    shorter = _FRONT.sub("", _FRONT.sub("", plain))
    while (cut := _COMPANY.sub("", _BEHIND.sub("", shorter))) != shorter:
        shorter = cut
    return plain if shorter in ("the", "la", "le", "les") else shorter


@lru_cache(maxsize=4096)
def base_name(name: str) -> str:
    """What all spellings of a name have in common; the name itself where it has no letter and no digit."""
    return _letters(without_form(name)) or _letters(name.casefold()) or name


@lru_cache(maxsize=4096)
def spelling(name: str) -> str:
    """The same with the law of its legal form, as a key; "" stands for none. See `settled`."""
    return f"{base_name(name)} {_law(name)}".rstrip()


def canonical_names(names: Iterable[str]) -> dict[str, str]:
    """Each name of a run as its company is called there.

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
    """The law of a name's legal form, "" where it has none."""
    if _SPA.search(name):
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
    """Of several spellings, in their order, the one to show: the most complete, and of equals the first."""
    return max(names, key=lambda name: sum(map(str.isalnum, name)), default="")


def display_names(names: Iterable[str]) -> dict[str, str]:
    """Each spelling as a key, with the name to show for it."""
    display: dict[str, str] = {}
    for name in names:
        display[spelling(name)] = fullest((display.get(spelling(name), ""), name))
    return display
