"""Overrides: findings of an agreement that an amendment certainly or perhaps replaces."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nodes.domain.contracts.families.families import Families
from nodes.domain.contracts.families.members import Change, Member
from nodes.domain.evidence.findings import Finding

# Example: Article 4.2 – Price
_NUMBER = re.compile(
    r"""
    ^[ \t]*(?:(?:article|section|clause|§)[ \t]*)?(?P<n>\d{1,3}(?:\.\d{1,3})*(?:\ (?:bis|ter)\b)?)
    (?:er\b)?[.):]?(?:[ \t]*[–—-])?[ \t]+(?=[A-ZÀ-Ý“\"«(])
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
# Example: September
_MONTH = re.compile(
    r"""
    (?:january|february|march|april|may|june|july|august|september|october|november|december)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OF_ITSELF = re.compile(r"\bthis (?:amendment|addendum)\b|\bprésent (?:avenant|addendum)\b", re.IGNORECASE)

MOST_SKIPPED = 3
"""Articles that may be skipped between two numbers: headings are not always seen."""
SELF_MENTION_REACH = 60
"""Characters from a clause's start in which it mentions the amendment itself, if it does."""
NEW_TEXT_REACH = 600
"""Characters behind the sentence that replaces an article, in which the article's new text stands."""

Numbering = Sequence[tuple[int, str]]
"""(offset, number of the article or paragraph that begins there), in order."""


def numbering(text: str) -> Numbering:
    """Find where articles and numbered paragraphs begin; a number out of sequence is left out."""
    paragraphs: list[tuple[int, str]] = []
    top = 0
    for match in _NUMBER.finditer(text):
        number = match["n"]
        if not text[match.end()].isupper() and text[match.end()].isalpha():
            continue
        head = int(re.split(r"[. ]", number)[0])
        if _MONTH.match(text, match.end()) or not (head == 1 or top <= head <= top + MOST_SKIPPED):
            continue
        top = head
        paragraphs.append((match.start("n"), number))
    return paragraphs


def article_at(paragraphs: Numbering, offset: int) -> str:
    """Return the number of the paragraph that holds an offset; "" before the first."""
    index = bisect_right(paragraphs, offset, key=lambda paragraph: paragraph[0])
    return paragraphs[index - 1][1] if index else ""


def articles_of(paragraphs: Numbering, start: int, end: int) -> tuple[str, ...]:
    """Return the numbers of the paragraphs that a span reaches into; () before the first."""
    first = article_at(paragraphs, start)
    low = bisect_right(paragraphs, start, key=lambda paragraph: paragraph[0])
    return tuple(filter(None, (first, *(number for offset, number in paragraphs[low:] if offset < end))))


def find_overrides(
    findings: Sequence[Finding], families: Families, numbered: Mapping[str, Numbering]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (finding id, {by, unit, page, action, certain}) of each finding that is or may be overridden.

    `numbered` is the `numbering` of each agreement that has amendments.
    Certain only where the amendment names the article as a whole and is known to belong to the agreement, and where a
    newer agreement says that it comes in the place of an older one of its title.
    """
    by_document: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.spans and not finding.about:
            by_document[finding.document].append(finding)
    for main_agreement, amendments in families.amendments():
        paragraphs = numbered.get(main_agreement, ())
        placed = [
            (finding, articles_of(paragraphs, finding.spans[0][0], finding.spans[-1][1]))
            for finding in by_document[main_agreement]
        ]
        voided: set[str] = set()
        for member, certain in amendments:
            amendment_findings = by_document[member.row.document]
            for finding, articles in placed:
                override = _override_by(finding, articles, member, amendment_findings, certain)
                # A later amendment that touches an article changes what stands there now, not what was taken out.
                if override and (override["certain"] or finding.finding_id not in voided):
                    voided |= {finding.finding_id} if override["certain"] else set()
                    yield finding.finding_id, override
            # What an amendment put in place of an article is what the next one finds there.
            placed += _placed_findings(member, amendment_findings)
    for older, (newer, certain) in families.restated.items():
        for finding in by_document[older] if newer.named_at and newer.named_at.page else ():
            assert newer.named_at is not None and newer.named_at.page is not None
            yield finding.finding_id, _override(newer, newer.named_at.page, "replace", certain=certain)


def _override_by(
    finding: Finding, articles: Sequence[str], amendment: Member, amendment_findings: Sequence[Finding], certain: bool
) -> dict[str, Any] | None:
    """Return the override of a finding; certain only if all articles of its quote are replaced as a whole."""
    changes = [change for change in amendment.changes if change.action != "add"]
    entire = [_first_change(changes, article, "whole") for article in articles]
    if entire and all(entire):
        last = entire[-1]
        assert last is not None
        return _override(amendment, last.page, last.action, certain=certain)
    part = next((change for article in articles if (change := _first_change(changes, article, ""))), None)
    if part is not None:
        return _override(amendment, part.page, part.action, certain=False)
    same = next((clause for clause in amendment_findings if _restates_clause(clause, finding, amendment)), None)
    return _override(amendment, same.page, "change", certain=False) if same is not None and same.page else None


def _first_change(changes: Sequence[Change], article: str, reach: str) -> Change | None:
    """Return the first change about an article; only one about all of it when `reach` is whole."""
    for change in changes:
        extent = _extent(change, article)
        if extent and (not reach or (extent == reach and change.entire)):
            return change
    return None


def _extent(change: Change, article: str) -> str:
    """Return whole if the change covers this article, part if it is about a point within it, "" for neither."""
    for number in change.articles:
        base = number.partition("(")[0]
        if article == number or (article and article.startswith(number + ".")):
            return "whole"
        if article and (article == base or base.startswith(article + ".")):
            return "part"
    return ""


def _restates_clause(own: Finding, finding: Finding, amendment: Member) -> bool:
    """Tell whether a clause of the amendment restates the finding outside of its changes to named articles."""
    if (
        own.clause_type != finding.clause_type
        or _OF_ITSELF.search(own.quote[:SELF_MENTION_REACH])
        or finding.document == own.document
    ):
        return False
    change = _surrounding_change(own, amendment)
    return change is None or change.action == "add"


def _placed_findings(amendment: Member, amendment_findings: Sequence[Finding]) -> list[tuple[Finding, tuple[str, ...]]]:
    return [
        (finding, change.articles[:1])
        for finding in amendment_findings
        if (change := _surrounding_change(finding, amendment)) is not None
        and change.action in ("replace", "add")
        and change.articles
    ]


def _surrounding_change(finding: Finding, amendment: Member) -> Change | None:
    """Return the change in which a finding of an amendment stands: the last one that begins before its end."""
    before = [change for change in amendment.changes if change.start < finding.spans[-1][1]]
    last = max(before, key=lambda change: change.start, default=None)
    if last is None or finding.spans[0][0] - last.end > NEW_TEXT_REACH:
        return None
    # One that begins in that sentence and ends behind it is about something else too.
    return None if finding.spans[0][0] < last.end < finding.spans[-1][1] - 20 else last


def _override(amendment: Member, page: int, action: str, *, certain: bool) -> dict[str, Any]:
    return {
        "by": amendment.row.document,
        "unit": amendment.row.unit,
        "page": page,
        "action": action,
        "certain": certain,
    }


def override_reason(finding: Finding) -> str:
    """Return the reason why a finding no longer counts, or may not; "" for one without an override."""
    if not finding.overridden:
        return ""
    override = finding.overridden
    words = "overridden by" if override["certain"] else "may be overridden by"
    return f"{words} {override['by']}, {override.get('unit', 'page')} {override['page']}"


def is_void(finding: Finding) -> bool:
    """Tell whether an amendment certainly replaced the finding."""
    return bool(finding.overridden and finding.overridden["certain"])
