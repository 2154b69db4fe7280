"""Money and time that a run may use: reserved before a call, settled after it."""

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

LOOK_SECONDS = 0.5
"""How often a call that waits for room in the budget looks at the deadline."""


@dataclass
class _Account:
    began: datetime
    settled: Decimal
    reserved: Decimal = Decimal(0)
    settling: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever a reservation ends."""


@dataclass
class Reservation:
    """The worst price of a call, held until it is known what each of its attempts cost."""

    account: _Account
    held: Decimal
    budget: Decimal | None

    def settle(self, usd: Decimal) -> None:
        """Book what one attempt cost; the reservation itself ends with its block."""
        self.account.settled += usd

    def renew(self) -> None:
        """Before one more attempt: what the one before cost may have used up what was held for this one.

        Raises LimitReached.
        """
        if self.budget is not None and self.held and self.account.settled + self.account.reserved > self.budget:
            raise LimitReached("budget", f"The budget of ${self.budget} is reached.")


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
        """Hold the worst price of a call; waits while only what others hold is in the way.

        `worst` None: the price is unknown, so that no budget can be kept. Raises LimitReached when the call could pass
        the budget, or when the deadline is over.
        """
        account = self._accounts.get(run.run_id)
        if account is None:
            account = _Account(self._clock.now(), await spent(run.run_id))
            account = self._accounts.setdefault(run.run_id, account)
        held = worst or Decimal(0)
        while not self._fits(run, account, worst):
            account.settling.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await account.settling.wait()
        account.reserved += held
        try:
            yield Reservation(account, held, run.settings.budget_usd)
        finally:
            account.reserved -= held
            account.settling.set()

    def left(self, run: Run) -> float | None:
        """Seconds until the deadline of the run; None without one."""
        deadline, account = run.settings.deadline_seconds, self._accounts.get(run.run_id)
        if deadline is None:
            return None
        return deadline - (self._clock.now() - account.began).total_seconds() if account else deadline

    def _fits(self, run: Run, account: _Account, worst: Decimal | None) -> bool:
        """Whether a call may be made now; False while calls in flight hold what it would need. Raises LimitReached."""
        left, budget = self.left(run), run.settings.budget_usd
        if left is not None and left <= 0:
            raise LimitReached("deadline", "The deadline of this run is reached.")
        if budget is None or worst == 0:
            return True
        if worst is None:
            raise LimitReached(
                "budget",
                f"The budget of ${budget} cannot be kept: the price of a model is not known. Name another one.",
            )
        if account.settled + worst > budget:
            raise LimitReached("budget", f"The budget of ${budget} is reached.")
        return account.settled + account.reserved + worst <= budget
