"""The tool `reader`: a file in, its text as an artifact out. Parsing and OCR run in workers that can be killed."""

from __future__ import annotations

import asyncio
import functools
import importlib.metadata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graph.adapters.documents.document_text import assemble, encode, reading_summary
from graph.adapters.documents.language import language_of
from graph.adapters.documents.ocr import tesseract
from graph.adapters.documents.ocr.outcome import apply_ocr
from graph.adapters.processes.worker_pool import WorkerDied, WorkerPool, WorkerTimeout
from nodes.domain.shared.errors import Unreadable
from nodes.domain.shared.messages import english
from nodes.ports import Artifacts, ToolAnswer, ToolRequest, Usage

PARTS = {
    "pypdfium2": "PDF text",
    "pikepdf": "repair of damaged PDFs and their embedded files",
    "lxml": "web pages",
    "python-docx": "Word documents",
}
OCR_PARTS = {"rapidocr": "OCR", "onnxruntime": "OCR"}
INSTALL_OCR = "pip install rapidocr onnxruntime"
TESSERACT = "tesseract"


@functools.cache
def version_of(package: str) -> str:
    """Installed version of a package, or "" for none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def reader_version(*, ocr: bool = True) -> str:
    """Version of the reader: changes whenever the same bytes could give another text."""
    if not ocr:
        return f"4 pdfium {version_of('pypdfium2')} ocr off"
    rapidocr = version_of("rapidocr") if version_of("onnxruntime") else ""
    tesseract_version = (
        f" tesseract {tesseract.version()} {'+'.join(tesseract.languages())}" if tesseract.languages() else ""
    )
    return f"4 pdfium {version_of('pypdfium2')} ocr {rapidocr or 'none'}{tesseract_version}"


READER_VERSION = reader_version()
"""With OCR as far as it is installed."""


@dataclass(frozen=True, slots=True)
class ReaderLimits:
    """How much one document may take."""

    seconds: float = 120
    """To read its text layer; a slow or hanging document is given up after this."""
    seconds_per_mb: float = 2
    ocr_seconds_per_page: float = 60
    max_bytes: int = 512 << 20
    max_pages: int = 5_000
    max_chars: int = 50_000_000
    ocr_chunk: int = 4
    """Pages that one worker reads by OCR before another document may have its turn."""


@dataclass(frozen=True, slots=True)
class _SourceFile:
    """What the workers need to read a document."""

    path: str
    document: str
    password: str | None
    options: Mapping[str, Any]
    """As graph.adapters.documents.document_bytes.load takes them."""


class DocumentReader:
    """Satisfies ports.Tool. `ocr` False turns OCR off; by default it is used when it is installed."""

    name = "reader"
    attempts = 1

    def __init__(
        self, pool: WorkerPool, artifacts: Artifacts, limits: ReaderLimits | None = None, *, ocr: bool = True
    ) -> None:
        self._pool = pool
        self._artifacts = artifacts
        self._limits = limits or ReaderLimits()
        self._ocr = ocr and not lacking_for_ocr()
        self._turned_off = not ocr

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return None

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        """Read the file named in the payload, store its DocumentText, tell what became of each page.

        payload: path, document, password; for an embedded file also inside (its place in that at `path`) and keys
        (passwords of what carries it). key: sha256 (of the bytes as frozen), language (where a text does not tell).
        Raises Unreadable when the bytes give no text.
        """
        file = _SourceFile(
            question.payload["path"],
            question.payload["document"],
            question.payload.get("password"),
            {
                "sha256": question.key["sha256"],
                "inside": list(question.payload.get("inside") or ()),
                "keys": list(question.payload.get("keys") or ()),
                "max_bytes": self._limits.max_bytes,
            },
        )
        language = question.key.get("language", "")
        answer = await self._read(file, question.timeouts.factor, language)
        if "stored" not in answer:
            await self._read_pictures(file, answer["pages"], language)
            answer |= await asyncio.to_thread(_text_fields, file.options["sha256"], answer, language)
        text_ref = await self._artifacts.put(answer["stored"])
        common = {key: answer[key] for key in ("kind", "attachments")}
        return ToolAnswer({"text_ref": text_ref, **answer["told"], **common})

    async def _read(self, file: _SourceFile, factor: float, language: str) -> dict[str, Any]:
        """What `read_document` answers."""
        limits, document = self._limits, file.document
        bounds = {"max_pages": limits.max_pages, "max_chars": limits.max_chars}
        options = {**file.options, **bounds, "language": language}
        try:
            size_mb = await asyncio.to_thread(megabytes, file.path)
            timeout = factor * (limits.seconds + limits.seconds_per_mb * size_mb)
            answer = await self._pool.run(read_document, file.path, file.password, options, timeout=timeout)
        except WorkerTimeout:
            advice = "open it in a PDF viewer and print it to a new PDF."
            sentence = english("parsing_timeout", document=document, seconds=f"{timeout:.0f}", advice=advice)
            raise Unreadable(sentence, word="parsing_timeout") from None
        except WorkerDied as death:
            raise Unreadable(
                f"{document} cannot be read, it brings the PDF library down ({death}): open it in a PDF viewer and "
                "print it to a new PDF."
            ) from None
        if "refused" in answer:
            values = {"document": document, "detail": answer["detail"], "max_bytes": limits.max_bytes}
            raise Unreadable(english(answer["refused"], **values))
        return dict(answer)

    async def _read_pictures(self, file: _SourceFile, pages: list[dict[str, Any]], language: str) -> None:
        """Replace the pages that need OCR by what OCR reads.

        Their language is that of the other pages; where these do not tell it, the one that is given.
        """
        numbers = [page["number"] for page in pages if page["state"] == "ocr"]
        if not numbers:
            return
        if not self._ocr:
            for page in pages:
                if page["state"] == "ocr":
                    page.update(state="failed", reason=f"needs OCR, which is {self._reason_without_ocr()}")
            return
        language = language_of(" ".join(page["text"] for page in pages if page["state"] == "read")) or language
        file = replace(file, options={**file.options, "language": language})
        size = self._limits.ocr_chunk
        chunks = [numbers[start : start + size] for start in range(0, len(numbers), size)]
        slots = asyncio.Semaphore(self._pool.workers)  # or one long scan would queue before all other documents
        results: dict[int, dict[str, Any]] = {}

        async def read(chunk: list[int]) -> None:
            async with slots:
                results.update(await self._ocr_chunk(file, chunk))

        async with asyncio.TaskGroup() as group:
            for chunk in chunks:
                group.create_task(read(chunk))
        for page in pages:
            if page["state"] == "ocr":
                apply_ocr(page, results[page["number"]])

    def _reason_without_ocr(self) -> str:
        return "turned off: REPRISE_OCR" if self._turned_off else f"not installed: {INSTALL_OCR}"

    async def _ocr_chunk(self, file: _SourceFile, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Read these pages by OCR; a page that hangs or kills its worker costs only itself."""
        timeout = 30 + self._limits.ocr_seconds_per_page * len(numbers)
        arguments = (file.path, file.password, file.options, list(numbers))
        try:
            rows = await self._pool.run(ocr_pages, *arguments, timeout=timeout)
            return {row["number"]: row for row in rows}
        except (WorkerTimeout, WorkerDied) as error:
            if len(numbers) == 1:
                reason = "took too long" if isinstance(error, WorkerTimeout) else f"broke off: {error}"
                return {numbers[0]: {"failed": f"needs OCR, which {reason}"}}
        rows_by_number: dict[int, dict[str, Any]] = {}
        for number in numbers:
            rows_by_number.update(await self._ocr_chunk(file, [number]))
        return rows_by_number


def read_document(path: str, password: str | None, options: dict[str, Any]) -> dict[str, Any]:
    """Call graph.adapters.documents.file_reader, which only workers import."""
    from graph.adapters.documents import file_reader as read_file

    return read_file.read_document(path, password, options)


def ocr_pages(path: str, password: str | None, options: dict[str, Any], numbers: list[int]) -> list[dict[str, Any]]:
    """Call graph.adapters.documents.ocr.recognition, which only workers import: its libraries load slowly."""
    from graph.adapters.documents.ocr import recognition as ocr

    return ocr.ocr_pages(path, password, options, numbers)


def _text_fields(sha256: str, answer: Mapping[str, Any], language: str) -> dict[str, Any]:
    text = assemble(sha256, answer, language)
    return {"told": reading_summary(text), "stored": encode(text)}


def megabytes(path: str) -> float:
    """Size of the file in MB; 0 when it is not there, which the worker will say."""
    try:
        return Path(path).stat().st_size / (1 << 20)
    except OSError:
        return 0.0


def lacking_for_ocr(language: str = "") -> list[str]:
    """Parts that are missing for OCR in this language; [] when it can be read."""
    if tesseract.data_for(language):
        return []
    return [part for part in OCR_PARTS if not version_of(part)]


def describe() -> dict[str, str]:
    """What this installation reads with: part to version, "" for a part that is missing."""
    languages = ", ".join(tesseract.languages()) or "no language of ours"
    return {
        **{part: version_of(part) for part in {**PARTS, **OCR_PARTS}},
        TESSERACT: f"{tesseract.version()} ({languages})" if tesseract.version() else "",
    }
