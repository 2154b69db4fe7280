"""Makes texts from a regular expression on which it is slow, if it can be slow at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

LENGTH = 4_000
"""Characters of a text: about the longest quote."""
MIN_REPEATS = 8
"""Possible repetitions from which a part of a pattern can be slow."""
MAX_TEXTS = 40
"""Most texts of one pattern."""
_END = "\x00!"


def slow_texts(pattern: str) -> list[str]:
    """Make a text for each repeated part of a pattern: its lead, the part many times, an end that does not match."""
    try:
        # The parser of `re` itself: what else would know what a pattern means?
        tree = re._parser.parse(pattern)  # type: ignore[attr-defined]
        repeats = list(_repeats(tree, ""))
    except (AttributeError, re.error, RecursionError, TypeError, ValueError):
        repeats = []
    plain = ["a" * LENGTH + _END, " " * LENGTH + _END, "a " * (LENGTH // 2) + _END]
    return [*plain, *dict.fromkeys(repeats)][:MAX_TEXTS]


def _repeats(items: Any, lead: str) -> Iterator[str]:
    for name, value in items:
        kind = str(name)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            lowest, highest, part = value
            body = _sample(part) or "a"
            if int(highest) >= MIN_REPEATS:
                yield lead + body * (LENGTH // len(body)) + _END
            yield from _repeats(part, lead)
            lead += body * int(lowest)
        elif kind == "SUBPATTERN":
            yield from _repeats(value[3], lead)
            lead += _sample(value[3])
        elif kind == "BRANCH":
            for part in value[1]:
                yield from _repeats(part, lead)
            lead += _sample(value[1][0])
        elif kind in ("ASSERT", "ASSERT_NOT"):
            yield from _repeats(value[1], lead)
        else:
            lead += _sample_of(kind, value)


def _sample(items: Any) -> str:
    """Make a text that the items of a parse tree roughly match."""
    text = ""
    for name, value in items:
        kind = str(name)
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            text += _sample(value[2]) * max(1, min(int(value[0]), 100))
        elif kind == "SUBPATTERN":
            text += _sample(value[3])
        elif kind == "BRANCH":
            text += _sample(value[1][0])
        else:
            text += _sample_of(kind, value)
    return text


def _sample_of(kind: str, value: Any) -> str:
    if kind == "LITERAL":
        return chr(value)
    if kind == "NOT_LITERAL":
        return "a" if value != ord("a") else "b"
    if kind == "ANY":
        return "a"
    if kind == "IN":
        return _sample_of_set(value)
    return ""


def _sample_of_set(members: Sequence[Any]) -> str:
    name, value = members[0]
    kind = str(name)
    if kind == "NEGATE":
        return "a"
    if kind == "LITERAL":
        return chr(value)
    if kind == "RANGE":
        return chr(value[0])
    return {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " ", "CATEGORY_NOT_WORD": "-"}.get(str(value), "a")
