"""One page of a PDF: its words with boxes, and whether it has still to be read by OCR. Runs in a child."""

from __future__ import annotations

import re
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from graph.adapters.layout import BOX_UNIT, Word, clean, lay_out
from graph.adapters.pdf_look import Frame, Looks, Marks, draw, survey, unseen

TOKEN = re.compile(r"([^\s\ufffe]+\ufffe?|\ufffe)(\s*)")
HYPHEN = "\ufffe"
"""PDFium's sign for a hyphen at the end of a line; it swallows the line end."""
FEW_CHARS = 100
"""Less visible text than this over a picture that fills the page is a stamp on a scan, not its text."""
BLANK_DPI = 36


def read_page(page: pdfium.PdfPage, number: int) -> dict[str, Any]:
    """One page as JSON-plain data; `state` is "ocr" with a reason when the page has still to be read by OCR."""
    frame = Frame(page)
    marks = survey(page, frame)
    textpage = page.get_textpage()
    try:
        chars = characters(textpage)
        shown, hidden = words_of(page, textpage, chars, frame, marks)
        bad = unmapped_share(textpage, chars)
    finally:
        textpage.close()
    layer = False
    invisible = [word for word, why in hidden if why == "invisible"]
    if invisible and marks.picture > 0.5 and length(shown) < FEW_CHARS <= length(invisible):
        # The invisible text of a scan is its OCR layer: the only text it has.
        shown, layer = merge(shown, invisible), True
        hidden = [(word, why) for word, why in hidden if why != "invisible"]
    text, places = lay_out(shown)
    state, reason = judge(page, marks, text, bad)
    return {
        "number": number,
        "state": state,
        "reason": reason,
        "width": round(frame.shown_width, 2),
        "height": round(frame.shown_height, 2),
        "text": text,
        "words": places,
        "hidden": [[why, text] for why, text in grouped(hidden)],
        "ocr_layer": layer,
    }


def length(words: list[Word]) -> int:
    return sum(len(word.text) for word in words)


def merge(shown: list[Word], invisible: list[Word]) -> list[Word]:
    """Both, without the invisible words that a visible one covers."""
    kept = [word for word in invisible if not any(overlaps(word, other) for other in shown)]
    return kept + shown


def overlaps(one: Word, other: Word) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def grouped(hidden: list[tuple[Word, str]]) -> list[tuple[str, str]]:
    """Hidden words as running text by reason, at most 2,000 characters each."""
    reasons = dict.fromkeys(why for _, why in hidden)
    return [(why, " ".join(word.text for word, other in hidden if other == why)[:2000]) for why in reasons]


def judge(page: pdfium.PdfPage, marks: Marks, text: str, bad: float) -> tuple[str, str]:
    """State and reason of a page by what was found on it."""
    letters = sum(1 for char in text if not char.isspace())
    if letters and bad > 0.3:
        return "ocr", "text layer without a character map"
    if garbled(text):
        return "ocr", "text layer is garbled"
    if letters and not (marks.picture > 0.5 and letters < FEW_CHARS):
        return "read", ""
    if letters:
        return "ocr", "almost no text over a picture"
    if blank(page):
        return "empty", "nothing on the page"
    return "ocr", "no text layer"


def garbled(text: str) -> bool:
    """Whether Latin letters come in an order that no language has: a text layer with shifted character codes."""
    letters = [char for char in text.casefold() if "a" <= char <= "z"]
    if len(letters) < 200:
        return False
    vowels = sum(1 for char in letters if char in "aeiouy")
    return vowels / len(letters) < 0.15


def blank(page: pdfium.PdfPage) -> bool:
    """Whether the page, drawn small, is of one colour."""
    picture = draw(page, BLANK_DPI, 400_000)
    return len(set(picture[2])) <= 1


def characters(textpage: pdfium.PdfTextPage) -> str:
    """The page's characters, one for each of PDFium's indices."""
    count = textpage.count_chars()
    text: str = textpage.get_text_range(0, count) if count else ""
    if len(text) == count:
        return text
    # Characters without Unicode value are left out of the range, those beyond U+FFFF counted otherwise: one by one.
    codes = (raw.FPDFText_GetUnicode(textpage, index) for index in range(count))
    return "".join(chr(code) if 0 < code < 0x110000 else "\ufffd" for code in codes)


def unmapped_share(textpage: pdfium.PdfTextPage, chars: str) -> float:
    """Share of characters for which the font says no Unicode value, by a sample of the page."""
    places = [index for index, char in enumerate(chars) if not char.isspace()]
    sample = places[:: max(1, len(places) // 200)]
    bad = sum(
        1
        for index in sample
        if raw.FPDFText_HasUnicodeMapError(textpage, index) == 1
        or chars[index] == "\ufffd"
        or "\ue000" <= chars[index] <= "\uf8ff"
    )
    return bad / len(sample) if sample else 0.0


def words_of(
    page: pdfium.PdfPage, textpage: pdfium.PdfTextPage, chars: str, frame: Frame, marks: Marks
) -> tuple[list[Word], list[tuple[Word, str]]]:
    """Words in PDFium's order, and apart from them those that cannot be seen, with why."""
    shown: list[Word] = []
    hidden: list[tuple[Word, str]] = []
    looks = Looks(page, textpage) if marks.hidden else None
    for match in TOKEN.finditer(chars):
        ends = match[1].endswith(HYPHEN) or "\n" in match[2] or "\r" in match[2]
        for start, end, why in looks.split(*match.span(1)) if looks else [(*match.span(1), "")]:
            text = clean(chars[start:end].replace(HYPHEN, "-"))
            if not text:
                continue
            box = place(textpage, start, end, frame)
            x0, y0, x1, y1 = (min(max(round(edge), 0), BOX_UNIT) for edge in box)
            word = Word(text, x0, y0, x1, y1, ends)
            why = why or unseen(box, frame, len(text))
            if why == "white" and looks and looks.contrast(box):
                why = ""
            if why:
                hidden.append((word, why))
            else:
                shown.append(word)
    return shown, hidden


def place(textpage: pdfium.PdfTextPage, start: int, end: int, frame: Frame) -> tuple[float, float, float, float]:
    """The box around a run of characters."""
    box = raw.FS_RECTF()
    edges = []
    for index in {start, end - 1}:
        if raw.FPDFText_GetLooseCharBox(textpage, index, box):
            edges.append((box.left, box.bottom, box.right, box.top))
    if not edges:
        return 0.0, 0.0, 0.0, 0.0
    return frame.place(
        min(edge[0] for edge in edges),
        min(edge[1] for edge in edges),
        max(edge[2] for edge in edges),
        max(edge[3] for edge in edges),
    )
