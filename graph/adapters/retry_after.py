"""Reads how long an HTTP endpoint asks to wait."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_WAIT_SENTENCE = re.compile(
    r"""
    (?:try\ again|retry)\ (?:in|after)
    (?P<time>(?:\ ?\d+(?:\.\d+)?\ ?(?:ms|h|m|s)[a-z]*)+)
    """,
    re.I | re.X,
)
"""Such as "Please try again in 1m20.5s"."""
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?) ?(ms|h|m|s)", re.I)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def retry_after(headers: Mapping[str, str], message: str = "") -> float | None:
    """Read the seconds to wait from a Retry-After header: milliseconds, seconds or a date; None without a usable one.

    Without a header, from a sentence like "Please try again in 1m20.5s".
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        raw = (headers.get(name) or "").strip()
        if re.fullmatch(r"\d+(?:\.\d+)?", raw):
            return float(raw) * unit
        if raw and unit == 1.0:
            try:
                return max(parsedate_to_datetime(raw).timestamp() - time.time(), 0.0)
            except (ValueError, TypeError, OverflowError):
                return None
    return _seconds_in(message)


def _seconds_in(message: str) -> float | None:
    match = _WAIT_SENTENCE.search(message)
    if match is None:
        return None
    return sum(float(number) * _SECONDS[unit.lower()] for number, unit in _DURATION_PART.findall(match["time"]))
