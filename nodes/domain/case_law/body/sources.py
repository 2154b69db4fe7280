"""The sources of law that decisions name: codes, laws and decrees, European acts, treaties; in plain text."""

from __future__ import annotations

import re

from nodes.domain.case_law.head.dates import FIGURES, date_at, french

_CODES = (
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


def _folded(words: str) -> str:
    table = str.maketrans("éèêàâîôûç", "eeeaaiouc")
    return words.translate(table)


CODES = {_folded(name): name for name in (part.strip() for part in _CODES.split(";"))}
_CODE = "|".join(
    re.escape(name).replace(r"\ ", r"\s+").replace("'", r"'\s?") for name in sorted(CODES, key=len, reverse=True)
)
_DATED = rf"(?:,?\s+du\s+(?P<{{0}}>{re.sub(r'[?]P<[a-z]+>', '?:', FIGURES)}))?"
ACT = (
    r"(?P<act>(?:loi(?:\s+organique|\s+constitutionnelle)?|decret(?:-loi)?|ordonnance|arrete)s?)\s+"
    r"(?:n\s?[°o]\s*(?P<number>\d{2,4}\s?-\s?\d{1,5})" + _DATED.format("dated") + r"|(?:modifiee?\s+)?du\s+(?P<day>"
    + re.sub(r"[?]P<[a-z]+>", "?:", FIGURES) + r"))"
)  # fmt: skip
_EUROPEAN = (
    r"(?P<union>(?:directive|reglement|decision-cadre)s?)\s+(?:(?:du conseil|\(?(?:ce|ue"
    r"|cee)\)?)\s*)?(?:n\s?[°o]\s*)?(?:\(?(?:ce|ue|cee)\)?\s*)?(?:n\s?[°o]\s*)?"
    r"(?P<eu>\d{2,4}\s?/\s?\d{1,4}(?:\s?/\s?(?:cee|ce|ue))?)"
)
TREATY = (
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
SOURCE = re.compile(rf"(?P<code>\b(?:{_CODE})\b)|\b{ACT}|\b{_EUROPEAN}|\b{TREATY}")


def named(text: str, plain: str, match: re.Match[str]) -> str:
    """The name of a code, act or treaty as it is usually written."""
    if match["code"]:
        return CODES[re.sub(r"'\s", "'", " ".join(match["code"].split()))]
    if match["act"]:
        kind = " ".join(match["act"].split()).rstrip("s")
        kind = {"decret": "décret", "decret-loi": "décret-loi", "arrete": "arrêté"}.get(kind, kind)
        number = f" n° {''.join(match['number'].split())}" if match["number"] else ""
        place = match.span("dated") if match["number"] else match.span("day")
        read = date_at(plain, *place) if place[0] >= 0 else None
        return f"{kind}{number}{f' du {french(read[0])}' if read else ''}"
    words = " ".join(text[match.start() : match.end()].split()).replace("’", "'")
    return words[:1].upper() + words[1:] if match["treaty"] else words[:1].lower() + words[1:]
