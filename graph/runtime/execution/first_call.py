"""How long it took from the start of this process to the first question that it really asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import psutil

from graph.runtime.fault_points import listening

ASKED = "tool."
"""Begins the boundaries that are passed when a tool is asked; what is reused from the ledger passes none."""


@contextmanager
def first_work(on_event: Callable[[Mapping[str, Any]], None] | None) -> Iterator[None]:
    """Emit {"event": "first_work", "seconds", "cpu_seconds", "tool"} when a tool is first asked within the block.

    Both count from the start of the process; cpu_seconds is what it computed itself, however busy the machine was.
    """
    with ExitStack() as stack:

        def listen(passed: str) -> None:
            if passed.startswith(ASKED) and passed.endswith(":before"):
                stack.close()
                seconds = time.time() - psutil.Process().create_time()
                if on_event is not None:
                    tool = passed.removeprefix(ASKED).removesuffix(":before")
                    computing = round(time.process_time(), 3)
                    on_event(
                        {"event": "first_work", "seconds": round(seconds, 3), "cpu_seconds": computing, "tool": tool}
                    )

        stack.enter_context(listening(listen))
        yield
