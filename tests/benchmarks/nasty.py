"""What becomes of each of the nasty files: a table of file, outcome and reason against the manifest.

python tests/benchmarks/nasty.py [FOLDER]

FOLDER holds files and a manifest.csv with the columns file, kind, what, password, pages, text_chars_pdfium.
"""

from __future__ import annotations

import asyncio
import csv
import hashlib
import json
import sys
import time
from collections import Counter
from pathlib import Path

from stage import verdict  # isort: skip  # it makes the other ones importable
from paths import DATA

from graph.adapters.documents.reader import READER_VERSION, DocumentReader
from graph.adapters.processes.worker_pool import WorkerPool
from graph.adapters.storage.folder_artifacts import MemoryArtifacts
from nodes.domain.shared.errors import Unreadable
from nodes.domain.text.documents import DocumentText
from nodes.ports import ToolRequest

SLOWEST = 300.0


async def outcome(reader: DocumentReader, artifacts: MemoryArtifacts, path: Path, password: str) -> tuple[str, str]:
    """(read or refused, what a person is told)."""
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    key = {"sha256": sha256, "reader": READER_VERSION, "language": ""}
    payload = {"path": str(path), "document": path.name, "password": password or None}
    try:
        answer = await reader.answer(ToolRequest("reader", "extract", key, payload))
    except Unreadable as refusal:
        return "refused", str(refusal)
    text = DocumentText.from_json(json.loads(await artifacts.get(answer.value["text_ref"])))
    states = Counter(page.state for page in text.pages)
    reasons = dict.fromkeys(page.reason for page in text.pages if page.reason)
    counted = ", ".join(f"{count} {state}" for state, count in states.items())
    letters = sum(1 for char in text.text if not char.isspace())
    said = "; ".join([*list(reasons)[:2], *text.warnings[:2]])
    unexplained = not letters and not said
    return ("UNEXPLAINED" if unexplained else "read"), f"{counted}; {letters:,} letters; {said}"


async def table(folder: Path) -> int:
    rows = list(csv.DictReader((folder / "manifest.csv").read_text("utf-8").splitlines()))
    children = WorkerPool()
    artifacts = MemoryArtifacts()
    reader = DocumentReader(children, artifacts)
    found: Counter[str] = Counter()
    locked, slowest = 0, 0.0

    async def one(row: dict[str, str], password: str) -> tuple[str, str, float]:
        began = time.monotonic()
        return *(await outcome(reader, artifacts, folder / row["file"], password)), time.monotonic() - began

    for row in rows:
        result, told, seconds = await one(row, "")
        if row["password"]:
            opened, with_it, _ = await one(row, row["password"])
            locked += result == "refused" and opened == "read"
            told += f" | with its password: {with_it}"
        found[result] += 1
        slowest = max(slowest, seconds)
        print(f"{row['kind']:11} {row['file']:30} {result:9} {seconds:5.1f}s  {told[:170]}")
    await children.aclose()
    wanted = sum(bool(row["password"]) for row in rows)
    return verdict(
        Path(__file__).stem,
        (f"{len(rows)} files: {found['read']} read, {found['refused']} refused by name", len(rows) > 0),
        (f"{found['UNEXPLAINED']} without text and without a reason", not found["UNEXPLAINED"]),
        (f"{locked} of {wanted} locked files are refused without their password and read with it", locked == wanted),
        (f"the slowest took {slowest:.1f} s, none more than {SLOWEST:.0f} s", slowest <= SLOWEST),
    )


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "nasty_pdfs"
    if not folder.is_dir():
        print("the shared test documents are not beside the project")
        return 0
    return asyncio.run(table(folder))


if __name__ == "__main__":
    sys.exit(main())
