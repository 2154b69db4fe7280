"""Court, chamber and formation, read from the head of a ruling."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodes.domain.case_law.ruling_text import HEAD, RulingText, line_around

CASSATION = "Cour de cassation"
STATE_COUNCIL = "Conseil d'État"
_SEAT = r"(?P<seat>(?:l[ea]s?\s|l')?[a-z][a-z'-]*(?:[ -][a-z'-]+){0,5}?)"
_STOP = (
    r"(?=\s*(?:[,;:.()\n\d/_*]|$|-\s|\bdu\s\d|\b(?:chambre|pole"
    r"|section|jugement|arret|ordonnance|a rendu|republique|au nom)\b))"
)
_COURTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.MULTILINE))
    for name, pattern in (
        (CASSATION, r"\bcour\s*de\s*cassation\b"),
        (STATE_COUNCIL, r"\bconseil\s*d'\s*etat\b"),
        ("Conseil constitutionnel", r"\bconseil\s+constitutionnel\b"),
        ("Cour administrative d'appel", rf"\b(?:cour\s+administrative\s+d'appel|caa)\s+d(?:e\s|'){_SEAT}{_STOP}"),
        ("Cour d'appel", rf"\bcour\s*d'\s*appel\s+d(?:e\s|'|u\s){_SEAT}{_STOP}"),
        ("Tribunal administratif", rf"\btribunal\s+administratif\s+d(?:e\s|'|u\s){_SEAT}{_STOP}"),
        ("Tribunal judiciaire", rf"\btribunal\s+judiciaire\s+d(?:e\s|'|u\s){_SEAT}{_STOP}"),
        ("Tribunal de commerce", rf"\btribunal\s+de\s+commerce\s+d(?:e\s|'|u\s){_SEAT}{_STOP}"),
        ("Tribunal des activités économiques",
         rf"\btribunal\s+des\s+activites\s+economiques\s+d(?:e\s|'|u\s){_SEAT}{_STOP}"),
        ("Tribunal de grande instance", rf"\btribunal\s+de\s+grande\s+instance\s+d(?:e\s|'|u\s){_SEAT}{_STOP}"),
        ("Tribunal d'instance", rf"\btribunal\s+d'instance\s+d(?:e\s|'|u\s){_SEAT}{_STOP}"),
        ("Conseil de prud'hommes", rf"\bconseil\s+de\s+prud'?\s?hommes\s+d(?:e\s|'|u\s){_SEAT}{_STOP}"),
    )
)  # fmt: skip
# Example: decision attaquee
_BELOW = re.compile(
    r"""
    \b(?:attaquee?|deferee?|entreprise?|origine|appel\ d|rendue?\ (?:le|par)|contre|pres)\b
    """,
    re.VERBOSE,
)
_FIRST = frozenset(name for name, _ in _COURTS if name.startswith(("Tribunal", "Conseil de prud'hommes")))
NEAR = 300
"""Characters between two courts of one letterhead at most."""
_JUDGEMENT = re.compile(r"(?m)^[ \t]*(?:jugement|ordonnance)\b")
_ORDER = re.compile(r"(?m)^[ \t]*arret\b")
_CHAMBERS: tuple[tuple[str, str], ...] = (
    ("Chambre sociale", r"chambre\s*sociale"),
    ("Chambre commerciale financière et économique", r"chambre\s*commerciale(?:\s*,?\s*financiere\s*et\s*economique)?"),
    ("Première chambre civile", r"(?:premiere|1(?:re|ere)?)\s*chambre\s*civile|chambre\s*civile\s*1"),
    ("Deuxième chambre civile", r"(?:deuxieme|2(?:e|eme)?)\s*chambre\s*civile|chambre\s*civile\s*2"),
    ("Troisième chambre civile", r"(?:troisieme|3(?:e|eme)?)\s*chambre\s*civile|chambre\s*civile\s*3"),
    ("Chambre criminelle", r"chambre\s*criminelle"),
    ("Assemblée plénière", r"assemblee\s*pleniere"),
    ("Chambre mixte", r"chambre\s*mixte"),
)
_SHORT: tuple[tuple[str, str], ...] = (
    ("Chambre sociale", r"soc"), ("Chambre commerciale financière et économique", r"comm?"),
    ("Première chambre civile", r"civ\s*\.?\s*1"), ("Deuxième chambre civile", r"civ\s*\.?\s*2"),
    ("Troisième chambre civile", r"civ\s*\.?\s*3"), ("Chambre criminelle", r"crim"),
)  # fmt: skip
# Example: 2eme chambre civile
_CHAMBER_LINE = re.compile(
    r"""
    ^[ \t*-]*(?P<name>
      (?:
        \d{1,2}\s?(?:ere|re|eme|e)\s | (?:premiere|deuxieme|troisieme|quatrieme|cinquieme|sixieme)\s
      )?(?:chambre|pole)\b(?!\s+d[ue]\s+(?:conseil|commerce))[^\n;.()]{0,70}?
    )[ \t*-]*(?:\(|$)
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: 6eme et 5eme chambres reunies
_ADMINISTRATIVE = re.compile(
    r"""
    (?P<name>
      \d{1,2}\s?(?:ere|re|eme|e|nde)(?:\s*(?:et|-|/)\s*\d{1,2}\s?(?:ere|re|eme|e|nde))*\s+
      (?:sous-sections?|chambres?)(?:\s+(?:reunies|jugeant\ seule))?
    )
    """,
    re.VERBOSE,
)
_FULL_BENCH = re.compile(r"(?P<name>assemblee du contentieux|section du contentieux|juge des referes)")
# Example: arret n° 101 f-p+b
_MARK = re.compile(
    r"""
    (?:\b(?:arret|decision)\s*n\s?[°o.*]?\s*\d[\d ]{0,6}|\b\d{2}-\d{2}\.\d{3})\s+
    (?P<mark>(?P<size>fp|fs|fr|f)(?P<more>(?:\s?[-+]\s?[pbridlm](?![a-z]))*))(?![a-z])
    """,
    re.VERBOSE,
)
_SIZES = {
    "f": "Formation restreinte hors RNSM/NA",
    "fr": "Formation restreinte hors RNSM/NA",
    "fs": "Formation de section",
    "fp": "Formation plénière de chambre",
}
# Example: rejet non specialement motive
_UNREASONED = re.compile(
    r"""
    \b(?:
      rejet\ non\ specialement\ motive | non-admission | non\ admission
      | decision\ de\ rejet\ non\ specialement
    )
    """,
    re.VERBOSE,
)
_LARGER = re.compile(r"article\s+r\.?\s*431-\s?5\s+du\s+code\s+de\s+l'organisation")


@dataclass(frozen=True, slots=True)
class HeadValue:
    """A value read from the head of a ruling, with its span."""

    value: str
    start: int
    end: int
    detail: dict[str, str]


def court(ruling: RulingText) -> HeadValue | None:
    """Return the court that gave the ruling: the first one that the head names, unless its ruling is attacked."""
    best: tuple[int, str, re.Match[str]] | None = None
    below: tuple[int, str, re.Match[str]] | None = None
    for name, pattern in _COURTS:
        for match in pattern.finditer(ruling.lined, 0, HEAD):
            begin, _ = line_around(ruling.lined, match.start(), match.end())
            if _BELOW.search(ruling.lined, max(begin, match.start() - 60), match.start()):
                continue
            if best is None or match.start() < best[0]:
                best = match.start(), name, match
            if name in _FIRST and (below is None or match.start() < below[0]):
                below = match.start(), name, match
            break
    if best is None:
        return None
    # A judgement of first instance may name above itself the court of appeal in whose district it was rendered.
    judged = _JUDGEMENT.search(ruling.lined, 0, HEAD) and not _ORDER.search(ruling.lined, 0, HEAD)
    if below and best[1] == "Cour d'appel" and below[0] - best[0] < NEAR and judged:
        best = below
    _, name, match = best
    seat = _in_mixed_case(ruling, *match.span("seat")) if "seat" in match.groupdict() else ""
    joined = f"{name} d'{seat}" if seat[:1] in "AEIOUYÉÈÎ" else f"{name} de {seat}"
    detail = {"jurisdiction": name} | ({"seat": seat} if seat else {})
    return HeadValue(joined if seat else name, match.start(), match.end(), detail)


def _in_mixed_case(ruling: RulingText, start: int, end: int) -> str:
    """Return a place name in mixed case, also where the head is in capitals."""
    words = " ".join(ruling.text[start:end].split()).replace("’", "'")
    if not words.isupper():
        return words
    titled = re.sub(r"[^\W\d_]+", lambda match: match[0].capitalize(), words)
    return re.sub(r"(?<=[ -])(?:De|Du|Des|La|Le|Les|Sur|Sous|En|Lès|Et)(?=[ -])", lambda m: m[0].lower(), titled)


def chamber(ruling: RulingText, jurisdiction: str) -> HeadValue | None:
    """Return the chamber, under its usual name for the Cour de cassation, as written for all others."""
    head = ruling.lined[:HEAD]
    if jurisdiction == CASSATION:
        return _cassation_chamber(head, ruling)
    if jurisdiction in (STATE_COUNCIL, "Cour administrative d'appel", "Tribunal administratif"):
        match = _ADMINISTRATIVE.search(head) or _FULL_BENCH.search(head)
    else:
        match = next((line for line in _CHAMBER_LINE.finditer(head) if "president" not in line["name"]), None)
    if match is None:
        return None
    start, words = ruling.slice(*match.span("name"))
    return HeadValue(" ".join(words.split()), start, start + len(words), {})


def _cassation_chamber(head: str, ruling: RulingText) -> HeadValue | None:
    # The head also names the chamber of the court whose ruling is attacked.
    for lead in (r"cour\s*de\s*cassation\s*[,.-]?\s*(?:civile,\s*)?", r"(?m)^[ \t]*", r"\bla\s+"):
        for name, pattern in _CHAMBERS:
            match = re.search(rf"{lead}(?P<name>{pattern})", head)
            if match:
                return HeadValue(name, match.start("name"), match.end("name"), {})
    for name, pattern in _SHORT:
        match = re.search(rf"(?m)^[ \t]*(?P<name>{pattern})\b\.?", head[:300])
        if match:
            return HeadValue(name, match.start("name"), match.end(), {})
    closing = ruling.plain[ruling.operative : ruling.end]
    for name, pattern in _CHAMBERS:
        match = re.search(rf"cour\s*de\s*cassation,\s*(?P<name>{pattern})", closing)
        if match:
            offset = ruling.operative
            return HeadValue(name, offset + match.start("name"), offset + match.end("name"), {})
    return None


def formation(ruling: RulingText, jurisdiction: str) -> HeadValue | None:
    """Return the formation under the name that the Cour de cassation publishes; publication marks in the detail."""
    if jurisdiction != CASSATION:
        return None
    head = ruling.plain[:HEAD]
    mark = _MARK.search(head)
    unreasoned = _UNREASONED.search(head)
    if mark:
        small = mark["size"] in ("f", "fr")
        value = "Formation restreinte RNSM/NA" if unreasoned and small else _SIZES[mark["size"]]
        detail = {"mark": re.sub(r"\s", "", mark["mark"]).upper()}
        published = re.sub(r"[^pbril]", "", mark["more"]).upper()
        return HeadValue(value, mark.start(), mark.end(), detail | ({"publication": published} if published else {}))
    if unreasoned:
        return HeadValue("Formation restreinte RNSM/NA", unreasoned.start(), unreasoned.end(), {})
    larger = _LARGER.search(head)
    return HeadValue("Formation de section", larger.start(), larger.end(), {"mark": "R. 431-5"}) if larger else None
