"""Draws one source as PDF bytes: the same bytes for the same text."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from data_room_markup import Block, Source, french_spaces
from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY, TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    KeepTogether,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

rl_config.useA85 = 0


@dataclass(frozen=True)
class Look:
    font: str
    bold: str
    size: float
    leading: float
    margin: float
    columns: int = 1
    accent: str = "#000000"


LOOKS = {
    "serif": Look("Times-Roman", "Times-Bold", 10.5, 14, 25 * mm),
    "master": Look("Times-Roman", "Times-Bold", 11.5, 15.2, 28 * mm),
    "sans": Look("Helvetica", "Helvetica-Bold", 9.8, 13.4, 23 * mm, accent="#1f3a5f"),
    "compact": Look("Helvetica", "Helvetica-Bold", 9.2, 12, 20 * mm, accent="#4a4a4a"),
    "smallprint": Look("Helvetica", "Helvetica-Bold", 6.8, 8.2, 13 * mm, columns=2),
}


class NumberedCanvas(Canvas):
    """Holds the pages back until their number is known, for "Page 3 of 14"."""

    source: Source
    look: Look

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._held: list[dict[str, Any]] = []

    def showPage(self) -> None:
        self._held.append(dict(self.__dict__))
        self._startPage()

    def save(self) -> None:
        for state in self._held:
            self.__dict__.update(state)
            self._draw_edges(len(self._held))
            super().showPage()
        super().save()

    def _draw_edges(self, pages: int) -> None:
        meta, look, (width, height) = self.source.meta, self.look, A4
        self.setFont(look.font, min(8, look.size))
        self.setFillColor(colors.HexColor("#444444"))
        number = self.getPageNumber()
        of = "sur" if self.source.lang == "fr" else "of"
        if number > 1 or "cover" not in meta:
            self.drawString(look.margin, height - 13 * mm, meta.get("header", ""))
            if meta.get("header_right"):
                self.drawRightString(width - look.margin, height - 13 * mm, meta["header_right"])
            if meta.get("header"):
                self.setLineWidth(0.4)
                self.line(look.margin, height - 14.5 * mm, width - look.margin, height - 14.5 * mm)
        self.drawString(look.margin, 10 * mm, meta.get("footer", ""))
        self.drawRightString(width - look.margin, 10 * mm, f"Page {number} {of} {pages}")


def styles(look: Look, lang: str) -> dict[str, ParagraphStyle]:
    # Justified lines with no-break spaces run past the margin, so French stays ragged.
    align = TA_LEFT if lang == "fr" else TA_JUSTIFY
    gap = look.size * 0.55
    base: dict[str, Any] = {"fontName": look.font, "fontSize": look.size, "leading": look.leading, "spaceAfter": gap}
    accent = colors.HexColor(look.accent)
    bold = {**base, "fontName": look.bold, "textColor": accent, "keepWithNext": 1}
    big = {"fontSize": look.size * 1.5, "leading": look.leading * 1.5, "spaceAfter": gap * 2.5}
    cover = {"fontSize": look.size * 2.2, "leading": look.leading * 2.2, "spaceAfter": 20, "keepWithNext": 0}
    return {
        "para": ParagraphStyle("para", **base, alignment=align),
        "item": ParagraphStyle("item", **base, alignment=align, leftIndent=look.size * 2),
        "center": ParagraphStyle("center", **base, alignment=TA_CENTER),
        "cover": ParagraphStyle("cover", **{**bold, **cover}, alignment=TA_CENTER),
        "title": ParagraphStyle("title", **{**bold, **big}, alignment=TA_CENTER),
        "heading": ParagraphStyle("heading", **{**bold, "fontSize": look.size * 1.06}, spaceBefore=gap),
        "cell": ParagraphStyle("cell", **{**base, "spaceAfter": 0, "fontSize": look.size * 0.9}),
    }


def rich(text: str, lang: str) -> str:
    text = escape(french_spaces(text) if lang == "fr" else text)
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)


def grid(rows: tuple[tuple[str, ...], ...], look: Look, lang: str, width: float) -> Table:
    cell = styles(look, lang)["cell"]
    head = ParagraphStyle("head", parent=cell, fontName=look.bold)
    body = [[Paragraph(rich(text, lang), cell if n else head) for text in row] for n, row in enumerate(rows)]
    longest = [max(12, min(48, max(len(row[i]) for row in rows))) for i in range(len(rows[0]))]
    table = Table(body, [width * size / sum(longest) for size in longest], repeatRows=1, spaceBefore=4, spaceAfter=10)
    line = colors.HexColor("#999999")
    table.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.4, line),
                ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#ececec")),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ]
        )
    )
    return table


def signatures(text: str, look: Look, lang: str, width: float) -> Flowable:
    cell = styles(look, lang)["cell"]
    lines = ("Nom :", "Qualité :", "Signature :") if lang == "fr" else ("Name:", "Title:", "Signature:")
    rows = [[f"**{side.strip()}**" for side in text.split("|")]]
    rows += [[f"{line} ........................................"] * 2 for line in lines]
    drawn = [[Paragraph(rich(value, lang), cell) for value in row] for row in rows]
    table = Table(drawn, [width / 2] * 2)
    table.setStyle(TableStyle([("BOTTOMPADDING", (0, 0), (-1, -1), 7), ("LEFTPADDING", (0, 0), (-1, -1), 0)]))
    return KeepTogether([Spacer(1, look.size), table])


def flow(block: Block, look: Look, lang: str, width: float) -> Flowable:
    if block.kind == "table":
        return grid(block.rows, look, lang, width)
    if block.kind == "sign":
        return signatures(block.text, look, lang, width)
    if block.kind == "pagebreak":
        return PageBreak()
    if block.kind == "space":
        return Spacer(1, float(block.text))
    return Paragraph(rich(block.text, lang), styles(look, lang)[block.kind])


def frames(look: Look) -> list[Frame]:
    gutter = 6 * mm
    width = (A4[0] - 2 * look.margin - gutter * (look.columns - 1)) / look.columns
    height = A4[1] - 38 * mm
    pad = dict.fromkeys(("leftPadding", "rightPadding", "topPadding", "bottomPadding"), 0)
    return [
        Frame(look.margin + n * (width + gutter), 18 * mm, width, height, **pad, id=f"column{n}")
        for n in range(look.columns)
    ]


def draw(source: Source) -> bytes:
    look = LOOKS[source.meta["style"]]
    columns = frames(look)
    canvas = type("SourceCanvas", (NumberedCanvas,), {"source": source, "look": look})
    out = io.BytesIO()
    title = next(block.text for block in source.blocks if block.kind in ("cover", "title"))
    document = BaseDocTemplate(
        out,
        pagesize=A4,
        title=title,
        author=source.meta["supplier"],
        lang=source.lang,
        invariant=1,
        pageTemplates=[PageTemplate(frames=columns)],
    )
    story = [flow(block, look, source.lang, columns[0]._width) for block in source.blocks]
    document.build(story, canvasmaker=canvas)
    return out.getvalue()
