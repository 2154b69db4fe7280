"""An agreement that comes in the place of an older one as a whole: the older one's clauses no longer count."""

from __future__ import annotations

import pytest
from sample_families import MASTER, member_of

from nodes.domain.contracts.families.families import Families, families
from nodes.domain.contracts.families.overrides import find_overrides
from nodes.domain.evidence.findings import Candidate, Finding
from nodes.domain.evidence.locate_findings import locate_candidates
from nodes.domain.text.documents import DocumentText, Page, SourceDocument

NEWER = """Amended and Restated Master Services Agreement
This Amended and Restated Master Services Agreement is made on 9 May 2025 between Acme Ltd (the "Supplier") and
Meridian SA (the "Customer"). {words} the Master Services Agreement dated 1 March 2023.
1. Liability
1.1 The liability of the Supplier shall not exceed EUR 90,000.
"""
CAP = "2.1 The liability of the Supplier shall not exceed EUR 500,000."


def related(newer: str) -> Families:
    return families([member_of("old.pdf", MASTER), member_of("new.pdf", newer, ordinal=1)])


def cap() -> Finding:
    text = DocumentText("0" * 64, MASTER, (Page(1, "read", "", 0, len(MASTER), 595, 842),), "en")
    source = SourceDocument("old.pdf", f"{0:064x}", 1, 0, "old.pdf")
    (found,) = locate_candidates(
        text, source, [Candidate("cap_on_liability", CAP, 0.9, "test", MASTER.index(CAP))], "Acme Ltd"
    )
    return found


@pytest.mark.parametrize("words", ["It amends and restates in its entirety", "It supersedes and replaces"])
def test_a_restated_agreement_overrides_every_clause_of_the_one_that_it_names(words: str) -> None:
    known = related(NEWER.format(words=words))
    ((name, over),) = find_overrides([cap()], known, {})
    assert name == cap().finding_id
    assert over == {"by": "new.pdf", "unit": "page", "page": 1, "action": "replace", "certain": True}


def test_the_newer_agreement_is_no_part_of_the_older_one_and_may_lack_clauses_itself() -> None:
    known = related(NEWER.format(words="It amends and restates in its entirety"))
    assert (known.main_agreements, known.parts, known.findings) == ({}, frozenset(), ())


@pytest.mark.parametrize(
    ("words", "certain"),
    [("It is without prejudice to", None), ("Orders are placed under", None), ("It replaces", True)],
)
def test_only_what_says_that_it_replaces_an_agreement_does(words: str, certain: bool | None) -> None:
    found = dict(find_overrides([cap()], related(NEWER.format(words=words)), {}))
    assert [one["certain"] for one in found.values()] == ([] if certain is None else [certain])


def test_an_agreement_of_another_title_that_replaces_one_may_override_it() -> None:
    other = NEWER.replace("Amended and Restated Master Services Agreement", "Framework Contract")
    ((_, over),) = find_overrides([cap()], related(other.format(words="It replaces")), {})
    assert over["certain"] is False


def test_an_agreement_that_names_another_date_replaces_nothing_here() -> None:
    other = NEWER.format(words="It replaces").replace("1 March 2023", "7 July 2019")
    assert dict(find_overrides([cap()], related(other), {})) == {}


def test_a_side_letter_belongs_to_the_agreement_that_it_names() -> None:
    letter = "Side Letter\nRe: Master Services Agreement dated 1 March 2023\nClause 4.1 of the Agreement is deleted.\n"
    known = families([member_of("old.pdf", MASTER), member_of("letter.pdf", letter, ordinal=1)])
    assert known.main_agreements == {"letter.pdf": ("old.pdf", True)}
