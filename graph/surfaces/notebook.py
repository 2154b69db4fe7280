"""Progress of a run in a notebook: one display that is updated in place, and plain text at the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from html import escape
from types import TracebackType
from typing import Any, Self

from nodes.domain.shared.errors import MissingPart
from nodes.domain.shared.formats import duration, one_line

PAINT_SECONDS = 0.5
"""Seconds between two repaints at least: a notebook keeps up with no more."""


class Progress:
    """Shows the events of one drive: `with Progress() as progress: await reprise.start(…, on_event=progress)`.

    Raises MissingPart outside of IPython.
    """

    def __init__(self) -> None:
        try:
            from IPython.display import display
        except ImportError:
            raise MissingPart("This progress needs Jupyter: pip install ipykernel, or pass no on_event.") from None
        self._display: Any = display
        self._handle: Any = None
        self._name = ""
        self._line = "beginning"
        self._settled_before = self._total = self._failed = 0
        self._done: set[int] = set()
        self._began = self._painted = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self._handle = self._display(self._progress_bar(), display_id=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if error is not None and self._name:
            self._line = f'stopped; go on with: run = await reprise.resume("{self._name}")'
        self._handle.update(_PlainText(self.text()))

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Show one event; one of an unknown kind is ignored."""
        match event.get("event"):
            case "run":
                self._name = one_line(str(event["name"] or event["thread_id"]), 60)
                self._total, self._settled_before = int(event["total"]), int(event["done"])
            case "document":
                self._done.add(int(event["ordinal"]))
                # An attachment is a document that nobody counted when the run began.
                self._total = max(self._total, int(event["ordinal"]) + 1)
            case "batch":
                self._failed += int(event.get("failed") or 0)
            case "database":
                self._line = one_line(str(event["said"]), 200)
            case "step":
                self._line = one_line(str(event["headline"]), 200)
            case _:
                return
        self._paint_soon()

    def text(self) -> str:
        """How far the run is, on one line."""
        failed = f", {self._failed} failed" if self._failed else ""
        took = duration(time.monotonic() - self._began)
        return f"{self._name or 'run'}: {self._settled()} of {self._total} documents{failed} · {self._line} · {took}"

    def _settled(self) -> int:
        return min(self._settled_before + len(self._done), self._total)

    def _paint_soon(self) -> None:
        wait = self._painted + PAINT_SECONDS - time.monotonic()
        if wait <= 0:
            self._paint()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self._paint)

    def _paint(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._painted = None, time.monotonic()
        if self._handle is not None:
            self._handle.update(self._progress_bar())

    def _progress_bar(self) -> _ProgressBar:
        return _ProgressBar(self.text(), 100 * self._settled() / self._total if self._total else 0.0)


class _ProgressBar:
    """A progress bar in a notebook, a line of text elsewhere."""

    def __init__(self, text: str, percent: float) -> None:
        self._text, self._percent = text, percent

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return (
            "<div style='background:#ddd;width:20em;height:.5em'>"
            f"<div style='background:#3b6ea5;width:{self._percent:.0f}%;height:.5em'></div></div>{escape(self._text)}"
        )


class _PlainText:
    """The last state of the display: text alone, which a saved notebook keeps."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text
