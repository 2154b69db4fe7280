"""Parties of a ruling as it writes them, and the ruling that is attacked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.domain.case_law.head.court import CASSATION
from nodes.domain.case_law.head.dates import date_at
from nodes.domain.case_law.ruling_text import HEAD, RulingText

MOST_PARTIES = 120
LONGEST = 240
REACH = 60_000
"""Characters from the start that are searched: some rulings list hundreds of parties first."""

# Example: a rendu l'arret suivant :
_BEGIN = re.compile(
    r"""
    \ba\s+rendu\s+(?:l[ae]s?\s+|l')?(?:arret|decision|ordonnance)s?\s+suivante?s?\s*:?
    | \bcour\s*de\s*cassation\s*,[^.;]{3,90}?,?\s*du\s+\d{1,2}\s?(?:er)?\s+[a-z]+\s+\d{4}
    """,
    re.VERBOSE,
)
# Example: les demandeurs invoque
_END = re.compile(
    r"""
    \b(?:
      le\ dossier\ a\ ete | vu\ la\ communication | sur\ le\ rapport
      | les?\ demande(?:urs?|resses?)\ .{0,80}invoque | la\ cour,?\ en\ l'audience
      | faits\ et\ procedure | apres\ debats
    )
    """,
    re.VERBOSE,
)
_LODGED = re.compile(r"\b(?:a|ont)\s+(?:chacune?\s+)?forme\s+(?:le|les|un|des)\s+pourvois?\b")
_BY = re.compile(r"\bpourvois?\s*(?:n\s?[°o][^,;]{0,40})?\s*formee?s?\s+par\s*:?\s*")
_SEVERAL = r"(?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|plusieurs|\d{1,3})"
# Example: contre l'arret
_AGAINST = re.compile(
    rf"""
    \bcontre\s+(?:l[ae]s?\s|l'|un|une|du|le\ meme|{_SEVERAL}\s|chacune?\s)
    """,
    re.VERBOSE,
)
# Example: litige l'opposant :
_OPPOSING = re.compile(
    r"""
    \b(?:litige|instance|l[ae])s?\s*,?\s*(?:l[ae]s?\s*|l')opposant\s*(?:,\s*)?
      (?:respectivement\b\s*)?:?\s*
    | \bopposant\s*(?:respectivement\b\s*)?:?\s*(?=a\ |au\ |aux\ |1)
    """,
    re.VERBOSE,
)
# Example: defendeurs a la cassation
_DEFENDING = re.compile(
    r"""
    \b(?:defende(?:urs?|resses?)|defendeurs?\s+et\s+defenderesses?)\s+a\s+la\s+cassation\b
    | \ben\ presence\b
    """,
    re.VERBOSE,
)
_ONE_SIDE = re.compile(r"\bd'une\s+part\s*,?\s*:?")
_OTHER_SIDE = re.compile(r"\bd'autre\s+part\s*,?\s*:?")
_AFTER_SIDES = re.compile(r"\ble dossier|\bvu l|\bsur le rapport|\bles parties|\btel est")
_ITEM = re.compile(r"(?:^|(?<=[\s,;:.]))(?:[ivx]{1,4}\s*[-.]\s*)?\d{1,3}\s?°\s?/\s*")
_LEAD = re.compile(r"(?:[\s,;:.-]|\b(?:a|au|aux|de|des|du|et|i{1,3}|iv|v)\b(?=[\s.-]))*")
# Example: intimee :
_HEADINGS = re.compile(
    r"""
    ^[ \t]*(?:[-*]\s*)?(?P<role>
      appelante?s?(?:\s+(?:principale?s?|incidente?s?))? | intimee?s? | demande(?:urs?|resses?)
      | defende(?:urs?|resses?) | parties?\s+intervenantes?
      | intervenante?s?(?:\s+(?:volontaires?|forcee?s?))? | requerante?s?
    )(?:\s*\(?e?\)?s?)?(?:\s+a\s+(?:l'instance|l'appel|la\ cause))?[ \t]*:?[ \t]*(?=\n)
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: , [adresse
_NAME_END = re.compile(
    r"""
    \s*(?:
      , | ; | \n | \(\s*(?:dossier|bordereau)
      | \b(?:
          dont | ayant | demeurant | nee?\s+le | domiciliee? | representee? | prise?\s+en
          | immatriculee? | de\ nationalite | es\ qualites | assistee? | comparant | non\ comparant
        )\b
      | \[adresse | n\s?°
    )
    """,
    re.VERBOSE,
)
_NO_NAME = re.compile(r"(?:tous|toutes|chacun|dont|domicili|eux|elles?|lui|celui|celle|ce dernier)\b")
_ROLES = {
    "appelant": "appelant",
    "intime": "intimé",
    "demande": "demandeur",
    "defende": "défendeur",
    "partie": "intervenant",
    "interve": "intervenant",
    "requera": "requérant",
}
# Example: contre l'arret rendu le 5 janvier 2023 par la cour d'appel de paris
_ATTACKED = re.compile(
    rf"""
    \bcontre\s+(?P<words>
      (?:
        l'\s?(?:arret|ordonnance) | le\s+jugement | une?\s+(?:arret|jugement|ordonnance)
        | la\s+(?:decision|sentence) | (?:les|{_SEVERAL})\s+(?:arrets|jugements)
      )(?:\s*\(?n\s?[°o][^)]{{0,40}}\)?)?\s*(?:
        de\s+la\s+(?P<before>[^,;]{{5,90}}),[^;]{{0,60}}?en\s+date\s+du
        | rendue?s?\s*,?(?:\s*en\s+(?:dernier|premier)\s+ressort\s*,?)?\s*(?:les?|du)?
      )\s*.{{6,30}}?\d{{4}}
    )(?:\s*,?[^,;]{{0,80}}?\bpar\s+(?P<court>[^(,;:]{{5,120}}))?
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class RulingParty:
    """A party, or the ruling that is attacked."""

    value: str
    role: str
    start: int
    end: int


def parties(ruling: RulingText, jurisdiction: str) -> list[RulingParty]:
    """Return the parties in order, each name once a role."""
    mentions = _cassation_parties(ruling) if jurisdiction == CASSATION else _labelled_parties(ruling)
    distinct: dict[tuple[str, str], RulingParty] = {}
    for party in mentions:
        distinct.setdefault((party.value.casefold(), party.role), party)
    return list(distinct.values())[:MOST_PARTIES]


def attacked(ruling: RulingText) -> RulingParty | None:
    """Return the ruling against which the pourvoi or the appeal is directed, in the words of the text."""
    match = _ATTACKED.search(ruling.plain, 0, min(ruling.operative, REACH))
    if match is None or date_at(ruling.plain, *match.span("words")) is None:
        return None
    end = match.end("court") if match["court"] else match.end("words")
    start, words = ruling.slice(match.start("words"), end)
    return RulingParty(" ".join(words.split()), "attacked", start, start + len(words))


def _cassation_parties(ruling: RulingText) -> Iterator[RulingParty]:
    plain = ruling.plain
    begin = _BEGIN.search(plain, 0, HEAD)
    start = begin.end() if begin else 0
    # The formula stands in the head twice where a line styles the ruling before it.
    again = _BEGIN.search(plain, start, start + 400)
    start = again.end() if again else start
    close = _END.search(plain, start, REACH)
    stop = close.start() if close else min(ruling.operative, start + HEAD)
    first_side = _ONE_SIDE.search(plain, start, stop)
    second_side = _OTHER_SIDE.search(plain, first_side.end(), stop) if first_side else None
    if first_side and second_side:
        after = _AFTER_SIDES.search(plain, second_side.end(), min(len(plain), stop + 400))
        yield from _items(ruling, first_side.end(), second_side.start(), "partie")
        yield from _items(ruling, second_side.end(), after.start() if after else stop, "partie")
        return
    position = start
    for lodged in sorted(
        [*_LODGED.finditer(plain, start, stop), *_BY.finditer(plain, start, stop)], key=lambda lead: lead.start()
    ):
        if lodged.start() < position:
            continue
        against = _AGAINST.search(plain, lodged.end(), stop)
        below = against.start() if against else stop
        span = (position, lodged.start()) if lodged.re is _LODGED else (lodged.end(), below)
        yield from _items(ruling, *span, "demandeur")
        opposing = _OPPOSING.search(plain, below, stop)
        if opposing is None:
            position = below
            continue
        ended = _DEFENDING.search(plain, opposing.end(), stop)
        position = ended.end() if ended else stop
        yield from _items(ruling, opposing.end(), ended.start() if ended else stop, "défendeur")


def _items(ruling: RulingText, start: int, end: int, role: str) -> Iterator[RulingParty]:
    cuts = [match for match in _ITEM.finditer(ruling.plain, start, end)]
    begins = [match.end() for match in cuts] or [start]
    ends = [match.start() for match in cuts[1:]] + [end]
    for begin, stop in zip(begins, ends, strict=True):
        if party := _name(ruling, begin, stop, role):
            yield party


def _name(ruling: RulingText, begin: int, stop: int, role: str) -> RulingParty | None:
    lead = _LEAD.match(ruling.plain, begin, stop)
    start = lead.end() if lead else begin
    comma = _comma(ruling.plain, start, min(stop, start + LONGEST))
    start, words = ruling.slice(start, comma)
    value = " ".join(words.split())
    # "M. David Z...": an initial stands for a name that was taken out.
    value = value if value.endswith("...") else value.rstrip(" .;:")
    fine = len(value) > 2 and any(char.isalpha() for char in value) and not _NO_NAME.match(value)
    return RulingParty(value, role, start, start + len(words)) if fine else None


def _comma(plain: str, start: int, end: int) -> int:
    """Return where a name ends: at the first comma outside brackets."""
    depth = 0
    for offset in range(start, end):
        char = plain[offset]
        depth += (char in "([") - (char in ")]")
        if depth <= 0 and char in ",;":
            return offset
    return end


def _labelled_parties(ruling: RulingText) -> Iterator[RulingParty]:
    lined = ruling.lined
    headings = list(_HEADINGS.finditer(lined, 0, min(HEAD * 2, ruling.operative)))
    for place, heading in enumerate(headings):
        stop = headings[place + 1].start() if place + 1 < len(headings) else heading.end() + 400
        role = next(name for mark, name in _ROLES.items() if heading["role"].startswith(mark))
        text = re.compile(r"\s*").match(lined, heading.end())
        begin = text.end() if text else heading.end()
        end = _NAME_END.search(lined, begin, min(stop, begin + LONGEST))
        start, words = ruling.slice(begin, end.start() if end else min(stop, begin + LONGEST))
        value = " ".join(words.split())
        if len(value) > 2:
            yield RulingParty(value, role, start, start + len(words))
