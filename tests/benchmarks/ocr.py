"""How well and how fast scans are read: character accuracy against the text, seconds a page, what a night holds.

python tests/benchmarks/ocr.py
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import time
import unicodedata
from pathlib import Path

from stage import verdict  # isort: skip  # it makes the other ones importable
from paths import DATA
from rapidfuzz.distance import Levenshtein

from graph.adapters.documents.reader import READER_VERSION, DocumentReader
from graph.adapters.processes.worker_pool import WorkerPool, usable_cpus
from graph.adapters.storage.folder_artifacts import MemoryArtifacts
from nodes.domain.text.documents import DocumentText
from nodes.ports import ToolRequest

FOLDER = DATA / "decisions_fr"
GOAL = 0.97
DECISIONS, SCANNED = 400, 0.10


def folded(text: str) -> str:
    """Composed, white space as single spaces, one kind of quotation mark and dash, hyphenated lines joined."""
    text = unicodedata.normalize("NFC", text.replace("-\n", ""))
    text = text.translate(str.maketrans("’‘“”–—…\u00a0\u202f", "''\"\"--.  "))
    return " ".join(text.replace("...", ".").split())


async def measure() -> int:
    scans = sorted((FOLDER / "pdf").glob("*_scan.pdf"))
    children, artifacts = WorkerPool(), MemoryArtifacts()
    reader = DocumentReader(children, artifacts)
    texts: list[DocumentText] = []
    began = time.perf_counter()
    for scan in scans:
        key = {"sha256": hashlib.sha256(scan.read_bytes()).hexdigest(), "reader": READER_VERSION, "language": ""}
        payload = {"path": str(scan), "document": scan.name, "password": None}
        answer = await reader.answer(ToolRequest("reader", "extract", key, payload))
        texts.append(DocumentText.from_json(json.loads(await artifacts.get(answer.value["text_ref"]))))
    seconds = time.perf_counter() - began
    await children.aclose()
    errors = letters = pages = 0
    for scan, text in zip(scans, texts, strict=True):
        wanted = folded((FOLDER / "txt" / f"{scan.stem.removesuffix('_scan')}.txt").read_text("utf-8"))
        wrong = Levenshtein.distance(wanted, folded(text.text))
        errors, letters, pages = errors + wrong, letters + len(wanted), pages + len(text.pages)
        print(f"{scan.name}: {len(text.pages)} pages, {1 - wrong / len(wanted):.2%}, language {text.language or '?'}")
    per_page = seconds / pages
    night = DECISIONS * SCANNED * pages / len(scans) * per_page
    print(f"{pages} pages in {seconds:.1f} s on {usable_cpus()} cores: {per_page:.2f} s a page")
    print(f"{DECISIONS} decisions, {SCANNED:.0%} of them scans: {night / 60:.0f} min of OCR on these cores")
    accuracy = 1 - errors / letters
    fact = f"character accuracy {accuracy:.2%}, at least {GOAL:.0%}"
    return verdict(Path(__file__).stem, (fact, accuracy >= GOAL), ("a night holds it", night < 8 * 3600))


def main() -> int:
    if not FOLDER.is_dir():
        print("the shared test documents are not beside the project")
        return 0
    return asyncio.run(measure())


if __name__ == "__main__":
    sys.exit(main())
