"""Runs that are cut off at a chosen place, and what a later resume asked of the world."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from databases import number, rows
from processes import run


def cut_off(source: Path, env: Mapping[str, str], at: str, *options: str, thread: str = "t") -> None:
    """Start a run and have its process die by SIGKILL when it passes a boundary, as `sql.finish_document:after:3`."""
    died = run(["start", source, "--thread", thread, "--json", *options], {**env, "REPRISE_DIE_AT": at})
    assert died.returncode == -signal.SIGKILL, died.stderr


def newest(database: str) -> int:
    """The newest call so far."""
    return number(database, "SELECT coalesce(max(call_id), 0) FROM reprise.calls")


def asked(database: str, since: int) -> Counter[tuple[str, str]]:
    """(tool, document) of every call since then that reached its tool."""
    calls = rows(database, "SELECT tool, document FROM reprise.calls WHERE call_id > %s AND state <> 'reused'", since)
    return Counter((row["tool"], row["document"]) for row in calls)


def states(database: str) -> dict[str, list[str]]:
    """Documents by what became of them."""
    documents: dict[str, list[str]] = {}
    for row in rows(database, "SELECT document, state FROM reprise.run_document ORDER BY ordinal"):
        documents.setdefault(row["state"], []).append(row["document"])
    return documents


def everything(database: str) -> list[list[dict[str, Any]]]:
    """All that a refused resume must leave alone."""
    tables = ("leases", "resumes", "runs", "run_document", "calls", "answers", "decisions", "artifacts")
    snapshots = [rows(database, f"SELECT * FROM reprise.{table} ORDER BY 1, 2") for table in tables]
    return [*snapshots, rows(database, "SELECT thread_id, checkpoint_id FROM public.checkpoints ORDER BY 2")]
