"""Which law governs a contract, and who decides disputes under it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.domain.denials import affirmed
from nodes.domain.fact_text import MARGIN, Reading, spaced
from nodes.domain.facts import Proposal
from nodes.domain.folding import simplify

CLAUSES_READ = 4
TORN = 120
"""Characters behind a clause in which its sentence may go on."""

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
_NAME = rf"{_WORD}(?:,? (?:(?:and|&|of|du|de|des|la|et) (?:the )?)*{_WORD}){{0,5}}"
_OF_PLACE = re.compile(
    spaced(
        r"\b(?:(?:(?:substantive|internal|local|domestic|civil) )*laws?|legislation|lois?|droit|jurisdiction)"
        r"(?: \([^)]{1,80}\))?(?: (?:in force|applicable|and \w+))?(?:, and not [^,]{1,60},)? (?:of|in|de|du|des"
        r"|(?=the state of|state of)"
        r"|d') ?(?:the |la |l')?"
        rf"(?:(?:state|commonwealth|province|kingdom|country|territory|city|canton|état) (?:and [a-z]+ )?(?:of|de"
        rf"|du) )?(?P<place>république française|(?:Republic of )?{_NAME})",
    ),
    re.IGNORECASE,
)
_STATE_LAW = re.compile(
    spaced(
        r"\b(?P<place>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?)(?: state)? laws? (?:shall|will|governs?|applies|apply"
        r"|without)",
    ),
    re.IGNORECASE,
)
_BY_ADJECTIVE = re.compile(
    spaced(
        rf"\b(?:(?P<en>{_ADJECTIVE}) (?:substantive |civil |positive )*laws?|(?:droit|loi|législation"
        rf"|legislation)s? (?P<fr>{_ADJECTIVE})s?)\b"
    )
)
_GOVERNS = re.compile(
    r"\b(?:govern\w*|constru\w+|interpret\w*|appl(?:y|ies|icable)|subject to|régie?s?|soumise?s?|applicable"
    r"|regie?s?|laws?|droit|loi)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[,;.]|\b(?:and|without|excluding|as|applicable|et|sans|USA|U\.S\.A\.?|Without|Regardless)\b)*\s*$"
)
_OTHER_WORDS = re.compile(
    r",? (?:and|et) (?:the )?(?:part(?:y|ies)|each|any|no|all|be|is|shall|will"
    r"|agreements?|contracts?|courts?|united nations)\b.*$",
    re.IGNORECASE,
)
_DOES = re.compile(r" (?:hereby |each |both )?(?:agrees?|consents?|waives?|submits?|shall|will)\b")
_ARBITRATION = re.compile(
    spaced(
        r"\b(?:arbitrat\w+|arbitrage|arbitral\w*)\b(?:[^.;]{0,160}?\b(?:in|at|à|place shall be|seat(?:ed)? (?:shall be "
        r"|is )?(?:in )?)"
        rf" (?:the )?(?:city of )?(?P<place>{_NAME}))?",
    ),
    re.IGNORECASE,
)
_NO_ARBITRATION = re.compile(r"\b(?:no|not|without) (?:[\w]+ ){0,4}arbitrat", re.IGNORECASE)
_COURTS = re.compile(
    spaced(
        r"\b(?P<court>(?:(?:state|federal|local|competent|ordinary|commercial|supreme|district|high|provincial|superior"
        r"|civil) (?:and |or )?){0,4}"
        r"courts?(?: of (?:competent jurisdiction|law))?"
        r" (?:(?:sitting|located|situated|residing|seated) )?(?:of|in|for|at)(?: and for)? (?:the )?"
        rf"(?:(?:state|commonwealth|county|city|borough|province|district|republic|canton)s? of )?(?P<place>{_NAME}))",
    ),
    re.IGNORECASE,
)
_NAMED_COURT = re.compile(spaced(rf"\b(?P<court>(?-i:Court|Courts|High Court|District Court) of (?P<place>{_NAME}))"))
_TRIBUNAL = re.compile(
    spaced(
        r"\b(?P<court>(?:tribuna(?:l|ux)|cour d'appel|juridictions?)(?: (?:de commerce"
        r"|judiciaires?|administratifs?|compétente?s?"
        r"|des activités économiques|de grande instance))*(?: (?:du ressort )?(?:de la cour d'appel )?)"
        rf"(?:de |d'|du |des )(?:la |l')?(?P<place>{_NAME}))",
    ),
    re.IGNORECASE,
)
_JURISDICTION = re.compile(
    r"\b(?:jurisdiction|venue|courts?|tribuna(?:l|ux)|compéten\w+|ressort|juridictions?|dispute"
    r"|litiges?|différends?)\b",
    re.IGNORECASE,
)


def read_law(reading: Reading) -> Iterator[Proposal]:
    """governing_law (once) and court (once; an arbitration says so in its detail)."""
    spans = [*list(reading.clauses("governing_law"))[:CLAUSES_READ], *_said(reading)]
    law = next((found for start, end in spans if (found := _law(reading, start, end))), None)
    if law:
        yield law
    court = next(
        (found for start, end in [*spans, *_about_courts(reading, spans)] if (found := _court(reading, start, end))),
        None,
    )
    if court:
        yield court


def _said(reading: Reading) -> list[tuple[int, int]]:
    """Sentences that say which law governs, where the engine saw none."""
    found = []
    for one in reading.sentences:
        plain = reading.plain[one.start : one.end]
        if re.search(
            r"\b(?:governed|construed|régie?s?|soumise?s?)\b[^.;]{0,120}\b(?:laws?|droit|lois?)\b", plain, re.IGNORECASE
        ):
            found.append((one.start, one.end))
    return found[:CLAUSES_READ]


def _law(reading: Reading, start: int, end: int) -> Proposal | None:
    plain = reading.plain[start:end]
    if not _GOVERNS.search(plain):
        return None
    # A reader that meets a page break may have parted the sentence. A law that is excluded does not govern.
    place = _place(affirmed(plain)) or _place(affirmed(reading.plain[start : end + TORN]))
    if place:
        name, low, high = place
        written = " ".join(reading.raw[start + low : start + high].split())
        quote = max(start, start + low - MARGIN), start + high
        begin = reading.plain.find(" ", quote[0]) + 1 if quote[0] > start else start
        return reading.fact("governing_law", name, begin, quote[1], {"place": name, "written": written}, exact=True)
    return None


def law_named(sentence: str) -> str:
    """The country or state whose law a sentence names first and does not exclude; "" where it names none."""
    place = _place(affirmed(sentence))
    return place[0] if place else ""


def _place(plain: str) -> tuple[str, int, int] | None:
    """The law's country or state, in English where it is known, and where it stands."""
    adjective = _BY_ADJECTIVE.search(_same_length(plain))
    named = _OF_PLACE.search(plain) or _STATE_LAW.search(plain)
    if adjective and (named is None or adjective.start() <= named.start()):
        name = _ADJECTIVES[(adjective["en"] or adjective["fr"])]
        return name, adjective.start(), adjective.end()
    if named is None:
        return None
    name = _tidy(named["place"])
    if not name or name.casefold() in ("agreement", "contract", "state", "parties"):
        return None
    return _FRENCH_NAMES.get(simplify(name), name), named.start(), named.end()


def _same_length(plain: str) -> str:
    """Lower case without accents, one character for one."""
    return "".join(simple if len(simple := simplify(char)) == 1 else " " for char in plain)


def _tidy(place: str) -> str:
    place = _OTHER_WORDS.sub("", " ".join(place.split()))
    previous = None
    while place != previous:
        previous, place = place, _TAIL.sub("", place).strip(" ,")
    return place


def _about_courts(reading: Reading, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The sentences around the law, then others that settle jurisdiction."""
    near: list[tuple[int, int]] = []
    far: list[tuple[int, int]] = []
    for one in reading.sentences:
        plain = reading.plain[one.start : one.end]
        if not _JURISDICTION.search(plain):
            continue
        if any(-600 < one.start - end < 900 for _, end in spans):
            near.append((one.start, one.end))
        elif re.search(r"\b(?:exclusive|jurisdiction|venue|compéten\w+|arbitra\w+)\b", plain, re.IGNORECASE):
            far.append((one.start, one.end))
    return [*near[:6], *far[:6]]


def _court(reading: Reading, start: int, end: int) -> Proposal | None:
    plain = reading.plain[start:end]
    for pattern in (_TRIBUNAL, _NAMED_COURT, _COURTS):
        if found := pattern.search(plain):
            named = found["place"]
            # "… courts of Houston, Texas, and Acme agrees": who agrees is no place.
            if _DOES.match(plain, found.end()):
                named = re.sub(r",? and [^,]+$", "", named)
            place = _tidy(named)
            if not place:
                continue
            value = " ".join(found["court"].split())
            value = value[: len(value) - len(" ".join(found["place"].split())) + len(place)]
            return reading.fact(
                "court", value, start + found.start(), start + found.end(), {"kind": "court", "place": place}
            )
    found = _ARBITRATION.search(plain)
    if found and not _NO_ARBITRATION.search(plain):
        place = _tidy(found["place"] or "")
        value = f"arbitration in {place}" if place else "arbitration"
        detail = {"kind": "arbitration", **({"place": place} if place else {})}
        return reading.fact("court", value, start + found.start(), start + found.end(), detail)
    return None
