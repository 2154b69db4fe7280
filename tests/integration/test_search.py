"""Searching: every passage has its place, a matter is a wall, a document is indexed once and can be found when done."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cli_runs import refused, run_here
from databases import number
from hypothesis import given
from hypothesis import strategies as st
from old_threads import lay_out_the_room, restore
from processes import environment
from reader_desk import pdf, says
from risky_contracts import risky

from graph import Reprise
from graph.runtime.postgres.migrations import migrate
from nodes.domain.shared.errors import UserError
from nodes.domain.text.documents import DocumentText, Page
from nodes.domain.text.search_entries import QUOTE_CHARS, entries_of, excerpt, index_words, parse_query, words_in_place

ENTRIES = "SELECT count(*) FROM reprise.entries WHERE matter = %s"
ENGLISH = (
    "This Agreement is governed by the laws of Ireland and by no other law of the parties.",
    "The total liability of the Supplier shall not exceed EUR 500,000 in each contract year.",
)
FRENCH = (
    "Le contrat est conclu pour la durée de trois ans et les parties en conviennent ainsi.",
    "La responsabilité de l'employeur est engagée pour le licenciement des salariés de la société.",
    "La Cour, sur le pourvoi n° 22-18.031, rejette les demandes et les moyens du demandeur.",
)


def plain(text: str, *pages: int, furniture: tuple[tuple[int, int], ...] = ()) -> DocumentText:
    ends = [*pages, len(text)]
    starts = [0, *(end + 1 for end in pages)]
    places = enumerate(zip(starts, ends, strict=True), start=1)
    made = tuple(Page(number, "read", "", start, end, 595, 842) for number, (start, end) in places)
    return DocumentText("0" * 64, text, made, "en", furniture=furniture)


@pytest.fixture
def bilingual(tmp_path: Path) -> Path:
    folder = tmp_path / "bilingual"
    folder.mkdir()
    pdf(folder / "english.pdf", says("Nothing is said here about it."), says(*ENGLISH))
    pdf(folder / "français.pdf", says(*FRENCH))
    return folder


async def quotes(reprise: Reprise, text: str, **where: Any) -> list[str]:
    return [f"{hit.document}:{hit.page}" for hit in await reprise.search(text, **where)]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("liability", ["english.pdf:2"]),
        ("liabilities EXCEEDING", ["english.pdf:2"]),
        ("500 000", ["english.pdf:2"]),
        ('"total liability of the Supplier"', ["english.pdf:2"]),
        ('"liability total"', []),
        ("licencié", ["français.pdf:1"]),
        ("responsabilite employeur", ["français.pdf:1"]),
        ("l’employeur", ["français.pdf:1"]),
        ("salarié", ["français.pdf:1"]),
        ("salarie licencie", ["français.pdf:1"]),
        ("22-18.031", ["français.pdf:1"]),
        ("22-18.032", []),
        ("Ireland or licenciement", ["english.pdf:2", "français.pdf:1"]),
        ("parties -Ireland", ["français.pdf:1"]),
        ("contrat -duree", []),
        ("liability licenciement", []),
    ],
)
async def test_words_are_found_by_their_stems_with_or_without_accents_and_punctuation(
    reprise: Reprise, bilingual: Path, question: str, found: list[str]
) -> None:
    await reprise.start(bilingual, thread="t", review="never")
    assert sorted(await quotes(reprise, question)) == found


async def test_a_hit_quotes_the_document_and_marks_what_was_asked_in_its_place(
    reprise: Reprise, bilingual: Path
) -> None:
    run = await reprise.start(bilingual, thread="t", review="never")
    (hit,) = await reprise.search("salarie licencie")
    assert hit.quote[slice(*hit.marks[0])] == "licenciement"
    assert [hit.quote[start:end] for start, end in hit.marks] == ["licenciement", "salariés"]
    assert (hit.page, hit.unit, hit.thread_id) == (1, "page", run.thread_id)
    lines = [(box["y0"], box["y1"]) for box in hit.boxes]
    assert lines and all(0.05 < y0 < y1 < 0.2 for y0, y1 in lines)
    found = await reprise.search("salarie")
    assert (found.total, found.documents, found.searched, found.not_searched) == (1, 1, 2, 0)
    assert "<b>salariés</b>" in found._repr_html_()
    assert list(found.to_frame()["page"]) == [1]


async def test_equal_documents_are_indexed_once_in_a_matter_and_a_matter_sees_only_its_own(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    await reprise.start(risky(tmp_path / "room", 2), thread="first", review="never")
    once = number(database, ENTRIES, "default")
    assert once == 2
    second = await reprise.start(risky(tmp_path / "again", 2), thread="second", review="never")
    assert number(database, ENTRIES, "default") == once
    await reprise.start(risky(tmp_path / "other", 3), thread="third", review="never", matter="B")
    assert number(database, ENTRIES, "B") == 3
    found = await reprise.search("laws of France")
    assert [(hit.document, hit.thread_id) for hit in found] == [
        (f"contract_{n:03d}.txt", second.thread_id) for n in range(2)
    ]
    assert len(await reprise.search("laws of France", matter="B")) == 3
    assert len(await reprise.search("laws of France", thread="third")) == 3
    assert len(await reprise.search("laws of France", thread="third", limit=1)) == 1


async def test_entries_are_erased_with_the_last_run_that_has_the_document(
    reprise: Reprise, database: str, tmp_path: Path
) -> None:
    room = risky(tmp_path / "room", 2)
    await reprise.start(room, thread="first", review="never")
    await reprise.start(room, thread="second", review="never")
    await reprise.start(room, thread="third", review="never", matter="B")
    (stone,) = await reprise.purge("first")
    assert (stone["rows"]["entries"], number(database, ENTRIES, "default")) == (0, 2)
    (stone,) = await reprise.purge("second")
    assert (stone["rows"]["entries"], number(database, ENTRIES, "default")) == (2, 0)
    assert number(database, ENTRIES, "B") == 2
    with pytest.raises(UserError, match=r"Matter default has no run: name one that has with --matter \(B\)"):
        await reprise.search("France")
    await reprise.purge(matter="B")
    assert number(database, "SELECT count(*) FROM reprise.entries") == 0
    with pytest.raises(UserError, match="start SOURCE"):
        await reprise.search("France", matter="B")


async def test_what_is_not_in_the_index_yet_is_taken_into_it_by_the_first_search(
    empty_database: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out_the_room()
    restore("gate", empty_database, home)
    await migrate(empty_database)
    assert number(empty_database, ENTRIES, "default") == 0
    async with Reprise.open(database_url=empty_database, home=home) as reprise:
        run = await reprise.status("gate")
        found = await reprise.search("agreement", matter=run.matter)
        assert found and found.searched == run.documents["done"]
        there = number(empty_database, ENTRIES, run.matter)
        assert there >= found.searched
        assert [passage.to_json() for passage in await reprise.search("agreement", matter=run.matter)] == [
            passage.to_json() for passage in found
        ]
    assert number(empty_database, ENTRIES, run.matter) == there


async def test_documents_that_could_not_be_read_are_counted(reprise: Reprise, tmp_path: Path) -> None:
    room = risky(tmp_path / "room", 1)
    (room / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    await reprise.start(room, thread="t", review="never")
    found = await reprise.search("France")
    assert (found.searched, found.not_searched, found.documents) == (1, 1, 1)


async def test_a_hit_says_what_the_document_calls_itself(reprise: Reprise, tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "contract.txt").write_text(
        "MASTER SUPPLY AGREEMENT\n\n" + (risky(tmp_path, 1) / "contract_000.txt").read_text()
    )
    decision = ("COUR DE CASSATION", "Chambre sociale", "Audience publique du 24 janvier 2018", "Rejet")
    number = ("Pourvoi n° B 16-22.168", "LA COUR DE CASSATION, CHAMBRE SOCIALE, a rendu l'arrêt suivant :")
    pdf(
        room / "decision.pdf",
        says(*decision, *number, "Attendu que le salarié a été licencié ;", "REJETTE le pourvoi."),
    )
    await reprise.start(room / "contract.txt", thread="one", review="never")
    await reprise.start(room / "decision.pdf", thread="two", review="never", playbook="case-law")
    titles = {hit.document: hit.title for hit in await reprise.search("unlimited or pourvoi")}
    assert titles == {
        "contract.txt": "MASTER SUPPLY AGREEMENT",
        "decision.pdf": "Cour de cassation, chambre sociale, 24 janvier 2018, n° 16-22.168",
    }


def test_the_command_prints_passages_or_one_object_and_refuses_in_a_sentence(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    assert "start SOURCE" in refused(run_here(["search", "France"], env, capsys), 2)
    room = risky(tmp_path / "room", 3)
    (room / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    (room / "contract_002.txt").write_text("The laws of \x1b[2J\u202eFrance, of the whole of it, apply.")
    assert run_here(["start", room, "--thread", "t", "--review", "never", "--json"], env, capsys).returncode == 0
    shown = run_here(["search", "laws", "France"], env, capsys)
    assert shown.returncode == 0 and "contract_001.txt, section 1  Firm 1" in shown.stdout
    assert "3 passages in 3 of 3 documents searched" in shown.stderr
    assert "1 document not searched, for want of a text: not read yet, or not readable" in shown.stderr
    assert "\x1b[2J" not in shown.stdout and "\u202e" not in shown.stdout
    printed = run_here(["search", "laws", "of", "France", "--limit", "2", "--json"], env, capsys)
    data = json.loads(printed.stdout)
    assert list(data) == ["query", "matter", "thread_id", "total", "documents", "searched", "not_searched", "hits"]
    assert (data["query"], data["total"], len(data["hits"])) == ("laws of France", 3, 2)
    names = "document document_sha256 title supplier page unit quote marks boxes rank thread_id"
    assert list(data["hits"][0]) == names.split()
    nothing = run_here(["search", "laws", "-France"], env, capsys)
    assert (nothing.returncode, nothing.stdout) == (0, "") and "ask for fewer" in nothing.stderr
    for arguments, words in (
        (["-"], "names no word"),
        (["the"], "only words that stand everywhere"),
        (["France", "--limt", "3"], "no option --limt"),
        (["France", "--limit", "0"], "1 to 1000"),
        (["France", "--matter", "zz"], "Matter zz has no run"),
        (["France", "--matter", "default", "--thread", "t"], "not both"),
        (["France", "--thread", "nobody"], "nobody"),
    ):
        assert words in refused(run_here(["search", *arguments], env, capsys), 2)


@pytest.mark.parametrize(
    ("typed", "wanted", "unwanted"),
    [
        ("Liability  Cap", "liability cap", ""),
        ("22-18.031", '"22 18 031"', ""),
        ("“cause réelle” or l’employeur", '"cause réelle" or "l employeur"', ""),
        ("or a OR -b or", "a", "-b"),
        ('clause -"faute gravé"', "clause", '-"faute gravé" -"faute grave"'),
        ("- … !", "", ""),
        ("-x", "", "-x"),
        ('"or"', '"or"', ""),
        ("a\x00b\\'; --", '"a b"', ""),
    ],
)
def test_a_question_is_read_as_it_was_meant(typed: str, wanted: str, unwanted: str) -> None:
    assert (parse_query(typed).required, parse_query(typed).excluded) == (wanted, unwanted)


def test_a_word_that_is_broken_at_the_end_of_a_line_is_found_as_one() -> None:
    assert "responsabilité" in index_words("La respon-\nsabilité").split()
    assert "responsabilite" in index_words("La respon-\nsabilité").split()


def test_entries_keep_to_their_page_and_leave_out_running_heads() -> None:
    text = "Head of all\n\nFirst clause.\n\nSecond clause.\fHead of all\n\nThird clause."
    second = text.index("\f")
    heads = ((0, 11), (second + 1, second + 12))
    entries = entries_of(plain(text, second, furniture=heads))
    assert [(entry.page, entry.words) for entry in entries] == [(1, "first clause second clause"), (2, "third clause")]
    assert text[entries[1].start : entries[1].end] == "Head of all\n\nThird clause."
    assert [entry.words for entry in entries_of(plain(" \n\n "))] == [""]


@given(st.text(max_size=2000), st.integers(0, 3))
def test_every_word_of_any_text_is_in_exactly_one_entry(text: str, blanks: int) -> None:
    text = text.replace("\f", "\n" * blanks)
    entries = entries_of(plain(text))
    assert all(one.end <= other.start for one, other in pairwise(entries))
    inside = "".join(text[entry.start : entry.end] for entry in entries)
    assert sorted(filter(str.isalnum, inside)) == sorted(filter(str.isalnum, text))
    assert len(words_in_place(text)) == len(text)


@given(st.text("ab .\n", min_size=1, max_size=3000), st.data())
def test_what_is_shown_of_a_long_passage_holds_a_mark_and_is_short(text: str, data: st.DataObject) -> None:
    begins = sorted(data.draw(st.sets(st.integers(0, len(text) - 1), min_size=1, max_size=5)))
    marks = [(begin, begin + 1) for begin in begins]
    start, end = excerpt(text, marks)
    assert 0 <= start <= end <= len(text) and end - start <= QUOTE_CHARS
    assert any(start <= begin and stop <= end for begin, stop in marks)
