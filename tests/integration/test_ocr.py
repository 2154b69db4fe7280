"""Which recogniser reads a scanned page, and what is said before a run where none can."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hashlib
import os
from pathlib import Path
from typing import Any

import psutil
import pytest
import reportlab
from PIL import Image, ImageDraw, ImageFont
from processes import PATIENCE
from reader_desk import Desk
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from graph import Reprise
from graph.adapters.documents import reader
from graph.adapters.documents.ocr import recognition as ocr
from graph.adapters.documents.ocr import tesseract
from graph.adapters.processes.worker_pool import WorkerDied, WorkerPool
from nodes.domain.shared.errors import MissingPart

needs_tesseract = pytest.mark.skipif(
    not tesseract.data_for(""), reason="Tesseract is not installed with its data for French and English"
)
FRENCH = "Le préavis dû à l'acheteur est de trente-cinq jours, même à la clôture de l'œuvre."
HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"


def scan(path: Path, *lines: str) -> Path:
    image = Image.new("L", (1654, 640), 255)
    letters = ImageFont.truetype(str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"), 30)
    for number, line in enumerate(lines):
        ImageDraw.Draw(image).text((120, 150 + 80 * number), line, fill=0, font=letters)
    canvas = Canvas(str(path), pagesize=(595, 230))
    canvas.drawImage(ImageReader(image), 0, 0, 595, 230)
    canvas.save()
    return path


def test_words_of_a_line_keep_their_boxes_and_their_mean_confidence_by_letters() -> None:
    rows = [
        "4\t1\t1\t1\t1\t0\t10\t10\t90\t12\t-1\t",
        "5\t1\t1\t1\t1\t1\t10\t10\t20\t12\t90\tnet",
        "5\t1\t1\t1\t1\t2\t40\t",
    ]
    rows += [
        "5\t1\t1\t1\t1\t3\t40\t10\t9\t12\t50\tof",
        "5\t1\t1\t1\t2\t1\t10\t40\t20\t12\t80\ttax",
        "5\t1\t1\t1\t2\t2\t1\t1\t1\t1\t9\t ",
    ]
    first, second = tesseract.lines_of("\n".join([HEAD, *rows]))
    assert first.words == [("net", 10, 10, 30, 22), ("of", 40, 10, 49, 22)]
    assert first.confidence == pytest.approx((3 * 0.9 + 2 * 0.5) / 5)
    assert [word[0] for word in second.words] == ["tax"]


def test_a_program_that_fails_or_says_nothing_reads_no_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "tesseract"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    import numpy

    assert tesseract.recognise(numpy.full((40, 40), 255, numpy.uint8), 200, "fra") == []
    tesseract._installation.cache_clear()
    assert (tesseract.version(), tesseract.languages(), tesseract.data_for("fr")) == ("", (), "")
    tesseract._installation.cache_clear()


def test_without_the_data_of_a_language_tesseract_reads_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tesseract, "version", lambda: "5.3.0")
    monkeypatch.setattr(tesseract, "languages", lambda: ("en",))
    assert tesseract.data_for("en") == "eng"
    assert tesseract.data_for("fr") == "" and tesseract.data_for("") == ""


def test_a_page_that_tesseract_is_unsure_of_is_read_by_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    sure, unsure, other = ([ocr.OcrLine([("x", 0, 0, 1, 1)], share)] for share in (0.95, 0.4, 0.9))
    monkeypatch.setattr(ocr.rapid_ocr, "read_upright", lambda picture: (0, other, (1, 1)))
    picture: Any = Image.new("L", (1, 1))
    picture.shape = (1, 1)
    for lines, wanted in ((sure, sure), (unsure, other), ([], other)):
        monkeypatch.setattr(ocr.tesseract, "recognise", lambda *_, lines=lines: lines)
        assert ocr.recognise(picture, "fra")[1] == wanted
    assert ocr.recognise(picture, "")[1] == other


@needs_tesseract
async def test_french_accents_of_a_scan_are_kept(desk: Desk, tmp_path: Path) -> None:
    text = await desk.text(scan(tmp_path / "a.pdf", FRENCH), language="fr")
    assert FRENCH.replace("œ", "oe") in text.text.replace("œ", "oe").replace("’", "'")
    assert text.pages[0].state == "ocr" and text.pages[0].words


async def test_a_run_is_refused_before_it_begins_where_scans_could_not_be_read(
    reprise: Reprise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan(tmp_path / "a.pdf", "Confidential")
    monkeypatch.setattr(reader, "version_of", lambda part: "")
    monkeypatch.setattr(tesseract, "languages", lambda: ())
    with pytest.raises(MissingPart, match=r"rapidocr and onnxruntime are missing: pip install .*REPRISE_OCR=false"):
        await reprise.start(str(tmp_path))
    assert await reprise.runs() == []
    reprise.container = dataclasses.replace(
        reprise.container, settings=reprise.container.settings.model_copy(update={"ocr": False})
    )
    assert (await reprise.start(str(tmp_path))).documents["total"] == 1


def name_of(process: psutil.Process) -> str:
    """Nothing of one that has just ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.name()
    return ""


async def test_a_child_that_is_killed_takes_its_tesseract_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, hang = scan(tmp_path / "a.pdf", "Confidential"), tmp_path / "tesseract"
    said = "--version) echo tesseract 5;; --list-langs) printf 'in /\\nfra\\neng\\n';;"
    hang.write_text(f"#!/bin/sh\ncase $1 in {said} *) exec sleep 900;; esac\n")
    hang.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    children = WorkerPool(workers=1)
    try:
        options = {"sha256": hashlib.sha256(page.read_bytes()).hexdigest(), "max_bytes": 1 << 20, "language": ""}
        task = asyncio.create_task(children.run(ocr.ocr_pages, str(page), None, options, [1], timeout=PATIENCE))
        found: list[psutil.Process] = []
        while not found and not task.done():
            await asyncio.sleep(0.05)
            found = [process for process in psutil.Process().children(recursive=True) if name_of(process) == "sleep"]
        psutil.Process(found[0].ppid()).kill()
        with pytest.raises(WorkerDied, match="SIGKILL"):
            await task
        assert psutil.wait_procs(found, timeout=PATIENCE)[1] == []
    finally:
        await children.aclose()
