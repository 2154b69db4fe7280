"""Measure an engine against a golden set: a run of its own that reuses no answer, its findings compared, its calls
counted."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from graph.composition import Container
from graph.driver import OnEvent
from graph.usecases.request_args import check_engine
from graph.usecases.start import start
from graph.views.findings import read_findings
from graph.views.resumes import resumed
from graph.views.run_view import RunView
from graph.views.threads import frozen_run
from nodes.domain.contracts.families.families import ACROSS
from nodes.domain.evaluation.evaluation import ReadDocument, Scores, combine_scores, evaluate
from nodes.domain.evaluation.golden_set import Gold, GoldError, read_gold
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.prompt_injection import INSTRUCTION
from nodes.domain.playbook.searched_types import SearchScope
from nodes.domain.runs.options import ENGINES, OptionError, RunOptions, apply
from nodes.domain.runs.settings import Settings
from nodes.domain.shared.formats import count, one_line
from nodes.domain.text.documents import DocumentText

UNUSABLE = ("answer_invalid", "answer_cut")
STEP = "extract"
"""What is measured; no note is written by a model."""
GOLD_ENDINGS = ("-gold", "-traps", ".gold", ".")
"""What ends the name of a golden set; the folder that is called as it begins holds its documents."""
LISTED = 5
"""Names of a list that a sentence gives; the others are counted."""


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """Clauses that people marked in the documents of one folder."""

    gold: Sequence[Gold]
    source: Path


@dataclass(frozen=True, slots=True)
class Side:
    """An engine with its models and playbook, which is measured."""

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
class Measurement:
    """A side with its scores and what its run took."""

    side: str
    thread_id: str
    scores: Scores
    took: Mapping[str, Any]
    """documents, status, seconds, usd, basis, calls, calls_unpriced, tokens_in, tokens_out, median_seconds,
    p95_seconds, valid_answers."""

    def to_json(self) -> dict[str, Any]:
        return {"side": self.side, "thread_id": self.thread_id, **self.scores.to_json(), "took": dict(self.took)}


def read_gold_file(path: Path) -> list[Gold]:
    """Read the lines of a golden set. Raises GoldError."""
    try:
        return read_gold(path.read_text("utf-8-sig").splitlines(), path.name)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise GoldError(f"The golden set {path} cannot be read ({reason}): name a file of JSON lines.") from None


def find_source(gold: Path) -> Path:
    """Find the folder of documents that belongs to a golden set when none is named. Raises GoldError."""
    beginnings = [gold.name.split(ending)[0] for ending in GOLD_ENDINGS if ending in gold.name]
    folders = [gold.with_name(name) for name in dict.fromkeys([*beginnings, "pdf"]) if name]
    for folder in folders:
        if folder.is_dir():
            return folder
    names = " or ".join(f"{folder.name}/" for folder in folders)
    raise GoldError(
        f"Beside {gold.name} there is no folder {names}: name the folder of its documents with --source, for example "
        f"--source {one_line(str(gold.parent), 200)}."
    )


def read_golden_sets(files: Sequence[Path], source: Path | None) -> list[GoldenSet]:
    """Read the golden sets of files, each with its own folder; those of one folder are one. Raises GoldError."""
    by_folder: dict[Path, tuple[list[Gold], Path]] = {}
    for file in files:
        gold = read_gold_file(file)
        folder = source or find_source(file)
        by_folder.setdefault(folder.resolve(), ([], folder))[0].extend(gold)
    return [GoldenSet(gold, folder) for gold, folder in by_folder.values()]


def parse_side(words: str, playbook: str) -> Side:
    """Parse a side from local, openai or openai:MODEL. Raises OptionError."""
    engine, _, model = words.partition(":")
    if engine not in ENGINES or (model and engine == "local"):
        raise OptionError(f"There is no engine {words}: use local, openai or openai:MODEL.")
    return Side(engine, {"extract": model} if model else {}, playbook)


async def check_measurable(
    container: Container,
    sides: Sequence[Side],
    sets: Sequence[GoldenSet],
    types: Sequence[str] = (),
    budget_usd: Decimal | None = None,
    concurrency: int | None = None,
) -> list[str]:
    """Refuse what cannot be measured before any document is read; returns sentences on what will count as missed.

    Raises OptionError, EndpointRefused, MissingPart, PlaybookError, SourceError, GoldError.
    """
    services = container.services
    for side in sides:
        if set(side.models) - {STEP}:
            raise OptionError(f"eval measures what is extracted and writes no note: name a model for {STEP} alone.")
        options: RunOptions = {
            "models": dict(side.models) or None,
            "budget_usd": budget_usd,
            "concurrency": concurrency,
        }
        settings = apply(Settings(), options)
        check_engine(container, side.engine, settings)
    for golden_set in sets:
        await services.sources.check(str(golden_set.source))
    playbook = await services.playbooks.load(sides[0].playbook)
    gold = [line for golden_set in sets for line in golden_set.gold]
    findable = _findable_types(playbook, frozenset(playbook.types))
    unknown = sorted(set(types) - findable - {line.clause_type for line in gold})
    if unknown:
        raise OptionError(
            f"Option --types: {_listed(unknown)} is no clause type of {playbook.name} or of the golden set."
        )
    untestable = [line for line in gold if line.must_not_find and line.clause_type not in findable]
    if untestable:
        traps = _listed([f"{line.clause_type} ({line.where})" for line in untestable])
        raise GoldError(
            f"{count(len(untestable), 'trap')} cannot be tested, since playbook {playbook.name} looks for no such "
            f"clause type: mend {traps}, or name another playbook."
        )
    missed = sorted({line.clause_type for line in gold if not types or line.clause_type in types} - findable)
    if not missed:
        return []
    return [
        f"Playbook {playbook.name} does not look for {_listed(missed)}: these clauses count as missed; "
        "--types names those that count."
    ]


def _findable_types(playbook: Playbook, types: frozenset[str]) -> frozenset[str]:
    """Clause types that findings with a place may have, where these types are looked for."""
    across = ACROSS if playbook.kind == "contracts" else ()
    return types | frozenset((*across, INSTRUCTION))


def _listed(names: Sequence[str]) -> str:
    unlisted = len(names) - LISTED
    return one_line(", ".join(names[:LISTED]), 400) + (f" and {unlisted} more" if unlisted > 0 else "")


async def measure(
    container: Container,
    side: Side,
    sets: Sequence[GoldenSet],
    *,
    types: Sequence[str] = (),
    budget_usd: Decimal | None = None,
    concurrency: int | None = None,
    passwords: Mapping[str, str] | None = None,
    on_event: OnEvent | None = None,
) -> Measurement:
    """Run a side over the documents and compare. Its thread stays, for `findings`, `journal` and `cost`.

    A matter of its own and `fresh` keep it from answers that are stored; a model is asked for what is extracted and
    for no note. Raises what `Reprise.start` raises.
    """
    view = await start(
        container,
        _outermost_folders([golden_set.source for golden_set in sets]),
        thread=None,
        job="eval",
        matter=f"eval-{uuid.uuid4().hex[:12]}",
        playbook=side.playbook,
        engine=side.engine,
        passwords=passwords,
        on_event=on_event,
        options={
            "models": dict(side.models) or None,
            "budget_usd": budget_usd,
            "concurrency": concurrency,
            "fresh": True,
            "review": "never",
            "model_writes_note": False,
        },
    )
    documents = [document async for document in _read_documents(container, view.thread_id)]
    parts = [
        evaluate(golden_set.gold, _below(documents, golden_set.source if len(sets) > 1 else None), types)
        for golden_set in sets
    ]
    scores = parts[0] if len(parts) == 1 else combine_scores(parts)
    return Measurement(side.name, view.thread_id, scores, await _measure_run(container, view))


def _outermost_folders(folders: Sequence[Path]) -> list[str]:
    """Leave out folders that lie within another: their documents are read with it."""
    places = {folder.resolve() for folder in folders}
    return [str(folder) for folder in folders if not places & set(folder.resolve().parents)]


def _below(documents: Sequence[tuple[Path, str, ReadDocument]], folder: Path | None) -> list[ReadDocument]:
    """Select the documents of a folder, by their names below it; all of them where it is None."""
    if folder is None:
        return [document for _, _, document in documents]
    place = folder.resolve()
    return [
        replace(document, document=path.relative_to(place).as_posix() + inside)
        for path, inside, document in documents
        if path.is_relative_to(place)
    ]


async def _read_documents(container: Container, thread_id: str) -> AsyncIterator[tuple[Path, str, ReadDocument]]:
    """Read the documents of a run, each with its file and, of an attachment, the end of its name."""
    run = await frozen_run(container, thread_id)
    findings = await read_findings(container, thread_id)
    artifacts = container.artifacts
    playbook = Playbook.model_validate_json(await artifacts.get(run.artifacts["playbook"]))
    search_scope = SearchScope(playbook)
    sources = {source["document"]: source for source in json.loads(await artifacts.get(run.artifacts["inputs"]))}
    files = {source["path"]: source["document"] for source in sources.values() if not source["container"]}
    for row in await container.ledger.documents(run.run_id, 0, run.documents_total):
        text = ""
        if row.text_ref:
            text = _running(DocumentText.from_json(json.loads(await artifacts.get(row.text_ref))))
        path = sources[row.document]["path"]
        own_findings = [finding for finding in findings if finding.document == row.document]
        document = ReadDocument(row.document, text, own_findings, _findable_types(playbook, search_scope.types(row)))
        yield Path(path), row.document.removeprefix(files[path]), document


def _running(text: DocumentText) -> str:
    """The text with its offsets, without the headers and footers that stand in the middle of a clause."""
    letters = text.text
    for first, last in text.furniture:
        letters = letters[:first] + " " * (last - first) + letters[last:]
    return letters


async def _measure_run(container: Container, view: RunView) -> dict[str, Any]:
    """Add up what the run took, and of the answers of models how many were usable as they came."""
    database = container.database
    levels = await database.rows("cost_levels", run_id=view.run_id)
    models = [row for row in levels if row["level"] == "model" and row["tool"] == "model" and row["step"] == STEP]
    calls = await database.rows("journal", run_id=view.run_id)
    model_calls = [call for call in calls if call["tool"] == "model" and call["step"] == STEP]
    usable = sum(call["state"] == "completed" for call in model_calls)
    unusable = sum(call["word"] in UNUSABLE for call in model_calls)
    resumes = await resumed(database, view.thread_id)
    seconds = sum(((row["ended_at"] or row["started_at"]) - row["started_at"]).total_seconds() for row in resumes)
    slowest: Mapping[str, Any] = max(models, key=lambda row: row["calls"], default={})
    return {
        "documents": dict(view.documents),
        "status": view.status,
        "seconds": round(seconds, 1),
        "usd": view.cost["usd"],
        "basis": view.cost["basis"],
        "calls": len(model_calls),
        "calls_unpriced": view.cost["calls_unpriced"],
        "tokens_in": sum(row["tokens_in"] for row in models),
        "tokens_out": sum(row["tokens_out"] for row in models),
        "median_seconds": slowest.get("median_seconds"),
        "p95_seconds": slowest.get("p95_seconds"),
        "valid_answers": round(usable / (usable + unusable), 3) if usable + unusable else None,
    }
