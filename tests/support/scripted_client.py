"""What the tests of the scripted endpoint share: a prompt, what is to be read from it, and the client that asks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import openai
import pydantic
from langchain_openai import ChatOpenAI
from processes import PATIENCE, wait_until

from graph.testing.endpoint import ScriptedEndpoint

LIABILITY = "The Supplier's total liability under this Agreement shall not exceed EUR 100,000."
LAW = "Le présent contrat est régi par le droit français."
PARTIES = 'This Agreement is made between Acme Inc. (the "Customer") and Nordlicht GmbH (the "Supplier").'
PROMPT = f"""Find these clauses: cap_on_liability, governing_law.
<document id="acme-7">
<passage id="4" page="1">
{PARTIES} {LIABILITY}
</passage>
<passage id="5" page="2">
12. Droit
{LAW} The Supplier shall maintain insurance at its own cost.
</passage>
"""


class Clause(pydantic.BaseModel):
    clause_type: str
    passage_id: int
    quote: str
    confidence: float


class Supplier(pydantic.BaseModel):
    name: str
    quote: str


class Reading(pydantic.BaseModel):
    clauses: list[Clause]
    supplier: Supplier | None


Model = Callable[..., ChatOpenAI]


@contextlib.asynccontextmanager
async def clients(endpoint: ScriptedEndpoint) -> AsyncIterator[Model]:
    """Makes clients of that endpoint; they are closed behind the block."""
    async with contextlib.AsyncExitStack() as opened:

        def build(timeout: float = PATIENCE, **options: Any) -> ChatOpenAI:
            client = openai.DefaultAsyncHttpxClient(timeout=timeout, trust_env=False)
            opened.push_async_callback(client.aclose)
            parameters = {"model": "scripted-1", "api_key": "x"} | options
            return ChatOpenAI(
                base_url=endpoint.base_url, max_retries=0, timeout=timeout, http_async_client=client, **parameters
            )

        yield build


async def ask(model: ChatOpenAI, prompt: str = PROMPT, method: str = "json_schema") -> dict[str, Any]:
    reader = model.with_structured_output(Reading, method=method, include_raw=True)  # type: ignore[arg-type]
    answer: Any = await reader.ainvoke(prompt)
    return dict(answer)


async def left(endpoint: ScriptedEndpoint, event: str = "disconnected") -> list[dict[str, Any]]:
    """The calls the endpoint has seen end that way; it may notice a moment after the client."""
    return list(await asyncio.to_thread(wait_until, lambda: endpoint.calls(event)))
