"""Matches a string within another: nearest exact place, whole words and numbers, similarity along its length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from rapidfuzz.distance import Indel, Opcode

from nodes.domain.text.normalise import Span
from nodes.domain.text.quantities import splits_number

MIN_SIMILARITY = 0.9
"""Least similarity of a quote with a slip of the pen or of OCR."""
MIN_FUZZY_CHARS = 30
"""Shorter quotes are found letter by letter or not at all."""
MAX_FUZZY_CHARS = 20_000
WINDOW, WINDOW_COVERAGE = 32, 0.6
"""Length of a window of the quote, and the share of it that must be covered: no invented part may hide."""
EDGE, EDGE_COVERAGE = 16, 0.7
SEEDS, SEED_CHARS, SEED_HITS = 24, 10, 64
NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "mis", "dé", "in-", "un-", "non-")
_NEGATIVE_PREFIX = re.compile(rf"\b(?:n|{'|'.join(NEGATIVE_PREFIXES)})$", re.IGNORECASE)
"""With "n", since "either party" is no part of "neither party"."""
# Example: non-
_HYPHENED_PREFIX = re.compile(
    rf"""
    \b(?:
      {"|".join(prefix for prefix in NEGATIVE_PREFIXES if prefix[-1] != "-")}
    )[-\u00ad\u2010\u2011\ufffe]{{1,2}}\s?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NEGATIVE_END = re.compile(r"(?:not|n['’]t|less)\b|['’]t\b", re.IGNORECASE)


def nearest(hay: str, needle: str, start: int, hint: int | None, raw: Callable[[int], Span], text: str) -> Span | None:
    """Find the place of `needle` nearest to `hint`, else the first, between whole words if there is one.

    Never a place that cuts off part of a number or a negating prefix.
    """
    for accepts in (_on_word_boundaries, cuts_nothing):
        places = [
            at
            for at in (_forward(hay, needle, max(start, hint or 0), raw, text, accepts),
                       _backward(hay, needle, start, hint, raw, text, accepts))
            if at is not None
        ]  # fmt: skip
        if places:
            return raw(min(places, key=lambda at: (abs(at - (hint or 0)), at)))
    return None


def _forward(
    hay: str, needle: str, at: int, raw: Callable[[int], Span], text: str, accepts: Callable[[str, Span], bool]
) -> int | None:
    at = hay.find(needle, at)
    while at >= 0 and not accepts(text, raw(at)):
        at = hay.find(needle, at + 1)
    return at if at >= 0 else None


def _backward(
    hay: str, needle: str, start: int, hint: int | None, raw: Callable[[int], Span], text: str,
    accepts: Callable[[str, Span], bool],
) -> int | None:  # fmt: skip
    if not hint or hint <= start:
        return None
    at = hay.rfind(needle, start, hint + len(needle) - 1)
    while at >= 0 and not accepts(text, raw(at)):
        at = hay.rfind(needle, start, at + len(needle) - 1)
    return at if at >= 0 else None


def _cuts_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _cuts_number(text: str, at: int) -> bool:
    """Does a cut before `at` split a number? Thousands may be grouped by a space, a point or a comma."""
    if not 0 < at < len(text):
        return False
    before, after = text[max(0, at - 2) : at], text[at : at + 2]
    if before[-1].isdigit() and after[0].isdigit():
        return True
    if before[-1] in ".," and after[0].isdigit():
        return before[0].isdigit()
    if after[0] in ".," and before[-1].isdigit():
        return after[1:].isdigit()
    group = re.compile(r"\d{3}(?!\d)")
    if before[-1] in " \u00a0\u202f" and before[0].isdigit():
        return group.match(text, at) is not None
    return after[0] in " \u00a0\u202f" and before[-1].isdigit() and group.match(text, at + 1) is not None


def _on_word_boundaries(text: str, span: Span) -> bool:
    return not (_cuts_word(text, span[0]) or _cuts_word(text, span[1])) and cuts_nothing(text, span)


def cuts_nothing(text: str, span: Span) -> bool:
    """Does the span begin and end without cutting a number, a word behind its negating prefix, or before its "not"?"""
    start, end = span
    if _cuts_number(text, start) or _cuts_number(text, end):
        return False
    if splits_number(text, start, behind=True) or splits_number(text, end, behind=False):
        return False
    if _cuts_word(text, start) and _NEGATIVE_PREFIX.search(text, max(0, start - 5), start):
        return False
    if _HYPHENED_PREFIX.search(text, max(0, start - 7), start):
        return False
    return not (text[end - 1 : end].isalpha() and _NEGATIVE_END.match(text, end))


def diagonals(needle: str, hay: str, start: int, hint: int | None) -> list[int]:
    """Estimate where the quote begins in the source, likeliest first, by the votes of samples of it."""
    step = max(1, (len(needle) - SEED_CHARS) // (SEEDS - 1))
    votes: Counter[int] = Counter()
    for offset in range(0, len(needle) - SEED_CHARS + 1, step):
        seed = needle[offset : offset + SEED_CHARS]
        at, hits = hay.find(seed, start), 0
        while at >= 0 and hits < SEED_HITS:
            votes[(at - offset) // WINDOW] += 1
            at, hits = hay.find(seed, at + 1), hits + 1
    merged = {bin_: count + votes.get(bin_ + 1, 0) for bin_, count in votes.items()}
    near = (hint or 0) // WINDOW
    best = sorted(merged, key=lambda bin_: (-merged[bin_], abs(bin_ - near)))
    return [max(start, bin_ * WINDOW) for bin_ in best[:4]]


def align(needle: str, hay: str, diagonal: int) -> tuple[int, int, float] | None:
    """Align the quote around a diagonal: (begin, end, similarity); None when any part of it is too unlike."""
    pad = WINDOW + len(needle) // 10
    low = max(0, diagonal - pad)
    window = hay[low : diagonal + len(needle) + pad + WINDOW]
    blocks = [op for op in Indel.opcodes(needle, window) if op.tag == "equal" and op.src_end - op.src_start >= 3]
    if not blocks:
        return None
    covered = bytearray(len(needle))
    for op in blocks:
        covered[op.src_start : op.src_end] = b"\x01" * (op.src_end - op.src_start)
    edges = (covered[:EDGE], covered[-EDGE:])
    if any(sum(edge) < EDGE_COVERAGE * EDGE for edge in edges):
        return None
    for at in range(0, max(1, len(needle) - WINDOW + 1), WINDOW // 4):
        if sum(covered[at : at + WINDOW]) < WINDOW_COVERAGE * min(WINDOW, len(needle)):
            return None
    blocks = _without_stray(blocks)
    begin, end = _extended(needle, hay, blocks[0], blocks[-1], low)
    similarity = Indel.normalized_similarity(needle, hay[begin:end])
    return (begin, end, round(similarity, 4)) if similarity >= MIN_SIMILARITY else None


def _without_stray(blocks: list[Opcode]) -> list[Opcode]:
    """Drop short stray matches before or behind the place, far from the rest."""
    while len(blocks) > 1 and _is_stray(blocks[0], blocks[1]):
        blocks = blocks[1:]
    while len(blocks) > 1 and _is_stray(blocks[-1], blocks[-2]):
        blocks = blocks[:-1]
    return blocks


def _is_stray(outer: Opcode, inner: Opcode) -> bool:
    first, second = sorted((outer, inner), key=lambda op: op.dest_start)
    skipped = (second.dest_start - first.dest_end) - (second.src_start - first.src_end)
    return outer.src_end - outer.src_start < EDGE and skipped > EDGE // 2


def _extended(needle: str, hay: str, first: Opcode, last: Opcode, low: int) -> tuple[int, int]:
    """Extend a place from its first and last match to the ends of the quote that stand right beside them."""
    begin, end = low + first.dest_start, low + last.dest_end
    head, tail = needle[: first.src_start], needle[last.src_end :]
    if head and hay[max(0, begin - len(head)) : begin] == head:
        begin -= len(head)
    if tail and hay.startswith(tail, end):
        end += len(tail)
    return begin, end
