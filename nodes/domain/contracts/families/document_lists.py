"""Contract documents beside the contract itself: lists of them, and the general terms that it names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from nodes.domain.contracts.contract_text import ContractText
from nodes.domain.text.normalise import Span

LONGEST_LIST = 1_200
"""Characters of a list of documents, from the words that open it, at most."""
AROUND = 180
"""Characters around the name of general terms that are searched for words which rule them out."""

# Example: Agreement consists of
_OPENS = re.compile(
    r"""
    \b(?:
      (?:following|these)\ (?:\w+\ )?
        (?:documents?|annex(?:es)?|appendices|schedules|exhibits|attachments)\b[^.:;]{0,60}
        (?:form|constitute|make\ up|are)\b[^.:;]{0,40}\bpart
      | (?:agreement|contract)\ (?:consists?\ of|comprises?|is\ (?:made\ up|composed)\ of)
      | contract\ documents\ (?:are|consist\ of|comprise)
      | (?:documents?|pièces|annexes)(?:\ contractuel\w+)?[ ]
        (?:suivante?s?|ci-après|énumérée?s?\ ci-après)\b[^.:;]{0,60}
        (?:font|faisant|forment|constituent)\b[^.:;]{0,40}
      | (?:documents|pièces)\ (?:contractuel\w+|constitutives)\b[^.;:]{0,60}:
      | (?:contrat|convention|marché|accord)\b[^.:;]{0,40}\ (?:est|sont)[ ]
        (?:constituée?|composée?|formée?)s?(?:\ (?:de|par|des)\b|[^.:;]{0,60}:)
      | (?:contrat|convention|marché)\ (?:comprend|se\ compose)
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: are incorporated herein
_PART_OF = re.compile(
    r"""
    \b(?:
      forms?\ (?:an\ )?(?:integral\ )?part\ of\ (?:this|the)\ (?:agreement|contract)
      | are\ incorporated\ (?:herein|into\ this) | (?:font|fait|faisant)\ partie\ intégrante
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: (a) the order form
_ITEM = re.compile(
    r"""
    \s*(?:
      [-–—•*◦▪] | \(?[a-z0-9]{1,3}[).]\s | (?:and|et)\b
      | (?:les?\ |la\ |the\ |l['’])?(?:
          annexe? | appendix | exhibit | schedule | attachment | general\ terms
          | conditions\ générales | bon\ de\ commande | order
        )\b
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_END = re.compile(r"(?P<stop>\.)\s|\n[ \t]*\n|\f|(?P<line>\n)")
_NAME = (
    r"(?:general\ (?:terms(?:\ (?:and|&)\ conditions)?|conditions)|terms\ (?:and|&)\ conditions|conditions\ générales)"
    r"(?:\ (?:of\ (?:sales?|purchase|business|services?|supply|use|delivery)(?:\ and\ (?:delivery|payment|use))?"
    r"|(?:de\ |d['’])(?:vente|achat|services?|prestations?|location|fourniture|utilisation)"
    r"(?:\ et\ (?:de\ |d['’])\w+)?))?"
)
# Example: conditions générales de vente version 2.1
_TERMS = re.compile(
    rf"""
    \b(?P<name>{_NAME})(?P<version>
      ,?\ ?\(?(?:version|edition|édition)s?\ ?(?:of|du|de|no\.?|n\ ?[°º])?\ ?(?:[\w.]{{1,12}}\ )?
      (?:(?:[a-zéû]{{3,9}}\ )?\d[\w./-]{{0,10}})\)?
    )?
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: governed by the
_BOUND_BEFORE = re.compile(
    r"""
    \b(?:
      subject\ to | governed\ by | in\ accordance\ with | accept\w* | agree\w*\ to | incorporat\w+
      | bound\ by | soumise?s?\ (?:à|aux) | régie?s?\ par | reconna[iî]\w+ | connaissance\ d\w+
      | conform\w+\ (?:à|aux) | applicables?
    )\b[^.;]{0,50}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: of the Seller shall apply
_BOUND_BEHIND = re.compile(
    r"""
    ^[^.;]{0,60}\b(?:
      (?:shall\ |will\ |also\ )?appl(?:y|ies) | are\ incorporated | form\ part | s['’]appliquent
      | sont\ applicables | font\ partie | régissent
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: conditions générales de
_ITS_OWN = re.compile(
    r"""
    (?:general|standard)\ (?:terms|conditions)
    | (?:terms\ (?:and|&)\ conditions|conditions\ générales)\ (?:of|de\ |d['’])(?!\ (?:this|the)\b)
    | conditions\ générales
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Names of general terms in a paper of their own; "the terms and conditions of this Agreement" are the agreement's."""
# Example: and conditions of this Agreement
_OF_THIS = re.compile(
    r"""
    (?:\ and\ conditions|\ et\ particulières)?,?[ ]
      (?:of|in|under|contained\ in|set\ (?:out|forth)\ in|du|de\ la|des|de|d['’])\ ?(?:
        this\b | these\b | the\ (?:present\ )?(?:agreement|contract) | présente?s?\b
        | (?:présent\ )?(?:contrat|convention|accord|marché)\b
      )
    | ,?\ (?:hereof|herein|hereunder|below|ci-dessous|ci-après|that\ follow)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: General Terms and Conditions of Sale
_HEADING = re.compile(
    rf"""
    ^[ \t]*(?-i:[A-Z0-9])[^\n\f.;,]{{0,40}}?\b{_NAME}\b[^\n\f.;,]{{0,50}}$ | ^[ \t]*{_NAME}[ \t]*$
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# Example: les présentes conditions générales
_ITSELF = re.compile(
    rf"""
    \b(?:présentes|these|the\ present)\ (?:\w+\ )?{_NAME}
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: to the exclusion of
_RULED_OUT = re.compile(
    r"""
    \b(?:
        not | nor | no | never | exclu\w+ | supersed\w+ | replac\w+ | instead | other\ than
        | prevail\w* | ne | pas | aucune? | écart\w+ | remplac\w+ | exception | prévau\w+
        | prévalent | tariff
      )\b
    | \bn['’]
    """,
    re.IGNORECASE | re.VERBOSE,
)


def listed_documents(raw: str) -> list[Span]:
    """Return the spans of lists of contract documents, with the items of each list; in order, not overlapping."""
    spans = [(match.start(), _end_of_list(raw, match.end())) for match in _OPENS.finditer(raw)]
    for match in _PART_OF.finditer(raw):
        before = raw[max(match.start() - 300, 0) : match.start()]
        spans.append((match.start() - len(re.split(r"[.;:]\s|\n[ \t]*\n|\f", before)[-1]), match.start()))
    apart: list[Span] = []
    for low, high in sorted(spans):
        if apart and low <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(high, apart[-1][1])
        else:
            apart.append((low, high))
    return apart


def in_lists(offset: int, lists: Sequence[Span]) -> bool:
    """Tell whether an offset lies in one of these lists."""
    index = bisect_right(lists, offset, key=lambda span: span[0]) - 1
    return index >= 0 and offset < lists[index][1]


def general_terms(contract: ContractText, lists: Sequence[Span]) -> Span | None:
    """Return the first name of general terms that state a version, are listed or are said to bind; None if the document
    contains them itself."""
    for match in _TERMS.finditer(contract.plain):
        applies = match["version"] or in_lists(match.start(), lists) or _binds(contract, match)
        if applies and not _is_ruled_out(contract, match):
            has_own_terms = any(not in_lists(heading.start(), lists) for heading in _HEADING.finditer(contract.raw))
            return None if has_own_terms or _ITSELF.search(contract.plain) else match.span()
    return None


def _end_of_list(raw: str, start: int) -> int:
    last = min(start + LONGEST_LIST, len(raw))
    items = ":" in raw[start - 1 : start + 80]
    for match in _END.finditer(raw, start, last):
        before = raw[raw.rfind("\n", 0, match.start()) + 1 : match.start()]
        if match["line"] or (match["stop"] and re.fullmatch(r"\W*\w{1,3}", before)):
            continue
        if not (items and _ITEM.match(raw, match.end())):
            return match.start()
    return last


def _binds(contract: ContractText, match: re.Match[str]) -> bool:
    """Tell whether the document says that general terms in a paper of their own apply."""
    low, high = match.span("name")
    if not _ITS_OWN.match(match["name"]) or _OF_THIS.match(contract.plain, high):
        return False
    before, behind = contract.plain[max(low - AROUND, 0) : low], contract.plain[high : high + AROUND]
    return _BOUND_BEFORE.search(before) is not None or _BOUND_BEHIND.match(behind) is not None


def _is_ruled_out(contract: ContractText, match: re.Match[str]) -> bool:
    sentence = contract.at(match.start())
    low, high = (sentence.start, sentence.end) if sentence else (0, len(contract.plain))
    around = contract.plain[max(low, match.start() - AROUND) : min(high, match.end() + AROUND)]
    return _RULED_OUT.search(around) is not None
