"""What a document says of other documents: its own title, what it amends and replaces, the annexes that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.domain.annexes import read_annexes
from nodes.domain.fact_text import HEAD, Reading
from nodes.domain.facts import Proposal
from nodes.domain.quantities import quantities

LONGEST_TITLE = 160
MOST_WORDS = 20
MOST = 60
"""Facts of one kind in a document: what names more annexes is a list of annexes."""

_FORMS = (
    ("amendment", r"\b(?:amendment|avenant|addendum|variation agreement|deed of variation|change order)\b"),
    ("annex", r"^(?:annexe?|appendix|exhibit|schedule|attachment) (?:n ?[°º] ?)?(?-i:[A-Z0-9])"),
    ("general_terms", r"\b(?:general (?:terms|conditions)|terms (?:and|&) conditions|terms of (?:sale|purchase"
    r"|service)|conditions générales"
     r"|cahier des clauses (?:administratives|techniques) générales|cgv|cga|ccag)\b"),
    ("order", r"\b(?:order form|purchase order|work order|task order|bon de commande|commande)\b"),
    ("statement_of_work", r"\b(?:statement of work|sow|work statement|scope of work)\b"),
    ("agreement", r"\b(?:agreement|contract|contrat\w*|convention|accord|lease|bail|licen[cs]e|marché|deed)\b"),
)  # fmt: skip
_FORM = tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in _FORMS)
_NOT_A_TITLE = re.compile(
    r"\b(?:shall|will|may (?:not|be|terminate)|either|unless|hereby|is made|between|entre|dated|entered into"
    r"|confidential\.|version|page|court|incorporated)\b|[;]|\.{4}",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"(?:exhibit|annexe?|schedule|appendix) (?:n ?[°º] ?)?[\w.-]{1,10}(?: ?[:–-])? ?", re.IGNORECASE)
_RUN_IN = re.compile(
    r"(?P<title>(?:[Ee]xhibit \S{1,9} )?[A-Z][A-Z0-9 &,.'’/()-]{6,120}(?:AGREEMENT|CONTRACT|LEASE"
    r"|AMENDMENT(?: NO\. \d+)?))"
    r" (?=This|THIS|Between|[A-Z][a-z])"
)
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "premier": "1", "deuxième": "2"}
_NUMBER = re.compile(r"(?:\b(?:no|nr|number)\b\.?|n°|№|#|\bn ?º)? ?\b(?P<digit>\d{1,2}|[ivx]{1,4})\b", re.IGNORECASE)

_PARENT = re.compile(
    r"\b(?:to|under|of|amends?|amending|supplements?|pursuant to|governed by) (?:the|that certain|a|an|its|this|our)? ?"
    r"(?P<title>(?:(?-i:[A-Z])[\w&'’/-]*,? (?:(?:and|for|of|&) )?){0,8}(?-i:Agreement|AGREEMENT|Contract|CONTRACT"
    r"|Lease|LEASE|Terms and Conditions))"
    r"(?P<behind>[^.;]{0,140})"
    r"|\b(?:au|du|aux|l'|le) ?(?P<titre>(?:contrat|marché|accord|convention|bail"
    r"|conditions générales)(?:[- ][\w'’éèàêâîôûç-]+){0,6}?)"
    r"(?P<suite>(?: n ?[°º] ?[\w/.-]+| (?:conclu |signé )?(?:du|le|en date du|entre|ci-après)\b| ?[,(])[^.;]{0,140})",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\b(?:n ?[°º]|no\.?|number|ref(?:erence|érence)?\.?(?: no\.?)?) ?:? ?(?P<a>[A-Z0-9][\w]*(?:[/-][\w]+)+)"
    r"|\b(?P<b>[A-Z]{2,}[A-Z0-9]*(?:[/-][A-Z0-9]+)+)\b"
)

_OWN = re.compile(
    r"^(?:ref(?:erence|érence)?|(?:contract|agreement|contrat|marché) ?(?:no|n°|number|ref)"
    r"|[^.]{0,60}\b(?:agreement|contract"
    r"|contrat|marché|convention)\b[^.]{0,40} n ?[°º]| ?n ?[°º])",
    re.IGNORECASE,
)

_ART = r"(?:(?:sub-?)?(?:section|clause|article|paragraph)|§)"
_N = r"\d{1,3}(?:\.\d{1,3})*(?: ?\([a-z0-9]{1,4}\))*(?: (?:bis|ter|quater)\b)?"
_LIST = rf"(?P<n>{_N}(?:(?:, ?(?:and |et )?| and | et ){_N})*)"
_CHANGED = re.compile(
    rf"(?P<lead>[^.;:]{{0,90}}?)\b{_ART}s? {_LIST}(?P<of>[^.;:]{{0,110}}?)(?:,? )\b(?:is|are|shall be|will be|est"
    rf"|sont|sera|seront)"
    r" (?:hereby |hereinafter |further |also |entièrement |intégralement )*"
    r"(?P<verb>deleted|replaced|amended|revised|modified|changed|restated|superseded|supplemented|removed|reduced"
    r"|increased|extended"
    r"|supprimée?s?|remplacée?s?|modifiée?s?|abrogée?s?|complétée?s?|annulée?s?|ramenée?s?|portée?s?|prorogée?s?)\b"
    r"(?P<behind>[^.;:]{0,120})",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    rf"\b(?P<verb>deletes?|replaces?|amends?|deleting|replacing|amending|supprimer"
    rf"|remplacer)\b (?P<lead>(?:the )?(?:text of |existing )?)"
    rf"{_ART}s? {_LIST}(?P<of>)(?P<behind>[^.;:]{{0,120}})",
    re.IGNORECASE,
)
_ADDED = re.compile(
    rf"\b(?:new {_ART} {_LIST}[^.;:]{{0,60}}\b(?:is|are|shall be) (?:hereby )?(?:added|inserted)"
    rf"|il est (?:ajouté|inséré|créé) (?:un|une) (?:nouvel(?:le)? )?{_ART} {_LIST.replace('<n>', '<m>')})",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(?:words?|sentences?|sub-?paragraphs?|phrases?|references? to|definition|figure|number|table|mots?|termes"
    r"|alinéas?|chiffre|montant"
    r"|plafond|délai|engagement|percentage|amount|date|item|row|part)\b|\b(?:in|of|under|within|from|by|to|de|dans"
    r"|à|du|prévue?s? à)"
    r"(?: (?:the|l['’]|la|le|les))? ?(?:l['’])?$",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?:consistent with|pursuant to|in accordance with|subject to|as (?:provided|defined|set forth) in"
    r"|notwithstanding"
    r"|conformément (?:à|aux)|en application d[eu])(?: the| l['’])? ?$",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:deleted|replaced|restated|superseded|removed|supprim\w+|remplac\w+|abrog\w+|annul\w+|delet\w+|replac\w+)",
    re.IGNORECASE,
)
_REWRITTEN = re.compile(
    r"\b(?:in (?:its|their) entirety|to read|read as follows|restated|ainsi rédigé\w*|comme suit)\b", re.IGNORECASE
)
_WITH = re.compile(
    r"\b(?:replac\w+|restated|substitut\w+|remplac\w+|by the following|with the following|to read|ainsi rédig\w+)",
    re.IGNORECASE,
)


def read_references(reading: Reading) -> Iterator[Proposal]:
    """title, reference_number, parent, replaces, annex_reference and annex_heading, in this order of kinds."""
    title = _title(reading)
    form = title.detail["form"] if title else ""
    if title:
        yield title
    yield from _own_number(reading, title)
    if form in ("amendment", "order", "annex", "statement_of_work"):
        yield from _parent(reading, title)
    if form == "amendment":
        yield from _replaced(reading)
    yield from read_annexes(reading)


def form_of(title: str) -> str:
    """What kind of document a title names: amendment, annex, general_terms, order, statement_of_work, agreement, ""."""
    return next((name for name, pattern in _FORM if pattern.search(title)), "")


def number_of(title: str) -> str:
    """The number of an amendment from its title: "1" in Amendment No. 1, Avenant n° 1, First Amendment."""
    for word, digit in _ORDINALS.items():
        if re.search(rf"\b{word}\b", title, re.IGNORECASE):
            return digit
    found = re.search(rf"\b(?:amendment|avenant|addendum)\b[ :,-]*{_NUMBER.pattern}", title, re.IGNORECASE)
    if found is None:
        return ""
    digit = found["digit"].casefold()
    return digit if digit.isdigit() else str({"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6}.get(digit, "")) or ""


def _title(reading: Reading) -> Proposal | None:
    furniture = {start for start, _ in reading.document.furniture}
    bare: Proposal | None = None
    for start, end in _lines(reading.raw[:HEAD]):
        if start in furniture:
            continue
        end = _run_in_title(reading.raw[start:end], start) or end
        label = _LABELLED.match(reading.plain, start, end)
        # "Exhibit 10.1" stands above the title of what was filed as such.
        begin = label.end() if label and _names_other(reading.plain[label.end() : end]) else start
        title = reading.plain[begin:end]
        form = form_of(title) if _may_be_title(title) else ""
        if not form:
            continue
        detail = {"form": form, **({"number": number} if (number := number_of(title)) else {})}
        found = reading.fact("title", " ".join(title.split()), begin, end, detail, exact=True)
        if form != "annex" or not label or reading.plain[label.end() : end].strip():
            return found
        bare = bare or found
    return bare


def _names_other(rest: str) -> bool:
    return form_of(rest.strip()) not in ("", "annex")


def _may_be_title(line: str) -> bool:
    if not line or len(line) > LONGEST_TITLE or len(line.split()) >= MOST_WORDS or _NOT_A_TITLE.search(line):
        return False
    return line[0].isalnum() and not line[0].islower() and not line.rstrip().endswith((",", "."))


def _run_in_title(line: str, start: int) -> int:
    """Where a title in capitals ends that runs on into its first sentence; 0 where there is none."""
    found = _RUN_IN.match(line)
    return start + found.end("title") if found else 0


def _lines(text: str) -> Iterator[tuple[int, int]]:
    for found in re.finditer(r"[^\n\f]+", text):
        stripped = found.group().strip()
        if stripped:
            start = found.start() + found.group().index(stripped[0])
            yield start, start + len(stripped)


def _own_number(reading: Reading, title: Proposal | None) -> Iterator[Proposal]:
    """The number that an agreement bears, from the lines around its title."""
    if title is None or title.detail["form"] not in ("agreement", "general_terms"):
        return
    lines = [*_lines(reading.raw[:1_500]), *reading.document.furniture[:4]]
    for low, high in lines:
        line = reading.raw[low:high]
        cue = _OWN.search(line)
        found = _REFERENCE.search(reading.raw, low, high)
        number = (found["a"] or found["b"]) if found and cue else ""
        if found and any(char.isdigit() for char in number) and len(number) >= 5:
            yield reading.fact("reference_number", number, low, high, {"number": number}, exact=True)
            return


def _parent(reading: Reading, title: Proposal | None) -> Iterator[Proposal]:
    """The agreement that an amendment, order or annex belongs to."""
    after = (title.start or 0) if title else 0
    for found in _PARENT.finditer(reading.plain, max(after - 200, 0), HEAD):
        name = found["title"] or found["titre"]
        behind = (found["behind"] if found["title"] else found["suite"]) or ""
        dates = [one for one in quantities(behind) if one.kind == "date"]
        number = _REFERENCE.search(behind) or _REFERENCE.search(found.group())
        if not dates and not number:
            continue
        detail = {"title": " ".join(name.split())}
        detail |= {"date": dates[0].unit} if dates else {}
        detail |= {"number": number["a"] or number["b"]} if number else {}
        stated = [dates[0].end] if dates else []
        stated += [number.end()] if number and _REFERENCE.search(behind) else []
        end = found.end() - len(behind) + max(stated, default=0)
        start = found.start("title") if found["title"] else found.start("titre")
        yield reading.fact("parent", " ".join(reading.raw[start:end].split()), start, end, detail, exact=True)
        return


def _replaced(reading: Reading) -> Iterator[Proposal]:
    """Every article that an amendment says it replaces, deletes, changes or adds."""
    count = 0
    for sentence in reading.sentences:
        plain = reading.plain[sentence.start : sentence.end]
        if not re.search(rf"{_ART}s? \d", plain, re.IGNORECASE):
            continue
        end = 0
        for found, detail in sorted(_said_of_articles(plain), key=lambda one: one[0].start()):
            if found.start() >= end and count < MOST:
                end, count = found.end(), count + 1
                yield _change(reading, sentence.start, found, detail)


def _said_of_articles(plain: str) -> Iterator[tuple[re.Match[str], dict[str, object]]]:
    for added in _ADDED.finditer(plain):
        yield added, {"articles": _articles(added["n"] or added["m"]), "action": "add", "whole": False}
    for found in (*_CHANGED.finditer(plain), *_COMMAND.finditer(plain)):
        if not _REFERS.search(found["lead"]):
            yield found, _detail(found)


def _detail(found: re.Match[str]) -> dict[str, object]:
    verb, behind = found["verb"], found["behind"]
    said = f"{verb}{behind}"
    part = _PART.search(found["lead"].rstrip()) or _PART.search(found["of"])
    whole = not part and bool(_WHOLE.search(verb) or _REWRITTEN.search(behind))
    action = "change"
    if whole:
        action = "replace" if _WITH.search(said) or _REWRITTEN.search(behind) else "delete"
    return {"articles": _articles(found["n"]), "action": action, "whole": whole}


def _change(reading: Reading, base: int, found: re.Match[str], detail: dict[str, object]) -> Proposal:
    words = {"replace": "replaced", "delete": "deleted", "change": "changed", "add": "added"}
    articles: list[str] = detail["articles"]  # type: ignore[assignment]
    value = f"{', '.join(articles)} {words[str(detail['action'])]}"
    start = base + found.start()
    start += len(found.group()) - len(found.group().lstrip())
    return reading.fact("replaces", value, start, base + found.end(), detail)


def _articles(listed: str) -> list[str]:
    return [re.sub(r" (?=\()", "", one) for one in re.findall(_N, listed, re.IGNORECASE)]
