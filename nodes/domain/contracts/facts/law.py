"""Governing law of a contract, and the court or arbitration that decides its disputes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from nodes.domain.contracts.contract_text import MARGIN, ContractText, spaced
from nodes.domain.contracts.facts.contract_wide import APART
from nodes.domain.contracts.facts.law_names import NAME, differs_from_law, law_of_contract, law_place, tidy
from nodes.domain.evidence.facts import Proposal
from nodes.domain.text.negation import mask_denials

CLAUSES_READ = 4
MOST_LAWS = 3
SEAT_REACH = 700
"""Characters behind an arbitration clause that are searched for a sentence which states the seat."""
CONTINUATION_REACH = 120
"""Characters behind a clause into which its sentence may continue."""

# Example: governed by the laws
_GOVERNS = re.compile(
    r"""
    \b(?:
      govern\w* | constru\w+ | interpret\w* | appl(?:y|ies|icable) | subject\ to | régie?s?
      | soumise?s? | applicable | regie?s? | laws? | droit | loi
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DOES = re.compile(r" (?:hereby |each |both )?(?:agrees?|consents?|waives?|submits?|shall|will)\b")
# Example: arbitration in Baltimore, Maryland
_ARBITRATION = re.compile(
    spaced(rf"""
    \b(?:arbitrat\w+|arbitrage|arbitral\w*)\b(?:
      [^.;]{{0,160}}?\b(?:in|at|à|place\ shall\ be|seat(?:ed)?\ (?:shall\ be\ |is\ )?(?:in\ )?)[ ]
      (?:the\ )?(?:city\ of\ )?(?P<place>{NAME})
    )?
    """),
    re.IGNORECASE | re.VERBOSE,
)
# Example: siège de l'arbitrage est Paris
_SEAT = re.compile(
    spaced(rf"""
    \b(?:
      (?:seat|place|venue|location)(?:,?\ or\ legal\ place,?)?\ of\ (?:the\ |any\ )?arbitration
      | arbitration\ (?:shall|will)\ (?:be\ (?:held|conducted|seated)|take\ place)
      | siège\ (?:de\ l['’]arbitrage|du\ tribunal\ arbitral) | lieu\ de\ l['’]arbitrage
    )\ ?(?:shall\ be|will\ be|is|est|sera|:|fixé)?\ (?:situé\ |fixé\ )?(?:in\ |at\ |à\ )?(?:the\ )?
    (?:city\ of\ )?(?P<place>{NAME})
    """),
    re.IGNORECASE | re.VERBOSE,
)
_NO_ARBITRATION = re.compile(r"\b(?:no|not|without) (?:[\w]+ ){0,4}arbitrat", re.IGNORECASE)
# Example: courts of Colorado
_COURTS = re.compile(
    spaced(rf"""
    \b(?P<court>
      (?:
        (?:
          state | federal | local | competent | ordinary | commercial | supreme | district | high
          | provincial | superior | civil
        )\ (?:and\ |or\ )?
      ){{0,4}}courts?(?:\ of\ (?:competent\ jurisdiction|law))?[ ]
      (?:(?:sitting|located|situated|residing|seated)\ )?(?:of|in|for|at)(?:\ and\ for)?\ (?:the\ )?
      (?:(?:state|commonwealth|county|city|borough|province|district|republic|canton)s?\ of\ )?
      (?P<place>{NAME})
    )
    """),
    re.IGNORECASE | re.VERBOSE,
)
# Example: Court of California
_NAMED_COURT = re.compile(
    spaced(rf"""
    \b(?P<court>(?-i:Court|Courts|High\ Court|District\ Court)\ of\ (?P<place>{NAME}))
    """),
    re.VERBOSE,
)
# Example: tribunal de commerce de Grenoble
_TRIBUNAL = re.compile(
    spaced(rf"""
    \b(?P<court>
      (?:tribuna(?:l|ux)|cour\ d'appel|juridictions?)(?:
        \ (?:
          de\ commerce | judiciaires? | administratifs? | compétente?s?
          | des\ activités\ économiques | de\ grande\ instance
        )
      )*(?:\ (?:du\ ressort\ )?(?:de\ la\ cour\ d'appel\ )?)(?:de\ |d'|du\ |des\ )(?:la\ |l')?
      (?P<place>{NAME})
    )
    """),
    re.IGNORECASE | re.VERBOSE,
)
# Example: exclusive jurisdiction
_JURISDICTION = re.compile(
    r"""
    \b(?:
      jurisdiction | venue | courts? | tribuna(?:l|ux) | compéten\w+ | ressort | juridictions?
      | dispute | litiges? | différends?
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def read_law(contract: ContractText) -> Iterator[Proposal]:
    """Yield governing_law and court (once; an arbitration says so in its detail).

    A contract has one law, and a second only where two of its sentences give different laws to the whole of it.
    """
    law_sentences = _law_sentences(contract)
    spans = [*list(contract.clauses("governing_law"))[:CLAUSES_READ], *law_sentences[:CLAUSES_READ]]
    law = next((fact for start, end in spans if (fact := _law_fact(contract, start, end))), None)
    if law:
        yield law
        yield from _other_laws(contract, law.value, law_sentences)
    court = next(
        (
            fact
            for start, end in [*spans, *_jurisdiction_sentences(contract, spans)]
            if (fact := _court_fact(contract, start, end))
        ),
        None,
    )
    if court:
        yield court


def _law_sentences(contract: ContractText) -> list[tuple[int, int]]:
    """Return the spans of sentences that say which law governs."""
    spans = []
    for sentence in contract.sentences:
        plain = contract.plain[sentence.start : sentence.end]
        if re.search(
            r"\b(?:governed|construed|régie?s?|soumise?s?)\b[^.;]{0,120}\b(?:laws?|droit|lois?)\b", plain, re.IGNORECASE
        ):
            spans.append((sentence.start, sentence.end))
    return spans


def _other_laws(contract: ContractText, first: str, law_sentences: list[tuple[int, int]]) -> Iterator[Proposal]:
    """Yield further laws that the whole contract is given, if the first one is given to the whole of it too."""
    contract_laws = [(law, *span) for span in law_sentences if (law := law_of_contract(contract.plain[slice(*span)]))]
    near = [start for law, start, _ in contract_laws if not differs_from_law(law, first)]
    laws = [first]
    for law, start, end in contract_laws:
        # Further apart they may stand in two agreements that are bound together.
        if len(laws) == MOST_LAWS:
            return
        if all(differs_from_law(law, earlier) for earlier in laws) and _is_near(near, start):
            laws.append(law)
            if fact := _law_fact(contract, start, end):
                yield fact


def _is_near(places: list[int], start: int) -> bool:
    index = bisect_left(places, start)
    return any(abs(start - at) <= APART for at in places[max(index - 1, 0) : index + 1])


def _law_fact(contract: ContractText, start: int, end: int) -> Proposal | None:
    plain = contract.plain[start:end]
    if not _GOVERNS.search(plain):
        return None
    # A reader that meets a page break may have parted the sentence. A law that is excluded does not govern.
    place = law_place(mask_denials(plain)) or law_place(mask_denials(contract.plain[start : end + CONTINUATION_REACH]))
    if place:
        name, low, high = place
        written = " ".join(contract.raw[start + low : start + high].split())
        quote = max(start, start + low - MARGIN), start + high
        begin = contract.plain.find(" ", quote[0]) + 1 if quote[0] > start else start
        return contract.fact("governing_law", name, begin, quote[1], {"place": name, "written": written}, exact=True)
    return None


def _jurisdiction_sentences(contract: ContractText, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return sentences about jurisdiction: those near the governing law first, then others."""
    near: list[tuple[int, int]] = []
    far: list[tuple[int, int]] = []
    for sentence in contract.sentences:
        plain = contract.plain[sentence.start : sentence.end]
        if not _JURISDICTION.search(plain):
            continue
        if any(-600 < sentence.start - end < 900 for _, end in spans):
            near.append((sentence.start, sentence.end))
        elif re.search(r"\b(?:exclusive|jurisdiction|venue|compéten\w+|arbitra\w+)\b", plain, re.IGNORECASE):
            far.append((sentence.start, sentence.end))
    return [*near[:6], *far[:6]]


def _court_fact(contract: ContractText, start: int, end: int) -> Proposal | None:
    plain = contract.plain[start:end]
    for pattern in (_TRIBUNAL, _NAMED_COURT, _COURTS):
        if match := pattern.search(plain):
            place_words = match["place"]
            # "… courts of Houston, Texas, and Acme agrees": who agrees is no place.
            if _DOES.match(plain, match.end()):
                place_words = re.sub(r",? and [^,]+$", "", place_words)
            place = tidy(place_words)
            if not place:
                continue
            value = " ".join(match["court"].split())
            value = value[: len(value) - len(" ".join(match["place"].split())) + len(place)]
            return contract.fact(
                "court", value, start + match.start(), start + match.end(), {"kind": "court", "place": place}
            )
    match = _ARBITRATION.search(plain)
    if match and not _NO_ARBITRATION.search(plain):
        place = tidy(match["place"] or "")
        seat = _SEAT.search(contract.plain, end, end + SEAT_REACH) if not place else None
        if seat:
            place = tidy(seat["place"])
            value, detail = f"arbitration in {place}", {"kind": "arbitration", "place": place}
            return contract.fact_of("court", value, [(start + match.start(), start + match.end()), seat.span()], detail)
        value = f"arbitration in {place}" if place else "arbitration"
        detail = {"kind": "arbitration", **({"place": place} if place else {})}
        return contract.fact("court", value, start + match.start(), start + match.end(), detail)
    return None
