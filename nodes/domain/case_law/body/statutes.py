"""Statutes that a ruling cites: articles of codes, laws, decrees and treaties; matched against plain text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from nodes.domain.case_law.head.dates import FIGURES, date_at, french
from nodes.domain.case_law.ruling_text import RulingText

MOST_STATUTES = 150
"""Statutes of one ruling at most."""
REACH = 700
"""Characters from "articles" to the code that they belong to."""

_CODE_NAMES = (
    "code civil; code du travail; code de commerce; code pénal; code de procédure civile; nouveau code de "
    "procédure civile"
    "; code de procédure pénale; code des procédures civiles d'exécution; code de l'organisation judiciaire"
    "; code de la sécurité sociale; code de la consommation; code monétaire et financier; code des assurances"
    "; code de la mutualité; code de la propriété intellectuelle; code général des impôts; livre des procédures "
    "fiscales"
    "; code général des collectivités territoriales; code de l'urbanisme; code de la construction et de l'habitation"
    "; code de l'environnement; code rural et de la pêche maritime; code rural; code de la route; code de la "
    "voirie routière"
    "; code des transports; code de la santé publique; code de l'action sociale et des familles; code de l'éducation"
    "; code électoral; code de justice administrative; code des relations entre le public et l'administration"
    "; code de la commande publique; code général de la propriété des personnes publiques; code de l'énergie"
    "; code des postes et des communications électroniques; code de la défense; code du sport; code du tourisme"
    "; code du patrimoine; code minier; code forestier; code des douanes; code de la sécurité intérieure"
    "; code de l'entrée et du séjour des étrangers et du droit d'asile; code de l'expropriation pour cause "
    "d'utilité publique"
    "; code de la famille et de l'aide sociale; code général de la fonction publique; code du service national"
    "; code de la nationalité; code de déontologie des avocats; code maritime; code des marchés publics; code de "
    "l'artisanat"
    "; code pénitentiaire; code de la justice pénale des mineurs; code du cinéma et de l'image animée"
    "; code des pensions civiles et militaires de retraite; code disciplinaire et pénal de la marine marchande"
)


def _without_accents(words: str) -> str:
    table = str.maketrans("éèêàâîôûç", "eeeaaiouc")
    return words.translate(table)


_CODES_BY_PLAIN_NAME = {_without_accents(name): name for name in (part.strip() for part in _CODE_NAMES.split(";"))}
_CODE = "|".join(
    re.escape(name).replace(r"\ ", r"\s+").replace("'", r"'\s?")
    for name in sorted(_CODES_BY_PLAIN_NAME, key=len, reverse=True)
)
_DATED = rf"(?:,?\s+du\s+(?P<{{0}}>{re.sub(r'[?]P<[a-z]+>', '?:', FIGURES)}))?"
_ACT = (
    r"(?P<act>(?:loi(?:\s+organique|\s+constitutionnelle)?|decret(?:-loi)?|ordonnance|arrete)s?)\s+"
    r"(?:n\s?[°o]\s*(?P<number>\d{2,4}\s?-\s?\d{1,5})" + _DATED.format("dated") + r"|(?:modifiee?\s+)?du\s+(?P<day>"
    + re.sub(r"[?]P<[a-z]+>", "?:", FIGURES) + r"))"
)  # fmt: skip
_EUROPEAN = (
    r"(?P<union>(?:directive|reglement|decision-cadre)s?)\s+(?:(?:du\ conseil|\(?(?:ce|ue"
    r"|cee)\)?)\s*)?(?:n\s?[°o]\s*)?(?:\(?(?:ce|ue|cee)\)?\s*)?(?:n\s?[°o]\s*)?"
    r"(?P<eu>\d{2,4}\s?/\s?\d{1,4}(?:\s?/\s?(?:cee|ce|ue))?)"
)
_TREATY = (
    r"(?P<treaty>convention\s+de\s+sauvegarde\s+des\s+droits\s+de\s+l'\s?homme"
    r"(?:\s+et\s+des\s+libertes\s+fondamentales)?"
    r"|convention\s+europeenne\s+(?:de\s+sauvegarde\s+)?des\s+droits\s+de\s+l'\s?homme"
    r"(?:\s+et\s+des\s+libertes\s+fondamentales)?"
    r"|declaration\s+des\s+droits\s+de\s+l'\s?homme\s+et\s+du\s+citoyen(?:\s+(?:du\s+26\s+aout|de)\s+1789)?"
    r"|preambule\s+de\s+la\s+constitution(?:\s+du\s+27\s+octobre\s+1946)?|constitution(?:\s+du\s+4\s+octobre\s+1958)?"
    r"|charte\s+des\s+droits\s+fondamentaux(?:\s+de\s+l'\s?union\s+europeenne)?|charte\s+de\s+l'\s?environnement"
    r"|charte\s+sociale\s+europeenne|traite\s+sur\s+(?:l'\s?union\s+europeenne"
    r"|le\s+fonctionnement\s+de\s+l'\s?union\s+europeenne)"
    r"|(?:premier\s+)?protocole\s+(?:additionnel\s+)?n\s?[°o]\s?\d+|convention\s+n\s?[°o]\s?\d+\s+de\s+l'\s?(?:oit"
    r"|organisation\s+internationale\s+du\s+travail)"
    r"|convention\s+relative\s+aux\s+droits\s+des\s+personnes\s+handicapees"
    r"|convention\s+internationale\s+des\s+droits\s+de\s+l'\s?enfant"
    r"|convention\s+de\s+vienne|convention\s+collective\s+(?:nationale\s+)?[a-z' ]{5,80}?(?=\s+du\s+\d|[,.;)])"
    r"|accord(?:-cadre)?\s+[^,;:.()]{0,140}?\bdu\s+(?:" + re.sub(r"[?]P<[a-z]+>", "?:", FIGURES) + r"))"
)  # fmt: skip
# Example: code de procedure civile
_SOURCE = re.compile(
    rf"""
    (?P<code>\b(?:{_CODE})\b) | \b{_ACT} | \b{_EUROPEAN} | \b{_TREATY}
    """,
    re.VERBOSE,
)
_SAME = (
    r"(?:(?:d[ue]\s+|de\s+la\s+)?(?:ce|cette|meme|la\s+meme)\s+(?:meme\s+)?|(?:dudit|ladite|de\s+ladite)\s+)"
    r"(?P<same>code|loi|decret|convention|directive|ordonnance|texte|traite|accord)"
    r"|d[ue]\s+(?:la\s+)?(?P<before>code|loi|decret|convention|directive|ordonnance)\s+(?:precitee?|susvisee?"
    r"|susmentionnee?)"
)
_LINK = re.compile(r"\s*,?\s*(?:\(?(?:anciens?|nouveaux?)\)?\s+)?(?:du|de\s+la|de\s+l'|de|des|d')\s*")
# Example: du meme code
_OF_SAME = re.compile(
    rf"""
    \s*,?\s*(?:{_SAME})
    """,
    re.VERBOSE,
)
# Example: articles l. 1235-3 et 1240
_ARTICLE = re.compile(
    r"""
    \barticles?\s+(?=[lrdacpo*\d]|premier|preliminaire|unique|[ivx]) | \bart\.\s*(?=[lrdac*\d])
    """,
    re.VERBOSE,
)
_LETTERED = r"(?:(?P<letter>(?:l\.?\s?o|l|r|d|a|c|p)\s?\.?\s?\*?\s?)|\*)?"
# Example: l. 761-1
_NUMBER = re.compile(
    rf"""
    (?P<word>premier|preliminaire|unique|1\s?er|ler)\b
    | {_LETTERED}(?P<digits>\d{{1,5}}(?:\s?-\s?\d{{1,4}})*(?:\.\d{{1,2}}(?!\d))*(?:\s?°)?)(?P<suffix>
        \s(?:bis|ter|quater|quinquies|sexies|septies)\b(?:\s[a-z]\b)?
        | \s[a-h]\b(?=\s(?:bis|ter|du|,))
      )?
    """,
    re.VERBOSE,
)
# Example: alinea 8 du
_PARAGRAPH = re.compile(
    rf"""
    \balineas?\s+(?P<numbers>\d+(?:er)?(?:\s*(?:,|et|a)\s*\d+)*)\s+d(?:u|e\ la)\s+(?={_TREATY})
    """,
    re.VERBOSE,
)
# What may stand between two articles of a list without being one of them.
# Example: , et
_BETWEEN = re.compile(
    r"""
    \s*(?:
      , | ; | : | \bet\b | \bou\b | \bainsi\s+que\b | \bensemble\b | \ba\b(?=\s+(?:l|r|d|a|\d))
      | \bde\b | \bles?\b | \barticles?\b | \bl'article\b | \bnotamment\b | \bdevenue?s?\b
      | \banciens?\b | \bnouveaux?\b | \bdes\s+articles\b
    )\s*
    """,
    re.VERBOSE,
)
# Example: , alineas 1er et 2
_PART = re.compile(
    r"""
    \s*,?\s*(?:
      (?:et\s+|a\s+)?(?:
          alineas\s+\d+(?:er)?(?:\s*(?:,|et|a)\s*\d+(?:er)?(?!\s?-?\d))*
          | (?:alinea|al\.)\s+\d+(?:er)?
        )
      | (?:\d+(?:er|e|eme|nd)|premiers?|deuxieme|second|troisieme|quatrieme|cinquieme|dernier)\s+
        alineas?
      | §§\s*\d+(?:\s*(?:,|et|a)\s*\d+(?!\s?-?\d))* | §\s*\d+(?!\d) | paragraphes?\s+\d+
      | \d+\s?°(?:\s*(?:,|et|a)\s*\d+\s?°)* | \b[ivx]{1,5}\b(?:\s*(?:,|et|a)\s*\b[ivx]{1,5}\b)*
      | \([a-z\d]{1,3}\) | \b[a-h]\) | et\s+suivants? | in\s+fine | susvisee?s? | precitee?s?
      | et\s+s\.
    )
    """,
    re.VERBOSE,
)
_ACT_OF_VERSION = _ACT.replace("?P<", "?P<v_")
# Example: , dans sa redaction issue de la loi n° 2016-1088 du 8 aout 2016
_VERSION = re.compile(
    rf"""
    \s*,?\s*(?:ce\s+dernier\s+)?(?:dans|en)\s+(?:sa|leur|ses|leurs|la)\s+
    (?:version|redaction|versions|redactions)\b[^;:.]{{0,40}}?(?:
      (?:issue?s?|resultant|anterieure?s?|applicable|posterieure?s?|alors)[^;]{{0,200}}?(?:{_ACT_OF_VERSION})
      | (?:alors\s+)?applicable(?:\s+(?:au\ litige|en\ la\ cause|a\ la\ cause|a\ l'espece))?
      | en\ vigueur
    )
    """,
    re.VERBOSE,
)
_VISA = re.compile(r"(?m)^[ \t]*vu\s+(?:les?\s|l'|la\s|ensemble\s)|^[ \t]*et\s+vu\s")
_VISA_END = re.compile(r":\s|;\s*\n|\n\s*\n|\n\s*\d{1,3}\.\s")
_ROLES = {"visa": 0, "cited": 1, "version": 2}


@dataclass(frozen=True, slots=True)
class Statute:
    """A cited text of law."""

    article: str
    """As it is written in statutes: L. 2313-4, 700, premier; "" where the whole text is cited."""
    source: str
    """code du travail, loi n° 2019-486 du 22 mai 2019, Constitution …"""
    role: str
    """visa: the ruling is founded on it; cited; version: it only says which wording of another applies."""
    start: int
    end: int
    zone: str

    @property
    def value(self) -> str:
        if not self.article:
            return self.source
        if self.article.startswith("alinéa"):
            return f"{self.article} du {self.source}"
        vowel = self.source[:1].lower() in "aeiou"
        of = (
            "de l'"
            if vowel
            else "du "
            if re.match(
                r"(?i)code|livre|decret|décret|reglement|règlement|traité|préamb|protoc|nouveau|premier", self.source
            )
            else "de la "
        )
        return f"article {self.article} {of}{self.source}"


def statutes(ruling: RulingText) -> list[Statute]:
    """Return every statute once, in the order of citation, at its place in a visa where it has one.

    The grounds annexed to the ruling count only for what they alone cite.
    """
    visas = list(_visas(ruling))
    best: dict[tuple[str, str], Statute] = {}
    for statute in _with_codes(list(_citations(ruling))):
        role = statute.role
        if role == "cited" and any(start <= statute.start < end for start, end in visas):
            role = "visa"
        statute = replace(statute, role=role)
        previous = best.get((statute.article, statute.source))
        if previous is None or _ROLES[statute.role] < _ROLES[previous.role]:
            best[statute.article, statute.source] = statute
    ranked = sorted(best.values(), key=lambda statute: (_ROLES[statute.role], statute.zone == "annex", statute.start))
    return ranked[:MOST_STATUTES]


def _with_codes(citations: list[Statute]) -> Iterator[Statute]:
    """Assign articles cited without a code to the code that the ruling names for them, else for most others."""
    codes: dict[str, Counter[str]] = defaultdict(Counter)
    for statute in citations:
        if statute.source.startswith(("code", "livre", "nouveau code")):
            codes[statute.article][statute.source] += 1
            if statute.zone != "head" and _is_lettered(statute.article):
                codes[statute.article[:2]][statute.source] += 1
                codes["."][statute.source] += 1
    for statute in citations:
        if statute.source:
            yield statute
        elif likely := codes.get(statute.article) or codes.get(statute.article[:2]) or codes.get("."):
            yield replace(statute, source=likely.most_common(1)[0][0])


def _is_lettered(article: str) -> bool:
    """Tell whether an article bears a letter, as only those of codes do (L. 2313-4); 7.3.4 is of an agreement."""
    return article[:1].isalpha() and article[1:2] == "."


def _visas(ruling: RulingText) -> Iterator[tuple[int, int]]:
    for match in _VISA.finditer(ruling.lined, 0, ruling.operative):
        end = _VISA_END.search(ruling.lined, match.end(), min(match.end() + 1_500, ruling.operative))
        if not ruling.text[match.start() : match.end()].lstrip()[:1].islower():
            yield match.start(), end.start() if end else match.end() + 300


def _citations(ruling: RulingText) -> Iterator[Statute]:
    plain = ruling.plain
    used = 0
    last: dict[str, str] = {}
    # "L. 3242-1 du même code" is no article of the code civil, though that was named in between.
    last_lettered: dict[str, str] = {}
    for match in _ARTICLE.finditer(plain):
        if match.start() < used:
            continue
        zone, begin = ruling.zone_at(match.start()), match.end()
        start = match.start()
        while True:
            articles, position = _articles(plain, begin)
            lettered = bool(articles) and _is_lettered(articles[0])
            source, end = _source(ruling, position, {**last, **last_lettered} if lettered else last)
            if not articles or not source:
                used = max(used, position)
                break
            for memory in (last, last_lettered) if lettered else (last,):
                memory[source.split()[0].lower()] = memory[""] = source
            used = end
            for article in articles:
                yield Statute(article, source, "cited", start, end, zone)
            follow = _continuation(plain, end)
            if follow is None:
                articles = []
                break
            start = begin = follow
        for article in articles:
            # Without its code: only what bears a letter can be nothing else.
            if _is_lettered(article) and start == match.start():
                yield Statute(article, "", "cited", start, position, zone)
    for match in _PARAGRAPH.finditer(plain):
        treaty = _SOURCE.match(plain, match.end())
        for number in re.findall(r"\d+", match["numbers"]) if treaty else ():
            span = match.start(), treaty.end() if treaty else match.end()
            name = _source_name(ruling.text, ruling.plain, treaty) if treaty else ""
            yield Statute(f"alinéa {number}", name, "cited", *span, ruling.zone_at(match.start()))
    for match in _SOURCE.finditer(plain):
        if match["number"] or match["day"] or match["eu"]:
            before = plain[max(0, match.start() - 90) : match.start()]
            version = re.search(r"(?:redaction|version|issue?s?|anterieure?s?|posterieure?s?)\b[^;]{0,70}$", before)
            behind = re.search(r"\barticles?\b[^;.]{0,60}$", before)
            if not behind or version:
                role = "version" if version else "cited"
                yield Statute(
                    "",
                    _source_name(ruling.text, ruling.plain, match),
                    role,
                    *match.span(),
                    ruling.zone_at(match.start()),
                )


def _articles(plain: str, position: int) -> tuple[list[str], int]:
    """Return the articles of a list and where the list ends."""
    articles: list[str] = []
    stop = min(len(plain), position + REACH)
    letter = ""
    while position < stop:
        if articles and (part := _PART.match(plain, position, stop)):
            position = part.end()
            continue
        number = _NUMBER.match(plain, position, stop)
        if number:
            letter = _letter(number["letter"] or "")
            articles += [_article(number, letter)]
            position = number.end()
        elif version := _VERSION.match(plain, position, stop):
            # "…, dans leur rédaction issue de la loi, R. 1452-6 du même code": the list may go on.
            follow = _BETWEEN.match(plain, version.end(), stop)
            if not (follow and _NUMBER.match(plain, follow.end(), stop)):
                break
            position = follow.end()
        elif between := _BETWEEN.match(plain, position, stop):
            if _LINK.match(plain, position) and _SOURCE.match(plain, _LINK.match(plain, position).end()):  # type: ignore[union-attr]
                break
            position = between.end()
        else:
            break
    return [article for article in dict.fromkeys(articles) if article], position


def _continuation(plain: str, position: int) -> int | None:
    """Return where a list goes on behind a code: "… du code du travail, dans sa rédaction …, et 1103 du code civil"."""
    version = _VERSION.match(plain, position, position + REACH)
    position = version.end() if version else position
    between = re.compile(r"\s*,?\s*(?:\bet\b|\bainsi que\b|\bensemble\b|,|(?<=,))\s*").match(plain, position)
    if between is None or between.end() == position:
        return None
    return between.end() if _NUMBER.match(plain, between.end()) else None


def _letter(words: str) -> str:
    return re.sub(r"[^a-z]", "", words).upper()


def _article(number: re.Match[str], letter: str) -> str:
    if number["word"]:
        return {"unique": "unique", "preliminaire": "préliminaire"}.get(number["word"], "1er")
    digits = re.sub(r"\s", "", number["digits"])
    if digits.endswith("°"):
        return ""
    suffix = " ".join((number["suffix"] or "").split())
    label = f"{letter}. {digits}" if letter else digits
    return f"{label} {suffix}".strip()


def _source(ruling: RulingText, position: int, last: Mapping[str, str]) -> tuple[str, int]:
    """Return the code or act that the articles before `position` belong to, and its end."""
    plain = ruling.plain
    for _ in range(4):
        link = _LINK.match(plain, position)
        match = _SOURCE.match(plain, link.end()) if link else None
        if match:
            return _source_name(ruling.text, ruling.plain, match), match.end()
        if same := _OF_SAME.match(plain, position):
            kind = same["same"] or same["before"]
            return last.get({"decret": "décret", "texte": ""}.get(kind, kind), ""), same.end()
        version = _VERSION.match(plain, position)
        part = None if version else _PART.match(plain, position)
        step = version or part
        if step is None:
            break
        position = step.end()
        comma = re.compile(r"\s*,\s*").match(plain, position)
        position = comma.end() if comma and _LINK.match(plain, comma.end()) else position
    return "", position


def _source_name(text: str, plain: str, match: re.Match[str]) -> str:
    """Return the usual name of a matched code, act or treaty."""
    if match["code"]:
        return _CODES_BY_PLAIN_NAME[re.sub(r"'\s", "'", " ".join(match["code"].split()))]
    if match["act"]:
        kind = " ".join(match["act"].split()).rstrip("s")
        kind = {"decret": "décret", "decret-loi": "décret-loi", "arrete": "arrêté"}.get(kind, kind)
        number = f" n° {''.join(match['number'].split())}" if match["number"] else ""
        place = match.span("dated") if match["number"] else match.span("day")
        read = date_at(plain, *place) if place[0] >= 0 else None
        return f"{kind}{number}{f' du {french(read[0])}' if read else ''}"
    words = " ".join(text[match.start() : match.end()].split()).replace("’", "'")
    return words[:1].upper() + words[1:] if match["treaty"] else words[:1].lower() + words[1:]
