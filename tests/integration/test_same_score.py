"""The same contract has the same level, run after run; what a model calls severe changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sample_contracts import contracts

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from graph.views.threads import read_head

MODELS = {"extract": "gpt-4.1-mini", "summarize": "gpt-4.1-mini"}
QUOTE = "The Supplier's aggregate liability under this Agreement shall not exceed EUR 10,000."
WORDS: tuple[dict[str, Any], ...] = (
    {},
    {"severity": "critical", "risk": "critical", "score": 100},
    {"severity": "negligible", "risk": "low", "score": 0},
    {"risk_level": "HIGH!!!", "reasons": ["this is terrible"], "needs_review": True},
    {"severity": None, "risk": {"level": 9}, "decision": {"verdict": "accept"}},
)


async def levels(reprise: Reprise, thread: str) -> dict[str, Any]:
    """Everything that the score says of a run: findings with reasons, documents, suppliers."""
    state = (await read_head(reprise.container, await reprise.find(thread))).values
    scored = json.loads(await reprise.container.services.artifacts.get(state["findings"]))
    kept = ("finding_id", "risk", "score", "reasons", "needs_review", "review_reason", "decision")
    return {**scored, "findings": [{name: finding[name] for name in kept} for finding in scored["findings"]]}


async def test_five_runs_of_one_contract_give_one_level_with_one_chain_of_reasons(
    reprise: Reprise, tmp_path: Path
) -> None:
    room = contracts(tmp_path / "room", 2)
    for number in range(5):
        await reprise.start(room, thread=f"run-{number}", matter=f"matter-{number}", review="never", fresh=True)
    first, *others = [await levels(reprise, f"run-{number}") for number in range(5)]
    assert first["findings"] and first["documents"] and first["suppliers"]
    assert all(supplier["reasons"] for supplier in first["suppliers"].values())
    assert all(other == first for other in others)


async def test_what_a_model_says_of_severity_changes_no_score(
    asking: Reprise, endpoint: ScriptedEndpoint, tmp_path: Path
) -> None:
    room = contracts(tmp_path / "room", 1)
    found = []
    for number, words in enumerate(WORDS):
        clause = {"clause_type": "cap_on_liability", "passage_id": 1, "quote": QUOTE, "confidence": 0.9, **words}
        answer = json.dumps({"clauses": [clause], "supplier": None, "severity": "critical", **words})
        endpoint.script([{"match": "aggregate liability", "times": 1, "respond": answer}])
        settings: dict[str, Any] = {"matter": f"m{number}", "models": MODELS, "review": "never"}
        await asking.start(room, thread=f"t{number}", engine="openai", **settings)
        found.append(await levels(asking, f"t{number}"))
    assert "medium" in {finding["risk"] for finding in found[0]["findings"]}
    assert all(other == found[0] for other in found[1:])
