"""The wall clock, and one that a test moves by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class SystemClock:
    """Satisfies nodes.ports.Clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class ManualClock:
    """Stands still until it is moved."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        self._now += by
