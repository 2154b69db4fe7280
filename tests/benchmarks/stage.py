"""What the benchmarks share: a database of their own, documents that cost nothing to read, tools that answer at once.

Every tenth document has a clause: what grows with the findings is the note, and that is no orchestration.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1] / "support")]

from graph import Reprise  # noqa: E402
from graph.adapters import embedded_postgres  # noqa: E402
from graph.adapters.storage.folder_sources import FolderSources  # noqa: E402
from graph.runtime.postgres.migrations import migrate  # noqa: E402
from nodes.domain.text.documents import DocumentText, Page  # noqa: E402
from nodes.ports import Artifacts, ToolAnswer, ToolRequest, Usage  # noqa: E402

CLAUSE = "The Supplier's aggregate liability under this Agreement shall not exceed EUR {n},000."
TEXT = 'This Agreement is made between Firm {n} Ltd (the "Supplier") and Meridian Foods SA.\n\n' + CLAUSE
SUPPLIERS = 120
"""A data room has so many suppliers, however many documents."""

EVERY = 10
"""So many documents, one clause."""

Hold = Callable[[ToolRequest], Awaitable[None]]


async def at_once(question: ToolRequest) -> None:
    """Takes no time at all."""


class Reader:
    """Makes up the text of a document from its name; the document itself is never opened."""

    name = "reader"
    attempts = 1

    def __init__(self, artifacts: Artifacts) -> None:
        self._artifacts = artifacts

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return None

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        text = TEXT.format(n=number_of(question))
        page = Page(1, "read", "", 0, len(text), 595, 842)
        document = DocumentText(question.document_sha256, text, (page,), "en")
        ref = await self._artifacts.put(json.dumps(document.to_json()).encode())
        return ToolAnswer(
            {"text_ref": ref, "pages": [[1, "read", ""]], "warnings": [], "attachments": [], "kind": "text"}
        )


class Rules:
    """Finds the one clause and the supplier."""

    name = "clause_rules"
    attempts = 1

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return None

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        n = number_of(question)
        quote = CLAUSE.format(n=n)
        candidate = {
            "clause_type": "cap_on_liability",
            "quote": quote,
            "confidence": 0.9,
            "source": "rules",
            "start": TEXT.format(n=n).index(quote),
        }
        candidates = [candidate] if n % EVERY == 0 else []
        supplier = {"name": f"Firm {n % SUPPLIERS} Ltd", "quote": "", "start": 0}
        return ToolAnswer({"candidates": candidates, "supplier": supplier, "instructions": []})


class Model:
    """Names the one clause again, after `hold`; `.asked` counts its calls."""

    name = "model"
    attempts = 4

    def __init__(self, hold: Hold = at_once) -> None:
        self._hold = hold
        self.asked = 0

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return Usage(500, 0, 200)

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        self.asked += 1
        await self._hold(question)
        if question.payload["schema"] == "NoteAnswer":
            return ToolAnswer({"sentences": []}, Usage(100, 0, 10))
        quote = CLAUSE.format(n=number_of(question))
        clause = {"clause_type": "cap_on_liability", "passage_id": 1, "quote": quote, "confidence": 0.9}
        clauses = [clause] if number_of(question) % EVERY == 0 else []
        return ToolAnswer({"clauses": clauses, "supplier": None}, Usage(400, 0, 60))


def number_of(question: ToolRequest) -> int:
    """Documents are named by number."""
    return int(Path(question.document).stem or 0) if question.document else 0


def documents(folder: Path, count: int) -> Path:
    """So many documents that differ."""
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(count):
        (folder / f"{n:06d}.txt").write_text(f"document {n}\n")
    return folder


def tools(artifacts: Artifacts, hold: Hold = at_once) -> dict[str, Any]:
    """By name, as the composition root keeps them."""
    return {tool.name: tool for tool in (Reader(artifacts), Rules(), Model(hold))}


def with_tools(reprise: Reprise, made: Mapping[str, Any]) -> Reprise:
    """The same facade over other tools."""
    services = replace(reprise.container.services, sources=FolderSources())
    driver_context = replace(reprise.container.driver_context, services=services)
    reprise.container = replace(reprise.container, driver_context=driver_context, tools=dict(made), has_key=True)
    return reprise


@asynccontextmanager
async def reprise_at(folder: Path, **settings: Any) -> AsyncIterator[Reprise]:
    """Reprise over a database in this folder."""
    url = settings.pop("database_url", "") or await database_at(folder)
    async with Reprise.open(database_url=url, home=folder / "home", **settings) as opened:
        yield opened


async def database_at(folder: Path) -> str:
    """Address of a migrated database of its own."""
    home = folder / "server"
    home.mkdir(exist_ok=True)
    home.chmod(0o755)
    url = await embedded_postgres.start(home)
    await migrate(url)
    return url


@asynccontextmanager
async def place() -> AsyncIterator[Path]:
    """A folder for one benchmark, with its server; both are gone afterwards."""
    for name in list(os.environ):
        if name.startswith(("REPRISE_", "OPENAI_")):
            del os.environ[name]
    os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
    folder = Path(tempfile.mkdtemp(prefix="reprise-bench-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        if (folder / "server").exists():
            await embedded_postgres.stop(folder / "server")
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def share(text: str) -> float:
    """A number from 0 to 1 that belongs to this text, the same in every process."""
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") + 0.5) / 2**64


def verdict(name: str, *facts: tuple[str, bool]) -> int:
    """Print what held and what did not; the exit code."""
    for fact, held in facts:
        print(f"{'ok  ' if held else 'FAIL'} {name}: {fact}", flush=True)
    return 0 if all(held for _, held in facts) else 1
