"""An engine against a golden set: a run of its own that reuses no answer, its findings compared, its calls counted."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.usecases.request_args import check_engine
from nodes.domain.contracts.families.families import ACROSS
from nodes.domain.evaluation.evaluation import Scores, ReadDocument, evaluate, combine_scores
from nodes.domain.evaluation.golden_set import Gold, GoldError, read_gold
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.prompt_injection import INSTRUCTION
from nodes.domain.playbook.searched_types import SearchScope
from nodes.domain.runs.options import ENGINES, OptionError, apply
from nodes.domain.runs.settings import Settings
from nodes.domain.shared.formats import count, one_line
from nodes.domain.text.documents import DocumentText

if TYPE_CHECKING:
    from graph.app import Reprise
    from graph.driver import OnEvent
    from graph.views.run_view import RunView

UNUSABLE = ("answer_invalid", "answer_cut")
STEP = "extract"
"""What is measured; no note is written by a model."""
BEFORE = ("-gold", "-traps", ".gold", ".")
"""What ends the name of a golden set; the folder that is called as it begins holds its documents."""
NAMED = 5
"""Of a list in a sentence."""


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """What people say of the documents of one folder."""

    gold: Sequence[Gold]
    source: Path


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
    """documents, status, seconds, usd, basis, calls, calls_unpriced, tokens_in, tokens_out, median_seconds,
    p95_seconds, valid_answers."""

    def to_json(self) -> dict[str, Any]:
        return {"side": self.side, "thread_id": self.thread_id, **self.scores.to_json(), "took": dict(self.took)}


def gold_of(path: Path) -> list[Gold]:
    """The lines of a golden set. Raises GoldError."""
    try:
        return read_gold(path.read_text("utf-8-sig").splitlines(), path.name)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise GoldError(f"The golden set {path} cannot be read ({why}): name a file of JSON lines.") from None


def source_of(gold: Path) -> Path:
    """The folder of documents that belongs to a golden set when none is named. Raises GoldError."""
    named = [gold.name.split(end)[0] for end in BEFORE if end in gold.name]
    tried = [gold.with_name(name) for name in dict.fromkeys([*named, "pdf"]) if name]
    for folder in tried:
        if folder.is_dir():
            return folder
    names = " or ".join(f"{folder.name}/" for folder in tried)
    raise GoldError(
        f"Beside {gold.name} there is no folder {names}: name the folder of its documents with --source, for example "
        f"--source {one_line(str(gold.parent), 200)}."
    )


def sets_of(files: Sequence[Path], source: Path | None) -> list[GoldenSet]:
    """The golden sets of files, each with its own folder; those of one folder are one. Raises GoldError."""
    found: dict[Path, tuple[list[Gold], Path]] = {}
    for file in files:
        gold = gold_of(file)
        folder = source or source_of(file)
        found.setdefault(folder.resolve(), ([], folder))[0].extend(gold)
    return [GoldenSet(gold, folder) for gold, folder in found.values()]


def side_of(words: str, playbook: str) -> Side:
    """A side from local, openai or openai:MODEL. Raises OptionError."""
    engine, _, model = words.partition(":")
    if engine not in ENGINES or (model and engine == "local"):
        raise OptionError(f"There is no engine {words}: use local, openai or openai:MODEL.")
    return Side(engine, {"extract": model} if model else {}, playbook)


async def checked(
    reprise: Reprise,
    sides: Sequence[Side],
    sets: Sequence[GoldenSet],
    types: Sequence[str] = (),
    budget_usd: Decimal | str | None = None,
    concurrency: int | None = None,
) -> list[str]:
    """Refuse what cannot be measured before any document is read; sentences on what can, and not as meant.

    Raises OptionError, EndpointRefused, MissingPart, PlaybookError, SourceError, GoldError.
    """
    outside = reprise.parts.outside.services
    for side in sides:
        if set(side.models) - {STEP}:
            raise OptionError(f"eval measures what is extracted and writes no note: name a model for {STEP} alone.")
        limits = {"budget_usd": budget_usd, "concurrency": concurrency}
        settings = apply(Settings(), {"models": dict(side.models) or None, **limits})
        check_engine(reprise.parts, side.engine, settings)
    for each in sets:
        await outside.sources.check(str(each.source))
    playbook = await outside.playbooks.load(sides[0].playbook)
    gold = [line for each in sets for line in each.gold]
    known = _findable(playbook, frozenset(playbook.types))
    strange = sorted(set(types) - known - {line.clause_type for line in gold})
    if strange:
        raise OptionError(
            f"Option --types: {_listed(strange)} is no clause type of {playbook.name} or of the golden set."
        )
    astray = [line for line in gold if line.must_not_find and line.clause_type not in known]
    if astray:
        named = _listed([f"{line.clause_type} ({line.where})" for line in astray])
        raise GoldError(
            f"{count(len(astray), 'trap')} cannot be tested, since playbook {playbook.name} looks for no such clause "
            f"type: mend {named}, or name another playbook."
        )
    missed = sorted({line.clause_type for line in gold if not types or line.clause_type in types} - known)
    if not missed:
        return []
    what = f"Playbook {playbook.name} does not look for {_listed(missed)}"
    return [f"{what}: these clauses count as missed; --types names those that count."]


def _findable(playbook: Playbook, types: frozenset[str]) -> frozenset[str]:
    """Types of findings with a place that there may be, where these types are looked for."""
    across = ACROSS if playbook.kind == "contracts" else ()
    return types | frozenset((*across, INSTRUCTION))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return one_line(", ".join(names[:NAMED]), 400) + (f" and {more} more" if more > 0 else "")


async def measure(
    reprise: Reprise,
    side: Side,
    sets: Sequence[GoldenSet],
    *,
    types: Sequence[str] = (),
    budget_usd: Decimal | str | None = None,
    concurrency: int | None = None,
    passwords: Mapping[str, str] | None = None,
    on_event: OnEvent | None = None,
) -> Measured:
    """Run a side over the documents and compare. Its thread stays, for `findings`, `journal` and `cost`.

    A matter of its own and `fresh` keep it from answers that are stored; a model is asked for what is extracted and
    for no note. Raises what `Reprise.start` raises.
    """
    run = await reprise.start(
        *_outermost([each.source for each in sets]),
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
        model_writes_note=False,
    )
    thread_id = str(run.thread_id)
    seen = [one async for one in _seen(reprise, thread_id)]
    parts = [evaluate(each.gold, _of(seen, each.source if len(sets) > 1 else None), types) for each in sets]
    scores = parts[0] if len(parts) == 1 else combine_scores(parts)
    return Measured(side.name, thread_id, scores, await _took(reprise, run))


def _outermost(folders: Sequence[Path]) -> list[str]:
    """Without those that lie within another: their documents are read with it."""
    places = {folder.resolve() for folder in folders}
    return [str(folder) for folder in folders if not places & set(folder.resolve().parents)]


def _of(seen: Sequence[tuple[Path, str, ReadDocument]], folder: Path | None) -> list[ReadDocument]:
    """Documents of a folder, by their names below it; all of them where it is None."""
    if folder is None:
        return [one for _, _, one in seen]
    place = folder.resolve()
    return [
        replace(one, document=path.relative_to(place).as_posix() + inside)
        for path, inside, one in seen
        if path.is_relative_to(place)
    ]


async def _seen(reprise: Reprise, thread_id: str) -> AsyncIterator[tuple[Path, str, ReadDocument]]:
    """Documents, each with its file and the rest of the name of what is embedded in one."""
    run = await reprise.views.run_of(thread_id)
    if run is None:
        return
    findings = await reprise.findings(thread_id)
    artifacts = reprise.parts.outside.services.artifacts
    playbook = Playbook.model_validate_json(await artifacts.get(run.artifacts["playbook"]))
    looked_for = SearchScope(playbook)
    inputs = {one["document"]: one for one in json.loads(await artifacts.get(run.artifacts["inputs"]))}
    files = {one["path"]: one["document"] for one in inputs.values() if not one["container"]}
    for row in await reprise.parts.ledger.documents(run.run_id, 0, run.documents_total):
        text = ""
        if row.text_ref:
            text = _running(DocumentText.from_json(json.loads(await artifacts.get(row.text_ref))))
        path = inputs[row.document]["path"]
        mine = [one for one in findings if one.document == row.document]
        seen = ReadDocument(row.document, text, mine, _findable(playbook, looked_for.types(row)))
        yield Path(path), row.document.removeprefix(files[path]), seen


def _running(text: DocumentText) -> str:
    """The text with its offsets, without the headers and footers that stand in the middle of a clause."""
    letters = text.text
    for start, end in text.furniture:
        letters = letters[:start] + " " * (end - start) + letters[end:]
    return letters


async def _took(reprise: Reprise, run: RunView) -> dict[str, Any]:
    """What the run took, and of the answers of models how many were usable as they came."""
    cost = await reprise.support.cost(run.thread_id)
    models = [row for row in cost["by_model"] if row["tool"] == "model" and row["step"] == STEP]
    calls = await reprise.journal(run.thread_id)
    asked = [call for call in calls if call["tool"] == "model" and call["step"] == STEP]
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
        "calls_unpriced": run.cost["calls_unpriced"],
        "tokens_in": sum(row["tokens_in"] for row in models),
        "tokens_out": sum(row["tokens_out"] for row in models),
        "median_seconds": slowest.get("median_seconds"),
        "p95_seconds": slowest.get("p95_seconds"),
        "valid_answers": round(usable / (usable + unusable), 3) if usable + unusable else None,
    }
