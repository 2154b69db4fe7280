"""Changes that an amendment makes to articles of its agreement: replaced, deleted, changed or added."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.domain.contracts.contract_text import ContractText
from nodes.domain.evidence.facts import Proposal

MOST_CHANGES = 60
"""Changes that are read from one amendment at most."""
REPLACEMENT_REACH = 160
"""Characters behind a deletion that are searched for a sentence with the replacement."""

_ART = r"(?:(?:sub-?)?(?:section|clause|article|paragraph)|§)"
_N = r"\d{1,3}(?:\.\d{1,3})*(?:\ ?\([a-z0-9]{1,4}\))*(?:\ (?:bis|ter|quater)\b)?"
_LIST = rf"(?P<n>{_N}(?:(?:,\ ?(?:and\ |et\ )?|\ and\ |\ et\ ){_N})*)"
# Example: Section 4.2 of the Agreement is hereby deleted
_CHANGED = re.compile(
    rf"""
    (?P<lead>[^.;:]{{0,90}}?)\b{_ART}s?\ {_LIST}(?P<of>[^.;:]{{0,110}}?)(?:,?\ )\b
    (?:is|are|shall\ be|will\ be|est|sont|sera|seront)\ (?:
      hereby\  | hereinafter\  | further\  | also\  | entièrement\  | intégralement[ ]
      | purement\ et\ simplement\  | en\ totalité\  | dans\ (?:son|leur)\ (?:intégralité|ensemble)[ ]
    )*(?P<verb>
      deleted | replaced | amended | revised | modified | changed | restated | superseded
      | supplemented | removed | reduced | increased | extended | supprimée?s? | remplacée?s?
      | modifiée?s? | abrogée?s? | complétée?s? | annulée?s? | ramenée?s? | portée?s? | prorogée?s?
    )\b(?P<behind>[^.;:]{{0,120}})
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: to delete the text of Section 4.2 of the Agreement
_COMMAND = re.compile(
    rf"""
    \b(?P<verb>deletes?|replaces?|amends?|deleting|replacing|amending|supprimer|abroger|remplacer)
    \b\ (?P<lead>(?:the\ |les?\ |la\ |l['’])?(?:text\ of\ |existing\ )?){_ART}s?\ {_LIST}(?P<of>)
    (?P<behind>[^.;:]{{0,120}})
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ADDED = re.compile(
    rf"\b(?:new {_ART} {_LIST}[^.;:]{{0,60}}\b(?:is|are|shall be) (?:hereby )?(?:added|inserted)"
    rf"|il est (?:ajouté|inséré|créé) (?:un|une) (?:nouvel(?:le)? )?{_ART} {_LIST.replace('<n>', '<m>')})",
    re.IGNORECASE,
)
# Example: the words
_PART = re.compile(
    r"""
    \b(?:
        words? | sentences? | sub-?paragraphs? | phrases? | references?\ to | definition | figure
        | number | table | mots? | termes | alinéas? | chiffre | montant | plafond | délai
        | engagement | percentage | amount | date | item | row | part
      )\b
    | \b(?:in|of|under|within|from|by|to|de|dans|à|du|prévue?s?\ à)(?:\ (?:the|l['’]|la|le|les))?\ ?
      (?:l['’])?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: in accordance with the
_REFERS = re.compile(
    r"""
    \b(?:
      consistent\ with | pursuant\ to | in\ accordance\ with | subject\ to
      | as\ (?:provided|defined|set\ forth)\ in | notwithstanding | conformément\ (?:à|aux)
      | en\ application\ d[eu]
    )(?:\ the|\ l['’])?\ ?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: deleted
_REPLACES_ARTICLE = re.compile(
    r"""
    \b(?:
      deleted | replaced | restated | superseded | removed | supprim\w+ | remplac\w+ | abrog\w+
      | annul\w+ | delet\w+ | replac\w+
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: in its entirety
_ENTIRE = re.compile(
    r"""
    \b(?:
      in\ (?:its|their)\ entirety | dans\ (?:son|leur)\ (?:intégralité|ensemble) | to\ read
      | read\ as\ follows | restated | ainsi\ rédigé\w* | comme\ suit
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DELETES = re.compile(r"delet|remov|supprim|abrog|annul", re.IGNORECASE)
# Example: without being replaced
_NO_REPLACEMENT = re.compile(
    r"""
    \bwithout\ (?:any\ |being\ )?replac\w+ | \bnot\ (?:be\ )?(?:being\ )?replaced
    | \bsans\ (?:être\ |aucun\ )?remplac\w+ | \bpas\ remplacée?s?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Phrases that deny a replacement with the very words that otherwise announce one."""
# Example: in lieu thereof the following
_REPLACEMENT = re.compile(
    r"""
    \b(?:
      replac\w+ | restated | substitut\w+ | remplac\w+ | the\ following | to\ read
      | read\ as\ follows | in\ lieu | in\ (?:its|their)\ (?:place|stead) | ainsi\ rédig\w+
      | comme\ suit | (?:dispositions|stipulations)\ (?:ci-après|suivantes) | lieu\ et\ place
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: . The following is hereby inserted
_NEXT_SENTENCE_REPLACES = re.compile(
    r"""
    \W{0,4}
    (?:it|they|the\ following|il|elle|ils|elles|les\ (?:dispositions|stipulations)\ suivantes)
    \b[^.;:]{0,60}?\b(?:is|are|shall\ be|est|sont|sera|seront)\ (?:hereby\ )?
    (?:replaced|inserted|substituted|remplac|inséré|substitué)
    """,
    re.IGNORECASE | re.VERBOSE,
)


def read_changes(contract: ContractText) -> Iterator[Proposal]:
    """Yield a fact for every article that an amendment replaces, deletes, changes or adds."""
    count = 0
    for sentence in contract.sentences:
        plain = contract.plain[sentence.start : sentence.end]
        if not re.search(rf"{_ART}s? \d", plain, re.IGNORECASE):
            continue
        end = 0
        behind = contract.plain[sentence.end : sentence.end + REPLACEMENT_REACH]
        for match, detail in sorted(_article_changes(plain, behind), key=lambda change: change[0].start()):
            if match.start() >= end and count < MOST_CHANGES:
                end, count = match.end(), count + 1
                yield _change_fact(contract, sentence.start, match, detail)


def _article_changes(plain: str, next_words: str) -> Iterator[tuple[re.Match[str], dict[str, object]]]:
    for match in _ADDED.finditer(plain):
        yield match, {"articles": _articles(match["n"] or match["m"]), "action": "add", "whole": False}
    for match in (*_CHANGED.finditer(plain), *_COMMAND.finditer(plain)):
        if not _REFERS.search(match["lead"]):
            yield match, _detail(match, f"{plain[match.end() :]} {next_words}")


def _detail(match: re.Match[str], following: str) -> dict[str, object]:
    """Return articles, action and whole; `following` is the text behind, where a deletion may name a replacement."""
    verb, behind = match["verb"], match["behind"]
    part = _PART.search(match["lead"].rstrip()) or _PART.search(match["of"])
    is_whole = not part and bool(_REPLACES_ARTICLE.search(verb) or _ENTIRE.search(behind))
    action = "change"
    if is_whole:
        words = _NO_REPLACEMENT.sub("", behind)
        deleted = (
            _DELETES.match(verb)
            and not _REPLACEMENT.search(words)
            and not _NEXT_SENTENCE_REPLACES.match(following.lstrip(" .;:"))
        )
        action = "delete" if deleted else "replace"
    return {"articles": _articles(match["n"]), "action": action, "whole": is_whole}


def _change_fact(contract: ContractText, base: int, match: re.Match[str], detail: dict[str, object]) -> Proposal:
    words = {"replace": "replaced", "delete": "deleted", "change": "changed", "add": "added"}
    articles: list[str] = detail["articles"]  # type: ignore[assignment]
    value = f"{', '.join(articles)} {words[str(detail['action'])]}"
    start = base + match.start()
    start += len(match.group()) - len(match.group().lstrip())
    return contract.fact("replaces", value, start, base + match.end(), detail)


def _articles(listed: str) -> list[str]:
    return [re.sub(r" (?=\()", "", number) for number in re.findall(_N, listed, re.IGNORECASE)]
