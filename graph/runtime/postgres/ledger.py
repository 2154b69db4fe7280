"""The ledger in Postgres: runs, documents, pages, artifacts, decisions, effects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from typing import Any, Literal

from psycopg.types.json import Jsonb

from graph.runtime.postgres.database import Database, storable
from nodes.domain.review.review import Decision
from nodes.domain.runs.settings import ArtifactRef, DocumentResult, Run, Settings, Spend, Tally
from nodes.domain.shared.errors import UnknownThread
from nodes.domain.text.documents import PAGE_STATES, SourceDocument
from nodes.domain.text.search_entries import Entry

_RUN_FIELDS = [field.name for field in fields(Run) if field.name not in ("settings", "artifacts", "versions")]


def run_from_row(row: Mapping[str, Any]) -> Run:
    """A row of reprise.runs as a record."""
    plain = {name: row[name] for name in _RUN_FIELDS}
    mappings = {name: row[name] for name in ("artifacts", "versions")}
    return Run(**plain, settings=Settings.from_json(row["settings"]), **mappings)


class PostgresLedger:
    """Satisfies nodes.ports.Ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_run(self, run: Run, documents: Sequence[SourceDocument]) -> Run:
        await self._database.execute(
            "open_run",
            **_run_values(run),
            ordinals=list(range(len(documents))),
            documents=[storable(document.document) for document in documents],
            sha256s=[document.sha256 for document in documents],
        )
        row = await self._database.row("run_of_thread", thread_id=run.thread_id)
        assert row is not None
        return run_from_row(row)

    async def fork_run(self, run: Run, parent_run_id: str) -> Run | None:
        await self._database.execute("fork_run", **_run_values(run), parent_run_id=parent_run_id)
        row = await self._database.row("run_of_thread", thread_id=run.thread_id)
        return None if row is None else run_from_row(row)

    async def run(self, run_id: str) -> Run:
        row = await self._database.row("run", run_id=run_id)
        if row is None:
            raise UnknownThread(f"No run {run_id} is in this database: list the runs with python run.py runs.")
        return run_from_row(row)

    async def change_settings(self, run_id: str, settings: Settings) -> None:
        await self._database.execute("change_settings", run_id=run_id, settings=Jsonb(settings.to_json()))

    async def change_versions(self, run_id: str, workflow_version: int, versions: Mapping[str, str]) -> None:
        await self._database.execute(
            "change_versions", run_id=run_id, workflow_version=workflow_version, versions=Jsonb(dict(versions))
        )

    async def documents(self, run_id: str, start: int, stop: int) -> list[DocumentResult]:
        rows = await self._database.rows("documents", run_id=run_id, start=start, stop=stop)
        pages: dict[int, list[tuple[int, str, str]]] = {}
        for page in await self._database.rows("pages", run_id=run_id, start=start, stop=stop):
            pages.setdefault(page["ordinal"], []).append((page["number"], page["state"], page["reason"]))
        return [
            DocumentResult(**{**row, "warnings": tuple(row["warnings"])}, pages=tuple(pages.get(row["ordinal"], ())))
            for row in rows
        ]

    async def open_documents(self, run_id: str, start: int, stop: int) -> list[int]:
        rows = await self._database.rows("open_documents", run_id=run_id, start=start, stop=stop)
        return [int(row["ordinal"]) for row in rows]

    async def slow_documents(self, run_id: str) -> list[int]:
        return [int(row["ordinal"]) for row in await self._database.rows("slow_documents", run_id=run_id)]

    async def defer(self, run_id: str, ordinals: Sequence[int], reason: str) -> None:
        await self._database.execute("put_off", run_id=run_id, ordinals=list(ordinals), reason=reason)

    async def retry_failed(self, run_id: str) -> int:
        return await self._database.execute("retry_failed", run_id=run_id)

    async def finish_document(self, run_id: str, result: DocumentResult, entries: Sequence[Entry] = ()) -> None:
        await self._database.execute(
            "finish_document",
            run_id=run_id,
            ordinal=result.ordinal,
            state=result.state,
            reason=storable(result.reason),
            supplier=storable(result.supplier),
            language=result.language,
            engine=result.engine,
            model=result.model,
            findings_ref=result.findings_ref,
            facts_ref=result.facts_ref,
            text_ref=result.text_ref,
            findings=result.findings,
            unit=result.unit,
            warnings=Jsonb(storable(list(result.warnings))),
            numbers=[page[0] for page in result.pages],
            states=[page[1] for page in result.pages],
            reasons=[storable(page[2]) for page in result.pages],
            **entry_values(entries),
        )

    async def keep_artifact(self, run_id: str, ref: ArtifactRef) -> None:
        await self._database.execute(
            "keep_artifact", run_id=run_id, name=ref.name, sha256=ref.sha256, bytes=ref.bytes, uri=ref.uri
        )

    async def artifacts(self, run_id: str) -> list[ArtifactRef]:
        return [ArtifactRef(**row) for row in await self._database.rows("artifacts", run_id=run_id)]

    async def decide(self, run_id: str, decisions: Sequence[Decision]) -> int:
        columns = ("finding_id", "verdict", "reviewer", "reason", "packet", "surface", "at")
        arrays = {f"{name}s": [storable(getattr(decision, name)) for decision in decisions] for name in columns}
        return await self._database.execute("decide", run_id=run_id, **arrays)

    async def decisions(self, run_id: str) -> list[Decision]:
        return [Decision(**row) for row in await self._database.rows("decisions", run_id=run_id)]

    async def intend(self, run_id: str, kind: str, key: str, payload: Mapping[str, Any]) -> str:
        await self._database.execute("intend", run_id=run_id, kind=kind, key=key, payload=Jsonb(storable(payload)))
        row = await self._database.row("effect_state", run_id=run_id, key=key)
        assert row is not None
        return str(row["state"])

    async def record_effect(self, run_id: str, key: str, outcome: Mapping[str, Any]) -> None:
        await self._database.execute("settle_effect", run_id=run_id, key=key, outcome=Jsonb(storable(outcome)))

    async def fail_effect(self, run_id: str, key: str, error: str) -> None:
        await self._database.execute("fail_effect", run_id=run_id, key=key, error=storable(error)[:2000])

    async def spent(self, run_id: str) -> Spend:
        row = await self._database.row("cost", run_id=run_id)
        assert row is not None
        return spend_of(row)

    async def tally(self, run_id: str) -> Tally:
        documents = await self._database.rows("tally_documents", run_id=run_id)
        pages = await self._database.rows("tally_pages", run_id=run_id)
        return tally(
            {row["state"]: int(row["n"]) for row in documents},
            {row["state"]: int(row["n"]) for row in pages},
            sum(int(row["findings"]) for row in documents),
            [unit for row in documents for unit in row["units"] or ()],
        )


def entry_values(entries: Sequence[Entry]) -> dict[str, Any]:
    """Entries of the search index as columns."""
    return {
        "starts": [entry.start for entry in entries],
        "stops": [entry.end for entry in entries],
        "on_pages": [entry.page for entry in entries],
        "words": [storable(entry.words) for entry in entries],
    }


def tally(documents: Mapping[str, int], pages: Mapping[str, int], findings: int, units: Iterable[str]) -> Tally:
    """Counts by state with their totals."""
    states = ("done", "failed", "skipped", "deferred")
    return Tally(
        documents={"total": sum(documents.values()), **{state: documents.get(state, 0) for state in states}},
        pages={"total": sum(pages.values()), **{state: pages.get(state, 0) for state in PAGE_STATES}},
        findings=findings,
        units=tuple(sorted(set(units))),
    )


def spend_of(row: Mapping[str, Any]) -> Spend:
    """A row of the cost query as a record."""
    unpriced = int(row["calls_unpriced"])
    basis: Literal["unknown", "estimated", "reported"] = (
        "unknown" if unpriced else "estimated" if row["estimated"] else "reported"
    )
    return Spend(Decimal(row["usd"]), basis, unpriced)


def _run_values(run: Run) -> dict[str, Any]:
    return {
        **{name: storable(getattr(run, name)) for name in _RUN_FIELDS},
        "settings": Jsonb(run.settings.to_json()),
        "artifacts": Jsonb(dict(run.artifacts)),
        "versions": Jsonb(dict(run.versions)),
    }
