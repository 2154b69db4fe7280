"""What the test of faults and its benchmark share: a mix of faults, a run under it, and two books that must agree."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from databases import rows
from risky_contracts import risky

from graph import Reprise
from graph.runtime.calls.pricing import Prices
from graph.testing.endpoint import ScriptedEndpoint
from nodes.ports import Usage

MODEL = "gpt-4.1-mini"

SHARES = {
    "429": 3,
    "500": 3,
    "reset": 2,
    "reset_before": 1,
    "hang": 1,
    "bad_json": 2,
    "cut_json": 2,
    "truncated_stream": 2,
    "empty": 2,
    "nul": 1,
    "surrogate": 1,
}
"""Of all faults; each kind that an endpoint has."""

UNSEEN = ("reset", "truncated_stream")
"""The endpoint did the work and counted it, but its answer never came: what we write down is an estimate."""


def mix(rate: float) -> dict[str, float]:
    """Rates of the single faults that add up to `rate`."""
    return {fault: rate * share / sum(SHARES.values()) for fault, share in SHARES.items()}


@dataclass(frozen=True)
class Books:
    """The ledger's and the endpoint's account of the calls of a model."""

    view: Any
    """The run object at the end."""
    seconds: float
    received: int
    """Calls that reached the endpoint, by its log."""
    journalled: int
    """Calls that the ledger has."""
    faults: Mapping[str, int]
    """By the endpoint's log."""
    endings: Mapping[tuple[str, str], int]
    """State and word of the calls, by the ledger."""
    by_basis: Mapping[str, tuple[int, int, int, Decimal]]
    """Basis → calls, tokens in, tokens out, US dollars, by the ledger."""
    endpoint: tuple[int, int, Decimal]
    """Tokens in, tokens out and their price, of the answers that reached us, by the endpoint's log."""
    unseen: Decimal
    """Price of the answers that were lost on the way, by the endpoint's log."""
    failed: Mapping[str, str]
    """Document → why it failed."""
    findings: int
    most_asked: int
    """How often one and the same question was asked at the most."""


async def run_under_faults(
    folder: Path, database: str, home: Path, documents: int, faults: Mapping[str, float], lost: tuple[int, ...] = ()
) -> Books:
    """Read so many documents through an endpoint with these faults; for those in `lost` it refuses for ever."""
    script = [{"match": rf"Firm {number} Ltd", "fault": "refusal"} for number in lost]
    with ScriptedEndpoint(latency=0.01, seed=4, faults=faults, script=script, retry_after=0.2) as endpoint:
        key: dict[str, Any] = {"openai_base_url": endpoint.base_url, "openai_api_key": "x", "request_seconds": 10}
        models = {"extract": MODEL, "summarize": MODEL}
        async with Reprise.open(database_url=database, home=home, **key) as reprise:
            began = time.monotonic()
            view = await reprise.start(
                risky(folder / "room", documents),
                thread="t",
                engine="openai",
                models=models,
                review="never",
                concurrency=16,
            )
            seconds = time.monotonic() - began
            findings = len(await reprise.findings("t"))
            prices = reprise.container.prices
        return _books(view, seconds, findings, endpoint.calls(), database, prices)


def _books(view: Any, seconds: float, findings: int, log: list[Any], database: str, prices: Prices) -> Books:
    calls = rows(database, "SELECT * FROM reprise.calls WHERE tool = 'model' AND state <> 'reused'")
    ends = [event for event in log if event["event"] != "received"]
    delivered = [event for event in ends if event["status"] == 200 and event["fault"] not in UNSEEN]
    lost_answers = [event for event in ends if event["status"] == 200 and event["fault"] in UNSEEN]
    failed = rows(database, "SELECT document, reason FROM reprise.run_document WHERE state = 'failed'")
    return Books(
        view=view,
        seconds=seconds,
        received=sum(event["event"] == "received" for event in log),
        journalled=len(calls),
        faults=Counter(event["fault"] for event in ends if event["fault"]),
        endings=Counter((call["state"], call["word"]) for call in calls),
        by_basis={
            basis: _sum([call for call in calls if call["basis"] == basis])
            for basis in ("reported", "estimated", "unknown")
        },
        endpoint=(
            sum(answer["prompt_tokens"] for answer in delivered),
            sum(answer["completion_tokens"] for answer in delivered),
            _price(delivered, prices),
        ),
        unseen=_price(lost_answers, prices),
        failed={document["document"]: document["reason"] for document in failed},
        findings=findings,
        most_asked=max(Counter(event["idempotency_key"] for event in log if event["event"] == "received").values()),
    )


def _sum(calls: list[Any]) -> tuple[int, int, int, Decimal]:
    tokens = [sum(call[name] or 0 for call in calls) for name in ("tokens_in", "tokens_out")]
    return len(calls), tokens[0], tokens[1], sum((call["usd"] or Decimal(0) for call in calls), Decimal(0))


def _price(answers: list[Any], prices: Prices) -> Decimal:
    usages = [Usage(answer["prompt_tokens"], 0, answer["completion_tokens"]) for answer in answers]
    return sum((prices.price(MODEL, usage)[0] or Decimal(0) for usage in usages), Decimal(0))
