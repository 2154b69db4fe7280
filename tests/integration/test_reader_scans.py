"""Pages that show a picture: when they are read by OCR, and what passes for their text."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from reader_desk import LEASE, Desk, changed, check_offsets, pdf, says, words
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from graph.adapters.documents.layout.reading_order import in_order
from graph.adapters.documents.layout.running_text import Word, lay_out
from graph.adapters.documents.reader import DocumentReader, version_of
from nodes.domain.text.documents import BOX_UNIT

needs_ocr = pytest.mark.skipif(not version_of("rapidocr"), reason="rapidocr is not installed")
PICTURE = (960, 540)
"""Dots of a scan, 150 to the inch."""


def picture(*lines: str, turn: int = 0) -> Any:
    """No larger than its lines need: what OCR costs grows with the paper."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("L", PICTURE, 255)
    font = ImageFont.load_default(36)
    for number, line in enumerate(lines):
        ImageDraw.Draw(image).text((120, 150 + 70 * number), line, fill=0, font=font)
    return image.rotate(turn, expand=True)


def scan(path: Path, *images: Any) -> Path:
    from reportlab.lib.utils import ImageReader

    canvas = Canvas(str(path))
    for image in images:
        size = (image.width * 72 / 150, image.height * 72 / 150)
        canvas.setPageSize(size)
        canvas.drawImage(ImageReader(image), 0, 0, *size)
        canvas.showPage()
    canvas.save()
    return path


@needs_ocr
async def test_a_text_layer_of_signs_without_letters_is_kept_where_ocr_finds_no_more(
    desk: Desk, tmp_path: Path
) -> None:
    signs = pdf(tmp_path / "a.pdf", says('"#+%-', top=150), size=(300, 200))
    ((_, state, reason),) = (await desk.ask(signs))["pages"]
    assert (state, reason) == ("read", "text layer has hardly any letters; OCR found no more")


@needs_ocr
async def test_a_picture_of_a_page_is_read_by_ocr_with_its_confidence(desk: Desk, tmp_path: Path) -> None:
    upright = picture("The supplier shall indemnify the customer.", "Governing law: France", "Payment within 30 days")
    text = await desk.text(scan(tmp_path / "a.pdf", upright, upright.rotate(90, expand=True)))
    assert [page.state for page in text.pages] == ["ocr", "ocr"]
    assert text.pages[0].reason.startswith("no text layer (mean confidence ")
    check_offsets(text)
    for page in text.pages:
        assert "The supplier shall indemnify the customer." in text.text[page.start : page.end]
    x0, y0, _, y1 = words(text)["Governing"]
    assert x0 == pytest.approx(120 / PICTURE[0] * BOX_UNIT, abs=100)
    assert y0 < 240 / PICTURE[1] * BOX_UNIT < y1
    turned = words(text, 2)["Governing"]
    left = BOX_UNIT * (1 - 120 / PICTURE[0])
    assert turned[1] < left and turned[3] == pytest.approx(left, abs=100)


@needs_ocr
async def test_a_stamp_over_a_scan_does_not_pass_for_its_text(desk: Desk, tmp_path: Path) -> None:
    plain = scan(tmp_path / "a.pdf", picture("The supplier shall indemnify the customer."))
    stamp = io.BytesIO()
    canvas = Canvas(stamp)
    says("12 May 2024", top=40)(canvas)
    canvas.save()

    def add(document: pikepdf.Pdf) -> None:
        with pikepdf.open(stamp) as other:
            document.pages[0].add_overlay(other.pages[0])

    text = await desk.text(changed(plain, tmp_path / "b.pdf", add))
    assert "indemnify" in text.text and text.pages[0].reason.startswith("almost no text over a picture")


async def test_the_invisible_text_of_a_scan_is_its_text(desk: Desk, tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(picture(LEASE)), 0, 0, *A4)
        layer = canvas.beginText(72, 700)
        layer.setTextRenderMode(3)
        layer.textLines("\n".join([LEASE] * 4))
        canvas.drawText(layer)

    text = await desk.text(pdf(tmp_path / "a.pdf", draw))
    assert (text.pages[0].state, text.hidden) == ("read", ())
    assert text.text.count(LEASE) == 4
    assert text.warnings == ("The text of page 1 is the OCR layer that came with the scan; it was not checked.",)


async def test_without_ocr_a_page_that_needs_it_fails_with_the_way_to_get_it(desk: Desk, tmp_path: Path) -> None:
    desk.reader = DocumentReader(desk.children, desk.artifacts, ocr=False)
    ((_, state, reason),) = (await desk.ask(scan(tmp_path / "a.pdf", picture("text"))))["pages"]
    assert state == "failed" and reason.startswith("needs OCR, which is ")


def column(left: int, *texts: str) -> list[list[Word]]:
    return [[Word(text, left, 1000 + 200 * n, left + 4000, 1150 + 200 * n, False)] for n, text in enumerate(texts)]


def test_ocr_lines_of_two_columns_are_read_one_column_after_the_other() -> None:
    title = [Word("Title", 500, 500, 9000, 700, False)]
    lines = [title, *column(500, *"abcdef"), *column(5200, *"uvwxyz")]
    laid = lay_out(word for line in in_order(lines) for word in line)
    assert "".join(laid.text.split()) == "Titleabcdefuvwxyz"
