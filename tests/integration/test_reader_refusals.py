"""What the reader cannot read, repairs, or takes for what it is: one sentence each, and no other document suffers."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from paths import DATA
from reader_desk import LEASE, Desk, changed, check_offsets, pdf, says
from shared_data import needs_shared

from graph.adapters.documents import reader as reader_module
from graph.adapters.documents.reader import READER_VERSION, DocumentReader, ReaderLimits
from nodes.domain.shared.errors import Unreadable
from nodes.domain.shared.file_names import extension_warning
from nodes.ports import ToolRequest

needs_data = needs_shared()


async def test_an_encrypted_document_says_what_to_do(desk: Desk, tmp_path: Path) -> None:
    plain = pdf(tmp_path / "a.pdf", says(LEASE))
    lock = pikepdf.Encryption(owner="boss", user="open")
    locked = changed(plain, tmp_path / "enc.pdf", lambda document: None, encryption=lock)
    with pytest.raises(Unreadable, match=r"^enc.pdf is encrypted and no password for it was given: .*--passwords\.$"):
        await desk.ask(locked)
    with pytest.raises(Unreadable, match="the password given for it is wrong"):
        await desk.ask(locked, "guess")
    assert (await desk.text(locked, "open")).text == f"{LEASE}\n"


async def test_a_damaged_document_is_not_called_encrypted_because_the_one_before_it_was(
    desk: Desk, tmp_path: Path
) -> None:
    plain = pdf(tmp_path / "a.pdf", says(LEASE))
    locked = changed(plain, tmp_path / "b.pdf", lambda d: None, encryption=pikepdf.Encryption(owner="boss", user="x"))
    (tmp_path / "c.pdf").write_bytes(
        b"%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\ntrailer<</Root 1 0 R>>"
    )
    for _ in range(4):
        with pytest.raises(Unreadable, match="encrypted"):
            await desk.ask(locked)
        with pytest.raises(Unreadable, match="damaged"):
            await desk.ask(tmp_path / "c.pdf")


async def test_a_document_encrypted_only_for_its_owner_is_read(desk: Desk, tmp_path: Path) -> None:
    plain = pdf(tmp_path / "a.pdf", says(LEASE))
    lock = pikepdf.Encryption(owner="boss", user="")
    assert (await desk.text(changed(plain, tmp_path / "b.pdf", lambda d: None, encryption=lock))).text == f"{LEASE}\n"


async def test_a_truncated_document_is_repaired_with_a_warning(desk: Desk, tmp_path: Path) -> None:
    plain = pdf(tmp_path / "a.pdf", *(says(LEASE, f"page {n}") for n in range(5)))
    data = changed(plain, tmp_path / "b.pdf", lambda document: None).read_bytes()
    cut = tmp_path / "cut.pdf"
    cut.write_bytes(data[: len(data) * 6 // 10])
    text = await desk.text(cut)
    assert LEASE in text.text
    assert any("repair" in warning for warning in text.warnings)


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.pdf", b"", "a.pdf is empty"),
        ("b.pdf", b"\x89PNG\r\n\x1a\n" + bytes(99), "b.pdf is a picture .PNG., which Reprise does not read"),
        ("c.pdf", b"PK\x03\x04....word/document.xml", "c.pdf is damaged and could not be repaired"),
        ("d.pdf", b"%PDF-1.7\nrubbish", "d.pdf is damaged and could not be repaired"),
        ("e.txt", bytes(range(256)) * 20, "e.txt is a file of an unknown kind"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_one_sentence(
    desk: Desk, tmp_path: Path, name: str, data: bytes, sentence: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Unreadable, match=sentence) as refusal:
        await desk.ask(tmp_path / name)
    assert "\n" not in str(refusal.value) and str(refusal.value).endswith(".")


async def test_a_file_that_changed_or_vanished_since_the_run_began_is_refused(desk: Desk, tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", says(LEASE))
    key = {"sha256": hashlib.sha256(b"before").hexdigest(), "reader": READER_VERSION, "language": ""}
    question = ToolRequest("reader", "extract", key, {"path": str(path), "document": "a.pdf", "password": None})
    with pytest.raises(Unreadable, match=r"a\.pdf changed since the run began"):
        await desk.reader.answer(question)
    path.unlink()
    with pytest.raises(Unreadable, match=r"a\.pdf cannot be opened any more"):
        await desk.reader.answer(question)


async def test_a_pdf_by_another_name_is_read_as_what_it_is(desk: Desk, tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", says(LEASE)).rename(tmp_path / "a.docx")
    assert (await desk.ask(path))["kind"] == "pdf"
    assert extension_warning("a.docx", "pdf").startswith("The file is a PDF, whatever its name says")
    assert not any(
        (extension_warning("a.PDF", "pdf"), extension_warning("README", "text"), extension_warning("x/a.htm", "html"))
    )


def hang(path: str, *rest: Any) -> None:
    if path.endswith("hang.pdf"):
        time.sleep(900)
    os.abort()


async def test_a_document_that_hangs_or_crashes_fails_alone(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging, crashing = (pdf(tmp_path / name, says(LEASE)) for name in ("hang.pdf", "crash.pdf"))
    healthy = DocumentReader(desk.children, desk.artifacts)
    hasty = DocumentReader(desk.children, desk.artifacts, ReaderLimits(seconds=3))
    with monkeypatch.context() as patch:
        patch.setattr(reader_module, "read_document", hang)
        with pytest.raises(Unreadable, match=r"hang\.pdf could not be read within"):
            desk.reader = hasty
            await desk.ask(hanging)
        desk.reader = healthy
        with pytest.raises(Unreadable, match=r"crash\.pdf cannot be read, .*SIGABRT"):
            await desk.ask(crashing)
    assert (await desk.text(crashing)).text == f"{LEASE}\n"


@needs_data
@pytest.mark.slow
async def test_every_nasty_file_ends_in_an_outcome(desk: Desk) -> None:
    folder = DATA / "nasty_pdfs"
    names = [row["file"] for row in csv.DictReader((folder / "manifest.csv").read_text("utf-8").splitlines())]

    async def outcome(name: str) -> str:
        try:
            text = await desk.text(folder / name)
        except Unreadable as refusal:
            return str(refusal)
        check_offsets(text)
        assert all(page.state in ("read", "ocr", "empty", "failed", "skipped") for page in text.pages)
        return ""

    outcomes = await asyncio.gather(*(outcome(name) for name in names))
    refused = {name for name, sentence in zip(names, outcomes, strict=True) if sentence}
    assert len(names) == 70
    assert not {"enc_owner_only_r6.pdf", "pdf_named.docx", "html_named.pdf", "docx_named.pdf"} & refused
    assert {"zero_byte.pdf", "enc_user_r6.pdf", "brotli_filter.pdf"} <= refused
