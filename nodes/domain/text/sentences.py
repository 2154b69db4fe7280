"""Splits a document into sentences with exact offsets, each with the heading that it stands under."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import Span

MAX_HEADING = 110
MAX_HEADINGS = 2_000
LONG_SENTENCE = 1_000
"""Characters beyond which a sentence is a list, and is parted at its semicolons."""
ABBREVIATION_REACH = 40
"""Characters before a word that are searched for "article" or "no."."""
MAX_SENTENCE = 3_000
"""Longest part, in characters; a longer one has no punctuation, like a table, and is cut between words."""

_LINE = re.compile(r"[^\n\r\f\v\x85\u2028\u2029]+")
_LABEL = (
    r"(?:(?:article|section|clause|annexe|annex|appendix|exhibit|schedule|chapitre|titre)\s+(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])\b"
    r"|\d{1,3}(?:\.\d{1,3})*|[ivxlc]{1,5}(?=[.)])|[a-z](?=[.)]))"
)
_NUMBERED = re.compile(rf"(?:§\s*)?{_LABEL}\s*[.):\-–—]*\s*", re.IGNORECASE)
# Example: (a) the Services
_ITEM = re.compile(
    r"""
    (?:
      \(?[a-z]{1,2}\) | \([ivx]{1,5}\) | \(\d{1,2}\) | \d{1,3}(?:\.\d{1,3})*[.)]?\s | [•●▪◦‣·*–—-]\s | §
      | (?:article|section|clause)\s+[\divxlc]+
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ENDED = re.compile(r"""[.;:!?…]["'”’»)\]]*\Z""")
_BREAK = re.compile(r"""[.!?…]["'”’»)\]]*\s+(?=["'“‘«(\[]*\s?[A-ZÀ-ÞŒ0-9(\[“"•])""")
_LAST_WORD = re.compile(r"([^\W_]+(?:\.[^\W_]+)*)\Z")
_SEMICOLON = re.compile(r";\s+(?:and\s+|or\s+|et\s+|ou\s+)?(?=\(?[a-zA-Z0-9])")
# What has one of these is no heading. Left out are those that stand in headings too: grants, assigns, warrants, ends.
# Example: the Supplier shall
_VERB = re.compile(
    r"""
    \b(?:
      shall | will | may | must | is | are | was | were | be | has | have | had | not | agrees? | hereby | est
      | sont | sera | seront | peut | doit | doivent | a\ été | ne | pas | s'engage | été | starts | begins
      | commences | continues | remains | renews | terminates | expires | applies | governs | constitutes
      | supersedes | includes | contains | requires | acknowledges | undertakes | indemnifies | retains | owns
      | prend | entre\ en | commence | demeure | s'applique | s'appliquent | constitue | comprend | garantit
      | accorde | concède | conserve | reconnaît | déclare
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ABBREVIATED = (
    "inc ltd co corp llc llp plc sa sas sarl gmbh ag nv bv lp no nos nr art arts sec secs sect para paras par m mm mme"
    " mmes mlle me mr mrs ms dr st ste al cf vs v p pp fig ex ed approx dept jr sr tel ext max min vol ch cl bldg av"
    " ave blvd bd hon messrs prof gen i.e e.g s.a s.a.s s.a.r.l u.s u.k u.s.a n.v b.v l.p a.m p.m d.b.a f.o.b"
)
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, an item of a list or a heading: `text[start:end]`."""

    start: int
    end: int
    heading: str
    """The nearest heading above it, "" at the top."""
    article: str
    """The heading of the article around that heading; often the same."""
    block: int
    """Sentences of one paragraph share this number."""


def sentences(text: DocumentText) -> list[Sentence]:
    """Split a document into sentences, in order; headings are not among them but name those below."""
    heading = article = ""
    split: list[Sentence] = []
    for number, (start, end, title) in enumerate(_blocks(text)):
        if title:
            heading, article = _updated_headings(text.text[start:end], heading, article)
            continue
        for first, last in _split(text.text, start, end):
            if first == start and last < end and _is_run_in(text.text[first:last]):
                heading, article = _updated_headings(text.text[first:last], heading, article)
            else:
                split.append(Sentence(first, last, heading, article, number))
    return split


def headings(text: DocumentText) -> list[tuple[int, str]]:
    """List each change of heading in order, as (offset, heading); a sub-heading names its article."""
    changes: list[tuple[int, str]] = []
    for sentence in sentences(text):
        label = (
            sentence.heading
            if sentence.heading == sentence.article or not sentence.article
            else f"{sentence.article} / {sentence.heading}"
        )
        if not changes or changes[-1][1] != label:
            changes.append((sentence.start, label))
    return changes[:MAX_HEADINGS]


def heading_at(changes: Sequence[tuple[int, str]], offset: int) -> str:
    """Look up the heading at an offset, in the changes that `headings` gives."""
    index = bisect_right(changes, offset, key=lambda entry: entry[0])
    return changes[index - 1][1] if index else ""


def _updated_headings(line: str, heading: str, article: str) -> tuple[str, str]:
    """Update heading and article by a heading line: 9.1 stands under 9."""
    title = " ".join(line.split())
    below = re.match(r"(?:section\s+)?(?:\d+\.\d|\(|[a-z][.)])", title, re.IGNORECASE)
    return title, article if below else title


def _blocks(text: DocumentText) -> Iterator[tuple[int, int, bool]]:
    """Paragraphs and headings as (start, end, is it a heading), from lines that may be broken anywhere."""
    block: list[Span] = []
    previous_title = False
    for span, blank, next_blank in _lines(text):
        line = text.text[slice(*span)]
        last = text.text[slice(*block[-1])] if block else ""
        ended = not block or _ENDED.search(last) is not None
        title = (ended or blank) and _is_heading(line, next_blank)
        if block and (title or previous_title or _opens_paragraph(line, ended, blank)):
            yield block[0][0], block[-1][1], previous_title
            block = []
        block.append(span)
        previous_title = title
    if block:
        yield block[0][0], block[-1][1], previous_title


def _lines(text: DocumentText) -> Iterator[tuple[Span, bool, bool]]:
    """Lines with something on them, without page headers and footers: span, blank before, blank behind."""
    skipped = {start for start, _ in text.furniture}
    spans: list[Span] = []
    for match in _LINE.finditer(text.text):
        stripped = match.group().strip()
        start = match.start() + match.group().index(stripped[0]) if stripped else -1
        if stripped and start not in skipped:
            spans.append((start, start + len(stripped)))
    blanks = [True]
    blanks.extend(
        text.text.count("\n", earlier[1], later[0]) > 1 or "\f" in text.text[earlier[1] : later[0]]
        for earlier, later in pairwise(spans)
    )
    blanks.append(True)
    for index, span in enumerate(spans):
        yield span, blanks[index], blanks[index + 1]


def _opens_paragraph(line: str, ended: bool, blank: bool) -> bool:
    """Does this line open a paragraph?"""
    if blank:
        # A sentence goes on over a blank line or a page break when it has not ended and the next word is no beginning.
        return ended or not line[0].islower()
    return ended and _ITEM.match(line) is not None


def _is_heading(line: str, next_blank: bool) -> bool:
    if len(line) > MAX_HEADING or line[-1] in ",;" or _VERB.search(line):
        return False
    number = _NUMBERED.match(line)
    title = line[number.end() :] if number else line
    letters = [char for char in title if char.isalpha()]
    if len(letters) < 3:
        return bool(number) and len(line) < 20 and line[:3].isalpha()
    if not letters[0].isupper() or len(title.split()) > 12:
        return False
    capitals = sum(char.isupper() for char in letters) > 0.8 * len(letters)
    if line.endswith("."):
        return bool(number or capitals) and title.count(".") == 1 and len(title) < 70
    return bool(number) or capitals or (next_blank and title.istitle()) or (next_blank and len(title) < 50)


def _is_run_in(sentence: str) -> bool:
    """ "12.3 Limitation of Liability." before the sentence that it names."""
    if len(sentence) > 90 or _VERB.search(sentence):
        return False
    number = _NUMBERED.match(sentence)
    title = sentence[number.end() :] if number else sentence
    words = re.findall(r"[^\W\d_]+", title)
    return bool(words) and len(words) <= 10 and words[0][0].isupper() and "," not in title[:-1][-4:]


def _split(text: str, start: int, end: int) -> Iterator[Span]:
    """Split one paragraph into sentences."""
    first = start
    for match in _BREAK.finditer(text, start, end):
        if _is_abbreviation(text, first, match.start()):
            continue
        yield from _parts_at_semicolons(text, first, _trimmed_end(text, match))
        first = match.end()
    if first < end:
        yield from _parts_at_semicolons(text, first, end)


def _trimmed_end(text: str, match: re.Match[str]) -> int:
    return match.start() + len(match.group().rstrip())


def _is_abbreviation(text: str, first: int, point: int) -> bool:
    """Is the point at `point` part of an abbreviation, an initial or the number of a paragraph?"""
    if text[point] != ".":
        return False
    word = _LAST_WORD.search(text, max(first, point - 20), point)
    if not word:
        return False
    name = word.group().casefold()
    if word.start() - first <= 2 and re.fullmatch(r"\d+(?:\.\d+)*|[ivxlc]+|[a-z]", name):
        return True
    # Only what stands just before, else a text of nothing but points is looked through from its beginning at each.
    before = text[max(first, word.start() - ABBREVIATION_REACH) : word.start()]
    if name in ("article", "section") or re.search(r"(?:article|section|art\.|no\.)\s*\Z", before, re.I):
        return word.start() - first < 12
    return name in _ABBREVIATIONS or (len(name) == 1 and name.isalpha())


def _parts_at_semicolons(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield a sentence, or the parts of a very long one at its semicolons."""
    first = start
    if end - start > LONG_SENTENCE:
        for match in _SEMICOLON.finditer(text, start, end):
            if match.start() - first > LONG_SENTENCE // 4:
                yield from _cut_between_words(text, first, match.start() + 1)
                first = match.end()
    yield from _cut_between_words(text, first, end)


def _cut_between_words(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > MAX_SENTENCE:
        blank = text.rfind(" ", start + 1, start + MAX_SENTENCE)
        cut = blank if blank > start else start + MAX_SENTENCE
        part = text[start:cut]
        if part.strip():
            yield start + len(part) - len(part.lstrip()), start + len(part.rstrip())
        start = cut
    remainder = text[start:end]
    if remainder.strip():
        yield start + len(remainder) - len(remainder.lstrip()), start + len(remainder.rstrip())
