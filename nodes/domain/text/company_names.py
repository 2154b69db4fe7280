"""Recognises the names of companies and people at the beginning of a text."""

from __future__ import annotations

import re

LONGEST_NAME = 120
"""Characters of the longest text that is taken for a name."""

LEGAL_FORMS = (
    r"inc|incorporated|llc|l\.l\.c|llp|ltd|limited|corp|corporation|company|l\.?p|plc|gmbh|ag|s\.?a\.?s?|sarl|s\.?r\.?l"
    r"|s\.p\.a|s\.à\ ?r\.l|g\.i\.e|n\.v|b\.v|n\.a|fsb|pty|ltda|co|s\.l|sasu|eurl|snc|sca|scop|kg|ab|oy|a/s"
)
# Example: , a Delaware corporation
_NAME_END = re.compile(
    rf"""
    \s*(?:[,;(\n]\s*)?(?:
      \b(?:
        an? | whose | having | with | located | organi[sz]ed | incorporated | existing | acting | represented
        | a\ company | duly | at | doing\ business | dont | au\ capital | immatricul[ée]e? | enregistr[ée]e?
        | repr[ée]sent[ée]e? | agissant | sise | ayant | domicili[ée]e? | soci[ée]t[ée]\ (?:[àa]|anonyme|par)
        | and\ its | on\ behalf | for\ itself | formerly | hereinafter | hereafter | ci-\ ?apr[èe]s | f/k/a
        | d/b/a | dba | c/o | also\ known | referred | set\ forth | hereunder | through | [Dd]ated | DATED
        | REGARDING | EFFECTIVE | Suite | Room | Address | Registered | Registration | Tel | P\.?O\.?\ Box
      )\b
      | \bof\b(?!\s+(?:the\ )?(?-i:[A-Z]))
      | (?:(?<=\w[\s.,])|(?<=\w[.,]\s))\d(?!\w{{0,3}},?\s(?i:{LEGAL_FORMS})\b) | ●
      | (?<=(?:Inc|INC|Ltd|LTD)\.)\s+(?=[A-Z]) | (?<=(?:Corp|CORP)\.)\s+(?=[A-Z])
      | \((?!\w{{2,15}}\),?\s?(?:(?-i:[A-Z])[\w&]*\s){{0,5}}(?i:{LEGAL_FORMS})\b)
    )
    """,
    re.VERBOSE,
)
_OF_PLACE = re.compile(r"(?:inc|llc|ltd|limited|plc|gmbh|ag|l\.p|s\.a)\.?,?\s+of\s", re.IGNORECASE)
# Example: Acme Ltd and Borel SA
CONJUNCTION = re.compile(
    r"""
    \s(?:and|et)\s(?!(?:associ\w+|sons?|fils|co\b|company|cie|partners?|frères|brothers|filles)\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Conjunction between two names; "& Sons" and "et Associés" belong to one name."""
# Example: the parties agree that it shall
SENTENCE = re.compile(
    r"""
    \b(?:agrees?|shall|will|is|are|may|hereby|sont|est|was|were|has|have)\b | [a-zà-ÿ]{4}\.\ [A-Z]
    """,
    re.VERBOSE,
)
# Example: Services Agreement
TITLE = re.compile(
    r"""
    \b(?:inc|llc|ltd|corp|co|plc|l\.p)\b\.?,?\ and\b | \bagreement\b | ^dated\b | ^recitals?\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEGAL_FORM = re.compile(rf",?\s*(?:{LEGAL_FORMS})\b\.?", re.IGNORECASE)
_HAS_FORM = re.compile(rf"(?:^|[\s,])(?:{LEGAL_FORMS})\b\.?\)?$", re.IGNORECASE)
_SMALL_WORDS = frozenset((
    "of", "and", "the", "for", "de", "du", "des", "la", "le", "les", "et", "à", "au", "en", "do", "da", "dos", "e",
    "y", "van", "von", "der", "den", "on", "in", "&", "dba", "a",
))  # fmt: skip


def leading_name(chunk: str, language: str = "") -> str:
    """Extract the name at the beginning of the words before a definition; "" when there is none."""
    chunk = " ".join(re.split(r"\n\s*\n", chunk, maxsplit=1)[0].split())
    place = _OF_PLACE.search(chunk)
    end = _NAME_END.search(chunk)
    name = chunk[: end.start()] if end else chunk
    name = name[: place.end() - 3] if place and place.end() < len(name) else name
    comma = name.find(",")
    if comma >= 0 and not _LEGAL_FORM.match(name, comma):
        name = name[:comma]
    elif comma >= 0 and (second := name.find(",", comma + 1)) >= 0:
        name = name[:second]
    name = tidy(name)
    return name if _is_name(name, language) else ""


def _is_name(name: str, language: str) -> bool:
    if not 2 <= len(name) <= LONGEST_NAME or not any(char.isalpha() for char in name):
        return False
    if SENTENCE.search(name) or TITLE.search(name):
        return False
    if not (name[0].isupper() or name[0].isdigit() or name[0] in "{["):
        # iShip.com, e-centives, drkoop.com: a name in small letters has its form beside it.
        return _HAS_FORM.search(name) is not None and len(name.split()) < 7
    small = [word for word in name.split() if word[0].islower() and word not in _SMALL_WORDS]
    return language == "fr" or not small or _HAS_FORM.search(name) is not None


def tidy(name: str) -> str:
    """Strip marks around a name; the point of a legal form stays."""
    name = " ".join(name.split()).strip(' ,;:-–—"“”«»')
    return (
        name
        if re.search(
            r"\b(?:inc|ltd|corp|co|l\.?p|l\.?l\.?c|s\.?a|s\.l|n\.?v|b\.?v|n\.?a|s\.?r\.?l|g\.i\.e)\.$", name, re.I
        )
        else name.rstrip(".")
    )


def is_company_name(name: str) -> bool:
    """Is this one company's name with its legal form?"""
    return _HAS_FORM.search(name) is not None and len(name.split()) > 1 and not CONJUNCTION.search(name)


def has_legal_form(name: str) -> bool:
    """Does the name end with a legal form: Ltd, Inc., SAS …?"""
    return _HAS_FORM.search(name) is not None
