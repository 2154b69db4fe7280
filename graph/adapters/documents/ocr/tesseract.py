"""OCR by Tesseract, where it is installed with the data of the document's language. Runs in a worker process.

Measured on the French scans of the tests: as many characters right as RapidOCR, in a sixth of its time. Pages go to it
and their words come back through pipes: a library for it would lay them down as files.
"""

from __future__ import annotations

import functools
import io
import os
import shutil
import subprocess
import sys
from typing import Any

from graph.adapters.documents.ocr.lines import OcrLine, OcrWord
from graph.adapters.processes.worker import end_with_parent

DATA = {"fr": "fra", "en": "eng"}
"""What Tesseract calls our languages."""
SECONDS = 120
"""For one page; the usual one takes one or two."""


def version() -> str:
    """Version of the installed program, such as 5.3.0; "" when there is none."""
    lines = _installation()[0]
    return lines[0].split()[-1] if lines else ""


def languages() -> tuple[str, ...]:
    """Codes of our languages whose data is installed."""
    installed = set(_installation()[1][1:])
    return tuple(code for code, data in DATA.items() if data in installed)


def data_for(language: str) -> str:
    """Name of the data with which it reads this language, "" meaning any of ours; "" when it cannot."""
    codes = [language] if language else list(DATA)
    return "+".join(DATA[code] for code in codes) if version() and set(codes) <= set(languages()) else ""


@functools.cache
def _installation() -> tuple[list[str], list[str]]:
    """Ask the program for version and languages, a list of lines each; both at once, for a start waits for them."""
    program = shutil.which("tesseract")
    if program is None:
        return [], []
    options = ("--version", "--list-langs")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    try:
        processes = [subprocess.Popen([program, option], **pipes) for option in options]  # type: ignore[call-overload]
        outputs = [(process.communicate(timeout=10)[0] or "", process.returncode) for process in processes]
    except (OSError, subprocess.SubprocessError):
        return [], []
    version_lines, language_lines = ([] if code else lines.splitlines() for lines, code in outputs)
    return version_lines, language_lines


def recognise(picture: Any, dpi: int, data: str) -> list[OcrLine]:
    """The lines of a grey picture; none when Tesseract fails, which is then for another to read."""
    from PIL import Image

    page = io.BytesIO()
    Image.fromarray(picture).save(page, "PNG", compress_level=1)
    own_pid = os.getpid()
    try:
        process = subprocess.run(
            ["tesseract", "-", "-", "-l", data, "--dpi", str(dpi), "tsv"],
            input=page.getvalue(),
            capture_output=True,
            timeout=SECONDS,
            check=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            preexec_fn=(lambda: end_with_parent(own_pid))
            if sys.platform == "linux"
            else None,  # a killed child takes it along
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return lines_of(process.stdout.decode("utf-8", "replace"))


def lines_of(table: str) -> list[OcrLine]:
    """Lines of Tesseract's table of words: level, page, block, paragraph, line, word, box, confidence, text."""
    lines: dict[tuple[str, ...], list[tuple[OcrWord, float]]] = {}
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) == 12 and cells[0] == "5" and cells[11].strip():
            x, y, width, height, confidence = (float(cell) for cell in cells[6:11])
            word = (cells[11], x, y, x + width, y + height)
            lines.setdefault(tuple(cells[2:5]), []).append((word, max(confidence, 0.0) / 100))
    ocr_lines = []
    for words in lines.values():
        letters = sum(len(word[0]) for word, _ in words)
        mean = sum(confidence * len(word[0]) for word, confidence in words) / letters
        ocr_lines.append(OcrLine([word for word, _ in words], mean))
    return ocr_lines
