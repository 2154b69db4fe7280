"""Risk of findings, documents and suppliers by the rules of a playbook: same input, same score, with its reasons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nodes.domain.contracts.families.families import ACROSS
from nodes.domain.contracts.families.members import supplier_key
from nodes.domain.contracts.families.overrides import is_void, override_reason
from nodes.domain.evidence.findings import RISKS, Finding, Risk
from nodes.domain.evidence.note_model import title_in
from nodes.domain.playbook.model import Clause, Playbook, Thresholds
from nodes.domain.playbook.prompt_injection import hostile_clause
from nodes.domain.playbook.searched_types import SearchScope
from nodes.domain.playbook.titles import shipped_title
from nodes.domain.runs.settings import DocumentResult
from nodes.domain.scoring.absence import (
    can_lack,
    counts_as_present,
    is_undecided_quote,
    present_types,
    refuted_absences,
    verdict_on,
)
from nodes.domain.scoring.contradictions import contradictions_of
from nodes.domain.scoring.points import points_of, reason_of
from nodes.domain.text.documents import UNTICKED
from nodes.domain.text.supplier_names import fullest

OTHERS_DIVISOR = 4
"""Beside the gravest factor, the sum of all others is divided by this."""
_LAST = 1 << 40


@dataclass(frozen=True, slots=True)
class Rating:
    """Risk rating of a document or a supplier."""

    risk: Risk
    score: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scored:
    """Scored findings and ratings of a run; equal for equal input in whatever order."""

    findings: tuple[Finding, ...]
    """By document, page, place and type, each with risk, score, reasons, needs_review and review_reason."""
    documents: Mapping[str, Rating]
    """By document, in the order of the run."""
    suppliers: Mapping[str, Rating]
    """By supplier; a document whose supplier could not be told stands under its own name."""


@dataclass(frozen=True, slots=True)
class _Factor:
    """One factor of a document's risk: a clause type that is present, or one that is missing."""

    clause_type: str
    score: int
    reason: str
    missing: bool = False


def score(
    findings: Sequence[Finding],
    documents: Sequence[DocumentResult],
    playbook: Playbook,
    search_scope: SearchScope | None = None,
    parts: Collection[str] = (),
) -> Scored:
    """Score all findings of a run, those of nodes.domain.scoring.absence included.

    A rejected finding counts for nothing. One that could not be located counts for its document only once it is
    accepted; until then its clause is held neither present nor missing. A document that failed misses nothing, and
    none of `parts`, which belong to another document. Raises PlaybookError for a pattern that takes too long.
    """
    sought = search_scope or SearchScope(playbook)
    order = {result.document: result.ordinal for result in documents}
    against = contradictions_of(findings)
    findings_with_contradictions = (
        finding.with_(contradicts=against.get(finding.finding_id, "")) for finding in findings
    )
    rated = sorted(
        (_rate(finding, playbook) for finding in findings_with_contradictions),
        key=lambda finding: _sort_key(finding, order),
    )
    by_document: dict[str, list[Finding]] = defaultdict(list)
    for finding in rated:
        by_document[finding.document].append(finding)
    results = sorted(documents, key=lambda result: result.ordinal)
    factors = {
        row.document: _factors_of(row, by_document[row.document], playbook, sought.types(row), parts) for row in results
    }
    ratings = {
        document: _rating(document_factors, playbook.thresholds) for document, document_factors in factors.items()
    }
    return Scored(tuple(rated), ratings, _suppliers(results, factors, by_document, playbook))


def _sort_key(finding: Finding, order: Mapping[str, int]) -> tuple[int, str, int, int, str, str]:
    offset = finding.spans[0][0] if finding.spans else _LAST
    page = finding.page if finding.page is not None else _LAST
    return order.get(finding.document, _LAST), finding.document, page, offset, finding.clause_type, finding.finding_id


def _rate(finding: Finding, playbook: Playbook) -> Finding:
    total, reasons = score_with_reasons(finding, playbook)
    risk = risk_of(total, playbook.thresholds)
    finding = replace(finding, reviewers_needed=_needed(risk, playbook))
    if verdict_on(finding) == "reject":
        return replace(
            finding, risk="low", score=0, reasons=(*reasons, "rejected by a reviewer: does not count"),
            needs_review=False, review_reason="",
        )  # fmt: skip
    reasons = (*reasons, *filter(None, (override_reason(finding),)))
    if is_void(finding):
        return replace(finding, risk="low", score=0, reasons=reasons, needs_review=False, review_reason="")
    why = _review_reason(finding, risk, playbook)
    return replace(finding, risk=risk, score=total, reasons=reasons, needs_review=bool(why), review_reason=why)


def unreviewed_risk(finding: Finding, playbook: Playbook) -> Risk:
    """Return the risk of a finding by its words alone, whatever anybody decided on it."""
    return risk_of(score_with_reasons(finding, playbook)[0], playbook.thresholds)


def reviewers_needed(finding: Finding, playbook: Playbook) -> int:
    """Return how many different people must decide alike on a finding."""
    return _needed(unreviewed_risk(finding, playbook), playbook) if playbook.review.four_eyes else 1


def _needed(risk: Risk, playbook: Playbook) -> int:
    return 2 if risk in playbook.review.four_eyes else 1


def score_with_reasons(finding: Finding, playbook: Playbook) -> tuple[int, tuple[str, ...]]:
    """Return score and chain of reasons of a finding, whatever anybody decided on it."""
    if finding.about:
        missing = playbook.clause(finding.about)
        points = missing.points_if_missing if missing else 0
        why = (reason_of(points, missing.missing_reason or "missing"),) if missing and points else ()
        return _clamped(points), (*why, *finding.reasons)
    clause = playbook.clause(finding.clause_type) or hostile_clause(finding.clause_type)
    points, reasons, _ = points_of(finding.quote, clause) if clause else (0, (), ())
    own_reasons = finding.reasons if finding.clause_type in ACROSS else tuple(filter(None, (finding.contradicts,)))
    return _clamped(points), (*reasons, *own_reasons)


def _clamped(points: int) -> int:
    return max(0, min(100, points))


def risk_of(points: int, thresholds: Thresholds) -> Risk:
    """Return the risk level of a score."""
    if points >= thresholds.critical:
        return "critical"
    if points >= thresholds.high:
        return "high"
    return "medium" if points >= thresholds.medium else "low"


def _review_reason(finding: Finding, risk: Risk, playbook: Playbook) -> str:
    """Explain why a person must look at an undecided finding; "" when nobody must."""
    if verdict_on(finding):
        return ""
    review, reasons = playbook.review, []
    if hostile := hostile_clause(finding.clause_type):
        reasons.append(hostile.reason)
    if finding.about:
        reasons += [f"not every {finding.unit} of the document was read"] if finding.confidence < 1 else []
        reasons += ["a clause is missing"] if finding.alignment in review.alignments else []
    elif finding.alignment in review.alignments:
        reasons.append(f"quote {finding.alignment.replace('_', ' ')} in the document")
    if finding.confidence < review.below_confidence and not finding.about:
        reasons.append(f"confidence {finding.confidence:.2f} is below {review.below_confidence:.2f}")
    if review.from_risk != "none" and RISKS.index(risk) >= RISKS.index(review.from_risk):
        reasons.append(f"risk is {risk}")
    if finding.disputed:
        reasons.append(f"the engines differ: {finding.disputed}")
    if UNTICKED in finding.quote:
        reasons.append("a box in it is not ticked")
    if clause := playbook.clause(finding.clause_type):
        reasons += points_of(finding.quote, clause)[2]
    if finding.contradicts:
        reasons.append(finding.contradicts)
    if finding.overridden:
        reasons.append(override_reason(finding))
    if finding.reviewers_needed > 1:
        reasons.append(f"{finding.reviewers_needed} reviewers must decide the same")
    return "; ".join(reasons)


def _factors_of(
    result: DocumentResult,
    findings: Sequence[Finding],
    playbook: Playbook,
    sought: Collection[str],
    parts: Collection[str],
) -> list[_Factor]:
    """List the gravest finding of each type, and the clauses that an agreement lacks."""
    best: dict[str, Finding] = {}
    for finding in findings:
        if counts_as_present(finding) and finding.score > best.get(finding.clause_type, finding.with_(score=-1)).score:
            best[finding.clause_type] = finding
    factors = [_Factor(name, finding.score, factor_reason(finding, playbook)) for name, finding in best.items()]
    if can_lack(result, present_types(findings, playbook), playbook, parts):
        undecided = {finding.clause_type for finding in findings if is_undecided_quote(finding)}
        factors += _missing_factors(set(best) | undecided | refuted_absences(findings), playbook, sought)
    return factors


def _missing_factors(present: set[str], playbook: Playbook, sought: Collection[str]) -> list[_Factor]:
    return [
        _Factor(
            clause.type,
            _clamped(clause.points_if_missing),
            _missing_text(clause),
            missing=True,
        )
        for clause in playbook.clauses
        if clause.type in sought and clause.type not in present and (clause.points_if_missing or clause.required)
    ]


def factor_reason(finding: Finding, playbook: Playbook) -> str:
    """Describe a finding as a reason of its supplier's rating, without the score in front."""
    if missing := playbook.clause(finding.about) if finding.about else None:
        return _missing_text(missing)
    clause = playbook.clause(finding.clause_type) or hostile_clause(finding.clause_type)
    title = _title(clause) if clause else shipped_title(finding.clause_type)
    page = f", {finding.unit} {finding.page}" if finding.page else ""
    return f"{title}{page}: {'; '.join(finding.reasons) or 'present'}"


def _missing_text(clause: Clause) -> str:
    return f"{_title(clause)}: {clause.missing_reason or 'missing'}"


def _title(clause: Clause) -> str:
    return title_in(clause.title, clause.type)


def _rating(factors: Iterable[_Factor], thresholds: Thresholds) -> Rating:
    """Rate by the gravest factor in full and a share of the others; reasons are sorted, gravest first."""
    ranked = sorted(factors, key=lambda factor: (-factor.score, factor.clause_type, factor.reason))
    if not ranked:
        return Rating("low", 0, ())
    total = _clamped(ranked[0].score + sum(factor.score for factor in ranked[1:]) // OTHERS_DIVISOR)
    reasons = tuple(f"{factor.score} {factor.reason}" for factor in ranked if factor.score or factor.missing)
    return Rating(risk_of(total, thresholds), total, reasons)


def _suppliers(
    results: Sequence[DocumentResult],
    factors: Mapping[str, list[_Factor]],
    findings: Mapping[str, list[Finding]],
    playbook: Playbook,
) -> dict[str, Rating]:
    """Rate suppliers over all their documents: a clause is missing only when none of them has it."""
    groups: dict[str, list[DocumentResult]] = defaultdict(list)
    for result in results:
        groups[supplier_key(result)].append(result)
    ratings = {}
    for group in groups.values():
        present = {factor.clause_type for result in group for factor in factors[result.document] if not factor.missing}
        for document_findings in (findings[result.document] for result in group):
            present |= {
                finding.clause_type for finding in document_findings if is_undecided_quote(finding)
            } | refuted_absences(document_findings)
        gravest: dict[str, _Factor] = {}
        for factor in (factor for result in group for factor in factors[result.document]):
            if factor.missing and factor.clause_type in present:
                continue
            if factor.clause_type not in gravest or factor.score > gravest[factor.clause_type].score:
                gravest[factor.clause_type] = factor
        name = fullest(row.supplier for row in group) or group[0].document
        ratings[name] = _rating(gravest.values(), playbook.thresholds)
    return ratings
