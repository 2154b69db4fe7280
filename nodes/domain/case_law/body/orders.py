"""Orders of a ruling's operative part, and its solution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nodes.domain.case_law.head.court import CASSATION
from nodes.domain.case_law.head.number import ADMINISTRATIVE, AGREED, ALONE, CONTRADICTED
from nodes.domain.case_law.ruling_text import HEAD, RulingText

_VERBS = (
    r"casse|annule|rejette|declare|dit|condamne|deboute|ordonne|fixe|confirme|infirme|reforme|remet|renvoie|laisse"
    r"|constate|designe|donne\ acte|y\ ajoutant|statuant\ a\ nouveau|en\ application|vu\ l|article\ \d"
    r"|prononce|ouvre|rappelle"
    r"|met\ |reparant|homologue|sursoit|decerne|enjoint|autorise|accorde|alloue|recoit|juge|rectifie"
)
# Example: ; condamne
_CUT = re.compile(
    rf"""
    ;\s* | [.,:]?[ \t]*\n\s*(?=(?:[-•*–]\s*)?(?:{_VERBS})) | [.,:]\s*\n\s*\n\s*
    """,
    re.VERBOSE,
)
# Example: en ce qu'il deboute la societe
_RECITES = re.compile(
    r"""
    \ben\s+ce\s+qu'(?:il|elle)s?\s+(?!a\b|ont\b|avai)(?:(?!\b(?:l'arret|jugement)\s+rendu\b).)*\Z
    """,
    re.VERBOSE,
)
_PARTICIPLE = re.compile(r"[^\W\d_]+é(?:e?s?)\b")
# Example: par ces motifs, la cour :
_LEAD = re.compile(
    r"""
    \s*(?:
      (?:en\ consequence,?\s*)?par\s*ces\s*(?:seuls\s+)?motifs | en\ consequence
      | d\s?e\s?c\s?i\s?d\s?e
    )\b[^:;]{0,400}?
    (?::|(?=\b(?:casse|rejette|confirme|infirme|annule|ouvre|declare|dit|condamne|deboute)\b))\s*
    """,
    re.VERBOSE,
)
# Example: delibere a l'issue
_CLOSED = re.compile(
    r"""
    \b(?:
      ainsi\s+(?:fait|juge|prononce|decide) | la\ minute\ d[ue] | delibere\ (?:a\ l'issue|par)
      | prononce(?:e)?\ (?:en\ audience|par\ mise) | arret\ (?:signe|prononce)
      | (?:le|la)\s+greffi(?:er|ere)\b\s*,?\s*(?:l[ea]\s+president|\n) | et\ ont\ signe
    )
    """,
    re.VERBOSE,
)
_SOLUTIONS = (
    r"rejet(?:\ non\ specialement\ motive)?|cassation(?:\ partielle)?|annulation(?:\ partielle)?"
    r"|irrecevabilite(?:\ partielle)?"
    r"|non[- ]?lieu\ a\ (?:statuer|renvoi)|renvoi|desistement(?:\ partiel)?|decheance(?:\ partielle)?|non[- ]?admission"
    r"|rectification(?:\ d'erreurs?\ materielles?)?"
    r"|rabat\ d'arret|sursis\ a\ statuer|designation\ de\ juridiction|reglement\ de\ juges|qpc\ incidente.{0,40}"
)
# Example: solution : cassation partielle sans renvoi
_HEADED = re.compile(
    rf"""
    ^[ \t]*(?:solution\s*:\s*)?
    (?P<words>(?:{_SOLUTIONS})(?:\s*(?:,|et|-)?\s*(?:sans\ renvoi|avec\ renvoi|{_SOLUTIONS}))*)
    [ \t]*\.?$
    """,
    re.MULTILINE | re.VERBOSE,
)
# Example: par voie de retranchement
_PARTLY = re.compile(
    r"""
    \b(?:
      mais\s+(?:seulement|uniquement) | sauf | seulement\ en\ ce | partiellement
      | par\ voie\ de\ retranchement | en\ (?:ses|leurs)\ seules | mais\ en\ (?:ses|sa) | mais\ sur
      | a\ l'exception
    )\b
    """,
    re.VERBOSE,
)
_AS_FAR_AS = re.compile(r"\ben (?:tant|ce) qu(?:e\b|'il|'elle)|\ben tant seulement\b")
_CATEGORIES: tuple[tuple[str, str], ...] = (
    ("Cassation", r"cassation"), ("QPC autres", r"non[- ]?lieu a renvoi"), ("QPC renvoi", r"^renvoi"),
    ("Annulation", r"annulation"), ("Non-lieu à statuer", r"non[- ]?lieu a statuer"), ("Rejet", r"rejet"),
    ("Irrecevabilité", r"irrecevabilite"), ("Désistement", r"desistement"), ("Déchéance", r"decheance"),
    ("Non-admission", r"non[- ]?admission"), ("Rectification", r"rectification"),
)  # fmt: skip
_WHOLLY = "dans toutes ses dispositions, à l'égard de toutes les parties au recours"
_ON_APPEAL = {
    "Confirmation": f"Confirme la décision déférée {_WHOLLY}",
    "Infirmation": f"Infirme la décision déférée {_WHOLLY}",
    "Annulation": "Annule la décision déférée",
}
_IN_PART = "Infirme partiellement, réforme ou modifie certaines dispositions de la décision déférée"
_CASSATION_ORDERS: tuple[tuple[str, str], ...] = (
    ("Cassation", r"\bcasse(?:nt)? et annule"),
    ("Non-lieu à renvoi",
     r"n'y avoir lieu (?:de|a) renvoyer .{0,60}conseil constitutionnel|n'y avoir lieu (?:de"
     r"|a) renvoyer .{0,30}question"),
    ("Renvoi", r"renvoie .{0,30}conseil constitutionnel|renvoie .{0,80}question prioritaire"),
    ("Annulation", r"^\W*annule\b"),
    ("Rectification", r"^\W*(?:ordonne la rectification|rectifie)\b"),
    ("Non-lieu à statuer", r"n'y avoir lieu (?:de|a) statuer(?! sur (?:le|les) (?:autres?|second|moyen))"),
    ("Irrecevabilité",
     r"declare (?:irrecevables?|non recevables?) (?:le|les) pourvois?|(?:le"
     r"|les) pourvois?.{0,80}irrecevables?"),
    ("Déchéance", r"constate la decheance|decheance du pourvoi"),
    ("Désistement", r"donne acte .{0,200}(?:desistement|desiste)|constate le desistement"),
    ("Non-admission", r"(?:declare|pourvoi).{0,40}non[- ]admis"),
    ("Rejet", r"\brejette (?:le|les) (?:pourvois?|requete|demande de)"),
)  # fmt: skip
_ADMINISTRATIVE_ORDERS: tuple[tuple[str, str], ...] = (
    ("Annulation", r"\b(?:est|sont) annule(?:e?s?)\b"),
    ("Rectification",
     r"\b(?:est|sont) (?:rectifie|remplace|corrige)(?:e?s?)\b|^\W*(?:rectifie|ordonne la rectification)"),
    ("Non-lieu à renvoi", r"n'y a pas lieu de (?:renvoyer|transmettre) .{0,60}(?:conseil constitutionnel|question)"),
    ("Non-admission", r"n'(?:est|sont) pas admis"),
    ("Non-lieu à statuer", r"n'y a (?:pas lieu|plus lieu) (?:de|a) statuer"),
    ("Désistement", r"donne acte .{0,120}desistement"),
    ("Renvoi", r"renvoyee? au conseil constitutionnel"),
    ("Rejet", r"(?:requete|pourvoi|demande|recours|appel|conclusions?)s?\b.{0,200}\b(?:est|sont) rejete"),
)  # fmt: skip
_FIRST_ORDERS: tuple[tuple[str, str], ...] = (
    ("Ouverture de liquidation judiciaire", r"(?:ouvre|prononce|convertit).{0,80}liquidation judiciaire"),
    ("Ouverture de redressement judiciaire", r"(?:ouvre|prononce).{0,80}redressement judiciaire"),
    ("Ouverture de sauvegarde", r"ouvre.{0,60}sauvegarde"),
    ("Rectification", r"(?:ordonne|dit y avoir lieu a)\b.{0,30}\brectification|^\W*rectifie\b"),
    ("Désistement",
     r"(?:constate|donne acte|declare parfait)\b.{0,120}\bdesistement\b(?!.{0,80}(?:a l'(?:egard|encontre)|incident))"),
    ("Caducité", r"(?:constate|prononce|declare)\b.{0,60}\bcadu(?:cite|que)\b.{0,30}\b(?:appel|declaration|citation)"),
    ("Incompétence", r"se declare .{0,40}incompetent"),
    ("Sursis à statuer", r"sursoit a statuer"),
    ("Radiation", r"ordonne la radiation|radiation de l'affaire"),
    ("Condamnation", r"condamne (?!.{0,80}\b(?:aux|les) (?:entiers )?depens\b).{0,200}(?:payer|verser|somme|a )"),
    ("Irrecevabilité", r"declare .{0,60}irrecevable"),
    ("Débouté", r"deboute|rejette"),
)  # fmt: skip
COSTS = re.compile(r"\barticles?\s+(?:700|l\.?\s*761-1|475-1|618-1|37)\b")


@dataclass(frozen=True, slots=True)
class Order:
    """One order of the operative part: `text[start:end]`."""

    start: int
    end: int
    words: str
    """The order's plain text in one line."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Outcome of a ruling."""

    value: str
    """As a lawyer says it: Cassation partielle sans renvoi."""
    category: str
    """The class under which the Cour de cassation publishes it, its own or an appeal; else the value."""
    start: int
    end: int
    confidence: float


def orders(ruling: RulingText) -> list[Order]:
    """Return the orders of the operative part, in order, without the closing formula."""
    lined = ruling.lined
    start = ruling.operative
    if start >= ruling.end:
        return []
    lead = _LEAD.match(lined, start)
    begin = lead.end() if lead else start
    closed = _CLOSED.search(lined, begin, ruling.end)
    stop = closed.start() if closed else min(ruling.end, begin + 8_000)
    operative_orders: list[Order] = []
    for cut in [*_CUT.finditer(lined, begin, stop), None]:
        if cut and _continues_order(ruling, begin, cut):
            continue
        end = cut.start() if cut else stop
        first, words = ruling.slice(begin, end)
        if len(words) > 8:
            operative_orders.append(
                Order(first, first + len(words), " ".join(lined[first : first + len(words)].split()))
            )
        begin = cut.end() if cut else stop
    return operative_orders


def _continues_order(ruling: RulingText, begin: int, cut: re.Match[str]) -> bool:
    """Tell whether a line break lies within an order: before a participle, or before another verb of what the order
    recites of the ruling below."""
    broken = re.fullmatch(r",?[ \t]*\n[ \t]*", cut.group()) is not None
    if not broken or not ruling.text[cut.end() : cut.end() + 1].islower():
        return False
    return _PARTICIPLE.match(ruling.text, cut.end()) is not None or (
        _RECITES.search(ruling.plain, begin, cut.start()) is not None
    )


def solution(ruling: RulingText, jurisdiction: str, ordered: Sequence[Order]) -> Solution | None:
    """Return the solution; for the Cour de cassation, head and operative part should agree."""
    if jurisdiction == CASSATION:
        return _cassation_solution(ruling, ordered)
    if jurisdiction in ADMINISTRATIVE:
        return _partial_annulment(_first_solution(ordered, _ADMINISTRATIVE_ORDERS), ordered)
    if jurisdiction == "Cour d'appel":
        return _appeal_solution(ordered) or _first_solution(ordered, _FIRST_ORDERS)
    return _first_solution(ordered, _FIRST_ORDERS)


def _partial_annulment(stated: Solution | None, ordered: Sequence[Order]) -> Solution | None:
    """Call an annulment partial where "en tant que" leaves the rest standing."""
    if stated is None or stated.value != "Annulation":
        return stated
    order = next(order for order in ordered if order.start == stated.start)
    return replace(stated, value="Annulation partielle") if _AS_FAR_AS.search(order.words) else stated


def _cassation_solution(ruling: RulingText, ordered: Sequence[Order]) -> Solution | None:
    # A line of prose that goes on with "cassation." begins with a small letter.
    heads = _HEADED.finditer(ruling.lined, 0, HEAD // 2)
    headed = next((heading for heading in heads if not ruling.text[heading.start("words")].islower()), None)
    stated = _first_solution(ordered, _CASSATION_ORDERS)
    if stated is not None and stated.value in ("Cassation", "Annulation"):
        order = next(order for order in ordered if order.start == stated.start)
        partly = " partielle" if _PARTLY.search(order.words[:400]) else ""
        bare = any(re.search(r"n'y avoir lieu a renvoi\b|sans renvoi", order.words) for order in ordered)
        value = f"{stated.value}{partly}{' sans renvoi' if bare else ''}"
        stated = Solution(value, stated.category, stated.start, stated.end, ALONE)
    if headed is None:
        return stated
    lines = ruling.text[headed.start("words") : headed.end("words")].split("\n")
    words = ", ".join(" ".join(line.split()).rstrip(",") for line in lines if line.strip())
    value = words[:1].upper() + words[1:].lower().replace("non lieu", "non-lieu")
    value = re.sub(r"\ba (?=renvoi|statuer)", "à ", value)
    category = _category(" ".join(headed["words"].split()))
    if stated is None:
        return Solution(value, category, *headed.span("words"), ALONE)
    # A ruling may reject a part and quash another: its head names the solution, one of the orders must bear it out.
    supporting = next(
        (candidate for candidate in _solutions(ordered, _CASSATION_ORDERS) if candidate.category == category), None
    )
    place = supporting or stated
    return Solution(value, category, place.start, place.end, AGREED if supporting else CONTRADICTED)


def _category(plain: str) -> str:
    return next((name for name, pattern in _CATEGORIES if re.search(pattern, plain)), "Autre")


def _appeal_solution(ordered: Sequence[Order]) -> Solution | None:
    confirmed = next((order for order in ordered if re.search(r"\bconfirme\b", order.words)), None)
    reversed_ = next((order for order in ordered if re.search(r"\b(?:infirme|reforme)\b", order.words)), None)
    annulled = next((order for order in ordered if re.search(r"^\W*annule (?:le|la|l')", order.words)), None)
    chosen = confirmed or reversed_ or annulled
    if chosen is None:
        return None
    if reversed_ is not None:
        limited = re.search(r"\b(?:en ce qu|mais seulement|partiellement|uniquement|du chef|sauf)", reversed_.words)
        value = "Infirmation partielle" if limited or confirmed else "Infirmation"
        chosen = reversed_
    elif confirmed is not None:
        value = "Confirmation partielle" if _PARTLY.search(confirmed.words) else "Confirmation"
    else:
        value = "Annulation"
    return Solution(value, _ON_APPEAL.get(value, _IN_PART), chosen.start, chosen.end, ALONE)


def _first_solution(ordered: Sequence[Order], kinds: Sequence[tuple[str, str]]) -> Solution | None:
    """Return the solution of the first kind that any order matches; the weightiest kinds come first."""
    return next(_solutions(ordered, kinds), None)


def _solutions(ordered: Sequence[Order], kinds: Sequence[tuple[str, str]]) -> Iterator[Solution]:
    for name, pattern in kinds:
        for order in ordered:
            if re.search(pattern, order.words):
                category = {"Non-lieu à renvoi": "QPC autres", "Renvoi": "QPC renvoi"}.get(name, name)
                yield Solution(name, category, order.start, order.end, ALONE)
