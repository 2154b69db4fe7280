"""Clauses of one document that cannot both hold: two governing laws, two caps, a cap and unlimited liability.

Compared are only sentences that say this of the whole contract and nothing else: where a condition, an exception, an
annex, one kind of claim or another party comes in, both may hold, and nothing is said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from nodes.domain.contracts.facts.contract_wide import APART, split_sentences, without_label
from nodes.domain.contracts.facts.law_names import differs_from_law, law_of_contract
from nodes.domain.contracts.families.overrides import is_void
from nodes.domain.evidence.findings import Finding
from nodes.domain.scoring.absence import verdict_on
from nodes.domain.text.quantities import PLAIN, Quantity, plain_number, quantities

LAW, CAPS = "governing_law", ("cap_on_liability", "uncapped_liability")
UNLIMITED, FEES = "unlimited", "fees"
MOST_CONTRADICTIONS = 3
"""Contradictions that are reported of one finding."""

_AMOUNT = "<amount>"
# Parts of verbose patterns: spaces are escaped.
_SCOPE = r"""(?:
    ,?\ (?:
        under | arising | out | of | from | in | connection | with | relating | related | or | and | to | by | this
        | the | present | agreement | contract | whether | tort | \(including\ negligence\)
        | breach\ of\ statutory\ duty | otherwise | howsoever | caused | aggregate
        | to\ the\ (?: customer | client | supplier | provider )
        | au | titre | du | dans | le | cadre | contrat | present | de | la | l'execution | convention
        | envers\ le\ client
    )
)*"""
"""Words behind "liability" that leave the whole contract in scope: "arising out of or in connection with"."""
_PER = r"""(?:
    ,?\ (?P<per>
        (?: in | per | for | par )\ (?: any\  | each\  | every\  | chaque\  )? (?: contract\  | calendar\  )?
        (?: year | claim | event | occurrence | incident | an | annee | sinistre | evenement )\b
    )
)?
(?: ,?\ in\ (?: the\  )?aggregate )? \.?$"""
"""Behind an amount: "in any contract year", "per claim, in the aggregate"."""
_TOTAL = r"(?P<total>(?: (?: total | maximum | aggregate | entire | overall | cumulative | and )\  )*)"
_PARTY = r"(?: the\  )?(?P<who>[a-z][\w&-]*(?: \ [\w&-]+ ){0,2}?)"
_EN = rf"""(?:
    {_PARTY}(?: 's | s' )\ {_TOTAL}liability
    | (?: the\  )?{_TOTAL.replace("total>", "total2>")}liability\ of\ {_PARTY.replace("who>", "who2>")}
){_SCOPE},?"""
"""The supplier's total liability under this agreement; the aggregate liability of the supplier."""
_FR = rf"""la\ responsabilite\ (?P<total>(?: (?: totale | globale | maximale | cumulee | et )\  )*)
    (?: du\  | de\ la\  | de\ l' | de\  )(?P<who>[a-z][\w&-]*(?: \ [\w&-]+ ){{0,2}}?){_SCOPE},?"""
"""La responsabilite totale du prestataire au titre du contrat."""
_CAP = (
    # "the supplier's total liability under this agreement shall not exceed <amount> in any contract year"
    re.compile(
        rf"""^{_EN}
        \ (?: shall | will | may | must | can | is | be | are )(?: \ be )?
        (?: \ in\ no\ event | \ under\ no\ circumstances )?
        \ (?:
            not\ (?: exceed | be\ (?: more | greater )\ than )
            | (?: be\  )?limited\ to | (?: be\  )?capped\ at | exceed
        )
        (?: \ (?: a | the )\ (?: total | maximum | aggregate | sum | amount )(?: \ amount | \ sum )?(?: \ of )? )?
        \ {_AMOUNT}{_PER}""",
        re.VERBOSE,
    ),
    # "la responsabilite du prestataire ne pourra exceder la somme de <amount> par an"
    re.compile(
        rf"""^{_FR}
        \ (?:
            (?: ne\ (?: peut | pourra | saurait | doit ) | ne )(?: \ en\ aucun\ cas | \ pas )?
            \ (?: exceder | depasser | etre\ superieure\ a )
            | n'excede(?: ra )?(?: \ pas )?
            | ne\ depasse(?: ra )?(?: \ pas )?
            | (?: est | sera )\ (?: limitee | plafonnee )\ a
        )
        (?: \ (?: la\ somme | un\ montant | un\ total )(?: \ maximale? | \ totale? )?(?: \ de | \ d' )? )?
        \ {_AMOUNT}{_PER}""",
        re.VERBOSE,
    ),
)
_COUNT = r"""(?:
    one | two | three | six | nine | twelve | eighteen | twenty-four | trois | douze | vingt-quatre
    | \d{1,2} | \(\d{1,2}\)
)"""
# "100 % of the fees paid by the customer in the twelve (12) months preceding the claim"
_FEES = re.compile(
    rf"""
    (?:
        (?: an | the )\ (?: amount | sum )\ (?: equal | equivalent )\ to[ ]
        | (?: un | le )\ montant\ (?: egal\ a\  | equivalent\ a\  | total\  )?
    )?
    (?:
        (?: \d{{1,3}}\ ?% | \b[a-z]{{1,12}}(?: [ -][a-z]{{1,12}} ){{0,3}}\ per\ ?cent )(?: \ ?\(\d{{1,3}}\ ?%\) )?
        \ (?: of\  | d[ue]s?\  )
    )?
    (?: (?: the | all | total | aggregate | annual | net | d[eu]s? | les? | la | totales? | annuelles? )\  )*
    (?: \b(?: subscription | service | licen[cs]e | annual )\  )?
    \b(?: fees | charges | amounts | sums | payments | redevances | sommes | honoraires | prix )\b
    (?:
        [ ,]+
        (?:
            actually | effectivement | paid | payable | received | invoiced | due | payee?s? | versee?s? | dues?
            | facturee?s? | percue?s? | or | and | ou | et
            | (?: by | to )\ (?: the\  )?[a-z][\w-]{{0,40}} | par\ l(?: [ea]\  | ' )[a-z][\w-]{{0,40}}
            | under | hereunder | pursuant\ to | au\ titre\ du | this | present | agreement | contract | contrat
            | in | during | for | over | within | au\ cours\ des? | pendant | the | les | l' | immediately | preceding
            | prior\ to | before | previous | last | derniers | precedant | precedents? | month | months | year | years
            | mois | ans? | annee | period | date\ of | event | claim | cause\ of\ action | fait\ generateur
            | giving\ rise\ to | such | liability | it | sinistre | reclamation
            | {_COUNT}
        )
    )*
    \.?$""",
    re.VERBOSE,
)
"""Fees, and nothing behind them but who pays them and in what time: a measure of the whole contract."""
_UNLIMITED = (
    # "notwithstanding the foregoing, the supplier's liability shall be unlimited"
    re.compile(
        rf"""^(?: notwithstanding\ (?: the\ above | the\ foregoing ),?\  )?{_EN}
        \ (?: is | are | shall\ be | will\ be | remains? )
        \ (?: unlimited | uncapped | without\ limit | not\ (?: limited | capped )(?: \ in\ any\ way )? )\.?$""",
        re.VERBOSE,
    ),
    # "la responsabilite du prestataire est illimitee"
    re.compile(
        rf"""^(?: nonobstant\ ce\ qui\ precede,?\  )?{_FR}
        \ (?:
            (?: est | sera | demeure )\ (?: illimitee | sans\ limite | non\ plafonnee )
            | n'est\ (?: pas\  | en\ rien\  | nullement\  )(?: limitee | plafonnee )
        )\.?$""",
        re.VERBOSE,
    ),
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement of one sentence about the whole contract: its law, or the limit of liability."""

    finding: Finding
    about: tuple[str, ...]
    """The subject; only statements on the same subject are compared."""
    value: str
    """As shown to people: Ireland, EUR 100,000, unlimited."""


def contradictions_of(findings: Sequence[Finding]) -> Mapping[str, str]:
    """Map each contradicted finding to its reason: "contradicts page 3: EUR 100,000 against EUR 1,000,000".

    Findings that were rejected, not located or certainly replaced contradict nothing. The order changes nothing.
    """
    by_document: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        is_comparable = finding.spans and not is_void(finding) and verdict_on(finding) != "reject"
        if is_comparable and finding.clause_type in (LAW, *CAPS):
            by_document[finding.document].append(finding)
    messages: dict[str, list[str]] = defaultdict(list)
    for document_findings in by_document.values():
        document_findings.sort(key=lambda finding: (finding.spans, finding.clause_type, finding.finding_id))
        for first, second in combinations(
            [statement for finding in document_findings for statement in _statements(finding)], 2
        ):
            near = second.finding.spans[0][0] - first.finding.spans[-1][1] <= APART
            if near and first.about == second.about and _differ(first, second):
                messages[first.finding.finding_id].append(_contradiction_text(first, second))
                if first.finding.finding_id != second.finding.finding_id:
                    messages[second.finding.finding_id].append(_contradiction_text(second, first))
    return {name: "; ".join(list(dict.fromkeys(texts))[:MOST_CONTRADICTIONS]) for name, texts in messages.items()}


def _contradiction_text(statement: _Statement, opponent: _Statement) -> str:
    page = f"{opponent.finding.unit} {opponent.finding.page}"
    place = "itself" if statement.finding.finding_id == opponent.finding.finding_id else page
    return f"contradicts {place}: {statement.value} against {opponent.value}"


def _differ(first: _Statement, second: _Statement) -> bool:
    if first.value == second.value:
        return False
    if first.about == (LAW,):
        return differs_from_law(first.value, second.value)
    if first.about[-1] == FEES:
        # Two sums are compared where their currency is one.
        return FEES in first.value or FEES in second.value
    return len(first.about) > 2 or UNLIMITED in (first.value, second.value)


def _statements(finding: Finding) -> Iterator[_Statement]:
    for sentence in split_sentences(finding.quote):
        written = " ".join(sentence.translate(PLAIN).split())
        if finding.clause_type == LAW:
            if law := law_of_contract(written):
                yield _Statement(finding, (LAW,), law)
        else:
            yield from _liability(finding, written)


def _liability(finding: Finding, sentence: str) -> Iterator[_Statement]:
    """Yield statements on liability: caps are compared by the same measure (per claim, a year), unlimited with any."""
    amounts = [quantity for quantity in quantities(sentence) if quantity.kind == "amount"]
    if len({(quantity.value, quantity.unit) for quantity in amounts}) == 1:
        first, last = amounts[0], amounts[-1]
        behind = re.sub(r"^[ )]+(?=\w)", " ", sentence[last.end :]).lstrip(")")
        masked = f"{sentence[: first.start].rstrip()} {_AMOUNT}{behind}"
        if scope := _match_liability(_CAP, masked):
            value = f"{first.unit} {first.value:,f}".replace(".00", "")
            yield _Statement(finding, ("cap", *scope, first.unit), value)
            yield _Statement(finding, ("cap", scope[0]), value)
            yield _Statement(finding, ("cap", *scope, FEES), value)
    elif not amounts and (scope := _match_liability(_UNLIMITED, sentence)):
        yield _Statement(finding, ("cap", scope[0]), UNLIMITED)
    elif not amounts and (fees := _fees_as_amount(sentence)) and (scope := _match_liability(_CAP, fees[0])):
        yield _Statement(finding, ("cap", *scope, FEES), fees[1])
        yield _Statement(finding, ("cap", scope[0]), fees[1])


def _fees_as_amount(sentence: str) -> tuple[str, str] | None:
    """Replace a measure in fees by the placeholder of an amount; returns sentence and label: fees of 12 months."""
    plain = without_label(sentence)
    match = _FEES.search(plain)
    if match is None:
        return None
    counted = quantities(match.group())
    times = {_months(quantity) for quantity in counted if quantity.kind == "duration"}
    shares = {plain_number(quantity.value) for quantity in counted if quantity.kind == "percentage"}
    if len(times) > 1 or len(shares) > 1:
        return None
    value = f"{FEES} of {times.pop()} months" if times else FEES
    return f"{plain[: match.start()]}{_AMOUNT}.", f"{shares.pop()} % of the {value}" if shares else value


def _months(period: Quantity) -> str:
    return plain_number(period.value * (12 if period.unit == "year" else 1))


def _match_liability(patterns: Sequence[re.Pattern[str]], sentence: str) -> tuple[str, str, str] | None:
    """Match a sentence that says nothing else; returns (party, "total" or "", per claim or year or "")."""
    plain = without_label(sentence)
    for pattern in patterns:
        if match := pattern.match(plain):
            groups = match.groupdict()
            total = "total" if groups["total"] or groups.get("total2") else ""
            return groups["who"] or groups["who2"], total, groups.get("per") or ""
    return None
