"""Annexes with a name and no number: "l'annexe financière", "the Data Processing Annex"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.domain.text.normalise import simplify

MOST_WORDS = 5
"""Words of an annex's name at most."""
LONGEST_HEADING = 90

_KIND = r"(?:annexe?|appendix|exhibit|schedule|attachment|addendum)"
_WORD = r"[A-Z][A-Za-z&'’-]{1,24}"
# English has the name in front, as a title: "Service Levels Schedule"; French behind, as an adjective.
# Example: Data Processing Annex
_EN = re.compile(
    rf"""
    \b(?P<name>{_WORD}(?:\ (?:(?:and|of|&|on)\ )?{_WORD}){{0,3}})\ (?:
      Annex | Appendix | Exhibit | Schedule | Attachment | (?<=Processing\ )Addendum
      | (?<=Protection\ )Addendum
    )\b(?!s\b|\ ?(?:No\b|[A-Z]{{1,4}}\b|\d|[(\"“]|[-–:]))
    """,
    re.VERBOSE,
)
# Example: annexe technique
_FR = re.compile(
    r"""
    \b[Aa]nnexe\ (?:[«\"“]\ ?)?
    (?P<name>[a-zà-ÿA-ZÀ-Ý]{3,20}(?:ière|iere|ique|aire|elle|ale|ive|rgpd|RGPD|écurité))\b
    (?!\ ?(?:n\ ?[°º]|\d|\())
    """,
    re.VERBOSE,
)
_NUMBER = r"(?:n\ ?[°º]\ ?)?(?:\d|[IVX]+\b|[A-Z]\b|[A-Z]{1,2}-\d)"
# Example: Annexe n° 2 –
_NUMBERED_BEFORE = re.compile(
    rf"""
    \b(?i:{_KIND})\ {_NUMBER}[\w.-]{{0,4}}[ ,:–-]*[\[(\"“]*(?:the\ |l['’])?[\"“]?$
    """,
    re.VERBOSE,
)
# Example: attached hereto as Exhibit A
_NUMBERED_BEHIND = re.compile(
    rf"""
    ^[\"”)\]]*,?(?:\ (?:which\ is|that\ is|is|as))?
    (?:\ (?:attached|annexed|set\ forth|set\ out|included|contained|found|jointe?))?
    (?:\ hereto|\ herein)?(?:\ as|\ in|\ at|\ on|\ en)?\ ?[(\[]?(?i:{_KIND})\ {_NUMBER}
    """,
    re.VERBOSE,
)
"""A number right behind the name: such an annex is looked up under its number."""
_BESIDE = 60
_TERM = re.compile(r"[\"“«'‘] ?(?:the |l['’])?(?P<term>[^\"“”«»'‘’]{3,80}?) ?[\"”»'’]")
_NO_NAME = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "annex",
        "appendix",
        "article",
        "attached",
        "attachment",
        "each",
        "exhibit",
        "following",
        "first",
        "in",
        "its",
        "last",
        "new",
        "no",
        "of",
        "on",
        "or",
        "other",
        "per",
        "said",
        "schedule",
        "second",
        "section",
        "see",
        "such",
        "that",
        "the",
        "these",
        "this",
        "those",
        "to",
        "under",
        "unnumbered",
        "with",
        "applicable",
        "relevant",
        "respective",
        "current",
        "updated",
        "attached",
        "identique",
        "unique",
    ]
)
# Example: exhibit
_ANY_KIND = re.compile(
    rf"""
    \b(?:{_KIND}|annexes|exhibits|schedules)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_AGREED = re.compile(r"\bdata (?:processing|protection) (?:agreement|terms)\b", re.IGNORECASE)
_LINE = re.compile(r"[^\n\f]+")


def label_from_name(name: str) -> str:
    """Return an annex's label from the words of its name: annex data_processing; "" where they name none."""
    words = re.findall(r"[a-z]{2,}", simplify(name).replace("'", " "))
    while words and words[0] in _NO_NAME:
        words = words[1:]
    return f"annex {'_'.join(words)}" if words and not _NO_NAME & set(words) and len(words) <= MOST_WORDS else ""


def unnumbered_annexes(plain: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each annex name in prose that has no number beside it, with its label."""
    for pattern in (_EN, _FR):
        for match in pattern.finditer(plain):
            before, behind = plain[max(match.start() - _BESIDE, 0) : match.start()], plain[match.end() :][:_BESIDE]
            if _NUMBERED_BEFORE.search(before) or _NUMBERED_BEHIND.match(behind):
                continue
            if label := label_from_name(match["name"]):
                yield match, label


def defined_terms(plain: str) -> set[str]:
    """Return labels of names in quotation marks: defined terms for a time table, or for a numbered annex."""
    return {label for match in _TERM.finditer(plain) for _, label in unnumbered_annexes(f"{match['term']} ")}


def labels_in_title(title: str) -> set[str]:
    """Return the label of the annex that a title or file name says it is without a number."""
    plain = re.sub(r"[_\W]+", " ", simplify(title)).strip()
    if len(title) > LONGEST_HEADING or not (_ANY_KIND.search(plain) or _AGREED.search(plain)):
        return set()
    words = [word for word in re.findall(r"[a-z]{2,}", plain) if not _ANY_KIND.fullmatch(word) and word not in _NO_NAME]
    return {f"annex {'_'.join(words)}"} if 0 < len(words) <= 2 * MOST_WORDS else set()


def named_headings(raw: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and label of lines that are the heading of a named annex."""
    for line in _LINE.finditer(raw):
        words = line.group().strip()
        if len(words) > LONGEST_HEADING or not words or words[-1] in ".,;" or not words[0].isupper():
            continue
        if _ANY_KIND.search(words) and _is_title(words):
            for label in labels_in_title(words):
                start = line.start() + line.group().index(words)
                yield start, start + len(words), label


def partial_names(label: str) -> set[str]:
    """Return all runs of words of a label: "data processing" is part of "data processing agreement"."""
    words = label.rpartition(" ")[2].split("_")
    return {"_".join(words[low:high]) for low in range(len(words)) for high in range(low + 1, len(words) + 1)}


def _is_title(words: str) -> bool:
    """Tell whether words are set as a title: in capitals, or capitalised but for small words."""
    if words.isupper() or re.match(r"(?:Annexe?|Schedule|Appendix|Exhibit|Attachment)\b", words):
        return len(words.split()) <= 2 * MOST_WORDS
    return all(word[0].isupper() or len(word) < 4 or not word[0].isalpha() for word in words.split())
