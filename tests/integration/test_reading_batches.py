"""What is read and written in bulk is what it would be one by one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reader_desk import Desk, pdf
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from graph.adapters.documents.document_text import encode
from graph.adapters.documents.pdf.document import MAX_BATCH_WEIGHT
from graph.adapters.documents.pdf.pdfium_calls import SLOTS
from nodes.domain.text.documents import BOX_UNIT, DocumentText, Page

WIDTH, HEIGHT, LEFT, PITCH, SIZE = 1800, 800, 50, 6, 3
LINES, WORDS = 120, 100


def line_of(page: int, line: int) -> str:
    return " ".join(f"p{page}l{line}w{word:03}" for word in range(WORDS))


def crowded(page: int, canvas: Canvas) -> None:
    canvas.setFont("Helvetica", SIZE)
    for line in range(LINES):
        canvas.drawString(LEFT, HEIGHT - 20 - PITCH * line, line_of(page, line))


async def test_pages_that_fill_a_batch_each_are_all_read_with_every_word_in_its_place(
    desk: Desk, tmp_path: Path
) -> None:
    pages = [lambda canvas, page=page: crowded(page, canvas) for page in range(3)]
    text = await desk.text(pdf(tmp_path / "a.pdf", *pages, size=(WIDTH, HEIGHT)))
    assert 2 * LINES * WORDS > SLOTS and len(line_of(0, 0)) * LINES > MAX_BATCH_WEIGHT, "else nothing is cut"
    for number, page in enumerate(text.pages):
        lines = [line_of(number, line) for line in range(LINES)]
        assert text.text[page.start : page.end] == "\n".join(lines) + "\n"
        for line in range(LINES):
            row = page.words[line * WORDS : (line + 1) * WORDS]
            width = stringWidth(lines[line], "Helvetica", SIZE)
            assert (row[0][2], row[-1][4]) == pytest.approx(
                (LEFT / WIDTH * BOX_UNIT, (LEFT + width) / WIDTH * BOX_UNIT), abs=20
            )
            middle = (row[0][3] + row[-1][5]) / 2
            assert middle == pytest.approx((20 + PITCH * line - SIZE / 3) / HEIGHT * BOX_UNIT, abs=PITCH * 3)


def test_the_bytes_of_a_text_are_its_canonical_json() -> None:
    words = ((0, 4, 1, 2, 3, 4), (5, 8, 5, 6, 7, 8))
    pages = (Page(1, "read", "", 0, 9, 595.28, 841.0, words), Page(2, "failed", 'a "reason" \\ é', 10, 10, 0.0, 0.0))
    text = DocumentText("0" * 64, 'Fée "a"\n\f', pages, "fr", ("“One”.",), ((0, 4),), ((1, "white", "\u2028x"),))
    for one in (text, DocumentText("", "", (), "")):
        plain = json.dumps(one.to_json(), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        assert encode(one) == plain.encode()
        assert encode(DocumentText.from_json(json.loads(encode(one)))) == encode(one)
