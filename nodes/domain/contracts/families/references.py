"""References between documents: a document's title, its main agreement, what it replaces, and its annexes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from nodes.domain.contracts.contract_text import HEAD, ContractText
from nodes.domain.contracts.families.amendments import read_changes
from nodes.domain.contracts.families.annexes import read_annexes
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.normalise import simplify
from nodes.domain.text.quantities import quantities

LONGEST_TITLE = 160
MOST_WORDS = 20

_FORMS = (
    ("amendment", r"\b(?:amendment|avenant|addendum|variation agreement|deed of variation|change order|side letter"
     r"|contre-lettre)\b"),
    ("annex", r"^(?:annexe?|appendix|exhibit|schedule|attachment) (?:n ?[°º] ?)?(?-i:[A-Z0-9])"),
    ("general_terms", r"\b(?:general (?:terms|conditions)|terms (?:and|&) conditions|terms of (?:sale|purchase"
    r"|service)|conditions générales"
     r"|cahier des clauses (?:administratives|techniques) générales|cgv|cga|ccag)\b"),
    ("order", r"\b(?:order form|purchase order|work order|task order|bon de commande|commande)\b"),
    ("statement_of_work", r"\b(?:statement of work|sow|work statement|scope of work)\b"),
    ("agreement", r"\b(?:agreement|contract|contrat\w*|convention|accord|lease|bail|licen[cs]e|marché|deed)\b"),
)  # fmt: skip
_FORM = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _FORMS)
# Example: entered into
_NOT_A_TITLE = re.compile(
    r"""
    \b(?:
        shall | will | may\ (?:not|be|terminate) | either | unless | hereby | is\ made | between
        | entre | dated | entered\ into | confidential\. | version | page | court | incorporated
        | was | were | which | est | sont | selon | suivant | lorsque | que | qui | a\ pour\ objet
        | en\ application | aux\ termes
      )\b
    | [;] | \.{4}
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A title that goes on to name the agreement with its date and parties.
# Example: AMENDMENT No. 1 TO
_AMENDS = re.compile(
    r"""
    (?:(?:first|second|third|fourth|fifth)\ )?(?:amendment|avenant|addendum)
    (?:\ (?:no\.?|number|n\ ?[°º]|\#)?\ ?\w{1,4})?,?\ (?:to|au|aux|à\ l[a'’])\W
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OF_AGREEMENT = re.compile(r"\b(?:dated|between|entre|entered into)\b", re.IGNORECASE)
# Prose that speaks of an amendment: "by an amendment", "un avenant", "cet avenant".
# Example: an amendment
_SPOKEN_OF = re.compile(
    r"""
    (?-i:
      \b(?:an?|any|no|each|by|this|such|une?|cet|tout|aucun|par|dudit|ledit|chaque)\  | \bl['’]
      | \bd['’]un[ ]
    )(?:amendment|avenant|addendum)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_JUDGED = re.compile(r"\bau nom du peuple fran[çc]ais\b|\bcour de cassation\s*_{4}", re.IGNORECASE)
"""Opening of a court ruling, which speaks of contracts and is none."""
_LABELLED = re.compile(r"(?:exhibit|annexe?|schedule|appendix) (?:n ?[°º] ?)?[\w.-]{1,10}(?: ?[:–-])? ?", re.IGNORECASE)
# Example: APPLICATION DEVELOPMENT AGREEMENT
_RUN_IN = re.compile(
    r"""
    (?P<title>
      (?:[Ee]xhibit\ \S{1,9}\ )?[A-Z][A-Z0-9 &,.'’/()-]{6,120}
      (?:AGREEMENT|CONTRACT|LEASE|AMENDMENT(?:\ NO\.\ \d+)?)
    )\ (?=This|THIS|Between|[A-Z][a-z])
    """,
    re.VERBOSE,
)
# Example: AU NOM DU PEUPLE FRANCAIS
_RULING = re.compile(
    r"""
    ^[ \t]*(?:au\ nom\ du\ peuple\ fran[çc]ais|arr[êe]t\ de\ la\ cour\ de\ cassation)\b
    | \ba\ rendu\ (?:l['’]arrêt|la\ décision|l['’]ordonnance|le\ jugement)\ suivante?\b
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""Opening lines of a court ruling, which speaks of agreements and has no contract title."""
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "premier": "1", "deuxième": "2"}
_NUMBER = re.compile(r"(?:\b(?:no|nr|number)\b\.?|n°|№|#|\bn ?º)? ?\b(?P<digit>\d{1,2}|[ivx]{1,4})\b", re.IGNORECASE)

# Example: to the Master Services Agreement dated
_PARENT = re.compile(
    r"""
    \b(?:
        (?P<of>
            to | under | of | amends? | amending | supplements? | pursuant\ to | governed\ by
            | (?:re|subject|objet)\ ?: | into(?=\ (?:the|that|an?)\ )
          )[ ]
        | (?=the\ )
      )(?:the|that\ certain|that|an?|its|this|our)?\ ?(?P<title>
        (?:(?-i:[A-Z])[\w&'’/-]*,?\ (?:(?:and|for|of|&)\ )?){0,8}
        (?-i:Agreement|AGREEMENT|Contract|CONTRACT|Lease|LEASE|Terms\ and\ Conditions)
      )(?=(?P<behind>[^.;]{0,140}))
    | \b(?:au|du|aux|l'|le|la)\ ?(?P<titre>
        (?:contrat|marché|accord|convention|bail|conditions\ générales)
        (?:[- ][\w'’éèàêâîôûç-]+){0,6}?
      )(?=
        (?P<suite>
          (?:
            \ n\ ?[°º]\ ?[\w/.-]+
            | \ (?:(?:conclu|signé)e?s?\ )?(?:du|le|en\ date\ du|entre|ci-après)\b | \ ?[,(]
          )[^.;]{0,140}
        )
      )
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: amended and restated by the
_IN_PLACE_OF = re.compile(
    r"""
    \b(?:
      (?:amends?|amending|amended),?\ and\ (?:(?:completely|fully)\ )?
        (?:restates?|restating|restated)
      | supersedes?(?:,?\ and\ replaces?)? | replaces?(?:,?\ and\ supersedes?)?
      | annule(?:nt)?\ et\ remplace(?:nt)?
      | se\ substitue(?:nt)?(?:\ (?:intégralement|en\ totalité))?
    )\b[^.;]{0,60}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Where the words about the agreement end, and those about this document begin.
# Example: as amended
_NO_MORE = re.compile(
    r"""
    \b(?:
      is | are | shall | will | as\ (?:\w+\ )?(?:amended|modified|supplemented) | est | sont
      | telle?s?\ que | fait\ (?:à|le) | this | present | présente?
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: dated 3 May
_GOES_ON = re.compile(
    r"""
    \s*(?:
      dated | of | no | n° | number | ref\w* | effective | made | entered | by\ and\ between
      | between | du | en\ date | conclue? | signée? | entre | \(
    )(?![^\W\d_])
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OF_THIS = re.compile(r"\bth(?:is|e) (?:[\w.]+ ){0,4}(?:amendment|addendum)(?: [\w.]+){0,3} $", re.IGNORECASE)
# Example: No. AC/2023-017
_REFERENCE = re.compile(
    r"""
    \b(?:n\ ?[°º]|no\.?|number|ref(?:erence|érence)?\.?(?:\ no\.?)?)\ ?:?\ ?
      (?P<a>[A-Z0-9][\w]*(?:[/-][\w]+)+)
    | \b(?P<b>[A-Z]{2,}[A-Z0-9]*(?:[/-][A-Z0-9]+)+)\b
    """,
    re.VERBOSE,
)

# Example: Contract number
_OWN = re.compile(
    r"""
    ^(?:
      ref(?:erence|érence)? | (?:contract|agreement|contrat|marché)\ ?(?:no|n°|number|ref)
      | [^.]{0,60}\b(?:agreement|contract|contrat|marché|convention)\b[^.]{0,40}\ n\ ?[°º]
      | \ ?n\ ?[°º]
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)


def read_references(contract: ContractText) -> Iterator[Proposal]:
    """Yield title, reference_number, parent, replaces, annex_reference and annex_heading, in this order of kinds."""
    if _JUDGED.search(contract.plain, 0, HEAD):
        return
    title = _title(contract)
    form = title.detail["form"] if title else ""
    if title:
        yield title
    yield from _own_number(contract, title)
    if form in ("amendment", "order", "annex", "statement_of_work"):
        yield from _parent(contract, title)
    elif form == "agreement":
        yield from _replaced_agreement(contract, title)
    if form == "amendment":
        yield from read_changes(contract)
    yield from read_annexes(contract, form)


def form_of(title: str) -> str:
    """Return the form that a title names: amendment, annex, general_terms, order, statement_of_work, agreement, ""."""
    return next((name for name, pattern in _FORM if pattern.search(title)), "")


def number_of(title: str) -> str:
    """Return an amendment's number from its title: "1" in Amendment No. 1, Avenant n° 1, First Amendment."""
    for word, digit in _ORDINALS.items():
        if re.search(rf"\b{word}\b", title, re.IGNORECASE):
            return digit
    match = re.search(rf"\b(?:amendment|avenant|addendum)\b[ :,-]*{_NUMBER.pattern}", title, re.IGNORECASE)
    if match is None:
        return ""
    digit = match["digit"].casefold()
    return digit if digit.isdigit() else str({"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6}.get(digit, "")) or ""


def _title(contract: ContractText) -> Proposal | None:
    if _RULING.search(contract.raw[:HEAD]):
        return None
    furniture = {start for start, _ in contract.document.furniture}
    bare: Proposal | None = None
    for start, end in _lines(contract.raw[:HEAD]):
        if start in furniture:
            continue
        end = _run_in_title(contract.raw[start:end], start) or end
        label = _LABELLED.match(contract.plain, start, end)
        # "Exhibit 10.1" stands above the title of what was filed as such.
        begin = label.end() if label and _names_other(contract.plain[label.end() : end]) else start
        title = contract.plain[begin:end]
        form = form_of(title) if _may_be_title(title) else ""
        if not form:
            continue
        detail = {"form": form, **({"number": number} if (number := number_of(title)) else {})}
        fact = contract.fact("title", " ".join(title.split()), begin, end, detail, exact=True)
        if form != "annex" or not label or contract.plain[label.end() : end].strip():
            return fact
        bare = bare or fact
    return bare


def _names_other(title: str) -> bool:
    return form_of(title.strip()) not in ("", "annex")


def _may_be_title(line: str) -> bool:
    if not line or len(line) > LONGEST_TITLE:
        return False
    line = _OF_AGREEMENT.split(line)[0].rstrip(" ,(") if _AMENDS.match(line) else line
    if len(line.split()) >= MOST_WORDS:
        return False
    if _NOT_A_TITLE.search(line) or _SPOKEN_OF.search(line):
        return False
    return line[0].isalnum() and not line[0].islower() and not line.rstrip().endswith((",", "."))


def _run_in_title(line: str, start: int) -> int:
    """Return where a title in capitals ends that runs on into its first sentence; 0 where there is none."""
    match = _RUN_IN.match(line)
    return start + match.end("title") if match else 0


def _lines(text: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(r"[^\n\f]+", text):
        stripped = match.group().strip()
        if stripped:
            start = match.start() + match.group().index(stripped[0])
            yield start, start + len(stripped)


def _own_number(contract: ContractText, title: Proposal | None) -> Iterator[Proposal]:
    """Yield an agreement's own number, from the lines around its title."""
    if title is None or title.detail["form"] not in ("agreement", "general_terms"):
        return
    lines = [*_lines(contract.raw[:1_500]), *contract.document.furniture[:4]]
    for low, high in lines:
        line = contract.raw[low:high]
        cue = _OWN.search(line)
        match = _REFERENCE.search(contract.raw, low, high)
        number = (match["a"] or match["b"]) if match and cue else ""
        if match and any(char.isdigit() for char in number) and len(number) >= 5:
            yield contract.fact("reference_number", number, low, high, {"number": number}, exact=True)
            return


def _parent(contract: ContractText, title: Proposal | None) -> Iterator[Proposal]:
    """Yield the agreement that an amendment, order or annex belongs to.

    The one with a date or number whose title stands in the document's own, else the first that has either; for an
    amendment that gives none, the one of its title if that says more than "the Agreement".
    """
    after = (title.start or 0) if title else 0
    amends = title is not None and title.detail["form"] == "amendment"
    agreements = [
        agreement
        for match in _PARENT.finditer(contract.plain, max(after - 200, 0), HEAD)
        if (amends or match["titre"] or (match["of"] or "into").casefold() != "into")
        and (agreement := _named_agreement(contract, match)) is not None
    ]
    own = simplify(title.value) if title else ""
    identified = [agreement for agreement in agreements if len(agreement.detail) > 1]
    same_title = [agreement for agreement in identified if simplify(agreement.detail["title"]) in own]
    bare = [
        agreement
        for agreement in agreements
        if simplify(agreement.detail["title"]) in own and len(agreement.detail["title"].split()) > 1
    ]
    yield from next(filter(None, (same_title, identified, bare if amends else [])), [])[:1]


def _replaced_agreement(contract: ContractText, title: Proposal | None) -> Iterator[Proposal]:
    """Yield the agreement, with its date or number, that this one says it replaces."""
    own = simplify(title.value) if title else ""
    for match in _PARENT.finditer(contract.plain, 0, HEAD):
        start = match.start("title" if match["title"] else "titre")
        before = contract.plain[max(start - 160, 0) : start]
        if (
            _IN_PLACE_OF.search(before)
            and (agreement := _named_agreement(contract, match))
            and len(agreement.detail) > 1
        ):
            scope = "whole" if simplify(str(agreement.detail["title"])) in own else "perhaps"
            yield replace(agreement, detail={**agreement.detail, "restates": scope})
            return


def _named_agreement(contract: ContractText, match: re.Match[str]) -> Proposal | None:
    """Return the agreement that a match names, with date and number if any; None where that is an amendment."""
    name, group = (match["title"], "title") if match["title"] else (match["titre"], "titre")
    if form_of(name) == "amendment":
        return None
    low, high = match.span("behind" if group == "title" else "suite")
    behind = contract.plain[low : _end_of_parent(contract, low, high)]
    dates = [quantity for quantity in quantities(behind) if quantity.kind == "date"]
    if dates and _is_own_date(contract, match, behind, dates[0].end):
        behind, dates = behind[: dates[0].start], []
    near = _REFERENCE.search(behind)
    number = near or _REFERENCE.search(contract.plain, match.start(), low + len(behind))
    detail = {"title": " ".join(name.split())}
    detail |= {"date": dates[0].unit} if dates else {}
    detail |= {"number": number["a"] or number["b"]} if number else {}
    start = match.start(group)
    end = low + max((dates[0].end if dates else 0, near.end() if near else 0))
    return contract.fact("parent", " ".join(contract.raw[start:end].split()), start, end, detail, exact=True)


def _end_of_parent(contract: ContractText, low: int, high: int) -> int:
    """Return where the words about the named agreement end, an offset in the text."""
    stop = _NO_MORE.search(contract.plain, low, high)
    high = stop.start() if stop else high
    for gap in re.finditer(r"\n[ \t]*\n|\f", contract.raw[low:high]):
        if not _GOES_ON.match(contract.plain, low + gap.end()):
            return low + gap.start()
    return high


def _is_own_date(contract: ContractText, match: re.Match[str], behind: str, end: int) -> bool:
    """Tell whether a date is that of "this Amendment to the … Agreement, dated …", which states no other."""
    before = contract.plain[max(match.start() - 60, 0) : match.start()]
    if match["title"] is None or not behind.startswith(",") or not _OF_THIS.search(before):
        return False
    sentence = contract.at(match.start())
    return not any(
        quantity.kind == "date"
        for quantity in contract.within(match.start("behind") + end, sentence.end if sentence else HEAD)
    )
