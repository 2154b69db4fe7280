"""Annexes of a document: those that it refers to as its own, and those that it contains."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.domain.contracts.contract_text import ContractText
from nodes.domain.contracts.families.document_lists import general_terms, in_lists, listed_documents
from nodes.domain.contracts.families.named_annexes import (
    defined_terms,
    label_from_name,
    labels_in_title,
    named_headings,
    partial_names,
    unnumbered_annexes,
)
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.normalise import Span

TOP = 60
"""Characters from the start: a label among them says what the document itself is."""
LONGEST = 160
"""Characters; of a longer line the label alone is the heading."""
MOST_ANNEXES = 60
"""Annexes of one document at most; what names more is a list of annexes."""
GENERAL_TERMS = "general terms"
"""The label of general terms, which have no number."""
OF_ANOTHER = frozenset(("amendment", "annex", "order", "statement_of_work"))
"""Document forms that speak of their agreement's annexes as if they were their own."""

_KIND = r"(?:annexe?|appendix|exhibit|schedule|attachment)"
_ID = (
    r"(?:n\ ?[°º]\ ?)?(?P<id>\d{1,2}(?:[.-]\d{1,2}){0,3}|(?-i:[IVX]{1,4}(?:-[A-Z])?)\b"
    r"|(?-i:(?!(?:OF|TO|IN|ON|BY|IS|AS|OR|AT|NO|IF)\b)[A-Z]{1,2})(?:-\d{1,2})?)"
)
# Example: Annexe n° 2
_LABEL = re.compile(
    rf"""
    \b(?P<kind>{_KIND})(?P<many>s?)(?:\ [-–])?\ {{1,2}}{_ID}\b(?!\ ?[a-z]['’])
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NAME = r"(?:\ ?(?:\([^()]{1,80}\)|«[^»]{1,80}»|[\"“][^\"”]{1,80}[\"”]))?"
# Of "Schedules 1, 2 and 4" the numbers behind the first, of "Annexes 1 à 4" the last one.
# Example: , 2
_NEXT = re.compile(
    rf"""
    {_NAME}(?:\ ?,\ ?(?:and\ |et\ )?|\ (?:and|et|&|or|ou)\ )(?P<id>\d{{1,2}}|[A-Z])\b(?!['’%])
    | {_NAME}\ ?(?P<to>-|–|to|à)\ ?(?P<last>\d{{1,2}})\b
    """,
    re.VERBOSE,
)
_BLANK = r"[ \t\u00a0]"
# Of a text that was taken from a web page: "&nbsp;", well written or not.
_ENTITY = r"&(?:[a-z]{2,8}|\#\d{1,5});"
# Example: Annexe n° 2 – Prix
_HEADING = re.compile(
    rf"""
    (?:^|(?<=\f))(?:{_BLANK}|{_ENTITY})*[\"“«]?(?P<kind>{_KIND})
    (?:(?:{_BLANK}?[-–:])?{_BLANK}{{1,3}}|(?=\d))[\"“«]?{_ID}\b[\"”»]?(?P<rest>[^\n\f]*)
    (?=[\n\f]|\Z)
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# A heading "Annexes" with the number of the paragraph below it.
_TWO_LINES = re.compile(rf"{_KIND}e?s\s*\n", re.IGNORECASE)
# Example: ci-annexée
_ATTACHED = re.compile(
    r"""
    \b(?:attached|annexed|appended|enclosed|affixed)\b | \bjoint(?:e|s|es)\b
    | \bjoint\ (?:à|aux?|en)\b | \bci-jointe?s?\b | \bannexée?s?\b | \bci-annexée?s?\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: to be agreed
_NO_PAPER = re.compile(
    r"""
    \b(?:
      if\ any | intentionally | reserved | omitted | to\ be\ (?:attached|agreed|added|determined)
      | form\ 10 | form\ 8 | annual\ report | registration\ statement | filed\ (?:as|with)
      | le\ cas\ échéant | may\ be\ attached
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: set out in Schedule 1 and
_LEADS_TO = re.compile(
    rf"""
    (?:
      \b(?:
          set\ (?:out|forth) | described | defined | specified | detailed | listed | contained
          | stated | shown | identified | indicated | laid\ down | provided(?:\ for)? | outlined
          | determined
        )\ (?:\w+ly\ )?(?:in|on|at|under)
      | \b(?:in\ accordance\ with|pursuant\ to|according\ to|as\ per)
        (?:\ the\ (?:provisions|terms|rates|prices|requirements)\ (?:of|in))?
      | \b(?:
          figur\w+ | définie?s? | décrite?s? | précisée?s? | fixée?s? | prévue?s? | détaillée?s?
          | indiquée?s? | mentionnée?s? | listée?s? | énumérée?s? | stipulée?s?
        )\ (?:à|en|dans|aux?|par|sur)
      | \bconformément\ (?:à|aux) | \bselon
    )(?:\ the|\ les?|\ la)?(?:\ l['’])?\ ?
    (?:{_KIND}s?\ [\w.-]{{1,6}}{_NAME}(?:,\ |\ (?:and|or|et|ou|à\ l['’]|l['’])+\ ?)(?:l['’])?)*$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: sets out
_DESCRIBES = re.compile(
    rf"""
    {_NAME}\ (?:
      sets?\ out | contains? | describes? | specif(?:y|ies)
      | forms?\ (?:an\ )?(?:integral\ )?part\ of\ th(?:is|e)\b | décri(?:t|vent) | précise(?:nt)?
      | fixe(?:nt)? | définit | définissent | contien(?:t|nent) | fai(?:t|sant)\ partie\ intégrante
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Of a law, or of another agreement.
# Example: of the Master Agreement
_FOREIGN = re.compile(
    rf"""
    {_NAME},?\ (?:of|to|in|under|du|de|des|d['’]|au|aux|à\ la|à\ l['’])\b\ ?(?!
        (?:
          this | these | the\ (?:present\ )?(?:agreement|contract) | the\ extent | présente?s?
          | (?:la\ |l['’])?(?:contrat|convention|accord|bail|marché)\b(?!-)
        )\b
      )
    | {_NAME}\ (?:hereof|thereof|thereto)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_TITLED = re.compile(r"[A-ZÀ-Ý(\"“«:–—.\[*-]|\d{1,2}\.\s")
_REACH = 70
"""Characters between "attached" and the annex to which the word belongs."""


def label_of(kind: str, number: str) -> str:
    """Normalise an annex's name: annex 2 for Annexe n° 2, exhibit a for EXHIBIT A."""
    kind = kind.casefold()
    return f"{'annex' if kind == 'annexe' else kind} {number.casefold()}"


def labels_in(name: str) -> set[str]:
    """Return the labels of the annexes that a title or file name says it is; all of "Schedules 1 to 3"."""
    plain = re.sub(r"[_]+", " ", name)
    labels = {label_of(match["kind"], number) for match in _LABEL.finditer(plain) for number in _numbers(plain, match)}
    return labels or labels_in_title(name)


def equivalent_names(label: str) -> set[str]:
    """Return the numbers equivalent to a label's; A1 is A-1, I is 1, and the kind of annex does not matter."""
    number = label.rpartition(" ")[2]
    plain = re.sub(r"(?<=[a-z])-(?=\d)", "", number)
    return {number, plain} | ({str(1 + _ROMAN.index(plain))} if plain in _ROMAN else set())


def accepted_names(label: str) -> set[str]:
    """Return the names that may mean an annex that is present: B-1 is part of B, part of a name is enough."""
    return equivalent_names(label) | partial_names(label) | {label.rpartition(" ")[2].partition("-")[0]}


def holds_annexes(name: str) -> bool:
    """Tell whether a file name or title says that it holds annexes without saying which."""
    return re.fullmatch(rf"[\d\W_]*(?:all |les )?(?:{_KIND}s?|appendices)\b.{{0,40}}", name.strip(), re.I) is not None


def read_annexes(contract: ContractText, form: str = "") -> Iterator[Proposal]:
    """Yield annex_reference for each annex that the document names as its own, annex_heading for each that it has.

    A reference's detail tells whether it `said` attached, or named only: set out in it, or listed among the documents
    that make up the contract. `form` is the document's; one that belongs to another is asked for attached ones only.
    """
    yield from _references(contract, form)
    named_lines = {start: (end, label) for start, end, label in named_headings(contract.raw)}
    labels: set[str] = set()
    for match in _HEADING.finditer(contract.raw):
        label = label_of(match["kind"], match["id"])
        if label not in labels and len(labels) < MOST_ANNEXES and _is_heading(contract, match):
            labels.add(label)
            start = match.start("kind")
            end = match.end() if match.end() - start <= LONGEST else match.start("rest")
            _, name = named_lines.pop(start, (0, label_from_name(_title_of(contract.raw, match))))
            detail = {"label": label, **({"name": name} if name else {})}
            yield contract.fact(
                "annex_heading", " ".join(contract.raw[start:end].split()), start, end, detail, exact=True
            )
    for start, (end, label) in named_lines.items():
        # A line with a number that is no heading is one of a list.
        if label not in labels and len(labels) < MOST_ANNEXES and not _LABEL.search(contract.plain, start, end):
            labels.add(label)
            value = " ".join(contract.raw[start:end].split())
            yield contract.fact("annex_heading", value, start, end, {"label": label}, exact=True)


def _title_of(raw: str, heading: re.Match[str]) -> str:
    """Return what stands behind an annex's number, or on the line below it."""
    title = heading["rest"].strip(" \t:.–—-")
    below = raw[heading.end() : heading.end() + LONGEST].strip().partition("\n")[0]
    return title or below


def _references(contract: ContractText, form: str) -> Iterator[Proposal]:
    label_matches = [
        match for match in _LABEL.finditer(contract.plain) if not _TWO_LINES.match(contract.raw, match.start())
    ]
    lists = [] if form in OF_ANOTHER else listed_documents(contract.raw)
    references: dict[str, tuple[int, Proposal]] = {}
    for mention in ("attached", "named"):
        for match in label_matches:
            belongs = (
                _is_attached(contract.plain, match)
                if mention == "attached"
                else _is_named_as_own(contract, match, form, lists)
            )
            for number in _numbers(contract.plain, match) if belongs else ():
                label = label_of(match["kind"], number)
                if label not in references and len(references) < MOST_ANNEXES:
                    single = number == match["id"]
                    value = " ".join(match.group().split()) if single else f"{match['kind']} {number}"
                    detail = {"label": label, "said": mention}
                    references[label] = match.start(), contract.fact("annex_reference", value, *match.span(), detail)
    terms = defined_terms(contract.plain)
    for match, label in unnumbered_annexes(contract.plain):
        mention = "attached" if _is_attached(contract.plain, match) else "named"
        if label in references or len(references) >= MOST_ANNEXES:
            continue
        if mention == "attached" or (label not in terms and _is_named_as_own(contract, match, form, lists)):
            references[label] = (
                match.start(),
                contract.fact(
                    "annex_reference", " ".join(match.group().split()), *match.span(), {"label": label, "said": mention}
                ),
            )
    if form not in ("general_terms", *OF_ANOTHER) and (span := general_terms(contract, lists)):
        value, detail = " ".join(contract.raw[slice(*span)].split()), {"label": GENERAL_TERMS, "said": "named"}
        references[GENERAL_TERMS] = span[0], contract.fact("annex_reference", value, *span, detail)
    yield from (fact for _, fact in sorted(references.values(), key=lambda reference: reference[0]))


def _numbers(plain: str, match: re.Match[str]) -> list[str]:
    """Return the numbers of a label, several where it is in the plural."""
    numbers, position = [match["id"]], match.end()
    if not match["many"]:
        return numbers
    run = re.fullmatch(r"(\d{1,2})-(\d{1,2})", match["id"])
    if run and int(run[1]) < int(run[2]):
        return [*map(str, range(int(run[1]), int(run[2]) + 1))]
    while following := _NEXT.match(plain, position):
        position = following.end()
        if following["id"]:
            numbers.append(following["id"])
        elif numbers[-1].isdigit() and int(numbers[-1]) < int(following["last"]):
            numbers += map(str, range(int(numbers[-1]) + 1, int(following["last"]) + 1))
    return numbers


def _near(plain: str, match: re.Match[str]) -> tuple[str, str]:
    """Return the words of its sentence before and behind a label."""
    before = re.split(r"[.;:]\s", plain[max(match.start() - _REACH, 0) : match.start()])[-1]
    return before, re.split(r"[.;:]\s", plain[match.end() : match.end() + _REACH])[0]


def _is_attached(plain: str, match: re.Match[str]) -> bool:
    before, behind = _near(plain, match)
    return _ATTACHED.search(f"{before} … {behind}") is not None and not _NO_PAPER.search(f"{before} {behind}")


def _is_named_as_own(contract: ContractText, match: re.Match[str], form: str, lists: list[Span]) -> bool:
    """Tell whether the text says that something stands in this annex, or lists it among the contract documents."""
    if form in OF_ANOTHER:
        return False
    before, behind = _near(contract.plain, match)
    if _NO_PAPER.search(f"{before} {behind}") or _FOREIGN.match(behind):
        return False
    return (
        in_lists(match.start(), lists) or _LEADS_TO.search(before) is not None or _DESCRIBES.match(behind) is not None
    )


def _is_heading(contract: ContractText, match: re.Match[str]) -> bool:
    """Tell whether this line is an annex's heading, not a line of a list or of a broken sentence."""
    title = match["rest"].strip()
    # A text may have no line breaks: what stands far behind the label says nothing about it.
    near = title[:LONGEST]
    before = contract.raw[max(match.start() - 200, 0) : match.start()]
    last = before.rstrip()
    gap = before[len(last) :]
    in_capitals, opens_page = match["kind"].isupper(), not last or "\f" in gap
    if re.search(r"\.{4}|…{2}", near) or (len(title) < TOP and re.search(r"\s\d{1,3}$", title)):
        return False
    if title and not _TITLED.match(title) and not ((in_capitals or opens_page) and re.match(r"(?:to|à|au)\b", title)):
        return False
    if match.start() < TOP:
        return True
    if (_ATTACHED.search(near[:TOP]) and near[0] != "(") or re.match(r"[.)](?:\s|$)", near):
        return False
    if near == title and _next_to_heading(contract.raw, match):
        return False
    if opens_page or in_capitals or gap.count("\n") > 1:
        return True
    return last[-1] in ".;:!?)]" or (match["kind"][0].isupper() and not title)


def _next_to_heading(raw: str, match: re.Match[str]) -> bool:
    """Tell whether another annex's heading follows or precedes directly on the same page."""
    behind = raw[match.end() : match.end() + LONGEST].partition("\f")[0]
    ahead = _HEADING.match(behind, len(behind) - len(behind.lstrip("\n\r \t")))
    if ahead and ahead["id"].casefold() != match["id"].casefold():
        return True
    before = raw[max(match.start() - LONGEST, 0) : match.start()]
    if not before.endswith("\n") or before.endswith("\n\n"):
        return False
    last = _HEADING.match(before, before.rstrip().rfind("\n") + 1)
    return last is not None and last["id"].casefold() != match["id"].casefold()
