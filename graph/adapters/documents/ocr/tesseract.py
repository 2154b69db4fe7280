"""OCR by Tesseract, where it is installed with the data of the document's language. Runs in a child.

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
from graph.adapters.processes.worker import die_with

DATA = {"fr": "fra", "en": "eng"}
"""What Tesseract calls our languages."""
SECONDS = 120
"""For one page; the usual one takes one or two."""


def version() -> str:
    """Such as 5.3.0; "" when it is not installed."""
    said = _installation()[0]
    return said[0].split()[-1] if said else ""


def languages() -> tuple[str, ...]:
    """Those of ours whose data is installed."""
    there = set(_installation()[1][1:])
    return tuple(ours for ours, theirs in DATA.items() if theirs in there)


def data_for(language: str) -> str:
    """Name of the data with which it reads this language, "" meaning any of ours; "" when it cannot."""
    wanted = [language] if language else list(DATA)
    return "+".join(DATA[one] for one in wanted) if version() and set(wanted) <= set(languages()) else ""


@functools.cache
def _installation() -> tuple[list[str], list[str]]:
    """What it says of its version and its languages, a list of lines each; asked at once, for a start waits for it."""
    program = shutil.which("tesseract")
    if program is None:
        return [], []
    options = ("--version", "--list-langs")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    try:
        asked = [subprocess.Popen([program, option], **pipes) for option in options]  # type: ignore[call-overload]
        said = [(one.communicate(timeout=10)[0] or "", one.returncode) for one in asked]
    except (OSError, subprocess.SubprocessError):
        return [], []
    version, listed = ([] if code else lines.splitlines() for lines, code in said)
    return version, listed


def recognise(picture: Any, dpi: int, data: str) -> list[OcrLine]:
    """The lines of a grey picture; none when Tesseract fails, which is then for another to read."""
    from PIL import Image

    page = io.BytesIO()
    Image.fromarray(picture).save(page, "PNG", compress_level=1)
    me = os.getpid()
    try:
        done = subprocess.run(
            ["tesseract", "-", "-", "-l", data, "--dpi", str(dpi), "tsv"],
            input=page.getvalue(),
            capture_output=True,
            timeout=SECONDS,
            check=True,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
            preexec_fn=(lambda: die_with(me)) if sys.platform == "linux" else None,  # a killed child takes it along
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return lines_of(done.stdout.decode("utf-8", "replace"))


def lines_of(table: str) -> list[OcrLine]:
    """Lines of Tesseract's table of words: level, page, block, paragraph, line, word, box, confidence, text."""
    lines: dict[tuple[str, ...], list[tuple[OcrWord, float]]] = {}
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) == 12 and cells[0] == "5" and cells[11].strip():
            left, top, wide, high, sure = (float(cell) for cell in cells[6:11])
            word = (cells[11], left, top, left + wide, top + high)
            lines.setdefault(tuple(cells[2:5]), []).append((word, max(sure, 0.0) / 100))
    found = []
    for words in lines.values():
        letters = sum(len(word[0]) for word, _ in words)
        mean = sum(sure * len(word[0]) for word, sure in words) / letters
        found.append(OcrLine([word for word, _ in words], mean))
    return found
