"""Text of a court ruling as rules read it: one line, plain letters, the same offsets, and its parts."""

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
"""Characters from the start that hold court, number and date."""
TAIL = 1_500
"""Characters at the end that hold the closing formula."""

_MARKS = str.maketrans(
    dict.fromkeys("\n\r\f\t\v\x85\xa0\u2007\u2009\u202f\u2028\u2029", " ")
    | dict.fromkeys("’‘`´ʼ", "'")
    | dict.fromkeys("‐‑‒–—−", "-")
    | {"º": "°", "˚": "°"}
)
_GAP = re.compile(r"\s{61,}")
"""Runs of blanks that no rule may match across; each would try every pair of them."""
# Example: moyens produits par
_ANNEX = re.compile(
    r"""
    ^[ \t]*(?:moyens?\s+annexes?\b|annexe\s+au\s+present\s+arret|moyens?\s+produits?\s+(?:par|au))
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: par ces motifs
_OPERATIVE = re.compile(
    r"""
    ^[ \t]*(?:
      (?:en\ consequence[ ,]*)?par\s*ces\s*(?:seuls\s+)?motifs\b | en\ consequence,?\s+la\ cour\b
      | d\s?e\s?c\s?i\s?d\s?e\s*:
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: reponse de la cour
_REASONS = re.compile(
    r"""
    ^[ \t]*(?:[ivx\d]{1,4}[ .)/-]{1,3})?(?:
      reponse\ de\ la\ cour | motifs(?:\ de\ la\ (?:decision|cour)|\ de\ l'arret)?\b | sur\ ce\b
      | discussion\b | considerant\ ce\ qui\ suit | (?:mais|et)\ attendu\b | motivation\b
      | examen\ de\ la\ question\ prioritaire | vu\ (?:les?\ |l')(?:article|principe|loi|decret)
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: sur le premier moyen
_GROUNDS = re.compile(
    r"""
    ^[ \t]*(?:
      examen\ d(?:es|u)\ (?:moyens?|question|griefs?)
      | enonce\ d(?:es|u|e\ la)\ (?:moyens?|question)
      | sur\ l(?:es|a|e)s?\ (?:(?:premier|second|deuxieme|troisieme|quatrieme)s?\ )?
        (?:moyens?|question\ prioritaire|branches?)
      | pretentions?\ (?:et\ moyens\ )?des\ parties
      | attendu\ qu[e'].{0,80}(?:fait|font|fait\ grief|reproche)
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: faits et procedure
_STORY = re.compile(
    r"""
    ^[ \t]*(?:[ivx\d]{1,4}[ .)/-]{1,3})?(?:
      (?:rappel\ des\ )?faits\s*(?:,|et)?\s*(?:et\ )?(?:la\ )?procedure | expose\ du\ litige
      | expose\ des\ faits | faits\ et\ pretentions | attendu,?\ selon | vu\ la\ procedure\ suivante
      | par\ acte\ (?:d'huissier\ )?du
    )
    """,
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of a ruling: `text[start:end]`."""

    name: str
    """head, story, grounds, reasons, operative, annex."""
    start: int
    end: int


class RulingText:
    """A ruling with its plain text; every offset holds in both."""

    def __init__(self, document: DocumentText) -> None:
        self.document = document
        self.text = document.text

    @cached_property
    def lined(self) -> str:
        """Text in lower case without accents, apostrophes and dashes unified, lines kept; page headers are blanks."""
        chars = list(self.text.translate({**_MARKS, 10: "\n", 12: "\n"}))
        for start, end in self.document.furniture:
            chars[start:end] = " " * (end - start)
        return _GAP.sub(_filled, "".join(map(_plain, chars)))

    @cached_property
    def plain(self) -> str:
        """The same text in one line."""
        return self.lined.replace("\n", " ")

    @cached_property
    def end(self) -> int:
        """Offset where the ruling ends and the grounds annexed to it begin."""
        annex = next(self._headings(_ANNEX, min(HEAD // 2, len(self.text) // 3), len(self.text)), None)
        return annex if annex is not None else len(self.text)

    @cached_property
    def operative(self) -> int:
        """Offset where the operative part begins; `end` when it cannot be told."""
        starts = list(self._headings(_OPERATIVE, 0, self.end))
        return starts[-1] if starts else self.end

    def _headings(self, pattern: re.Pattern[str], start: int, end: int) -> Iterator[int]:
        """Yield offsets of lines that begin with these words, and with a capital: others continue a sentence."""
        for match in pattern.finditer(self.lined, start, end):
            words = self.text[match.start() : match.end()].lstrip()
            if words and not words[0].islower():
                yield match.start()

    @cached_property
    def zones(self) -> tuple[Zone, ...]:
        """Parts in the order of the text; one that was not found is left out."""
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
        """Return where a range begins without the blanks around it, and its words as written."""
        words = self.text[start:end]
        return start + len(words) - len(words.lstrip()), words.strip()


def line_around(text: str, start: int, end: int) -> Span:
    """Return the line that holds a range."""
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
