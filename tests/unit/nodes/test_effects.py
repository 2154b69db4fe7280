"""An effect that is confirmed is looked for at its target each time, also where the ledger says that it was done."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from graph.runtime.memory.ledger import MemoryLedger
from nodes.domain.runs.settings import Run, Settings
from nodes.ports import Services
from nodes.steps.effects import perform_once

RUN = Run("r", "t", "", "m", "", "p", "", "local", 1, Settings())


async def test_a_note_that_somebody_removed_is_put_back_and_one_that_stands_is_left_alone() -> None:
    services = cast(Services, SimpleNamespace(ledger=MemoryLedger()))
    await services.ledger.open_run(RUN, [])
    folder: dict[str, Any] = {}
    written: list[str] = []

    async def put() -> Mapping[str, Any]:
        written.append("note")
        folder["note"] = {"uri": "file:note"}
        return cast(Mapping[str, Any], folder["note"])

    async def stands() -> Mapping[str, Any] | None:
        return folder.get("note")

    for _ in range(2):
        await perform_once(services, RUN, "release", "k", {}, put, stands)
    assert len(written) == 1
    folder.clear()
    await perform_once(services, RUN, "release", "k", {}, put, stands)
    assert len(written) == 2 and folder
