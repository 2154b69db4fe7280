"""Number and date of a ruling, compared over the places that state them: head, formula, closing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nodes.domain.case_law.head.court import CASSATION, STATE_COUNCIL
from nodes.domain.case_law.head.dates import FIGURES, NUMBER_WORD, WEEKDAY, date_after, date_at
from nodes.domain.case_law.ruling_text import HEAD, TAIL, RulingText, line_around

ADMINISTRATIVE = (STATE_COUNCIL, "Cour administrative d'appel", "Tribunal administratif")
TOP = 2_500
"""Characters from the start that hold the number of a ruling of any court but the Cour de cassation."""
AGREED, ALONE, UNLABELLED, CONTRADICTED = 0.98, 0.85, 0.6, 0.3
"""Confidence of a value that two places state, one place, one without a label, and two places differently."""

_N = r"n\s?[°o0*'\"”]?s?\.?"
_APPEAL = (
    r"(?:(?<![a-z])(?P<letter>[a-z])\s*)?(?<![\d/-])(?P<year>\d{2})\s?[-.~]\s?"
    r"(?P<mid>\d{2})\s?[.,:]?\s?(?P<last>\d{3})(?![\d/])"
)
_APPEAL_NUMBER = re.compile(_APPEAL)
# Example: pourvoi n°
_APPEAL_LABEL = re.compile(
    rf"""
    (?:
      \b(?:pourvois?|affaires?|demandes?|requetes?|dossiers?)\s*{_N}\s*:?
      | \b{_N}\s*de\s*pourvois?\s*:? | (?<![a-z]){_N}
    )\s*(?={_APPEAL})
    """,
    re.VERBOSE,
)
# Example: forme le pourvoi n°
_LODGED = re.compile(
    rf"""
    \b(?:forme|formee?s?|sur)\s+(?:le|les|un|des)?\s*pourvois?\s*{_N}\s*
    """,
    re.VERBOSE,
)
_NEXT = re.compile(r"(?:\s|,|;|et|a|jonction|-(?=\s))*")
# Example: rg 21/01987
_GENERAL = re.compile(
    rf"""
    \b(?:r\s?\.?\s?g\s?\.?|repertoire\s+general|role\s+general|role)(?![a-z])\s*(?:{_N}|numero)?\s*
    [:.]?\s*(?:{_N}\s*)?(?:rg\s*)?:?\s*(?:[a-z]\s?)?
    (?P<number>\d{{2}}\s?/\s?\d{{3,6}}|\d{{4}}[a-z]\d{{4,6}}|\d{{4}}\s?/\s?\d{{4,6}}|\d{{8,12}})
    (?!\d)
    """,
    re.VERBOSE,
)
_PORTALIS = re.compile(r"portalis\s*:?\s*(?P<number>[a-z0-9]{4}-[a-z]-[a-z0-9]{3}-[a-z0-9]{3,6})")
# Example: n° 498761
_STATE = re.compile(
    rf"""
    ^[ \t]*(?:{_N}|requete\s+{_N})\s*(?P<number>\d{{5,7}}|\d{{2}}[a-z]{{2}}\d{{4,5}})(?!\d)
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: , n° 498762
_STATE_NEXT = re.compile(
    rf"""
    (?:[ \t]*(?:,|;|et\b)\s*|\s*\n[ \t]*(?={_N}))(?:{_N}\s*)?
    (?P<number>\d{{5,7}}|\d{{2}}[a-z]{{2}}\d{{4,5}})(?!\d)
    """,
    re.VERBOSE,
)
# Example: decision n° 2010-1 qpc
_COUNCIL = re.compile(
    rf"""
    decision\s+{_N}\s*(?P<number>\d{{4}}-\d{{1,4}}(?:\s?/\s?\d{{1,4}})*(?:\s(?:qpc|dc|l|an))?)\b
    """,
    re.VERBOSE,
)
# Example: arret n° 294
_ORDER = re.compile(
    rf"""
    \b(?:arret|decision|jugement|ordonnance|minute)\s*{_N}\s*:?\s*
    (?P<number>\d{{1,6}}(?:/\d{{1,6}})?)\b
    """,
    re.VERBOSE,
)
# Example: ecli:fr:ccass:2022:co00101
_ECLI = re.compile(
    r"""
    ecli\s*:\s*[a-z]{2}\s*:\s*[a-z0-9]{2,7}\s*:\s*\d{4}\s*:\s*[a-z0-9.]{1,25}[a-z0-9]
    """,
    re.VERBOSE,
)
# Example: ordonnance dont appel
_BELOW = re.compile(
    r"""
    \b(?:attaquee?|deferee?|entreprise?|origine|jugement|ordonnance|dont\ appel|saisine)\b
    """,
    re.VERBOSE,
)

_HEARD = re.compile(r"(?m)^[ \t]*audience\s*publique\s*(?:et\s+solennelle\s*)?(?:du|le)\s*")
_TITLED = re.compile(r"(?m)^[ \t]*(?:arret|decision|ordonnance)\s*du\s*")
_STYLED = re.compile(r"\bcour\s*de\s*cassation\s*,[^.;]{3,90}?,?\s*du\s*(?=\d|l\s?er)")
_READ_OUT = re.compile(r"\blecture\s+du\s+")
# Example: 11 mai 2022
_LINE_DATE = re.compile(
    rf"""
    ^[ \t]*(?:(?:en\ date\s+)?du\s*:?\s*|le\s+)?{FIGURES}[ \t]*$
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: prononce publiquement le 5 mai
_CLOSING = re.compile(
    rf"""
    \b(?:
      prononcee?s?
      | (?<!l'arret\ )(?<!le\ jugement\ )(?<!du\ jugement\ )(?<!l'ordonnance\ )(?<!la\ decision\ )
        rendue?s?
      | juges? | ainsi\ fait | mise?\ a\ (?:la\ )?disposition | audience\s*publique
    )\b(?:(?!\bprononce|\baudience\s*publique)[^;]){{0,220}}?\b(?:du|le|ce)\s+
    (?={WEEKDAY}(?:\d|l\s?er\b|{NUMBER_WORD}\b))
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A number or date with its span."""

    value: str
    start: int
    end: int
    kind: str
    """pourvoi, rg, ecli …; of a date, where it stands: heard, styled, closing …"""
    confidence: float = ALONE


def numbers(ruling: RulingText, jurisdiction: str) -> list[StatedValue]:
    """Return all numbers of a ruling, its own case number first."""
    head = ruling.plain[:TOP]
    stated = _pourvoi_numbers(ruling) if jurisdiction in (CASSATION, "") else []
    if not stated and jurisdiction != CASSATION:
        stated = list(_other_numbers(ruling, jurisdiction))
    ecli = _ECLI.search(ruling.plain)
    if ecli:
        stated.append(StatedValue(re.sub(r"\s", "", ecli.group()).upper(), ecli.start(), ecli.end(), "ecli"))
    order = _ORDER.search(head)
    below = order and re.search(r"\b(?:contre|par)\b", head[max(0, order.start() - 12) : order.start()])
    if order and not below and not head.startswith("-", order.end()):
        stated.append(StatedValue(order["number"], order.start(), order.end(), "order"))
    return stated


def _pourvoi_numbers(ruling: RulingText) -> list[StatedValue]:
    """Return the numbers of the pourvois in the head; the first is the ruling's own."""
    plain = ruling.plain
    label = _APPEAL_LABEL.search(plain, 0, HEAD)
    listed = list(_listed_numbers(plain, label.end(), label.start())) if label else []
    if not listed:
        bare = _APPEAL_NUMBER.search(plain, 0, HEAD)
        return [StatedValue(_pourvoi_number(bare), bare.start(), bare.end(), "pourvoi", UNLABELLED)] if bare else []
    # What the parties lodged is named once more below the head.
    story = next((zone.start for zone in ruling.zones_named("story")), 0)
    lodged = {
        _pourvoi_number(match)
        for lead in _LODGED.finditer(plain, listed[-1].end, max(story, HEAD))
        if (match := _APPEAL_NUMBER.match(plain, lead.end()))
    }
    own_numbers = {number.value for number in listed}
    confidence = ALONE if not lodged else AGREED if own_numbers & lodged else CONTRADICTED
    return [StatedValue(number.value, number.start, number.end, number.kind, confidence) for number in listed]


def _listed_numbers(plain: str, position: int, start: int) -> Iterator[StatedValue]:
    values: set[str] = set()
    while match := _APPEAL_NUMBER.match(plain, position):
        value = _pourvoi_number(match)
        if value not in values:
            yield StatedValue(value, start, match.end(), "pourvoi")
        values.add(value)
        gap = _NEXT.match(plain, match.end())
        position = start = gap.end() if gap else match.end()


def _pourvoi_number(match: re.Match[str]) -> str:
    return f"{match['year']}-{match['mid']}.{match['last']}"


def _other_numbers(ruling: RulingText, jurisdiction: str) -> Iterator[StatedValue]:
    lined = ruling.lined[:TOP]
    if jurisdiction in ADMINISTRATIVE:
        own = _STATE.search(lined)
        while own:
            yield StatedValue(own["number"].upper(), own.start("number"), own.end(), "requete")
            own = _STATE_NEXT.match(lined, own.end())
        return
    if jurisdiction == "Conseil constitutionnel":
        if match := _COUNCIL.search(lined):
            yield StatedValue(match["number"].upper(), match.start(), match.end(), "decision")
        return
    for match in _GENERAL.finditer(lined.replace("\n", " ")):
        before = lined[max(0, line_around(lined, match.start(), match.end())[0], match.start() - 120) : match.start()]
        if not _BELOW.search(before):
            yield StatedValue(re.sub(r"\s", "", match["number"]).upper(), match.start(), match.end(), "rg")
            break
    if portalis := _PORTALIS.search(lined):
        yield StatedValue(portalis["number"].upper(), portalis.start(), portalis.end(), "portalis")


def decided_on(ruling: RulingText, jurisdiction: str) -> StatedValue | None:
    """Return the ruling's ISO date: the one that most places state, the first of them if they differ."""
    places = [stated for stated in _stated_dates(ruling, jurisdiction) if stated is not None]
    if not places:
        return None
    votes = Counter(stated.value for stated in places)
    top_votes = max(votes.values())
    chosen = next(stated for stated in places if votes[stated.value] == top_votes)
    confidence = CONTRADICTED if len(votes) > 1 else AGREED if top_votes > 1 else chosen.confidence
    return StatedValue(chosen.value, chosen.start, chosen.end, chosen.kind, confidence)


def _stated_dates(ruling: RulingText, jurisdiction: str) -> Iterator[StatedValue | None]:
    """Yield the date at each place where a ruling may state it, at most one a place."""
    plain, lined = ruling.plain, ruling.lined
    if jurisdiction in (CASSATION, ""):
        # A line that a sentence about the hearing goes on with begins with a small letter.
        heads = [*_HEARD.finditer(lined, 0, HEAD), *_TITLED.finditer(lined, 0, TOP)]
        own = [match for match in heads if not ruling.text[match.start() : match.end()].lstrip()[:1].islower()]
        yield _first_date(lined, own, "heard", near=10)
        yield _first_date(plain, _STYLED.finditer(plain, 0, HEAD), "styled", near=10)
    else:
        yield _first_date(plain, _READ_OUT.finditer(plain), "read", near=20)
        # An administrative court tells early, and in one line, of the judgement that it is asked to review.
        story_start = (
            next((zone.start for zone in ruling.zones_named("story")), HEAD) if jurisdiction in ADMINISTRATIVE else HEAD
        )
        yield _heading_date(lined, jurisdiction, min(story_start, HEAD))
    if jurisdiction != STATE_COUNCIL:
        yield _closing_date(ruling)
    line = next(iter(_LINE_DATE.finditer(lined, 0, TOP)), None)
    if line and jurisdiction != STATE_COUNCIL:
        read = date_at(lined, line.start(), line.end())
        yield StatedValue(read[0].isoformat(), read[1], read[2], "line") if read else None


def _heading_date(lined: str, jurisdiction: str, stop: int) -> StatedValue | None:
    """Find the court's own heading "Arrêt du 15 février 2022", not on a line about the ruling below."""
    own = "arret|ordonnance|decision" if "our " in jurisdiction else "jugement|ordonnance|decision"
    lead = re.compile(rf"\b(?:{own})\b[^\n]{{0,40}}?\b(?:du|le)\b\s*:?\s*")
    for match in lead.finditer(lined, 0, stop):
        begin, _ = line_around(lined, match.start(), match.end())
        below = r"\b(?:attaquee?|deferee?|entreprise?|dont appel|origine|contre)\b"
        if re.search(below, lined[begin : match.start()]) or re.search(r"\bde cassation|d'instance", match.group()):
            continue
        if stated := _date_behind(lined, match, "headed", near=15):
            return stated
    return None


def _closing_date(ruling: RulingText) -> StatedValue | None:
    """Return the date of the closing formula; the last one, since reasons may mention other rulings."""
    start = max(ruling.operative, ruling.end - TAIL) if ruling.operative < ruling.end else ruling.end - TAIL
    start = max(start, 0)
    closings = [
        _date_behind(ruling.plain, match, "closing", near=3)
        for match in _CLOSING.finditer(ruling.plain, start, ruling.end)
    ]
    return next((closing for closing in reversed(closings) if closing), None)


def _first_date(plain: str, leads: Iterable[re.Match[str]], kind: str, near: int) -> StatedValue | None:
    return next((stated for lead in leads if (stated := _date_behind(plain, lead, kind, near))), None)


def _date_behind(plain: str, lead: re.Match[str], kind: str, near: int) -> StatedValue | None:
    read = date_after(plain, lead.end(), near)
    return StatedValue(read[0].isoformat(), lead.start(), read[2], kind) if read else None
