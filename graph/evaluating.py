"""An engine against a golden set: a run of its own that reuses no answer, its findings compared, its calls counted."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodes.domain.documents import DocumentText
from nodes.domain.evaluation import Scores, Seen, evaluate
from nodes.domain.gold import Gold, GoldError, read_gold
from nodes.domain.options import ENGINES, OptionError

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.driver import OnEvent
    from graph.views import RunView

UNUSABLE = ("answer_invalid", "answer_cut")


@dataclass(frozen=True, slots=True)
class Side:
    """What is measured."""

    engine: str
    """local or openai."""
    models: Mapping[str, str]
    """Of each step; {} for those of the settings."""
    playbook: str = "due-diligence"

    @property
    def name(self) -> str:
        """Such as local, or openai gpt-4.1-mini."""
        return " ".join([self.engine, *dict.fromkeys(self.models.values())])


@dataclass(frozen=True, slots=True)
class Measured:
    """A side with what it found and took."""

    side: str
    thread_id: str
    scores: Scores
    took: Mapping[str, Any]
    """documents, seconds, usd, basis, calls, tokens_in, tokens_out, median_seconds, p95_seconds, valid_answers."""

    def to_json(self) -> dict[str, Any]:
        return {"side": self.side, "thread_id": self.thread_id, **self.scores.to_json(), "took": dict(self.took)}


def gold_of(path: Path) -> list[Gold]:
    """The lines of a golden set. Raises GoldError."""
    try:
        return read_gold(path.read_text("utf-8").splitlines(), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise GoldError(f"The golden set {path} cannot be read ({error}): name a file of JSON lines.") from None


def source_of(gold: Path) -> Path:
    """The folder of documents that belongs to a golden set when none is named. Raises GoldError."""
    beside = gold.parent / "pdf"
    named = [gold.with_name(gold.name.split(end)[0]) for end in ("-gold", "-traps", ".gold") if end in gold.name]
    for folder in (*named, beside):
        if folder.is_dir():
            return folder
    raise GoldError(f"No documents lie beside {gold.name}: name their folder with --source.")


def side_of(words: str, playbook: str) -> Side:
    """A side from local, openai or openai:MODEL. Raises OptionError."""
    engine, _, model = words.partition(":")
    if engine not in ENGINES or (model and engine == "local"):
        raise OptionError(f"There is no engine {words}: use local, openai or openai:MODEL.")
    return Side(engine, {"extract": model} if model else {}, playbook)


async def measure(
    reprise: Reprise,
    side: Side,
    gold: Sequence[Gold],
    source: Path,
    *,
    types: Sequence[str] = (),
    budget_usd: Decimal | None = None,
    concurrency: int | None = None,
    passwords: Mapping[str, str] | None = None,
    on_event: OnEvent | None = None,
) -> Measured:
    """Run a side over the documents and compare. Its thread stays, for `findings`, `journal` and `cost`.

    A matter of its own and `fresh` keep it from answers that are stored. Raises what `Reprise.start` raises.
    """
    run = await reprise.start(
        str(source),
        job="eval",
        matter=f"eval-{uuid.uuid4().hex[:12]}",
        playbook=side.playbook,
        engine=side.engine,
        passwords=passwords,
        on_event=on_event,
        models=dict(side.models) or None,
        budget_usd=budget_usd,
        concurrency=concurrency,
        fresh=True,
        review="never",
    )
    thread_id = str(run.thread_id)
    seen = [one async for one in _seen(reprise, thread_id)]
    return Measured(side.name, thread_id, evaluate(gold, seen, types), await _took(reprise, run))


async def _seen(reprise: Reprise, thread_id: str) -> AsyncIterator[Seen]:
    run = await reprise.views.run_of(thread_id)
    if run is None:
        return
    findings = await reprise.findings(thread_id)
    artifacts = reprise.parts.outside.services.artifacts
    for row in await reprise.parts.ledger.documents(run.run_id, 0, run.documents_total):
        text = ""
        if row.text_ref:
            text = _running(DocumentText.from_json(json.loads(await artifacts.get(row.text_ref))))
        yield Seen(row.document, text, [one for one in findings if one.document == row.document])


def _running(text: DocumentText) -> str:
    """The text with its offsets, without the headers and footers that stand in the middle of a clause."""
    letters = text.text
    for start, end in text.furniture:
        letters = letters[:start] + " " * (end - start) + letters[end:]
    return letters


async def _took(reprise: Reprise, run: RunView) -> dict[str, Any]:
    """What the run took, and of the answers of models how many were usable as they came."""
    cost = await reprise.support.cost(run.thread_id)
    models = [row for row in cost["by_model"] if row["tool"] == "model"]
    asked = [call for call in await reprise.journal(run.thread_id) if call["tool"] == "model"]
    usable = sum(call["state"] == "completed" for call in asked)
    unusable = sum(call["word"] in UNUSABLE for call in asked)
    resumes = await reprise.support.resumes(run.thread_id)
    seconds = sum(((row["ended_at"] or row["started_at"]) - row["started_at"]).total_seconds() for row in resumes)
    slowest: Mapping[str, Any] = max(models, key=lambda row: row["calls"], default={})
    return {
        "documents": dict(run.documents),
        "status": run.status,
        "seconds": round(seconds, 1),
        "usd": run.cost["usd"],
        "basis": run.cost["basis"],
        "calls": len(asked),
        "tokens_in": sum(row["tokens_in"] for row in models),
        "tokens_out": sum(row["tokens_out"] for row in models),
        "median_seconds": slowest.get("median_seconds"),
        "p95_seconds": slowest.get("p95_seconds"),
        "valid_answers": round(usable / (usable + unusable), 3) if usable + unusable else None,
    }
