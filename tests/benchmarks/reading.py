"""Pages per second with boxes, sections and coverage, against the bare text extraction of PDFium on the same cores.

python tests/benchmarks/reading.py [--rounds 7]

All read the same contracts, turn about in one run: bare PDFium in as many processes as there are cores, what a child
does in the same processes, and the reader with as many children, pipes, assembly and storage included; without OCR,
which PDFium does not do either. On a machine that others use too, processor time says more than the clock. Then 300
documents for the memory that stays.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import psutil

from stage import verdict  # isort: skip  # it makes the other ones importable
from paths import DATA

from graph.adapters.documents.file_reader import read_file
from graph.adapters.documents.reader import READER_VERSION, DocumentReader
from graph.adapters.processes.worker_pool import WorkerPool, usable_cpus
from graph.adapters.storage.folder_artifacts import MemoryArtifacts
from nodes.ports import ToolRequest

GOAL, MOST_MB = 0.6, 300
DOCUMENTS = 300


Work = Callable[[list[str]], tuple[int, float]]


class Rate(NamedTuple):
    """Pages per second."""

    wall: float
    core: float
    """Of processor time, all processes together."""


def bare(paths: list[str]) -> tuple[int, float]:
    """(pages read, seconds of processor time)."""
    import pypdfium2 as pdfium

    began = time.process_time()
    pages = 0
    for path in paths:
        document = pdfium.PdfDocument(path)
        for page in document:
            text = page.get_textpage()
            text.get_text_range()
            text.close()
            page.close()
            pages += 1
        document.close()
    return pages, time.process_time() - began


def whole(paths: list[str]) -> tuple[int, float]:
    """The same for what a child does, without its pipe and its parent."""
    options = {"max_bytes": 1 << 30, "max_pages": 5_000, "max_chars": 50_000_000}
    hashed = [(path, hashlib.sha256(Path(path).read_bytes()).hexdigest()) for path in paths]
    began = time.process_time()
    pages = sum(len(read_file(path, None, {**options, "sha256": sha256})["pages"]) for path, sha256 in hashed)
    return pages, time.process_time() - began


def rates(
    pool: ProcessPoolExecutor, function: Callable[[list[str]], tuple[int, float]], shares: list[list[str]]
) -> Rate:
    began = time.perf_counter()
    done = list(pool.map(function, shares))
    pages = sum(pages for pages, _ in done)
    return Rate(pages / (time.perf_counter() - began), pages / sum(seconds for _, seconds in done))


def processor_seconds() -> float:
    me = psutil.Process()
    times = [process.cpu_times() for process in [me, *me.children(recursive=True)]]
    return sum(one.user + one.system for one in times)


def question(path: Path) -> ToolRequest:
    key = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "reader": READER_VERSION, "language": ""}
    return ToolRequest("reader", "extract", key, {"path": str(path), "document": path.name, "password": None})


async def read(reader: DocumentReader, questions: list[ToolRequest]) -> Rate:
    reader._artifacts = MemoryArtifacts()
    began, used = time.perf_counter(), processor_seconds()
    answers = await asyncio.gather(*map(reader.answer, questions))
    pages = sum(len(answer.value["pages"]) for answer in answers)
    return Rate(pages / (time.perf_counter() - began), pages / (processor_seconds() - used))


def megabytes() -> float:
    me = psutil.Process()
    return sum(process.memory_info().rss for process in [me, *me.children(recursive=True)]) / (1 << 20)


async def measure(rounds: int) -> int:
    files = sorted((DATA / "contracts" / "pdf").glob("*.pdf"), key=lambda file: -file.stat().st_size)
    cores = usable_cpus()
    shares = [[str(file)] for file in files]  # whoever is free takes the next, as the children do
    questions = [question(file) for file in files]
    found: dict[str, list[Rate]] = {"bare PDFium": [], "in the child": [], "all of it": []}
    children = WorkerPool(workers=cores)
    reader = DocumentReader(children, MemoryArtifacts(), ocr=False)
    with ProcessPoolExecutor(cores) as pool:
        for round_number in range(rounds + 1):
            row = [rates(pool, bare, shares), rates(pool, whole, shares), await read(reader, questions)]
            if round_number:  # the first one loads libraries
                for name, rate in zip(found, row, strict=True):
                    found[name].append(rate)
    print(f"{len(files)} contracts, {cores} cores")
    for name, row in found.items():
        print(
            f"{name:13} {max(r.wall for r in row):6.0f} pages/s, {max(r.core for r in row):6.0f} a second of one core"
        )
    grown = await memory(reader, questions)
    await children.aclose()
    facts = []
    for name in ("in the child", "all of it"):
        pairs = list(zip(found[name], found["bare PDFium"], strict=True))
        core = statistics.median(rate.core / other.core for rate, other in pairs)
        wall = statistics.median(rate.wall / other.wall for rate, other in pairs)
        said = f"{name}: ratio {core:.2f} by processor time, {wall:.2f} by the clock, goal {GOAL}"
        facts.append((said, core >= GOAL))
    facts.append((f"memory grew by {grown:.0f} MB over {DOCUMENTS} documents, at most {MOST_MB}", grown <= MOST_MB))
    return verdict(Path(__file__).stem, *facts)


async def memory(reader: DocumentReader, questions: list[ToolRequest]) -> float:
    """Megabytes that all processes together hold more after so many documents than after the first ones."""
    await read(reader, questions)
    before = megabytes()
    for done in range(len(questions), DOCUMENTS + 1, len(questions)):
        await read(reader, questions)
        print(f"after {done + len(questions)} documents {megabytes():.0f} MB")
    return megabytes() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    if not DATA.is_dir():
        print("the shared test documents are not beside the project")
        return 0
    return asyncio.run(measure(parser.parse_args().rounds))


if __name__ == "__main__":
    sys.exit(main())
