"""The time from the start of this process to its first call of a tool."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import psutil

from graph.runtime.fault_points import listening

TOOL_POINTS = "tool."
"""Prefix of the fault points of tools; an answer that is reused from the journal passes none."""


@contextmanager
def first_work(on_event: Callable[[Mapping[str, Any]], None] | None) -> Iterator[None]:
    """Emit {"event": "first_work", "seconds", "cpu_seconds", "tool"} when a tool is first called within the block.

    Both count from the start of the process; cpu_seconds is what it computed itself, however busy the machine was.
    """
    with ExitStack() as stack:

        def listen(passed: str) -> None:
            if passed.startswith(TOOL_POINTS) and passed.endswith(":before"):
                stack.close()
                seconds = time.time() - psutil.Process().create_time()
                if on_event is not None:
                    tool = passed.removeprefix(TOOL_POINTS).removesuffix(":before")
                    computing = round(time.process_time(), 3)
                    on_event(
                        {"event": "first_work", "seconds": round(seconds, 3), "cpu_seconds": computing, "tool": tool}
                    )

        stack.enter_context(listening(listen))
        yield
