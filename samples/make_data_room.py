"""Makes samples/data-room (fictional contracts), its gold files and the table in samples/README.md.

Run `python samples/make_data_room.py` from anywhere; a second run changes nothing. Encrypted files differ at every
writing, so one that still opens and still says the same is kept, unless `--force` is given.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pikepdf
import pypdfium2
from data_room_drawing import draw
from data_room_markup import Source, load_all, squeeze
from PIL import Image, ImageChops
from reportlab import rl_config
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

HERE = Path(__file__).resolve().parent
ROOM = HERE / "data-room"
README = HERE / "README.md"
PASSWORD = "meridian-2026"
OWNER_PASSWORD = "meridian-owner-2026"
SCAN_DPI = 150
SCAN_QUALITY = 38
EDGE = 60  # characters that place the first and the last words of a clause which crosses a page break

Pages = list[str]


def page_texts(pdf: bytes, password: str | None = None) -> Pages:
    document = pypdfium2.PdfDocument(pdf, password=password)
    try:
        return [squeeze(page.get_textpage().get_text_range()) for page in document]
    finally:
        document.close()


def roughen(image: Image.Image, seed: int) -> Image.Image:
    """What a desk scanner does: a slight turn, grey paper, grain."""
    dice = random.Random(seed)
    turned = image.rotate(dice.uniform(-0.7, 0.7), resample=Image.Resampling.BICUBIC, fillcolor=255)
    small = (turned.width // 2, turned.height // 2)
    grain = Image.frombytes("L", small, bytes(byte // 14 for byte in dice.randbytes(small[0] * small[1])))
    return ImageChops.subtract(turned, grain.resize(turned.size))


def scan(pdf: bytes) -> bytes:
    """The same pages as pictures, with no text layer."""
    rl_config.useA85 = 0
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1)
    document = pypdfium2.PdfDocument(pdf)
    for number, page in enumerate(document):
        image = page.render(scale=SCAN_DPI / 72, grayscale=True).to_pil().convert("L")
        jpeg = io.BytesIO()
        roughen(image, number + 1).save(jpeg, "JPEG", quality=SCAN_QUALITY, optimize=True)
        jpeg.seek(0)
        canvas.drawImage(ImageReader(jpeg), 0, 0, *A4)
        canvas.showPage()
    document.close()
    canvas.save()
    return out.getvalue()


def attach(pdf: bytes, name: str, annex: bytes) -> bytes:
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as document:
        spec = pikepdf.AttachedFileSpec(document, annex, filename=name, mime_type="application/pdf")
        spec.description = Path(name).stem
        document.attachments[name] = spec
        document.save(out, deterministic_id=True)
    return out.getvalue()


def encrypt(pdf: bytes, user: str) -> bytes:
    allow = pikepdf.Permissions(extract=True, modify_annotation=False, modify_other=False, print_highres=False)
    out = io.BytesIO()
    with pikepdf.open(io.BytesIO(pdf)) as document:
        document.save(out, encryption=pikepdf.Encryption(owner=OWNER_PASSWORD, user=user, R=6, allow=allow))
    return out.getvalue()


def still_good(path: Path, texts: Pages, user: str) -> bool:
    try:
        with pikepdf.open(path, password=user) as document:
            if not document.is_encrypted:
                return False
        return page_texts(path.read_bytes(), user) == texts
    except (OSError, pikepdf.PdfError, pypdfium2.PdfiumError):
        return False


def make(source: Source, sources: dict[str, Source], force: bool) -> Pages:
    """Write the file of one source; the texts of its pages (those under the scan, for a scan)."""
    pdf = draw(source)
    texts = page_texts(pdf)
    path = ROOM / source.file
    path.parent.mkdir(parents=True, exist_ok=True)
    protect = source.meta.get("protect")
    if protect:
        user = PASSWORD if protect == "user" else ""
        if not force and still_good(path, texts, user):
            return texts
        pdf = encrypt(pdf, user)
    if "scan" in source.meta:
        pdf = scan(pdf)
    if "attach" in source.meta:
        annex = sources[source.meta["attach"]]
        pdf = attach(pdf, annex.file, draw(annex))
    path.write_bytes(pdf)
    return texts


def page_of(text: str, pages: Pages) -> int:
    """The page (from 1) on which a clause starts; it may end on the next one."""
    for number, page in enumerate(pages, 1):
        if text in page:
            return number
    for number, (page, following) in enumerate(pairwise(pages), 1):
        if text[:EDGE] in page and text[-EDGE:] in following:
            return number
    raise ValueError(f"clause not found in the pages: {text[:80]!r}")


def gold_lines(source: Source, name: str, pages: Pages) -> list[str]:
    return [
        json.dumps(
            {"document": name, "clause_type": gold.clause_type, "text": gold.text, "page": page_of(gold.text, pages)},
            ensure_ascii=False,
        )
        for gold in source.gold
    ]


def table_row(source: Source, name: str, pages: int) -> str:
    return f"| {name} | {source.meta['supplier']} | {source.lang.upper()} | {pages} | {source.meta['note']} |"


def write_readme(rows: Iterable[str]) -> None:
    start, end = "<!-- table -->\n", "<!-- /table -->"
    before, _, rest = README.read_text(encoding="utf-8").partition(start)
    after = rest.partition(end)[2]
    head = "| File | Supplier | Language | Pages | Notable |\n|---|---|---|---|---|\n"
    README.write_text(before + start + head + "\n".join(rows) + "\n" + end + after, encoding="utf-8")


def write_lines(path: Path, lines: list[str]) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--force", action="store_true", help="write the encrypted files anew")
    force = parser.parse_args().force
    sources = load_all(HERE / "texts")
    annexes = {source.meta["attach"]: source for source in sources.values() if "attach" in source.meta}
    gold: list[str] = []
    extra: list[str] = []
    rows: list[str] = []
    for stem, source in sorted(sources.items(), key=lambda pair: pair[1].file):
        if stem in annexes:
            continue
        texts = make(source, sources, force)
        rows.append(table_row(source, source.file, len(texts)))
        if source.meta.get("protect") != "user":
            (extra if "scan" in source.meta else gold).extend(gold_lines(source, source.file, texts))
        if "attach" in source.meta:
            annex = sources[source.meta["attach"]]
            name = f"{source.file}#{annex.file}"
            inner = page_texts(draw(annex))
            rows.append(table_row(annex, name, len(inner)))
            extra += gold_lines(annex, name, inner)
    write_lines(HERE / "data-room-gold.jsonl", gold)
    write_lines(HERE / "data-room-gold-extra.jsonl", extra)
    write_readme(rows)
    size = sum(path.stat().st_size for path in ROOM.rglob("*.pdf"))
    sys.stdout.write(f"{len(rows)} documents, {len(gold) + len(extra)} clauses, {size / 1000:.0f} kB\n")


if __name__ == "__main__":
    main()
