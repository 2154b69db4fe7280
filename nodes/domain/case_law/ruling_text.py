"""The text of a court decision as rules read it: one line, plain letters, the same offsets, and its parts."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import Span

HEAD = 4_000
"""Court, number and date stand in so many first characters."""
TAIL = 1_500
"""So many last characters of a decision hold its closing formula."""

_MARKS = str.maketrans(
    dict.fromkeys("\n\r\f\t\v\x85\xa0\u2007\u2009\u202f\u2028\u2029", " ")
    | dict.fromkeys("’‘`´ʼ", "'")
    | dict.fromkeys("‐‑‒–—−", "-")
    | {"º": "°", "˚": "°"}
)
_GAP = re.compile(r"\s{61,}")
"""No rule reads over more blanks; each would try every pair of them."""
_ANNEX = re.compile(
    r"(?m)^[ \t]*(?:moyens?\s+annexes?\b|annexe\s+au\s+present\s+arret|moyens?\s+produits?\s+(?:par|au))"
)
_OPERATIVE = re.compile(
    r"(?m)^[ \t]*(?:(?:en consequence[ ,]*)?par\s*ces\s*(?:seuls\s+)?motifs\b|en consequence,?\s+la cour\b"
    r"|d\s?e\s?c\s?i\s?d\s?e\s*:)"
)
_REASONS = re.compile(
    r"(?m)^[ \t]*(?:[ivx\d]{1,4}[ .)/-]{1,3})?(?:reponse de la cour|motifs(?: de la (?:decision|cour)| de l'arret)?\b"
    r"|sur ce\b|discussion\b|considerant ce qui suit|(?:mais|et) attendu\b|motivation\b"
    r"|examen de la question prioritaire|vu (?:les? |l')(?:article|principe|loi|decret))"
)
_GROUNDS = re.compile(
    r"(?m)^[ \t]*(?:examen d(?:es|u) (?:moyens?|question|griefs?)|enonce d(?:es|u|e la) (?:moyens?|question)"
    r"|sur l(?:es|a|e)s? (?:(?:premier|second|deuxieme|troisieme|quatrieme)s? )?(?:moyens?|question prioritaire"
    r"|branches?)"
    r"|pretentions? (?:et moyens )?des parties|attendu qu[e'].{0,80}(?:fait|font|fait grief|reproche))"
)
_STORY = re.compile(
    r"(?m)^[ \t]*(?:[ivx\d]{1,4}[ .)/-]{1,3})?(?:(?:rappel des )?faits\s*(?:,|et)?\s*(?:et )?(?:la )?procedure"
    r"|expose du litige"
    r"|expose des faits|faits et pretentions|attendu,? selon|vu la procedure suivante|par acte (?:d'huissier )?du)"
)


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of a decision: `text[start:end]`."""

    name: str
    """head, story, grounds, reasons, operative, annex."""
    start: int
    end: int


class RulingText:
    """A document with its plain twin; every offset holds in both."""

    def __init__(self, document: DocumentText) -> None:
        self.document = document
        self.text = document.text

    @cached_property
    def lined(self) -> str:
        """Lower case without accents, apostrophes and dashes made one, lines kept; page headers are blanks."""
        chars = list(self.text.translate({**_MARKS, 10: "\n", 12: "\n"}))
        for start, end in self.document.furniture:
            chars[start:end] = " " * (end - start)
        return _GAP.sub(_filled, "".join(map(_plain, chars)))

    @cached_property
    def plain(self) -> str:
        """The same in one line."""
        return self.lined.replace("\n", " ")

    @cached_property
    def end(self) -> int:
        """Where the decision ends and the grounds annexed to it begin."""
        annex = next(self._headings(_ANNEX, min(HEAD // 2, len(self.text) // 3), len(self.text)), None)
        return annex if annex is not None else len(self.text)

    @cached_property
    def operative(self) -> int:
        """Where the operative part begins; `end` when it cannot be told."""
        starts = list(self._headings(_OPERATIVE, 0, self.end))
        return starts[-1] if starts else self.end

    def _headings(self, pattern: re.Pattern[str], start: int, end: int) -> Iterator[int]:
        """Where lines begin with these words; a line that a sentence goes on with begins with a small letter."""
        for match in pattern.finditer(self.lined, start, end):
            words = self.text[match.start() : match.end()].lstrip()
            if words and not words[0].islower():
                yield match.start()

    @cached_property
    def zones(self) -> tuple[Zone, ...]:
        """The parts in the order of the text; one that was not seen is not there."""
        cuts: list[tuple[int, str]] = [(0, "head")]
        story = next(self._headings(_STORY, 0, self.operative), None)
        if story is not None:
            cuts.append((story, "story"))
        begin = story + 1 if story is not None else 0
        parts = [(start, "grounds") for start in self._headings(_GROUNDS, begin, self.operative)]
        parts += [(start, "reasons") for start in self._headings(_REASONS, begin, self.operative)]
        cuts += sorted(parts)
        if self.operative < self.end:
            cuts.append((self.operative, "operative"))
        if self.end < len(self.text):
            cuts.append((self.end, "annex"))
        ends = [start for start, _ in cuts[1:]] + [len(self.text)]
        return tuple(Zone(name, start, end) for (start, name), end in zip(cuts, ends, strict=True) if start < end)

    def zone_at(self, offset: int) -> str:
        place = bisect_right(self.zones, offset, key=lambda zone: zone.start)
        return self.zones[place - 1].name if place else "head"

    def zones_named(self, name: str) -> Iterator[Zone]:
        return (zone for zone in self.zones if zone.name == name)

    def slice(self, start: int, end: int) -> tuple[int, str]:
        """The document's own words of a range without blanks around them, and where they begin."""
        words = self.text[start:end]
        return start + len(words) - len(words.lstrip()), words.strip()


def line_around(text: str, start: int, end: int) -> Span:
    """The line that holds a range."""
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    return begin, stop if stop >= 0 else len(text)


def _filled(gap: re.Match[str]) -> str:
    blanks = gap[0]
    return blanks[:30] + "\x01" * (len(blanks) - 60) + blanks[-30:]


def _plain(char: str) -> str:
    if char.isascii():
        return char.lower()
    base = unicodedata.normalize("NFD", char)[0]
    low = base.lower()
    return low if len(low) == 1 else base
