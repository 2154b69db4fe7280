"""The annexes of a document: those that it says are attached, and those that are there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.domain.fact_text import Reading
from nodes.domain.facts import Proposal

TOP = 60
"""A label among so many first characters says what the document is."""
LONGEST = 160
"""Of a line that is longer, the label alone is the heading."""
MOST = 60
"""What names more annexes is a list of annexes."""

_KIND = r"(?:annexe?|appendix|exhibit|schedule|attachment)"
_ID = r"(?:n ?[°º] ?)?(?P<id>\d{1,2}(?:[.-]\d{1,2}){0,3}|(?-i:[IVX]{1,4}(?:-[A-Z])?)\b|(?-i:[A-Z]{1,2})(?:-\d{1,2})?)"
_LABEL = re.compile(rf"\b(?P<kind>{_KIND})s?(?: [-–])? {_ID}\b(?! ?[a-z]['’])", re.IGNORECASE)
_HEADING = re.compile(
    rf"^[ \t]*[\"“«]?(?P<kind>{_KIND})(?: ?[-–:])? {_ID}\b(?P<rest>[^\n\f]*)$", re.IGNORECASE | re.MULTILINE
)
# A heading "Annexes" with the number of the paragraph below it.
_TWO_LINES = re.compile(rf"{_KIND}e?s\s*\n", re.IGNORECASE)
_ATTACHED = re.compile(
    r"\b(?:attached|annexed|appended|enclosed|affixed)\b|\bjointe?s?\b|\bci-jointe?s?\b|\bannexée?s?\b"
    r"|\bci-annexée?s?\b",
    re.IGNORECASE,
)
_NO_PAPER = re.compile(
    r"\b(?:if any|intentionally|reserved|omitted|to be (?:attached|agreed|added|determined)|form 10|form 8"
    r"|annual report|registration statement|filed (?:as|with)|le cas échéant"
    r"|may be attached)\b",
    re.IGNORECASE,
)
_REACH = 70
"""Characters between the word "attached" and the annex that it is said of."""


def label_of(kind: str, number: str) -> str:
    """One form of an annex's name: annex 2 for Annexe n° 2, exhibit a for EXHIBIT A."""
    kind = kind.casefold()
    return f"{'annex' if kind == 'annexe' else kind} {number.casefold()}"


def labels_in(name: str) -> set[str]:
    """The annexes that a title or the name of a file says it is."""
    plain = re.sub(r"[_]+", " ", name)
    return {label_of(found["kind"], found["id"]) for found in _LABEL.finditer(plain)}


def read_annexes(reading: Reading) -> Iterator[Proposal]:
    """annex_reference for each annex that is said to be attached, annex_heading for each that is there."""
    named: set[str] = set()
    for found in _LABEL.finditer(reading.plain):
        if _TWO_LINES.match(reading.raw, found.start()):
            continue
        label = label_of(found["kind"], found["id"])
        if label in named or len(named) == MOST or not _is_attached(reading.plain, found):
            continue
        named.add(label)
        value = " ".join(found.group().split())
        yield reading.fact("annex_reference", value, *found.span(), {"label": label})
    seen: set[str] = set()
    for found in _HEADING.finditer(reading.raw):
        label = label_of(found["kind"], found["id"])
        if label not in seen and len(seen) < MOST and _is_heading(reading, found):
            seen.add(label)
            start = found.start() + len(found.group()) - len(found.group().lstrip())
            end = found.end() if found.end() - start <= LONGEST else found.start("rest")
            value = " ".join(reading.raw[start:end].split())
            yield reading.fact("annex_heading", value, start, end, {"label": label}, exact=True)


def _is_attached(plain: str, found: re.Match[str]) -> bool:
    before = re.split(r"[.;:]\s", plain[max(found.start() - _REACH, 0) : found.start()])[-1]
    behind = re.split(r"[.;:]\s", plain[found.end() : found.end() + _REACH])[0]
    return _ATTACHED.search(f"{before} … {behind}") is not None and not _NO_PAPER.search(f"{before} {behind}")


def _is_heading(reading: Reading, found: re.Match[str]) -> bool:
    """Is this line the heading of an annex, and no line of a table of contents or of a broken sentence?"""
    rest = found["rest"].strip()
    if re.search(r"\.{4}|…{2}|\s\d{1,3}$", rest) or (rest and not re.match(r"[A-ZÀ-Ý(\"“«:–—.-]", rest)):
        return False
    if found.start() < TOP:
        return True
    if (_ATTACHED.search(rest) and rest[0] != "(") or re.match(r"[.)](?:\s|$)", rest):
        return False
    before = reading.raw[max(found.start() - 200, 0) : found.start()]
    last = before.rstrip()
    blank = not last or before[len(last) :].count("\n") > 1 or "\f" in before[len(last) :]
    shouted = found["kind"].isupper()
    return blank or shouted or last[-1] in ".;:!?)" or (found["kind"][0].isupper() and not rest)
