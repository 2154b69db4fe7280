"""Checks that sentences are covered by the quotes that they cite, the note's own and a model's alike."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from nodes.domain.evidence.findings import Finding
from nodes.domain.evidence.note_model import Dropped, Note, Sentence, is_stated, status_of
from nodes.domain.shared.formats import clean
from nodes.domain.text.normalise import unaccented
from nodes.domain.text.quantities import negated, numbers_in
from nodes.domain.text.supplier_names import base_name

MAX_CLAIMS = 3
"""Most sentences in a writer's own words that may cite the same place of a document."""
FULL_QUOTE = 400
"""Characters of a quote that a sentence must repeat to count as quoting it, not as a claim about it."""
TOO_MANY_CLAIMS = "is one more claim on a quote that carries {count} already"

_QUOTED = re.compile(r"“([^“”]+)”|«([^«»]+)»|\"([^\"]+)\"")
# Example: pages 3 to 5
_PLACE = re.compile(
    r"""
    \b(?:pages?|p\.|(?P<section>sections?))\ ?(?P<first>\d+)(?!\.?\d)(?:\ ?(?:-|–|to|à|and|et)\ ?(?P<last>\d+))?
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Example: Banque de France
_NAME = re.compile(
    r"""
    [^\W\d_a-zà-öø-ÿ][\w&’'.-]*(?:\ (?:de\ |du\ |des\ |la\ |of\ |and\ |et\ |&\ )?[^\W\d_a-zà-öø-ÿ][\w&’'.-]*)*
    """,
    re.VERBOSE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;] |[“«\"(] ?)$")
# Says no without a negating word.
# Example: unlimited
_DENIAL = re.compile(
    r"""
    \b(?:
      un(?:limited|capped|enforceable) | illimitée?s? | exclud\w+ | exclus\w* | exclu[te]?\w* | prohibit\w*
      | forbid\w* | waive\w* | interdi\w* | renonc\w* | refus\w* | void | nulle? | lacks? | absent | absence
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Negating words that limit, not deny: "shall not exceed" says the same as "is capped at".
# Example: shall not exceed
_LIMIT = re.compile(
    r"""
    \b(?:
      (?:not|never|ne|n['’])\s*(?:shall|be|may|will|pourra|peut|saurait|doit|en\ aucun\ cas|in\ any\ event)?\s*
      (?:
        exceed | more\ than | less\ than | later\ than | greater\ than | excéder | dépasser | exceder | depasser
        | être\ supérieure?s?
      )(?:\ pas)?
      | no\ (?:more|less|later|greater|fewer)\ than | not\ limited\ to | without\ (?:limitation|prejudice)
      | in\ no\ event\ (?:shall|will)\b[^.;]{0,160}?\bexceed
      | sans\ pouvoir\ (?:excéder|dépasser|être\ supérieure?) | sans\ préjudice | sans\ limitation | unless
      | sauf | non[- ]exclusive?\w* | non-(?:renewal|contractual|renouvellement|reconduction) | whether\ or\ not
    )\b
    | \b(?:ne|n['’])\s?(?:
        pourra | peut | saurait | doit | excède | dépasse
      )\w*(?:\ (?:pas|en\ aucun\ cas))?\ ?(?:excéder|dépasser)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COMMON_WORDS = (
    "a all also an and any after amounts are as at august because before both but by clause clauses claims client"
    " confidentiality contract contractor customer damages each either english fees first for france french"
    " governing his if in is it its january july june law laws liability licensee licensor may march monday"
    " neither no none notice of on only or other otherwise parties party payment payments provider purchaser"
    " renewal seller services since such supplier term termination that the their there these this those under"
    " unless until upon vendor we when where while with within without april december february november october"
    " september agreement company court courts accord acheteur accords aucun aucune aussi avec ce ces cet cette"
    " chaque client clause comme contrat dans de depuis des droit du elle elles en entre est et fournisseur il ils"
    " je juridiction la le les leur leurs loi lois lorsque mais montant ni non notamment nul ou paiement par"
    " partie parties pour prestataire preavis responsabilite resiliation sa sans sauf se selon ses si son sous sur"
    " tout toute toutes tous tribunal tribunaux un une vendeur"
)
_COMMON_WORD_SET = frozenset(_COMMON_WORDS.split())


def check(sentence: Sentence, findings_by_id: Mapping[str, Finding], parties: Collection[str] = ()) -> str | None:
    """Say what is wrong with a sentence, or None.

    A fact must cite findings that may be stated; every number, date, name, quoted word and negation of it must be in
    their quotes, or in the name of their document or supplier, and a page or section must be theirs. `parties` are all
    suppliers of the run: naming one that the evidence does not name is a problem wherever it stands.
    """
    unknown = [mark for mark in sentence.finding_ids if mark not in findings_by_id]
    if unknown:
        return f"cites {unknown[0]}, which is no finding of this run"
    if sentence.kind != "fact":
        return None
    if not sentence.finding_ids:
        return "states a fact without evidence"
    cited = [findings_by_id[mark] for mark in sentence.finding_ids]
    unfit = next((finding for finding in cited if not is_stated(finding)), None)
    if unfit is not None:
        return f"cites {unfit.finding_id}, which is {status_of(unfit)}"
    empty = next((finding for finding in cited if finding.about), None)
    if empty is not None:
        return f"cites {empty.finding_id}, a missing clause, which has no quote"
    return _unsupported_part(_one_space(sentence.text), cited, parties)


def _unsupported_part(text: str, cited: Sequence[Finding], parties: Collection[str]) -> str | None:
    quotes = [_one_space(finding.quote) for finding in cited]
    names = [_one_space(name) for finding in cited for name in (finding.document, finding.supplier) if name]
    suppliers = {base_name(finding.supplier) for finding in cited if finding.supplier}
    names += [_one_space(party) for party in parties if base_name(party) in suppliers]
    own_words, strange = _without_evidence(text, quotes, names)
    if strange:
        return f"quotes “{strange[:60]}”, which its evidence does not say"
    own_words = _without_places(own_words, cited)
    if any(char.isalnum() for char in own_words):
        numbers = numbers_in(own_words) - numbers_in("\n".join(quotes)) - numbers_in("\n".join(names))
        if numbers:
            return f"gives {min(numbers)}, which is not in its evidence"
        stranger = _unknown_name(own_words, " ".join([*quotes, *names]), parties)
        if stranger:
            return f"names {stranger}, which is not in its evidence"
    return _negation(text, own_words, " ".join(quotes))


def _without_evidence(text: str, quotes: Sequence[str], names: Sequence[str]) -> tuple[str, str]:
    """Split off the writer's own words, and the first passage in quotation marks that is not in the evidence."""
    for passage in sorted({*quotes, *names}, key=len, reverse=True):
        if len(passage) > 3:
            text = text.replace(passage, " ")
    strange = ""
    folded = [_fold(quote) for quote in quotes]

    def checked(match: re.Match[str]) -> str:
        nonlocal strange
        quoted = next(group for group in match.groups() if group is not None)
        pieces = [_fold(piece) for piece in quoted.split("…")]
        if not any(all(piece in quote for piece in pieces) for quote in folded):
            strange = strange or quoted.strip()
        return " "

    return _QUOTED.sub(checked, text), strange


def _without_places(text: str, cited: Sequence[Finding]) -> str:
    """Remove the pages and sections of the evidence from a text; other places stay."""
    places = {(finding.unit, str(page)) for finding in cited for page in (finding.page, finding.page_end)}

    def own(match: re.Match[str]) -> str:
        unit = "section" if match["section"] else "page"
        numbers = filter(None, (match["first"], match["last"]))
        return " " if all((unit, number) in places for number in numbers) else match.group()

    return _PLACE.sub(own, text)


def _unknown_name(own_words: str, evidence: str, parties: Collection[str]) -> str:
    folded_evidence, stems = _fold(evidence), {word[:4] for word in _words(evidence)}
    folded = f" {_fold(own_words)} "
    for party in parties:
        name = _fold(party)
        if len(name) > 2 and f" {name} " in folded and name not in folded_evidence:
            return party
    known_words = set(_words(evidence))
    for match in _NAME.finditer(own_words):
        begins = _SENTENCE_START.search(own_words[: match.start()]) is not None
        for number, word in enumerate(_words(match.group())):
            if word in known_words or word in _COMMON_WORD_SET or len(word) < 2:
                continue
            # The first word of a sentence has its capital from grammar: a relative of a quoted word is no name.
            if begins and number == 0 and word[:4] in stems:
                continue
            return match.group().rstrip(".")
    return ""


def _negation(text: str, own_words: str, quotes: str) -> str | None:
    if (negated(own_words) or _DENIAL.search(own_words)) and not (negated(quotes) or _DENIAL.search(quotes)):
        return "denies something that its evidence does not deny"
    if negated(_LIMIT.sub(" ", quotes)) and not (negated(text) or _DENIAL.search(text)):
        # A sentence that repeats the quote has its negation too, so this is one in the writer's own words.
        return "leaves out the negation of its evidence"
    return None


def drop_unsupported(
    note: Note, max_claims: int = MAX_CLAIMS, uncounted: Collection[str] = ()
) -> tuple[Note, tuple[Dropped, ...]]:
    """Drop every sentence that `check` objects to; what was dropped is returned and counted in the note.

    Also dropped: a fact in the writer's own words on a place that carries `max_claims` such facts already. A quote
    that is given is no claim, and evidence in `uncounted` carries any number of them.
    """
    by_id = {finding.finding_id: finding for finding in note.findings}
    parties = sorted({finding.supplier for finding in note.findings if finding.supplier})
    counted = {mark: finding for mark, finding in by_id.items() if mark not in uncounted}
    claims: Counter[object] = Counter()
    dropped: list[Dropped] = []
    sections = []
    for section in note.sections:
        sentences = []
        for sentence in section.sentences:
            problem = check(sentence, by_id, parties) or _overused(sentence, counted, claims, max_claims)
            if problem is None:
                sentences.append(sentence)
            else:
                dropped.append(Dropped(sentence.text, problem))
        sections.append(replace(section, sentences=tuple(sentences)))
    return replace(note, sections=tuple(sections), dropped=(*note.dropped, *dropped)), tuple(dropped)


def _overused(sentence: Sentence, by_id: Mapping[str, Finding], claims: Counter[object], max_claims: int) -> str | None:
    if sentence.kind != "fact":
        return None
    text = _one_space(sentence.text)
    places = {
        (finding.document_sha256, finding.spans)
        for finding in (by_id[mark] for mark in sentence.finding_ids if mark in by_id)
        if _one_space(finding.quote)[:FULL_QUOTE] not in text
    }
    if any(claims[place] >= max_claims for place in places):
        return TOO_MANY_CLAIMS.format(count=max_claims)
    claims.update(places)
    return None


def _one_space(text: str) -> str:
    return " ".join(clean(text).split())


def _fold(text: str) -> str:
    return " ".join(_words(text))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unaccented(unicodedata.normalize("NFKD", text.casefold())))
