"""What the tests of the command line share: small contracts that a person must look at, commands, refusals."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from graph.surfaces.cli import main as cli

Ended = subprocess.CompletedProcess[str]

CLAUSES = (
    '1. This Agreement is made between Firm {number} Ltd (the "Supplier") and Meridian Foods SA (the "Customer").',
    "2. Term. This Agreement renews automatically for successive periods of thirty-six (36) months each, unless the",
    "Customer gives written notice of non-renewal one hundred and eighty (180) days before the end of the term.",
    "3. Damages. If the Customer breaches this Section, the Customer shall pay the Supplier, as liquidated damages",
    "and not as a penalty, an amount equal to three times the annual fees.",
    "4. Governing Law. This Agreement is governed by the laws of France.",
)


def room(folder: Path, count: int = 3) -> Path:
    """A folder of small contracts, each with two clauses that a person must look at."""
    folder.mkdir(parents=True)
    for number in range(count):
        canvas = Canvas(str(folder / f"contract {number}.pdf"), invariant=1)
        for line, clause in enumerate(CLAUSES):
            canvas.drawString(40, 780 - 30 * line, clause.format(number=number))
        canvas.save()
    return folder


def run_here(arguments: Sequence[Any], env: Mapping[str, str], capsys: pytest.CaptureFixture[str]) -> Ended:
    """A command in this process, for what needs no process of its own: it saves the start of an interpreter."""
    before = signal.getsignal(signal.SIGTERM)
    capsys.readouterr()
    try:
        with pytest.MonkeyPatch.context() as patch:
            for name in env:
                if name.startswith(("REPRISE_", "OPENAI_")):
                    patch.setenv(name, env[name])
            code = cli.run([str(argument) for argument in arguments])
    finally:
        signal.signal(signal.SIGTERM, before)
    captured = capsys.readouterr()
    return subprocess.CompletedProcess(list(arguments), code, captured.out, captured.err)


def refused(ended: Ended, code: int) -> str:
    """The one sentence of a command that was refused with this exit code and printed nothing else."""
    assert (ended.returncode, ended.stdout) == (code, ""), ended.stderr
    lines = ended.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: "), ended.stderr
    assert "Traceback" not in lines[0]
    return lines[0]


def objects(ended: Ended) -> list[dict[str, Any]]:
    """What a command printed, one object a line."""
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]
