"""Stopping work: tasks that are cancelled until they have ended, and the drain that allows no new call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

RETRY_SECONDS = 0.5
"""How long a cancelled task may go on before it is cancelled anew."""

drain_check: ContextVar[Callable[[], bool] | None] = ContextVar("drain_check", default=None)
"""Asks the pool of the document that the current task works on whether it drains; None outside of any pool."""


def draining() -> bool:
    """Whether the current task may begin no new call, since the pool of its document drains."""
    check = drain_check.get()
    return check is not None and check()


async def ended(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks until they have ended; what they raise stays in them.

    A cancellation can be lost: `asyncio.wait_for` of Python 3.11, which connection pools use, drops one that comes in
    the moment in which it has its result. So it is repeated until it is obeyed.
    """
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=RETRY_SECONDS)
