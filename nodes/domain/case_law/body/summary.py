"""Summary of a ruling in its own sentences: facts, procedure, question, answer, scope."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nodes.domain.case_law.body.orders import Order, Solution
from nodes.domain.case_law.ruling_text import HEAD, RulingText, Zone
from nodes.domain.text.sentences import Sentence, sentences

PARTS = ("facts", "procedure", "question", "answer", "scope")
"""Parts of a summary, in order."""
LONGEST = 900
"""Characters of one quote; what is longer is cut where a clause ends."""
SHORTEST = 30
BARE = 90
"""Characters; a shorter sentence ("Le moyen n'est pas fondé.") concludes without saying why."""
MOST_SENTENCES = {"facts": 3, "procedure": 3, "question": 2, "answer": 4, "scope": 3}
"""Sentences of each part at most."""

# Example: demande d'annulation
_PROCEEDS = re.compile(
    r"""
    \b(?:
      saisi\w* | assigne\w* | requete | interjete\w* | appel
      | demande\w*\s.{0,60}(?:tribunal|conseil|juge|annulation|condamn\w+) | pourvoi
      | par\ (?:acte|jugement|arret|ordonnance|declaration)
      | a\ (?:deboute|condamne|rejete|annule|transmis) | conteste\w* | recours
    )\b
    """,
    re.VERBOSE,
)
_COMPLAINS = re.compile(r"\b(?:fait|font|faite?s?)\s+grief\b|\breproche(?:nt)?\b|\bil est fait grief\b")
# Example: sollicitent
_CLAIMS = re.compile(
    r"""
    \b(?:
      demandent?\ (?:a\ la\ cour|au\ tribunal|de\b|l'annulation|d'annuler) | sollicit\w+
      | conclu\w+\ a | soutien\w+ | fait\ valoir | font\ valoir | moyens?\ (?:tire|de)
    )\b
    """,
    re.VERBOSE,
)
# Example: alors, selon le moyen :
_ALTERS = re.compile(
    r"""
    ,?\s*\balors\b\s*(?:,\s*selon\s+le\s+(?:premier\s+|second\s+)?moyen\s*,?)?\s*:?\s*
    """,
    re.VERBOSE,
)
_BRANCH = re.compile(r"[«\"]?\s*(?:1\s?°\s?/?\s*(?:alors\s+)?)?(?=qu)")
# Example: n'est pas subordonne
_PRINCIPLE = re.compile(
    r"""
    \b(?:
      il\ (?:en\ )?resulte | il\ s'ensuit | il\ s'en\ deduit | s'entend | au\ sens\ d
      | doi(?:t|vent)(?:\ etre)? | il\ appartient | ne\ (?:peut|peuvent|saurait)
      | a\ pour\ (?:objet|effet) | constitue | n'est\ pas\ (?:subordonne|tenu) | seule?s? | incombe
    )\b
    """,
    re.VERBOSE,
)
# Example: n'est donc pas fonde
_CONCLUDES = re.compile(
    r"""
    \ben\ statuant\ ainsi\b | \ba\ (?:exactement|legalement|pu|correctement)\b | \ba\ bon\ droit\b
    | n'est\ (?:donc\ |des\ lors\ )?pas\ fondee?\b | \best\ fondee?\b | \bviole\b
    | \bd'ou\ il\ suit\b | \bprive\ .{0,20}de\ base\ legale\b | \bdes\ lors\b | \bil\ convient\b
    | \bil\ y\ a\ lieu\b | \bsera\ (?:confirme|infirme|deboute|rejete|condamne)
    | \bcaractere\ (?:serieux|nouveau) | n'est\ pas\ nouvelle | \bserieuse?\b | \bpar\ suite\b
    | \best\ fonde\ a\b
    """,
    re.VERBOSE,
)
# Example: 5. aux termes d
_RECITES = re.compile(
    r"""
    ^\W*(?:\d{1,3}\.\s*)?(?:
      pour\  | l'arret\  | le\ jugement\  | selon\ l | aux\ termes\ d | attendu\ que\ pour | vu[ ]
      | la\ cour\ .{0,30}retient
      | (?:il|elle)s?\ (?:en\ )?(?:retient|releve|ajoute|enonce|constate|precise|deduit|conclut)\b
    )
    """,
    re.VERBOSE,
)
# Example: la cassation du chef
_REACHES = re.compile(
    r"""
    \b(?:
      portee | consequences? | entraine | la\ cassation\ (?:prononcee|n'entraine|du\ chef) | renvoi
      | sans\ renvoi | fin\ au\ litige
    )\b
    """,
    re.VERBOSE,
)
# Example: a forme le pourvoi n° f 21-18.442 contre l'arret rendu
_LODGED = re.compile(
    r"""
    \b(?:a|ont)\ (?:chacune?\ )?forme\ (?:le|les|un)\ pourvois?
      (?:[^,;]|,\ (?=[a-z]\ \d\d-)){0,160}
    | \bcontre\ (?:l'arret|le\ jugement|l'ordonnance|la\ decision)[^,;(]{0,20}\ rendue?[ ]
      [^,;(]{10,160}
    | \b(?:jugement|arret|ordonnance)\ rendue?\ le\ [^;(]{10,160}\ transmettant\b[^;]{0,120}
    """,
    re.VERBOSE,
)
# Example: les pourvois n° 1 et n° 2 sont joints
_JOINS = re.compile(
    r"""
    \ben\ raison\ de\ leur\ connexite\b
    | \b(?:pourvois|affaires|instances|requetes)\b[^.;]{0,120}\bsont\ jointe?s\b
    """,
    re.VERBOSE,
)
"""Sentences that join cases; they state no fact of them."""
# Example: vu les autres pieces du dossier
_READ = re.compile(
    r"""
    ^[ \t]*(?:
      vu\s*(?:
          : | les\s+autres\s+pieces\b | la\s+constitution\b
          | l[ea]s?\s+(?:
              codes? | lois? | decrets? | ordonnances? | conventions? | traites? | directives?
              | reglements? | arretes?
            )\b
          | l'(?:ordonnance|arrete)\b
        )
      | apres\s+avoir\s+entendu\b
    )
    """,
    re.MULTILINE | re.VERBOSE,
)
"""Statutes and hearings that an administrative court lists behind the story."""
_NUMBER = re.compile(r"\s*\d{1,3}\s?\.\s+")
# Example: bull.
_PARTED = re.compile(
    r"""
    \b(?:[lrdac]|art|al|bull|n|no|p|pp|obs|req|cons|ass|plen|soc|civ|comm?|crim|chron|spec)\.\s*\Z
    """,
    re.VERBOSE,
)
# Example: pas lieu de statuer par une decision specialement motivee
_NO_REASONS = re.compile(
    r"""
    pas\ lieu\ de\ statuer\ par\ une\ decision\ specialement\ motivee
    | manifestement\ pas\ de\ nature
    """,
    re.VERBOSE,
)
_CUTS = ("; ", " ; ", ". ", ", ")


@dataclass(frozen=True, slots=True)
class SummarySentence:
    """A sentence of the summary: the document's own words, `text[start:end]`."""

    part: str
    """facts, procedure, question, answer or scope."""
    start: int
    end: int


def summary(ruling: RulingText, solution: Solution | None, ordered: Sequence[Order]) -> list[SummarySentence]:
    """Return at most a dozen sentences, in the order of the parts; empty parts are left out."""
    split = [sentence for sentence in _joined_sentences(ruling) if sentence.end - sentence.start >= SHORTEST]
    candidates = [
        *_story(ruling, split),
        *_question(ruling, split, solution),
        *_answer(ruling, split, solution),
        *_scope(ruling, split, solution, ordered),
    ]
    chosen: list[SummarySentence] = []
    for part in PARTS:
        distinct = {(sentence.start, sentence.end): sentence for sentence in candidates if sentence.part == part}
        chosen += sorted(list(distinct.values())[: MOST_SENTENCES[part]], key=lambda sentence: sentence.start)
    return chosen


def _joined_sentences(ruling: RulingText) -> list[Sentence]:
    """Return the sentences, rejoined where an abbreviation or a supposed heading parted them."""
    joined: list[Sentence] = []
    for sentence in sentences(ruling.document):
        last = joined[-1].end if joined else 0
        before = ruling.text[last : sentence.start]
        parted = _PARTED.search(ruling.plain, max(last - 8, 0), sentence.start) is not None
        if before.strip() and (parted or ruling.text[sentence.start].islower()):
            # "2. Selon l'arrêt attaqué (Paris, 4 juillet 2023), les" or "6. Aux termes de l'article L.": no heading.
            line = before.rstrip().rfind("\n") + 1
            sentence = replace(sentence, start=sentence.start - len(before) + line)
        elif parted and joined:
            sentence = replace(joined.pop(), end=sentence.end)
        joined.append(sentence)
    return joined


def _within(split: Sequence[Sentence], zone: Zone) -> list[Sentence]:
    return [sentence for sentence in split if zone.start <= sentence.start < zone.end]


def _summary_sentence(ruling: RulingText, part: str, start: int, end: int) -> SummarySentence:
    """Make a summary sentence of a range, without its paragraph number and cut where it is too long."""
    number = _NUMBER.match(ruling.plain, start, end)
    start = number.end() if number else start
    if end - start > LONGEST:
        cuts = [ruling.plain.rfind(mark, start + LONGEST // 3, start + LONGEST) for mark in _CUTS]
        cut = next((place for place in cuts[:3] if place > 0), cuts[3])
        end = cut if cut > 0 else start + LONGEST
    start, words = ruling.slice(start, end)
    return SummarySentence(part, start, start + len(words))


def _story(ruling: RulingText, split: Sequence[Sentence]) -> Iterator[SummarySentence]:
    story = [sentence for zone in ruling.zones_named("story") for sentence in _within(split, _narrative(ruling, zone))]
    own = [sentence for sentence in story if not _JOINS.search(ruling.plain, sentence.start, sentence.end)]
    proceeds = False
    for sentence in own:
        words = ruling.plain[sentence.start : sentence.end]
        # The first sentence says what the case is about, even where it names the ruling that is attacked.
        part = "procedure" if sentence is not own[0] and _PROCEEDS.search(words) else "facts"
        proceeds = proceeds or part == "procedure"
        yield _summary_sentence(ruling, part, sentence.start, sentence.end)
    lodged = _LODGED.search(ruling.plain, 0, ruling.operative)
    if lodged and not proceeds:
        yield _summary_sentence(ruling, "procedure", *lodged.span())


def _narrative(ruling: RulingText, zone: Zone) -> Zone:
    read = _READ.search(ruling.lined, ruling.lined.find("\n", zone.start) + 1, zone.end)
    return replace(zone, end=read.start()) if read else zone


def decisive(ruling: RulingText, category: str) -> list[Zone]:
    """Return the parts of the reasons that carry the solution: those with a visa in a quashing, else the longest."""
    story_start = next((zone.start for zone in ruling.zones_named("story")), min(HEAD // 2, ruling.operative))
    reasons = [
        zone
        for zone in list(ruling.zones_named("reasons")) or [Zone("reasons", story_start, ruling.operative)]
        if not _NO_REASONS.search(ruling.plain, zone.start, zone.end) or zone.end - zone.start > 1_200
    ]
    quashing = [zone for zone in reasons if re.match(r"\s*vu\s", ruling.lined[zone.start : zone.start + 30])]
    if category in ("Cassation", "Annulation") and quashing:
        return quashing
    longest = max((zone.end - zone.start for zone in reasons), default=0)
    return [zone for zone in reasons if zone.end - zone.start >= longest // 2]


def _question(ruling: RulingText, split: Sequence[Sentence], solution: Solution | None) -> Iterator[SummarySentence]:
    category = solution.category if solution else ""
    question = re.search(r"[«\"“][^«»\"“”?]{20,1500}\?\s*[»\"”]", ruling.text[: ruling.operative])
    if question and "QPC" in category:
        yield _summary_sentence(ruling, "question", *question.span())
        return
    carrying = decisive(ruling, category)
    before = carrying[0].start if carrying else ruling.operative
    grounds = [zone for zone in ruling.zones_named("grounds") if zone.start < before] or list(
        ruling.zones_named("grounds")
    )
    for zone in reversed(grounds):
        for sentence in _within(split, zone):
            words = ruling.plain[sentence.start : sentence.end]
            if _COMPLAINS.search(words):
                yield from _complaint(ruling, sentence, zone)
                return
    for sentence in split:
        if sentence.end <= ruling.operative and _COMPLAINS.search(ruling.plain, sentence.start, sentence.end):
            yield from _complaint(ruling, sentence, Zone("grounds", sentence.start, ruling.operative))
            return
    for sentence in split:
        if sentence.start < before and _CLAIMS.search(ruling.plain, sentence.start, sentence.end):
            yield _summary_sentence(ruling, "question", sentence.start, sentence.end)


def _complaint(ruling: RulingText, sentence: Sentence, zone: Zone) -> Iterator[SummarySentence]:
    """Yield what a ground complains of, up to "alors", and its first branch."""
    plain = ruling.plain
    alters = _ALTERS.search(plain, sentence.start, min(zone.end, sentence.end + 40))
    yield _summary_sentence(ruling, "question", sentence.start, alters.start() if alters else sentence.end)
    if alters:
        branch = _BRANCH.match(plain, alters.end())
        begin = branch.end() if branch else alters.end()
        ends = [place for mark in (" ; ", "; ", " »", '" ;') if (place := plain.find(mark, begin, zone.end)) > 0]
        if ends and min(ends) - begin > SHORTEST:
            yield _summary_sentence(ruling, "question", begin, min(ends))


def _answer(ruling: RulingText, split: Sequence[Sentence], solution: Solution | None) -> Iterator[SummarySentence]:
    rated: list[tuple[float, Sentence]] = []
    for zone in decisive(ruling, solution.category if solution else ""):
        for sentence in _within(split, zone):
            words = ruling.plain[sentence.start : sentence.end]
            worth = 2.0 * bool(_PRINCIPLE.search(words)) + 3.0 * bool(_CONCLUDES.search(words))
            worth -= 2.5 * bool(_RECITES.search(words)) + (len(words) > LONGEST)
            worth -= 1.5 * (len(words) < BARE)
            # The last sentence is the likeliest to conclude.
            rated.append((worth + (sentence.start - zone.start) / max(zone.end - zone.start, 1), sentence))
    best = sorted((rating for rating in rated if rating[0] > 1.5), key=lambda rating: -rating[0])[
        : MOST_SENTENCES["answer"]
    ]
    for _, sentence in sorted(best or rated[-1:], key=lambda rating: rating[1].start):
        yield _summary_sentence(ruling, "answer", sentence.start, sentence.end)


def _scope(
    ruling: RulingText, split: Sequence[Sentence], solution: Solution | None, ordered: Sequence[Order]
) -> Iterator[SummarySentence]:
    if solution is not None and solution.end - solution.start > SHORTEST:
        yield _summary_sentence(ruling, "scope", solution.start, solution.end)
    elif ordered:
        yield _summary_sentence(ruling, "scope", ordered[0].start, ordered[0].end)
    for order in ordered:
        if re.search(r"n'y avoir lieu a renvoi\b|^renvoie|et les renvoie|^remet", order.words):
            yield _summary_sentence(ruling, "scope", order.start, order.end)
    heading = re.search(r"(?m)^[ \t]*portee et consequences de la cassation", ruling.lined)
    for sentence in split:
        if (
            heading
            and heading.end() <= sentence.start < ruling.operative
            and _REACHES.search(ruling.plain, sentence.start, sentence.end)
        ):
            yield _summary_sentence(ruling, "scope", sentence.start, sentence.end)
