"""A page on which OCR sees no word: bare paper holds nothing, anything else has not been read, and the note says so."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
from PIL import Image, ImageDraw
from reader_desk import LEASE, Desk, pdf, says
from reportlab.lib.pagesizes import A6, landscape
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from graph import Reprise
from graph.adapters.documents.ocr.outcome import FEW_LETTERS, apply_ocr
from graph.adapters.documents.ocr.recognition import is_blank
from graph.adapters.documents.pdf import page as pdf_page
from graph.adapters.documents.reader import lacking_for_ocr

needs_ocr = pytest.mark.skipif(bool(lacking_for_ocr()), reason="no OCR is installed")
SHEET = landscape(A6)
"""What OCR costs grows with the paper, and what is told of it does not."""
DPI, WIDE, HIGH = 150, 875, 620


def paper() -> Image.Image:
    """As a scanner sees an empty sheet: grain, light from one side, dust, the shadow of the lid."""
    random = numpy.random.default_rng(7)
    sheet = 235 - numpy.linspace(0, 40, WIDE)[None, :] + random.normal(0, 8, (HIGH, WIDE))
    for row, column in random.integers(60, 580, (60, 2)).tolist():
        sheet[row : row + 3, column : column + 3] = 60
    sheet[:10], sheet[:, -15:] = 20, 40
    return Image.fromarray(sheet.clip(0, 255).astype(numpy.uint8))


def ticked() -> Image.Image:
    sheet = paper()
    ImageDraw.Draw(sheet).line([(200, 200), (215, 225), (240, 180)], fill=0, width=3)
    return sheet


def shown(image: Image.Image) -> object:
    return lambda canvas: canvas.drawImage(ImageReader(image), 0, 0, *SHEET)


def drawing(canvas: Canvas) -> None:
    for step in range(4):
        canvas.rect(60 + 40 * step, 20, 25, 50 + 30 * step, fill=1)


@needs_ocr
async def test_bare_paper_is_empty_and_a_drawing_or_a_mark_was_not_read(desk: Desk, tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", shown(paper()), shown(ticked()), drawing, lambda canvas: None, size=SHEET)  # type: ignore[arg-type]
    pages = (await desk.text(path)).pages
    assert [page.state for page in pages] == ["empty", "failed", "failed", "empty"]
    assert pages[0].reason == "no text layer; OCR found no words, and nothing stands on the page"
    assert {page.reason for page in pages[1:3]} == {
        "no text layer; OCR found no words, though something stands on the page"
    }
    assert pages[3].reason == "nothing on the page"


@pytest.mark.parametrize(
    ("draw", "plain"),
    [
        (lambda pen: None, True),
        (lambda pen: pen.line([(200, 200), (215, 225), (240, 180)], fill=0, width=3), False),
        (lambda pen: pen.line([(100, 400), (775, 400)], fill=120, width=3), False),
        (lambda pen: pen.rectangle([0, 0, WIDE, HIGH // 2], fill=0), False),
    ],
    ids=["nothing", "a tick", "a grey rule", "half the page"],
)
def test_the_smallest_mark_of_a_pen_is_told_from_dust(draw: object, plain: bool) -> None:
    sheet = paper()
    draw(ImageDraw.Draw(sheet))  # type: ignore[operator]
    assert is_blank(numpy.asarray(sheet), DPI) is plain


def test_signs_of_which_ocr_sees_no_more_are_what_the_page_has() -> None:
    page = {"state": "ocr", "reason": FEW_LETTERS, "text": "* * *\n"}
    apply_ocr(page, {"text": "", "words": "", "edges": [], "confidence": 0.0, "ink": True})
    assert (page["state"], page["reason"]) == ("read", f"{FEW_LETTERS}; OCR found no more")
    assert FEW_LETTERS in Path(pdf_page.__file__).read_text("utf-8")


def test_a_garbled_text_layer_of_which_ocr_sees_nothing_does_not_pass_for_a_page_that_was_read() -> None:
    page = {"state": "ocr", "reason": "text layer is garbled", "text": "3HQCQtSURVWHGN\n"}
    apply_ocr(page, {"text": "-", "words": "-", "edges": [], "confidence": 0.99, "ink": False})
    assert page["state"] == "failed" and page["text"].startswith("3HQ")


@pytest.mark.parametrize(
    ("said", "confidence", "state"), [("ww", 0.75, "failed"), ("Page 9", 0.75, "ocr"), ("7", 0.9, "ocr")]
)
def test_two_letters_that_ocr_is_not_sure_of_are_no_word(said: str, confidence: float, state: str) -> None:
    page = {"state": "ocr", "reason": "no text layer", "text": ""}
    apply_ocr(page, {"text": said, "words": said, "edges": [], "confidence": confidence, "ink": True})
    assert page["state"] == state


@needs_ocr
async def test_a_run_names_the_page_on_which_ocr_saw_nothing_and_does_not_count_it_as_read(
    reprise: Reprise, tmp_path: Path
) -> None:
    folder = tmp_path / "room"
    folder.mkdir()
    pdf(folder / "a.pdf", says(LEASE, left=30, top=200), shown(paper()), drawing, size=SHEET)  # type: ignore[arg-type]
    view = await reprise.start(folder, thread="t", review="never")
    assert view.status == "completed_with_failures"
    assert (view.pages["read"], view.pages["ocr"], view.pages["empty"], view.pages["failed"]) == (1, 0, 1, 1)
    note = await reprise.report("t")
    assert "page 3 was not read (failed): no text layer; OCR found no words, though something stands on" in note
    assert "page 2" not in note
