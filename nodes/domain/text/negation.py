"""Negation in English and French: the parts of a text that a negation governs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nodes.domain.text.normalise import Span

_MODAL_EN = r"(?:may|shall|will|must|can|could|would|should|need|does|do|did|is|are|was|were|be|has|have|had)"
_OWN_VERB = rf"(?:[^,.;:]{{0,60}}?\b{_MODAL_EN}\b)?"
# Example: shall not
_NEGATION = re.compile(
    rf"""
    \b(?P<en>{_MODAL_EN}(?:\ only)?\ not|cannot|never|(?:and|but)\ not(?=\ (?:by|under|of)\b))\b
    | \b(?P<subject>
        neither | nor | nothing | none\ of | in\ no\ (?:event|case) | under\ no\ circumstances?
        | no(?!\ (?:later|less|more|fewer|longer\ than|sooner|reason|cause|cost|event|case)\b)(?=\ \w{{3}})
      )\b{_OWN_VERB}
    | \b(?P<fr>ne\ |n['’])(?:(?:\w+['’])?\w+(?:\ (?:pas|point|plus|jamais|nullement|rien)\b)?)
    | \b(?P<aucun>aucune?|en\ aucun\ cas)\b(?:[^,.;:]{{0,60}}?\b(?:ne\ |n['’])\w+(?:\ pas\b)?)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: be limited to
_NO_DENIAL = re.compile(
    r"""
    [ ,]*(?:be\ |been\ |to\ |été\ |etre\ |être\ )*(?:
      only | limited\ to | exceed\w* | in\ excess | less\ than | more\ than | later\ than | earlier\ than
      | fewer | greater | unreasonabl\w+ | withstanding | preven\w+ | prohibit\w* | preclud\w* | restrict\w*
      | limits?\b | affect\w* | prejudic\w* | impair\w* | withh\w+ | excéd\w* | exced\w* | dépass\w* | depass\w*
      | supérieur\w* | inférieur\w* | empêch\w* | limit(?:e|er|ent|era|eront)\b | interdi\w*
      | fait\ pas\ obstacle | font\ pas\ obstacle | obstacle | préjudic\w*
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words behind a negation that make it no denial: a measure ("not exceed"), or a hindrance that is denied."""
# Example: ne dépasse
_LIMITING_VERB = re.compile(
    r"""
    \b(?:excéd\w*|exced\w*|dépass\w*|depass\w*|empêch\w*|interdi\w*|limite|restrei\w+)\s*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RESTRICTIVE = re.compile(r"\bqu(?:e\b|['’])", re.IGNORECASE)
"""The second part of ne … que, which means "only"."""
# Example: except as set out
_END = re.compile(
    r"""
    [.;:!?](?=\s|$)
    | \b(?:
        but | rather | unless | except\w* | save\ (?:for|as|that|in) | however | provided | other\ than | until
        | before | prior\ to | whereas
        | without\ (?!(?:any\ |good\ |just\ |prior\ )*(?:cause|reason|notice|penalt|liabilit|justif)) | mais
        | toutefois | cependant | sauf | hormis | excepté | à\ moins | sous\ réserve | avant | jusqu['’]
        | en\ revanche | tandis
        | sans\ (?!(?:aucune?\ |juste\ )?(?:motif|cause|raison|justif|préavis|delai|délai|pénalité|indemnité))
      )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: the Supplier shall
_VERB = re.compile(
    r"""
    \b(?:
      shall | will | may | must | can | is | are | has | have | does | agrees? | undertakes? | peut | peuvent
      | pourra | pourront | doit | doivent | devra | devront | sera | seront | est | sont
      | s['’](?:engage|oblige)\w*
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CONDITION = re.compile(r"\b(?:if|where|when|unless|should|si|lorsque|à défaut)\b[^,;.]*\Z", re.IGNORECASE)
CONDITION_REACH = 80
"""Characters before a negation that are searched for a condition, which ends at its comma."""
REACH = 400
"""Longest part of a text behind a negation, in characters, that it may govern."""
_CONJUNCTION = re.compile(r",|\b(?:and|or|et|ou)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Denial:
    """A part of a text that a negation governs, the negation and the verb that it stands with included."""

    span: Span
    word: str
    """The negation: may not, neither, aucune …"""


def denials(text: str) -> Iterator[Denial]:
    """Yield the denials of a text, in order, disjoint; in doubt the shorter reach counts."""
    at = 0
    while match := _NEGATION.search(text, at):
        at = match.end()
        if _NO_DENIAL.match(text, at) or _LIMITING_VERB.search(match.group()):
            continue
        end = _reach(text, match.start(), at)
        if match["fr"] and _RESTRICTIVE.search(text, at, end):
            continue
        yield Denial((match.start(), end), _word(match))
        at = max(at, end)


def mask_denials(text: str) -> str:
    """Replace what a text denies by dots; its length stays."""
    for denial in denials(text):
        start, end = denial.span
        text = text[:start] + "·" * (end - start) + text[end:]
    return text


def _reach(text: str, negation: int, start: int) -> int:
    """End of a negation's reach: of its sentence, but before an exception or words with a verb of their own."""
    end = min(len(text), start + REACH)
    ended = _END.search(text, start, end)
    end = ended.start() if ended else end
    if (
        _CONDITION.search(text, max(0, negation - CONDITION_REACH), negation)
        and (comma := text.find(",", start, end)) > 0
    ):
        return comma
    verb = _VERB.search(text, start, end)
    if verb is None:
        return end
    joins = [separator.start() for separator in _CONJUNCTION.finditer(text, start, verb.start())]
    return joins[-1] if joins else verb.start()


def _word(match: re.Match[str]) -> str:
    if match["fr"]:
        return " ".join(match.group().split())
    return " ".join((match["en"] or match["subject"] or match["aucun"]).split())
