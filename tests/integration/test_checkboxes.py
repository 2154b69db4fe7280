"""Boxes of a form are read beside their labels, and an option that nobody has ticked goes to a person."""

from __future__ import annotations

from pathlib import Path

import pikepdf
import pytest
from paths import DATA
from PIL import Image, ImageDraw, ImageFont
from reader_desk import LEASE, Desk, changed, check_offsets, pdf, says
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from sample_contracts import CLAUSES
from shared_data import needs_shared

from graph import Reprise
from graph.adapters.documents.layout.running_text import Word
from graph.adapters.documents.pdf.checkboxes import insert_checkboxes
from graph.adapters.documents.reader import lacking_for_ocr
from nodes.domain.text.documents import BOX_UNIT

NASTY = DATA / "nasty_pdfs"
needs_data = needs_shared(NASTY)


def options(canvas: Canvas) -> None:
    says("Options", "The cap of EUR 500,000 applies.", "Liability is unlimited.", "Yes          No", pitch=40)(canvas)
    form = canvas.acroForm
    form.checkbox(name="cap", checked=False, x=50, y=728, size=14)
    form.checkbox(name="none", checked=True, x=50, y=688, size=14)
    form.radio(name="r", value="y", selected=True, x=98, y=648, size=12)
    form.radio(name="r", value="n", selected=False, x=130, y=648, size=12)


async def test_boxes_and_radio_buttons_are_read_beside_their_labels(desk: Desk, tmp_path: Path) -> None:
    text = await desk.text(pdf(tmp_path / "a.pdf", options))
    assert [line for line in text.text.splitlines() if line] == [
        "Options",
        "☐ The cap of EUR 500,000 applies.",
        "☒ Liability is unlimited.",
        "Yes ☒ No ☐",
    ]
    check_offsets(text)
    box = next(word for word in text.pages[0].words if text.text[word[0]] == "☐")
    assert box[2] == pytest.approx(50 / 595 * BOX_UNIT, abs=60)
    assert text.pages[0].state == "read" and text.hidden == ()


async def test_a_box_is_told_by_what_is_drawn_also_where_no_form_knows_it(desk: Desk, tmp_path: Path) -> None:
    """A page that was cut out of a form keeps its boxes, not the list of fields."""

    def orphan(document: pikepdf.Pdf) -> None:
        del document.Root.AcroForm

    plain = pdf(tmp_path / "a.pdf", options)
    with pytest.warns(pikepdf.exceptions.PageCopyWarning):
        cut_out = changed(plain, tmp_path / "b.pdf", orphan)
    text = await desk.text(cut_out)
    assert "☐ The cap" in text.text and "☒ Liability" in text.text


async def test_a_box_that_is_not_shown_is_no_part_of_the_page(desk: Desk, tmp_path: Path) -> None:
    def hide(document: pikepdf.Pdf) -> None:
        document.pages[0].Annots[1].F = 2

    text = await desk.text(changed(pdf(tmp_path / "a.pdf", options), tmp_path / "b.pdf", hide))
    assert "☒ Liability" not in text.text and "Liability is unlimited." in text.text


async def test_short_labels_with_many_boxes_are_text_and_need_no_ocr(desk: Desk, tmp_path: Path) -> None:
    def draw(canvas: Canvas) -> None:
        says("own", "hire", "loan", pitch=40)(canvas)
        for number in range(3):
            canvas.acroForm.checkbox(name=f"b{number}", checked=number == 1, x=50, y=768 - 40 * number, size=12)

    text = await desk.text(pdf(tmp_path / "a.pdf", draw))
    assert text.text.split() == ["☐", "own", "☒", "hire", "☐", "loan"] and text.pages[0].state == "read"


def test_a_box_without_words_beside_it_is_a_line_of_its_own() -> None:
    above, below = (Word(said, 1000, top, 2000, top + 100, True) for said, top in (("above", 500), ("below", 2000)))
    tick = Word("☐", 1000, 1200, 1100, 1300, False)
    assert [word.text for word in insert_checkboxes([above, below], [tick])] == ["above", "☐", "below"]
    assert [word.text for word in insert_checkboxes([], [tick])] == ["☐"]
    assert [word.line_ends for word in insert_checkboxes([above._replace(line_ends=False)], [tick])] == [True, True]


@needs_data
async def test_the_boxes_of_a_real_form_stand_before_their_labels(desk: Desk) -> None:
    text = await desk.text(NASTY / "form_prefilled_1040.pdf")
    lines = text.text.splitlines()
    assert {"1 ☐ Single", "5 ☐ Qualifying widow(er) with dependent child"} <= set(lines)
    assert any(line.endswith("☐ 3800 b ☐ 8801 c ☐ 53") for line in lines)


async def test_an_option_that_is_not_ticked_goes_to_a_person_and_one_that_is_does_not(
    reprise: Reprise, tmp_path: Path
) -> None:
    folder = tmp_path / "room"
    folder.mkdir()
    cap = "The Supplier's aggregate liability under this Agreement shall not exceed EUR 100,000."
    for name, checked in (("open.pdf", False), ("chosen.pdf", True)):

        def draw(canvas: Canvas, checked: bool = checked) -> None:
            says(CLAUSES[0].format(name="Firm"), *CLAUSES[2:4], pitch=30, left=50)(canvas)
            says(cap, top=500)(canvas)
            canvas.acroForm.checkbox(name="cap", checked=checked, x=50, y=498, size=12)

        pdf(folder / name, draw)
    await reprise.start(folder, thread="t")
    found = {
        finding.document: finding
        for finding in await reprise.findings("t")
        if finding.clause_type == "cap_on_liability"
    }
    assert f"☐ {cap}" in found["open.pdf"].quote and f"☒ {cap}" in found["chosen.pdf"].quote
    assert found["open.pdf"].needs_review and "a box in it is not ticked" in found["open.pdf"].review_reason
    assert "not ticked" not in found["chosen.pdf"].review_reason


@pytest.mark.skipif(bool(lacking_for_ocr()), reason="no OCR is installed")
async def test_boxes_that_lie_over_a_scan_are_read_with_the_words_of_the_scan(desk: Desk, tmp_path: Path) -> None:
    image = Image.new("L", (960, 620), 255)
    for top, label in ((300, "The cap applies to this order."), (420, "The liability is not limited.")):
        ImageDraw.Draw(image).text((200, top), label, fill=0, font=ImageFont.load_default(36))

    size = (image.width * 72 / 150, image.height * 72 / 150)

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(image), 0, 0, *size)
        for name, top, checked in (("a", 300, False), ("b", 420, True)):
            low = size[1] - (top + 36) * 72 / 150
            canvas.acroForm.checkbox(name=name, checked=checked, x=70, y=low, size=14)

    text = await desk.text(pdf(tmp_path / "a.pdf", draw, size=size))
    assert text.pages[0].state == "ocr"
    assert [line for line in text.text.splitlines() if line] == [
        "☐ The cap applies to this order.",
        "☒ The liability is not limited.",
    ]
    check_offsets(text)


def test_a_page_without_boxes_is_read_as_before(tmp_path: Path) -> None:
    words = [Word(LEASE, 0, 0, 10, 10, True)]
    assert insert_checkboxes(words, []) == words
