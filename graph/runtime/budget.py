"""Money and time that a run may use: reserved before a call, settled after it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from nodes.domain.errors import LimitReached
from nodes.domain.run import Run
from nodes.ports import Clock


@dataclass
class _Account:
    began: datetime
    settled: Decimal
    reserved: Decimal = Decimal(0)


@dataclass
class Reservation:
    """The worst price of a call, held until it is known what each of its attempts cost."""

    account: _Account

    def settle(self, usd: Decimal) -> None:
        """Book what one attempt cost; the reservation itself ends with its block."""
        self.account.settled += usd


class Budget:
    """Spend of the runs that this process drives.

    A run has one driver, so what it spent is known here: read once from the ledger, kept by every settled call.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    @asynccontextmanager
    async def reserved(
        self, run: Run, worst: Decimal | None, spent: Callable[[str], Awaitable[Decimal]]
    ) -> AsyncIterator[Reservation]:
        """Hold the worst price of a call.

        `worst` None: the price is unknown and nothing can be held. Raises LimitReached when the call could pass
        the budget, or when the deadline is over.
        """
        account = self._accounts.get(run.run_id)
        if account is None:
            account = _Account(self._clock.now(), await spent(run.run_id))
            account = self._accounts.setdefault(run.run_id, account)
        self._check(run, account, worst)
        held = worst or Decimal(0)
        account.reserved += held
        try:
            yield Reservation(account)
        finally:
            account.reserved -= held

    def forget(self, run_id: str) -> None:
        """The next call reads the spend anew: a driver has taken the run, or left it."""
        self._accounts.pop(run_id, None)

    def _check(self, run: Run, account: _Account, worst: Decimal | None) -> None:
        deadline, budget = run.settings.deadline_seconds, run.settings.budget_usd
        if deadline is not None and self._clock.now() - account.began >= timedelta(seconds=deadline):
            raise LimitReached("deadline", "The deadline of this run is reached.")
        if budget is not None and worst and account.settled + account.reserved + worst > budget:
            raise LimitReached("budget", f"The budget of ${budget} is reached.")
