"""How long an HTTP endpoint asks to be left alone."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait from a Retry-After header: milliseconds, seconds or a date; None without a usable one."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        raw = (headers.get(name) or "").strip()
        if re.fullmatch(r"\d+(?:\.\d+)?", raw):
            return float(raw) * unit
        if raw and unit == 1.0:
            try:
                return max(parsedate_to_datetime(raw).timestamp() - time.time(), 0.0)
            except (ValueError, TypeError, OverflowError):
                return None
    return None
