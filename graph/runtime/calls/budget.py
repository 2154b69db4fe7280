"""Money and time that a run may use: reserved before a call, recorded after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from nodes.domain.runs.settings import Run
from nodes.domain.shared.errors import LimitReached
from nodes.ports import Clock

CHECK_SECONDS = 0.5
"""How often a call that waits for room in the budget checks the deadline."""


@dataclass
class _Account:
    began: datetime
    spent_usd: Decimal
    reserved: Decimal = Decimal(0)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever a reservation ends."""


@dataclass
class Reservation:
    """The worst price of a call, reserved until the call has ended."""

    account: _Account
    amount: Decimal
    budget: Decimal | None

    def record(self, usd: Decimal) -> None:
        """Add the cost of one attempt to the spend; the reservation itself ends with its block."""
        self.account.spent_usd += usd

    def renew(self) -> None:
        """Check the budget before one more attempt: the cost of the one before may have used up the reservation.

        Raises LimitReached.
        """
        if self.budget is not None and self.amount and self.account.spent_usd + self.account.reserved > self.budget:
            raise LimitReached("budget", f"The budget of ${self.budget} is reached.")


class Budget:
    """Accounts of the runs that this process drives.

    A run has one driver, so its spend is known here: read once from the ledger, updated by every recorded call.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    @asynccontextmanager
    async def reserved(
        self, run: Run, worst: Decimal | None, spent: Callable[[str], Awaitable[Decimal]]
    ) -> AsyncIterator[Reservation]:
        """Reserve the worst price of a call; waits while only the reservations of others are in the way.

        `worst` None: the price is unknown, so that no budget can be kept. Raises LimitReached when the call could pass
        the budget, or when the deadline is over.
        """
        account = self._accounts.get(run.run_id)
        if account is None:
            account = _Account(self._clock.now(), await spent(run.run_id))
            account = self._accounts.setdefault(run.run_id, account)
        amount = worst or Decimal(0)
        while not self._fits(run, account, worst):
            account.released.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(CHECK_SECONDS):
                    await account.released.wait()
        account.reserved += amount
        try:
            yield Reservation(account, amount, run.settings.budget_usd)
        finally:
            account.reserved -= amount
            account.released.set()

    def seconds_left(self, run: Run) -> float | None:
        """Seconds until the deadline of the run; None without one."""
        deadline, account = run.settings.deadline_seconds, self._accounts.get(run.run_id)
        if deadline is None:
            return None
        return deadline - (self._clock.now() - account.began).total_seconds() if account else deadline

    def _fits(self, run: Run, account: _Account, worst: Decimal | None) -> bool:
        """Whether a call may be made now; False while reservations of others are in the way. Raises LimitReached."""
        seconds, budget = self.seconds_left(run), run.settings.budget_usd
        if seconds is not None and seconds <= 0:
            raise LimitReached("deadline", "The deadline of this run is reached.")
        if budget is None or worst == 0:
            return True
        if worst is None:
            raise LimitReached(
                "budget",
                f"The budget of ${budget} cannot be kept: the price of a model is not known. Name another one.",
            )
        if account.spent_usd + worst > budget:
            raise LimitReached("budget", f"The budget of ${budget} is reached.")
        return account.spent_usd + account.reserved + worst <= budget
