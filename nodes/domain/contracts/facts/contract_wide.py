"""Sentences that are about a contract as a whole, so that two of them can be compared."""

from __future__ import annotations

import re

from nodes.domain.text.normalise import simplify

APART = 30_000
"""Characters, some ten pages: sentences further apart may belong to two agreements bound together."""

# A quote may hold the heading of the next article, and its first paragraph.
# Example: is due. The Customer
_SENTENCE_END = re.compile(
    r"""
    (?<=[.;])\s+(?=[\"“«(]?[A-ZÀ-Ý\d])
    | (?<!\s)\s*\n\s*(?=(?i:(?:article|section|clause)\ )?\d+(?:\.\d+)+[.)]?\s+[\"“«(]?[A-ZÀ-Ý])
    """,
    re.VERBOSE,
)
# Example: article 12.1 –
_LABEL = re.compile(
    r"""
    ^(?:(?:article|section|clause)\ )?(?:\d+(?:\.\d+)*[.)]?|\([a-z\d]+\)|[a-z][.)])\s+[-–—]?\s*
    """,
    re.VERBOSE,
)
# Example: the validity and performance of this agreement
_THIS_CONTRACT = re.compile(
    r"""
    (?:(?:the\ )?(?:[a-z]+(?:,\ and\ |,\ |\ and\ )){0,4}[a-z]+\ of\ )?
    (?:this|the\ present|le\ present|la\ presente|ce)\ (?:\w+\ ){0,3}?
    (?:agreement|contract|contrat|convention|accord)\b
    """,
    re.VERBOSE,
)
# Example: except as provided in a schedule
_PART = re.compile(
    r"""
    \b(?:
      if | where | when | unless | except\w* | notwithstanding | provided | extent | however
      | respectively | depending | annex\w* | schedules? | exhibits? | appendi\w+ | orders?
      | statements?\ of\ work | addend\w+ | guarant\w+ | customers?\ (?:in|located|based) | located
      | resident | intellectual | property | patents? | federal | mandatory | arbitrat\w+ | matters?
      | other\ than | but | si | lorsque | sauf | hormis | excepte | toutefois | selon | annexes?
      | bons?\ de\ commande | pour\ les | en\ ce\ qui\ concerne | arbitra\w+
    )\b
    """,
    re.VERBOSE,
)
"""Words with which a sentence may be about a part of the contract or hold under a condition."""


def split_sentences(quote: str) -> list[str]:
    """Split a quote into sentences; one that stands below a heading is separated from it."""
    return _SENTENCE_END.split(quote)


def without_label(sentence: str) -> str:
    """Simplify a sentence and drop the number in front of it."""
    return _LABEL.sub("", simplify(sentence))


def about_whole_contract(sentence: str) -> str:
    """Simplify a sentence about this contract as a whole; "" if it has a condition or is about a part."""
    plain = without_label(sentence)
    return plain if _THIS_CONTRACT.match(plain) and not _PART.search(plain) else ""
