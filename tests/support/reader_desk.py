"""A reader with its children, and documents made for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pikepdf
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from graph.adapters.documents.layout.running_text import clean
from graph.adapters.documents.reader import READER_VERSION, DocumentReader
from graph.adapters.processes.worker_pool import WorkerPool
from graph.adapters.storage.folder_artifacts import MemoryArtifacts
from nodes.domain.text.documents import BOX_UNIT, DocumentText, SourceDocument
from nodes.ports import ToolRequest

LEASE = "The Supplier shall indemnify the Customer against all losses."


class Desk:
    """A reader with its children and artifacts, and short ways to ask it."""

    def __init__(self, children: WorkerPool) -> None:
        self.children = children
        self.artifacts = MemoryArtifacts()
        self.reader = DocumentReader(children, self.artifacts)

    async def ask(self, path: Path, password: str | None = None, **fields: Any) -> dict[str, Any]:
        sha256 = fields.pop("sha256", "") or hashlib.sha256(path.read_bytes()).hexdigest()
        key = {"sha256": sha256, "reader": READER_VERSION, "language": fields.pop("language", "")}
        payload = {"path": str(path), "document": path.name, "password": password, **fields}
        return dict((await self.reader.answer(ToolRequest("reader", "extract", key, payload))).value)

    async def text(self, path: Path, password: str | None = None, **fields: Any) -> DocumentText:
        value = await self.ask(path, password, **fields)
        return DocumentText.from_json(json.loads(self.artifacts.objects[value["text_ref"]]))

    async def text_of(self, document: SourceDocument, keys: Sequence[str] = ()) -> DocumentText:
        """The text of a listed document, embedded ones included."""
        inside, sha256 = document.inside, document.sha256
        return await self.text(Path(document.path), sha256=sha256, inside=inside, keys=keys)


def pdf(path: Path, *pages: Callable[[Canvas], object], size: tuple[float, float] = A4) -> Path:
    canvas = Canvas(str(path), pagesize=size)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def says(*lines: str, left: float = 72, top: float = 770, pitch: float = 14) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        for number, line in enumerate(lines):
            canvas.drawString(left, top - pitch * number, line)

    return draw


def ghost(*lines: str, top: float = 600) -> Callable[[Canvas], None]:
    """Text drawn without ink."""

    def draw(canvas: Canvas) -> None:
        text = canvas.beginText(72, top)
        text.setTextRenderMode(3)
        text.textLines("\n".join(lines))
        canvas.saveState()
        canvas.drawText(text)
        canvas.restoreState()

    return draw


def changed(source: Path, target: Path, change: Callable[[pikepdf.Pdf], object], **save: Any) -> Path:
    with pikepdf.open(source) as document:
        change(document)
        document.save(target, **save)
    return target


def words(text: DocumentText, page: int = 1) -> dict[str, tuple[int, int, int, int]]:
    """Where each word of a page stands."""
    return {text.text[word[0] : word[1]]: word[2:] for word in text.pages[page - 1].words}


def check_offsets(text: DocumentText) -> None:
    """Every word at its place, every page in order, nothing in the text that storage refuses."""
    for page in text.pages:
        inside = [text.text[start:end] for start, end, *_ in page.words]
        if text.unit != "page":
            assert not inside
            continue
        assert all(word and not any(char.isspace() for char in word) for word in inside)
        assert " ".join(inside) == " ".join(text.text[page.start : page.end].split())
        for start, end, x0, y0, x1, y1 in page.words:
            assert page.start <= start < end <= page.end
            assert 0 <= x0 <= x1 <= BOX_UNIT and 0 <= y0 <= y1 <= BOX_UNIT
    text.text.encode()
    plain = text.text.replace("\n", "").replace("\f", "")
    assert clean(plain) == plain
