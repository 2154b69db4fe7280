"""The fake beside Children: runs a function in a thread of this process, without limits, and counts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from graph.adapters.children import ChildTimeout


class InlineChildren:
    """What Children offers, for tests and for documents that can be trusted."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any:
        self.calls.append(function.__qualname__)
        plain = json.loads(json.dumps(args))
        try:
            async with asyncio.timeout(timeout):
                return await asyncio.to_thread(function, *plain)
        except TimeoutError:
            raise ChildTimeout(f"no answer within {timeout:g} s") from None

    async def aclose(self) -> None:
        """Nothing is left to end."""
