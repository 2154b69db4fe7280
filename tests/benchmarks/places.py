"""Whether a quote is found on the page where people say that it is, and whether its boxes show it.

python tests/benchmarks/places.py [--crops 40] [--keep FOLDER]

Every gold span of the contracts is located by its text alone; the page is compared with the gold page. Of a sample,
the page is drawn, cut at the boxes and read by OCR: the words of the quote must be there.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pypdfium2 as pdfium

from stage import verdict  # isort: skip  # it makes the other ones importable
from paths import DATA
from rapidfuzz.fuzz import partial_ratio

from graph.adapters.documents.ocr.rapid_ocr import recognise
from graph.adapters.documents.reader import READER_VERSION, DocumentReader
from graph.adapters.processes.worker_pool import WorkerPool
from graph.adapters.storage.folder_artifacts import MemoryArtifacts
from nodes.domain.evidence.findings import Location
from nodes.domain.evidence.quote_locator import Locator
from nodes.domain.text.documents import DocumentText
from nodes.ports import ToolRequest

FOLDER = DATA / "contracts"
DPI, MARGIN = 150, 0.004
LIKE, SHOWN = 85.0, 0.95
"""Likeness, in percent, of what OCR reads in the crop; share of the crops that must reach it."""
PAGES_RIGHT = 0.99


async def texts(names: list[str]) -> dict[str, DocumentText]:
    children, artifacts = WorkerPool(), MemoryArtifacts()
    reader = DocumentReader(children, artifacts)

    async def one(name: str) -> DocumentText:
        path = FOLDER / "pdf" / f"{name}.pdf"
        key = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "reader": READER_VERSION, "language": ""}
        payload = {"path": str(path), "document": path.name, "password": None}
        answer = await reader.answer(ToolRequest("reader", "extract", key, payload))
        return DocumentText.from_json(json.loads(await artifacts.get(answer.value["text_ref"])))

    found = await asyncio.gather(*map(one, names))
    await children.aclose()
    return dict(zip(names, found, strict=True))


def crops(name: str, location: Location) -> list[tuple[int, Any]]:
    """(page, grey picture) of each run of boxes on one page."""
    document = pdfium.PdfDocument(FOLDER / "pdf" / f"{name}.pdf")
    made = []
    for number in sorted({box.page for box in location.boxes}):
        boxes = [box for box in location.boxes if box.page == number]
        picture = document[number - 1].render(scale=DPI / 72, grayscale=True).to_numpy()
        picture = picture.reshape(picture.shape[0], picture.shape[1])
        high, wide = picture.shape
        left = int((min(box.x0 for box in boxes) - MARGIN) * wide)
        right = int((max(box.x1 for box in boxes) + MARGIN) * wide)
        blank = np.full_like(picture, 255)
        for box in boxes:
            y0, y1 = int((box.y0 - MARGIN / 2) * high), int((box.y1 + MARGIN / 2) * high)
            x0, x1 = int((box.x0 - MARGIN) * wide), int((box.x1 + MARGIN) * wide)
            y0, x0 = max(y0, 0), max(x0, 0)
            blank[y0:y1, x0:x1] = picture[y0:y1, x0:x1]
        top, bottom = (
            int((min(box.y0 for box in boxes) - 0.02) * high),
            int((max(box.y1 for box in boxes) + 0.02) * high),
        )
        made.append((number, np.ascontiguousarray(blank[max(top, 0) : bottom, max(left - 20, 0) : right + 20])))
    document.close()
    return made


def read_back(pictures: list[tuple[int, Any]]) -> str:
    lines = [line for _, picture in pictures for line in recognise(picture)[0]]
    return " ".join(word[0] for line in lines for word in line.words)


def squeezed(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crops", type=int, default=40)
    parser.add_argument("--keep", type=Path, help="a folder for the crops, to be looked at")
    given = parser.parse_args()
    if not FOLDER.is_dir():
        print("the shared test documents are not beside the project")
        return 0
    names = sorted(file.stem for file in (FOLDER / "pdf").glob("*.pdf"))
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in map(json.loads, (FOLDER / "gold.jsonl").read_text("utf-8").splitlines()):
        if row["doc"] in names and row.get("page"):
            by_name[row["doc"]].append(row)
    located: list[tuple[dict[str, Any], Location]] = []
    for name, text in asyncio.run(texts(names)).items():
        locator = Locator(text)
        length = max((row["end"] for row in by_name[name]), default=1)
        for row in by_name[name]:
            # A quote that stands in several places is looked for near its own; the file of the gold is another text.
            located.append((row, locator.locate(row["text"], int(row["start"] / length * len(text.text)))))
    return judge(located, given.crops, given.keep)


def judge(located: list[tuple[dict[str, Any], Location]], wanted: int, keep: Path | None) -> int:
    alignments = Counter(place.alignment for _, place in located)
    found = [(row, place) for row, place in located if place.page is not None]
    single = [(row, place) for row, place in found if row["occurrences"] == 1]
    right, right_single = (sum(p.page == row["page"] for row, p in rows) for rows in (found, single))
    print(f"{len(located)} gold spans: {', '.join(f'{n} {kind}' for kind, n in alignments.items())}")
    for row, place in single:
        if place.page != row["page"]:
            print(f"  {row['doc']} {row['clause_type']}: gold {row['page']}, found {place.page}: {row['text'][:70]!r}")
    random.seed(7)
    sample = random.sample([pair for pair in found if len(pair[0]["text"]) > 30], wanted)
    shown = 0
    for row, place in sample:
        pictures = crops(row["doc"], place)
        likeness = partial_ratio(squeezed(row["text"]), squeezed(read_back(pictures)))
        shown += likeness >= LIKE
        if likeness < LIKE:
            print(f"  crop of {row['doc']} page {place.page} is {likeness:.0f} % like {row['text'][:70]!r}")
        if keep:
            _keep(keep, row, pictures)
    return verdict(
        Path(__file__).stem,
        (f"{len(found)} of {len(located)} gold spans located", len(found) >= 0.98 * len(located)),
        (
            f"page right for {right_single} of {len(single)} quotes that occur once",
            right_single >= PAGES_RIGHT * len(single),
        ),
        (f"page right for {right} of all {len(found)}", right >= 0.95 * len(found)),
        (f"{shown} of {len(sample)} crops show their quote to OCR", shown >= SHOWN * len(sample)),
    )


def _keep(folder: Path, row: dict[str, Any], pictures: list[tuple[int, Any]]) -> None:
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for number, picture in pictures:
        Image.fromarray(picture).save(folder / f"{row['doc']}_{number}_{row['start']}.png")


if __name__ == "__main__":
    sys.exit(main())
