"""Playbooks in a run: a clause type of a user's own, and playbooks that do not fit the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from risky_contracts import risky
from sample_playbooks import YAML

from graph import Reprise, build_graph, memory_services
from nodes.domain.shared.errors import NotForkable, UnknownThread


async def test_a_user_adds_a_clause_type_without_code(reprise: Reprise, tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "lease.txt").write_text(
        "This Lease is made between Alpha Ltd and Beta Ltd and says what follows below.\n\n"
        "1. The tenant agrees that no animals of any kind may be kept in the premises.\n\n"
        "2. This Lease is governed by the laws of England and Wales and by no others.\n"
    )
    (room / "bail.txt").write_text(
        "Le présent bail est conclu entre la société Alpha et la société Béta, qui conviennent de ce qui suit.\n\n"
        "1. Les animaux de toute espèce sont interdits dans les locaux, sauf accord écrit du bailleur.\n\n"
        "2. Le présent bail est soumis au droit français et aux usages de la place de Paris.\n"
    )
    file = tmp_path / "leases.yaml"
    file.write_text(YAML)
    await reprise.start(room, thread="lease", playbook=str(file))
    pets: list[Any] = [finding for finding in await reprise.findings("lease") if finding.clause_type == "pets"]
    assert sorted((one.document, one.risk, one.source) for one in pets) == [
        ("bail.txt", "high", "local:leases@1"),
        ("lease.txt", "high", "local:leases@1"),
    ]
    assert all(one.alignment == "exact" for one in pets)


async def test_a_run_over_contracts_is_not_scored_by_a_playbook_for_decisions(reprise: Reprise, tmp_path: Path) -> None:
    await reprise.start(risky(tmp_path / "room", 1), thread="contracts", review="never")
    with pytest.raises(NotForkable, match="contracts read contracts, and playbook case-law is for decisions: fork it"):
        await reprise.fork("contracts", playbook="case-law", name="second")
    with pytest.raises(UnknownThread):
        await reprise.status("second")


async def test_plain_langgraph_refuses_it_too(tmp_path: Path) -> None:
    async with memory_services() as services:
        graph = build_graph(services).compile(checkpointer=InMemorySaver())
        given: Any = {"source": str(risky(tmp_path / "room", 1)), "options": {"review": "never"}}
        first = await graph.ainvoke(given, {"configurable": {"thread_id": "1"}})
        given = {"playbook": "case-law", "options": {"fork": first["run_id"]}}
        with pytest.raises(NotForkable, match="playbook case-law is for decisions"):
            await graph.ainvoke(given, {"configurable": {"thread_id": "2"}})
