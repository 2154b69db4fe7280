"""Parties of a contract as its preamble names them, with the aliases used from then on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nodes.domain.contracts.parties.signatures import signers
from nodes.domain.text.company_names import (
    CONJUNCTION,
    SENTENCE,
    TITLE,
    has_legal_form,
    is_company_name,
    leading_name,
    tidy,
)
from nodes.domain.text.documents import DocumentText
from nodes.domain.text.normalise import simplify

PREAMBLE = 8_000
"""Characters from the start in which the parties are named."""
LONGEST_PREAMBLE = 2_500
LONGEST_WITHOUT_OPENING = 3_000
LONGEST_GAP = 900
"""Characters from one definition to the next, or from "between" to the first."""

# Example: service provider
_SUPPLIER_ROLES = re.compile(
    r"""
    \b(?:
      supplier | vendor | (?:service\ |hosting\ |cloud\ )?provider | contractor | consultant
      | seller | licensor | manufacturer | carrier | lessor | franchisor | prestataire | fournisseur
      | titulaire | vendeur | bailleur | editeur | concedant | hebergeur | sous-traitant
      | transporteur | transporter | developpeur | editor | publisher | sub-?adviser | sub-?advisor
      | servicer | operator
    )\b
    """,
    re.VERBOSE,
)
# Example: donneur d'ordre
_CUSTOMER_ROLES = re.compile(
    r"""
    \b(?:
      customer | client | buyer | purchaser | licensee | lessee | distributor | reseller
      | franchisee | recipient | subscriber | user | owner | shipper | sponsor | acheteur
      | commanditaire | locataire | preneur | licencie | abonne | beneficiaire | donneur\ d'ordre
      | maitre\ d'ouvrage | pouvoir\ adjudicateur | acquereur | utilisateur
    )\b
    """,
    re.VERBOSE,
)
# Example: effective date
_NO_PARTY = re.compile(
    r"""
    \b(?:
        agreement | contract | effective\ date | party(?!\ [a-z0-9]\b) | parties | date | term
        | territory | products? | services? | contrat | convention | accord | presentes? | annexe
        | exhibit | attachment | schedule | recitals? | commission | act | guarantee | notes?
        | shares? | securit(?:y|ies) | units? | plan | offering | systems? | web\ ?sites?
        | business(?:es)? | software | marks? | addendum | programs? | options? | polic(?:y|ies)
        | property | properties | markets? | attributes | building | team | premises
      )\b
    | ^(?:you|your|we|us|our|affiliates?|not\b.*)$
    """,
    re.VERBOSE,
)
# Example: ENTRE LES SOUSSIGNÉS :
_OPENING = re.compile(
    r"""
    \b(?:
      by\ and\ (?:between|among) | between | among | entre(?:\ les\ soussign[ée]e?s)?
      | entered\ into\ with
    )\b\s*:?
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: NOW, THEREFORE
_CLOSING = re.compile(
    r"""
    \b(?:
      whereas | witnesseth | recitals? | r\ e\ c\ i\ t\ a\ l\ s | w\ h\ e\ r\ e\ a\ s
      | w\ i\ t\ n\ e\ s\ s\ e\ t\ h | introduction | background | now,?\ therefore
      | it\ is\ (?:hereby\ )?agreed
      | il\ a\ [ée]t[ée]\ (?:pr[ée]alablement\ )?(?:convenu|expos[ée]|arr[êe]t[ée]) | pr[ée]ambule
      | article\ (?:1|premier)\b | table\ of\ contents | (?-i:1\.\s+[A-Z])
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OPENS, _CLOSES = r"(?:[\"“”«ʺ]|''|(?<!\w)['‘])", r"(?:[\"“”»ʺ]|''|['’](?!\w))"
_ALIAS = rf"{_OPENS}\s*(?:the |le |la |les |l['’])?(?P<{{0}}>[^\"“”»«ʺ]{{{{1,60}}}}?)\s*{_CLOSES}"
_REFERRED = r"(?:ci-\s{0,3}apr[èe]s|hereinafter|hereafter|referred\s+to\s+(?:herein\s+|in\s+this\s+\w+\s+)?as)"
_DEFINITION = re.compile(
    rf"\([^()\"“”«]{{0,140}}?{_ALIAS.format('a')}[^()]{{0,120}}\)"
    rf"|{_REFERRED}[^\"“”«().]{{0,60}}{_ALIAS.format('b')}"
    rf"|\([^()\"“”«]{{0,60}}{_REFERRED}[^()\"“”«]{{0,30}}?\b(?:as|called)?\s+(?:the )?(?P<d>(?-i:[A-Z])[\w ]{{1,30}})\)"
    rf"|{_REFERRED}(?:\s+referred\s+to)?(?:\s+as|\s+called)?\s+(?:the )?(?P<e>(?-i:[A-Z][\w-]*(?:\s[A-Z][\w-]*)?))"
    r"|\((?:the )?(?P<c>(?-i:[A-Z])[a-z]{3,20}|(?-i:[A-Z]{3,12}))\)",
    re.IGNORECASE,
)
_QUOTED = re.compile(_ALIAS.format("alias"), re.IGNORECASE)
_FOR_EACH = re.compile(r"^\(\s*(?:individually|each|separately)\b", re.IGNORECASE)
_GROUP = re.compile(r"^\(\s*(?:collectively|together|each|individually)\b", re.IGNORECASE)
# Example: and the above-named
_UNNAMED = re.compile(
    r"""
    \band\s+(?:the|an?|each|any)\s+(?:[\w-]+\s+){0,2}?(?:
      individuals? | persons? | part(?:y|ies) | entit\w+ | undersigned | above | following | agent
      | franchisee | reseller | distributor | customer | supplier | [\w-]*named
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: Supplier: Acme Hosting Ltd
_LABELLED = re.compile(
    r"""
    (?:^[ \t]*|(?<=[ \t][ \t]))(?:the\ |le\ |la\ |l['’])?(?P<role>
      part(?:y|ie)\ [a-d] | buyer | seller | purchaser | customer | client | supplier | vendor
      | (?:service\ )?provider | contractor | licensor | licensee | distributor | reseller | lessor
      | lessee | prestataire | fournisseur | titulaire | acheteur | vendeur | bailleur | preneur
    )(?:/[\w-]{1,20})?[ \t]*[:：][ \t]*(?P<name>[^\n\f]{2,119})
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# Example: , d'une part, et la société
_LEAD = re.compile(
    r"""
    (?:
      [\s,;:.()–—●•-]
      | \b(?:
          and | et | or | also | on\ the\ one\ (?:hand|part) | on\ the\ other\ (?:hand|part)
          | of\ the\ (?:first|second|one|other)\ part | d['’]une\ part | d['’]autre\ part
          | la\ soci[ée]t[ée] | the\ (?:following\ )?(?:parties|company) | le | la
          | (?:(?:client|customer|supplier|company)\ )?name\s*: | \(?\d\) | \d\. | \(?[a-z]\)
          | part(?:y|ie)\ [a-d]\s*:
        )(?=[\s,;:(])
    )+
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: , and the Acme
_AND = re.compile(
    r"""
    (?:[,;)]\s*|\s)(?:and|et|AND|ET)\s*[:,–-]?\s+(?!Wales\b)(?:\(?[\da-z]\)\s*|\d\.\s+)?
      (?:(?:[Tt]he|[Ll]a\s+[Ss]oci[ée]t[ée])\s+)?
      (?=[A-Z0-9{\[]|[a-z]{1,2}[A-Z]|[a-z][\w.-]*,?\ [Ii]nc)
    | ;\s*\(?[\da-z]{1,2}\)\s*(?=[A-Z0-9])
    """,
    re.VERBOSE,
)
# Example: Acme Hosting Ltd
_COMPANY = re.compile(
    r"""
    (?P<name>
      (?<!\w)(?!The\ |WHEREAS)[A-ZÀ-Ý][\w&.'’-]*,?[ ]
      (?:[A-ZÀ-Ý][\w&.'’-]*,?\ |(?:of|and|de|du|des|&)\ ){0,6}?(?:
        Inc | INC | LLC | LLP | L\.L\.C | Ltd | LTD | Limited | LIMITED | Corp | CORP | Corporation
        | CORPORATION | Company | COMPANY | L\.P | LP | PLC | plc | GmbH | S\.A | SA | SAS | SASU
        | SARL | EURL | SNC | B\.V | N\.V | AG | Bank | N\.A
      )\b\.?
    )
    """,
    re.VERBOSE,
)
_PLAIN_WORDS = re.compile(r"(?:Holding|Parent|Issuing|This|Such|Each|If|Operating|Surviving) ")


@dataclass(frozen=True, slots=True)
class Party:
    """A party of a contract, as its preamble defines it."""

    name: str
    alias: str
    """What the contract calls it from then on; "" where it has no alias."""
    start: int
    end: int
    """End of the words that name and define it."""
    other_aliases: tuple[str, ...] = ()
    """Further aliases."""

    @property
    def supplies(self) -> bool:
        return any(_SUPPLIER_ROLES.search(simplify(alias)) for alias in (self.alias, *self.other_aliases))

    @property
    def buys(self) -> bool:
        return any(_CUSTOMER_ROLES.search(simplify(alias)) for alias in (self.alias, *self.other_aliases))


def parties(text: DocumentText) -> list[Party]:
    """Return the parties that the preamble names, each once, in order; failing two, the companies that sign."""
    head = text.text[:PREAMBLE]
    best: list[Party] = []
    openings = [match.end() for match in _OPENING.finditer(head)]
    for start, following in zip(openings, [*openings[1:], PREAMBLE], strict=False):
        closing = _CLOSING.search(head, start + 20)
        end = min(closing.start() if closing else PREAMBLE, start + LONGEST_PREAMBLE)
        defined = _distinct(_defined_parties(head, start, end, text.language))
        # On a title page no definition stands between "between" and the next "between".
        if defined and defined[0].end < following and len(defined) > len(best):
            best = defined
        if len(best) > 1:
            return best
    fallbacks = (
        _labelled_parties(head, text.language),
        _without_opening(head),
        _joined_names(head, openings, text.language),
    )
    longest = max([best, *map(_distinct, fallbacks)], key=len)
    return (
        longest
        if len(longest) > 1
        else _distinct((*longest, *_signing_companies(text.text, {party.name for party in longest})))
    )


def _distinct(candidates: Iterable[Party]) -> list[Party]:
    by_name: dict[str, Party] = {}
    for party in candidates:
        by_name.setdefault(re.sub(r"\W+", "", party.name.casefold()), party)
    return list(by_name.values())


def _signing_companies(text: str, names: set[str]) -> Iterator[Party]:
    """Yield the companies that sign, provided that the known names are among them."""
    signatures = list(signers(text))
    if names <= {name for name, _, _ in signatures}:
        yield from (Party(name, alias, start, _end_of(text, name, start)) for name, alias, start in signatures)


def _labelled_parties(head: str, language: str) -> Iterator[Party]:
    """Yield labelled parties (Party A: …, Supplier: …); none where only one is labelled."""
    labels = [(label, leading_name(label["name"], language)) for label in _LABELLED.finditer(head)]
    if len({" ".join(label["role"].casefold().split()) for label, name in labels if name}) > 1:
        for label, name in labels:
            if name:
                start = label.start("role")
                yield Party(name, " ".join(label["role"].split()), start, _end_of(head, name, label.start("name")))


def _joined_names(head: str, openings: list[int], language: str) -> Iterator[Party]:
    """Yield two names with a legal form that are joined by "and", where nothing defines them."""
    for start in openings:
        lead = _LEAD.match(head, start)
        first = lead.end() if lead else start
        first_name = leading_name(head[first : first + LONGEST_GAP // 3], language)
        for joint in _AND.finditer(head, first, first + LONGEST_GAP // 2):
            second_name = leading_name(head[joint.end() : joint.end() + LONGEST_GAP // 3], language)
            if not first_name.endswith(second_name) and all(map(is_company_name, (first_name, second_name))):
                for name, begin in ((first_name, first), (second_name, joint.end())):
                    yield Party(name, "", begin, _end_of(head, name, begin))
                return


def _end_of(head: str, name: str, begin: int) -> int:
    """Return where a name ends that begins here; it may run over several lines."""
    match = re.compile(r"\s+".join(map(re.escape, name.split()))).match(head, begin)
    return match.end() if match else begin + len(name)


def _without_opening(head: str) -> Iterator[Party]:
    """Yield parties of a preamble without "between": names with a legal form, each defined shortly after."""
    position = 0
    for definition in _DEFINITION.finditer(head, 0, LONGEST_WITHOUT_OPENING):
        alias = _alias(definition)
        names = list(_COMPANY.finditer(head, max(position, definition.start() - LONGEST_GAP // 5), definition.start()))
        names = [
            company
            for company in names
            if not (SENTENCE.search(company["name"]) or _PLAIN_WORDS.match(company["name"]))
            and not re.search(r"\ban?\s+$", head[: company.start()][-4:])
        ]
        if names and not _NO_PARTY.search(simplify(alias)) and not TITLE.search(names[-1]["name"]):
            name = tidy(names[-1]["name"])
            if _may_be_alias(definition, alias, name):
                position = definition.end()
                yield Party(name, alias, names[-1].start("name"), definition.end(), _other_aliases(definition))


def _defined_parties(head: str, start: int, end: int, language: str) -> Iterator[Party]:
    position, count = start, 0
    several = sum(not _NO_PARTY.search(simplify(_alias(match))) for match in _DEFINITION.finditer(head, start, end)) > 1
    for definition in _DEFINITION.finditer(head, start, end):
        if definition.start() - position > LONGEST_GAP:
            break
        alias = _alias(definition)
        plain = simplify(alias)
        together = _GROUP.match(definition.group()) is not None
        group = list(_COMPANY.finditer(head, position, definition.start())) if together else []
        if len(group) > 1:
            position, count = definition.end(), count + 1
            for company in group:
                name, at = company["name"], company.start("name")
                if parted := list(re.finditer(r",\s+(?:and|et)\s+", name)):
                    name, at = name[parted[-1].end() :], at + parted[-1].end()
                if _NO_PARTY.search(plain):
                    yield Party(tidy(name), "", at, company.end("name"))
                else:
                    yield Party(tidy(name), alias, at, definition.end())
            continue
        if _NO_PARTY.search(plain) and not (_SUPPLIER_ROLES.search(plain) or _CUSTOMER_ROLES.search(plain)):
            continue
        fit = _candidate_names(head, position, definition.start(), language)
        if len(fit) > 1 and fit[0][1].endswith(fit[-1][1]) and (count or several):
            fit = fit[:1]  # Louisville Gas and Electric Company: the other party is defined elsewhere
        chosen = _defined_name(head, fit, definition, alias)
        if chosen is None and definition["c"]:
            continue
        # A name with a legal form before the one that is defined has no other name.
        for begin, name in fit:
            if (
                has_legal_form(name)
                and (chosen is None or begin < chosen[0])
                and begin == fit[0][0]
                and not count
                and not CONJUNCTION.search(name)
            ):
                yield Party(name, "", begin, _end_of(head, name, begin))
        position, count = definition.end(), count + 1
        if chosen is not None:
            if _FOR_EACH.search(definition.group()):
                yield Party(chosen[1], alias, chosen[0], _end_of(head, chosen[1], chosen[0]))
            else:
                yield Party(chosen[1], alias, chosen[0], definition.end(), _other_aliases(definition))
    if count == 1 and (joint := _AND.match(head, position) or _AND.search(head, position, min(end, position + 300))):
        name = leading_name(head[joint.end() : min(joint.end() + 300, end)], language)
        if has_legal_form(name) and name:
            yield Party(name, "", joint.end(), _end_of(head, name, joint.end()))


def _defined_name(
    head: str, fit: list[tuple[int, str]], definition: re.Match[str], alias: str
) -> tuple[int, str] | None:
    """Choose the name that a definition is about: one resembling the alias, with a legal form, or nearest."""
    ranked = [
        (2 * _resembles(alias, name) + (has_legal_form(name)), index)
        for index, (_, name) in enumerate(fit)
        if _may_be_alias(definition, alias, name)
    ]
    if not ranked:
        return None
    begin, name = fit[max(ranked)[1]]
    unnamed = _UNNAMED.search(head, begin + len(name), definition.start())
    return None if unnamed and not _resembles(alias, name) else (begin, name)


def _may_be_alias(definition: re.Match[str], alias: str, name: str) -> bool:
    """Tell whether an alias may be a name's: a bare word in brackets only if it is a role or made from the name."""
    if not definition["c"]:
        return True
    plain = simplify(alias)
    return bool(_SUPPLIER_ROLES.search(plain) or _CUSTOMER_ROLES.search(plain)) or _resembles(alias, name)


def _resembles(alias: str, name: str) -> bool:
    short, full = (re.sub(r"\W+", "", simplify(words)) for words in (alias, name))
    initials = "".join(word[0] for word in re.findall(r"\w+", simplify(name)))
    spelled = (len(short) > 1 and short in initials) or (len(initials) > 2 and short.startswith(initials))
    first = re.match(r"\w{3,}", simplify(alias))
    return bool(short) and (short in full or spelled or bool(first and first.group() in full))


def _alias(definition: re.Match[str]) -> str:
    words = definition["a"] or definition["b"] or definition["c"] or definition["d"] or definition["e"]
    return " ".join(words.split()).strip(" ,.;:")


def _other_aliases(definition: re.Match[str]) -> tuple[str, ...]:
    aliases = [" ".join(match["alias"].split()).strip(" ,.;:") for match in _QUOTED.finditer(definition.group())]
    return tuple(alias for alias in aliases[1:] if alias and not _NO_PARTY.search(simplify(alias)))


def _candidate_names(head: str, start: int, end: int, language: str) -> list[tuple[int, str]]:
    """Return the names that may stand before a definition, with their offsets: at its start and behind each "and"."""
    lead = _LEAD.match(head, start, end)
    begins = {lead.end() if lead else start: None}
    begins |= dict.fromkeys(match.end() for match in _AND.finditer(head, start, end))
    fit = [(begin, name) for begin in begins if (name := leading_name(head[begin:end], language))]
    # "Terms and Conditions": one word behind an "and" is hardly a name.
    return [(begin, name) for begin, name in fit if begin == min(begins) or len(name.split()) > 1 or name.isupper()]
