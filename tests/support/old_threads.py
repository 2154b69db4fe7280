"""Threads that an older program wrote, brought back as they were: tables, artifacts and documents."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import psycopg
from paths import ROOT

FIXTURES = ROOT / "tests" / "fixtures" / "old_threads"
ROOM = Path("/tmp/reprise-old-threads/data-room")
"""Where these runs read their documents, as their frozen lists say."""


def restore(kind: str, database: str, home: Path) -> dict[str, Any]:
    """Bring back one thread into an empty database and home; returns what was known of it when it was written."""
    folder = FIXTURES / kind
    lines = gzip.decompress((folder / "dump.sql.gz").read_bytes()).decode().splitlines()
    # Two lines of the dump are words to psql alone.
    statements = "\n".join(line for line in lines if not line.startswith("\\"))
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(statements.encode())
    for sha256, text in json.loads(gzip.decompress((folder / "artifacts.json.gz").read_bytes())).items():
        place = home / "artifacts" / sha256[:2] / sha256
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    facts: dict[str, Any] = json.loads((folder / "facts.json").read_text())
    return facts


def lay_out_the_room() -> Path:
    """The documents of these runs, where they were read; another run of the tests may do the same at this moment."""
    ROOM.mkdir(parents=True, exist_ok=True)
    for file in sorted((FIXTURES / "data-room").iterdir()):
        copy = ROOM / file.name
        if not copy.exists() or copy.read_bytes() != file.read_bytes():
            fresh = ROOM / f".{file.name}.{os.getpid()}"
            fresh.write_bytes(file.read_bytes())
            os.replace(fresh, copy)
    return ROOM
