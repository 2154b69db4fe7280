"""Signers of a contract: companies above a signature, and those on whose behalf somebody signs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.domain.text.company_names import LEGAL_FORMS, is_company_name, leading_name, tidy
from nodes.domain.text.normalise import Span

Signer = tuple[str, str, int]
"""Name, alias in the signature block ("" for none), offset of the name."""

REACH = 2_500
"""Characters of a signature block, from the words that open it."""
MOST_BLOCKS = 6
LINES_BELOW = 4
"""Lines below a name that are searched for a signature."""

# Example: IN WITNESS WHEREOF
_OPENS = re.compile(
    r"""
    \b(?:
      in\ witness\ whereof
      | (?:signed|executed|agreed|accepted)\b[^.\n]{0,60}\b(?:by|on\ behalf\ of|accepted|agreed)\b
      | yours\ (?:faithfully|sincerely|truly) | very\ truly\ yours | en\ foi\ de\ quoi
      | fait\ (?:à|a|en|le)\b | fait\ et\ signé
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LINE = re.compile(r"[^\n\f]*[\n\f]?")
# Example: Signed for and on behalf of
_FOR = re.compile(
    r"""
    \b(?:
      (?:signed\ |executed\ |duly\ )*(?:as\ a\ deed\ )?(?:for\ and\ )?on\ behalf\ of
      | (?:au\ nom\ et\ )?pour(?:\ (?:et\ au\ nom|le\ compte))?(?:\ de)?
        (?=\ (?:la\ |le\ |l['’])?(?:sociét|soci[ée]t|(?-i:[A-ZÀ-Ý])))
    )[ \t]*:?[ \t]*(?:the\ |la\ |le\ |l['’])?(?:soci[ée]t[ée][ \t]+)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NAME = re.compile(
    rf"[ \t]*(?P<name>(?-i:[A-ZÀ-Ý0-9])[^\n\f:_]{{1,80}}?[ ,](?:{LEGAL_FORMS})(?![\w'’-])\.?)[ \t]*[,:]?(?=[ \t]|$)",
    re.IGNORECASE,
)
# Example: By:
_SIGNS = re.compile(
    r"""
    [ \t]*(?:
      (?:by|name|signed|signature|print(?:ed)?\ name|nom|par|nom\ et\ qualité|pr[ée]nom)
        \b[^\n\f]{0,20}?[:_]
      | /s/ | _{4,}
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: For the Supplier:
_ALIAS_LABEL = re.compile(
    r"""
    [ \t]*(?:for\ |pour\ )?(?:the\ |le\ |la\ |l['’])?(?P<alias>[^\W\d_][\w '’/-]{2,30}?)[ \t]*:
    """,
    re.VERBOSE,
)
# Example: (the "Supplier")
_ROLE = re.compile(
    r"""
    [ \t]*[(,][ \t]*(?:the\ |le\ |la\ |l['’])?[\"“«']?[ \t]*(?P<alias>[^\W\d_][\w -]{2,30}?)[ \t]*
    [\"”»']?\)
    """,
    re.VERBOSE,
)


def signers(text: str) -> Iterator[Signer]:
    """Yield the companies of the signature blocks, in order; each as often as it stands there."""
    end = 0
    for block in [opening for _, opening in zip(range(MOST_BLOCKS), _OPENS.finditer(text), strict=False)]:
        start = max(text.rfind("\n", 0, block.start()) + 1, end)
        if start < end or start >= (stop := min(block.start() + REACH, len(text))):
            continue
        yield from _in_block(text, [line.span() for line in _LINE.finditer(text, start, stop) if line.group().strip()])
        end = stop


def _in_block(text: str, lines: list[Span]) -> Iterator[Signer]:
    for index, (start, end) in enumerate(lines):
        leads = list(_FOR.finditer(text, start, end))
        if leads:
            ends = [lead.start() for lead in leads[1:]] + [end]
            for lead, stop in zip(leads, ends, strict=True):
                # The name may stand on the line below.
                place = (
                    (lead.end(), stop) if text[lead.end() : stop].strip() else next(iter(lines[index + 1 :]), (0, 0))
                )
                if name := _NAME.match(text, *place):
                    yield from _signer(text, name, _ROLE.match(text, name.end("name")))
        elif names := _line_names(text, start, end, lines[index + 1 : index + 1 + LINES_BELOW]):
            aliases = list(_ALIAS_LABEL.finditer(text, *lines[index - 1])) if index else []
            fitting = aliases if len(aliases) == len(names) else [None] * len(names)
            for name, alias in zip(names, fitting, strict=True):
                yield from _signer(text, name, alias)


def _line_names(text: str, start: int, end: int, below: list[Span]) -> list[re.Match[str]]:
    """Return the names that fill a line above a signature, side by side as in columns; none where it says more."""
    names, position = [], start
    while match := _NAME.match(text, position, end):
        names.append(match)
        position = match.end()
    if text[position:end].strip(" \t\n\f,:"):
        return names if _SIGNS.match(text, position, end) else []
    return names if any(_SIGNS.match(text, low) for low, _ in below) else []


def _signer(text: str, match: re.Match[str], alias: re.Match[str] | None) -> Iterator[Signer]:
    if is_company_name(tidy(match["name"])) and (name := leading_name(match["name"])):
        yield name, " ".join(alias["alias"].split()) if alias else "", match.start("name")
