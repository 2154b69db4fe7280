"""A stored answer is found by its call key: no key of a run that exists may change, whatever the code is called."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from paths import PLAYBOOKS, ROOT

from graph.runtime.calls.journal import call_key
from nodes.domain.answers.passages import choose
from nodes.domain.clauses.engine_files import local_sha256
from nodes.domain.playbook.reading import parse_playbook
from nodes.domain.runs.settings import Run, Settings
from nodes.domain.text.documents import DocumentText, Page, SourceDocument
from nodes.ports import ToolRequest
from nodes.prompts.questions import model_question, note_question, summary_question
from nodes.steps.extract_document import read_question, rules_question

FIXTURES = ROOT / "tests" / "fixtures"
THREADS = FIXTURES / "old_threads"
RUN_ID, THREAD_ID = "867178f1-e887-496c-931a-edec1b030d83", "f19a7766-35c0-51c2-8a4a-6a860c5ee44b"
PLAIN = Run(RUN_ID, THREAD_ID, "gate", "default", "", "p", "x", "local", 1, Settings())
FRESH = dataclasses.replace(PLAIN, settings=Settings(fresh=True, language="fr"))
MODEL = "gpt-4.1-mini"
FINDING = {"id": "1", "supplier": "Alder Ltd", "type": "insurance", "risk": "low", "quote": "é"}

CALL = re.compile(
    r"""
    ^INSERT\ INTO\ reprise\.calls\ .*?\(\d+,\ '[^']*',\ '[^']*',\ '[^']*',   # call, run, thread, matter
    \ '(?P<key>[0-9a-f]{64})',\ '(?P<tool>\w+)',\ '(?P<step>\w+)',
    \ '(?P<document>[^']*)',\ '(?P<sha256>\w*)',\ '(?P<model>[^']*)',\ '(?P<parameters>\{.*?\})',\ '
    """,
    re.VERBOSE | re.MULTILINE,
)
"""A row of the calls in a dump: (4, 'run', 'thread', 'default', 'a524…', 'reader', 'extract', 'Elm.txt', …, '{…}', …"""


def stored_calls(kind: str) -> list[dict[str, str]]:
    """Calls of an old thread as its dump has them."""
    dump = gzip.decompress((THREADS / kind / "dump.sql.gz").read_bytes()).decode()
    calls = [match.groupdict() for match in CALL.finditer(dump)]
    assert len(calls) == dump.count("INSERT INTO reprise.calls ")
    return calls


def stored_texts(kind: str) -> dict[str, DocumentText]:
    """Texts that an old thread has read, by the sha256 of their document."""
    artifacts = json.loads(gzip.decompress((THREADS / kind / "artifacts.json.gz").read_bytes()))
    objects = [json.loads(artifact) for artifact in artifacts.values() if artifact.startswith("{")]
    texts = [DocumentText.from_json(stored) for stored in objects if {"text", "pages", "sha256"} <= stored.keys()]
    return {text.sha256: text for text in texts}


def document_of(path: Path) -> DocumentText:
    """A file of the data room as a document of one page."""
    text = path.read_text("utf-8")
    page = Page(1, "read", "", 0, len(text), 595, 842)
    return DocumentText(hashlib.sha256(path.read_bytes()).hexdigest(), text, (page,), "en")


def services(reader_version: str = "4 pdfium 5.15.2 ocr 3.10.0") -> Any:
    """As much of the services as a request is made from."""
    return SimpleNamespace(passwords={}, reader_version=reader_version, rules_sha256=local_sha256())


def requests(text: DocumentText, name: str, run: Run) -> Iterator[tuple[str, ToolRequest]]:
    """Every request that may be made about a document, by its label."""
    source = SourceDocument(name, text.sha256, 1, 1, f"/{name}")
    passages = choose(text, (), 400)
    yield "reader", read_question(services(), run, source)
    for playbook_name in ("due-diligence", "case-law"):
        playbook = parse_playbook((PLAYBOOKS / f"{playbook_name}.toml").read_text("utf-8"), playbook_name)
        yield f"rules {playbook_name}", rules_question(services(), playbook, source, text.sha256)
        yield f"model {playbook_name}", model_question(text, passages, playbook.clauses, model=MODEL)
    yield "summary", summary_question(text, passages, model=MODEL)


def test_the_keys_of_today_are_those_that_were_written_down() -> None:
    """Written by the code of commit 365e52c. A key that must change is a new version, and a line in CHANGELOG."""
    frozen = json.loads((FIXTURES / "call_keys.json").read_text("utf-8"))
    keys = {"note": call_key(PLAIN, note_question([FINDING], model=MODEL, language="French"))}
    for path in sorted((THREADS / "data-room").iterdir()):
        for label, run in (("plain", PLAIN), ("fresh", FRESH)):
            for tool, request in requests(document_of(path), path.name, run):
                keys[f"{path.stem} {tool} {label}"] = call_key(run, request)
    assert keys == frozen and len(keys) == 97


@pytest.mark.parametrize("kind", ["gate", "killed", "hold"])
def test_what_an_old_thread_asked_has_the_key_under_which_its_answer_is_stored(kind: str) -> None:
    for call in stored_calls(kind):
        request = ToolRequest(call["tool"], call["step"], json.loads(call["parameters"]), model=call["model"])
        assert call_key(PLAIN, request) == call["key"], call


@pytest.mark.parametrize("kind", ["gate", "killed", "hold"])
def test_the_same_reader_asked_about_the_same_file_finds_the_answer_of_an_old_thread(kind: str) -> None:
    read = [call for call in stored_calls(kind) if call["tool"] == "reader"]
    assert read
    for call in read:
        source = SourceDocument(call["document"], call["sha256"], 1, 1, f"/{call['document']}")
        reader_version = json.loads(call["parameters"])["reader"]
        assert call_key(PLAIN, read_question(services(reader_version), PLAIN, source)) == call["key"]


@pytest.mark.parametrize("kind", ["killed", "hold"])
def test_a_model_is_asked_about_the_same_passages_under_the_same_names_as_in_an_old_thread(kind: str) -> None:
    asked, texts = [call for call in stored_calls(kind) if call["tool"] == "model"], stored_texts(kind)
    assert asked
    for call in asked:
        text = texts[call["sha256"]]
        request = model_question(text, choose(text, (), 12_000), (), model=call["model"])
        parameters = json.loads(call["parameters"])
        assert request.key.keys() == parameters.keys()
        assert request.key["passages"] == parameters["passages"]
        same = ("model", "max_tokens", "temperature")
        assert [request.key[name] for name in same] == [parameters[name] for name in same]
