"""The notebook runs offline from an empty home; what it shows is escaped, typed, and updated in place."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from paths import ROOT
from processes import environment
from risky_contracts import risky
from sample_notes import make_finding as made

from graph import Reprise
from graph.builder import build_graph
from graph.surfaces import notebook as notebook_surface
from graph.views.comparison import Comparison
from graph.views.facts import DocumentFact, FactsView
from graph.views.frames import Diagram, FindingsView, JournalView, run_html
from nodes.domain.evidence.facts import Fact
from nodes.domain.shared.errors import MissingPart

NOTEBOOK = ROOT / "notebooks" / "01_first_run.ipynb"
EVIL = "<script>alert(1)</script>\u202e<img src=x onerror=alert(1)>"

nbformat = pytest.importorskip("nbformat", reason="pip install nbformat nbclient ipykernel runs the notebook")


def cells() -> list[dict[str, Any]]:
    return list(json.loads(NOTEBOOK.read_text("utf-8"))["cells"])


def test_the_notebook_is_short_stripped_and_says_what_to_change_next() -> None:
    assert len(cells()) < 12
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert cells()[-1]["cell_type"] == "markdown" and "What you can change next" in "".join(cells()[-1]["source"])
    assert str(ROOT) not in NOTEBOOK.read_text("utf-8")


def test_the_notebook_runs_in_an_empty_home(database: str, home: Path, tmp_path: Path) -> None:
    client = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel runs the notebook")
    pytest.importorskip("ipykernel", reason="pip install ipykernel runs the notebook")
    book = nbformat.read(NOTEBOOK, as_version=4)
    runner = client.NotebookClient(
        book, timeout=300, startup_timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    env = environment(database, home, PYTHONPATH=str(ROOT), IPYTHONDIR=str(tmp_path / "ipython"))
    env.pop("PYTHONWARNINGS")  # of Jupyter's own libraries
    runner.execute(env=env)
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type in ("error", "stream")], outputs
    shown = [output.data for output in outputs]
    assert shown[0]["text/markdown"] == f"```mermaid\n{build_graph(None).compile().get_graph().draw_mermaid()}\n```"  # type: ignore[arg-type]
    progress = shown[1]["text/plain"]
    assert re.search(r"(\d\d) of \1 documents", progress) and "text/html" not in shown[1], "the bar ends as text"
    assert "waits for a review" in shown[2]["text/html"]
    assert "findings</b>" in shown[3]["text/html"]
    assert shown[-2]["text/markdown"].startswith("# ")
    assert "completed" in next(data["text/html"] for data in reversed(shown) if "text/html" in data)


async def test_findings_journal_and_run_are_lists_and_records_with_html_and_frames(
    reprise: Reprise, tmp_path: Path
) -> None:
    view = await reprise.start(risky(tmp_path / "room"), thread="shown")
    findings, journal = await reprise.findings("shown"), await reprise.journal("shown")
    assert isinstance(findings, list) and isinstance(findings, FindingsView) and isinstance(journal, JournalView)
    table = findings.to_frame()
    assert len(table) == len(findings) and str(table.dtypes["page"]) == "Int64"
    assert str(table.dtypes["needs_review"]) == "boolean" and table["verdict"].isna().all()
    calls = journal.to_frame()
    assert len(calls) == len(journal) and str(calls.dtypes["started_at"]).startswith("datetime64[us, UTC")
    assert view.to_frame().loc[0, "documents.done"] == 4
    for empty in (FindingsView(), JournalView()):
        assert len(empty.to_frame()) == 0 and "0 " in empty._repr_html_()
    assert "Uncapped liability" in findings._repr_html_() and "clause_rules" in journal._repr_html_()
    assert "shown" in view._repr_html_() and "run.py review shown" in view._repr_html_()


async def test_hostile_text_is_escaped_everywhere(reprise: Reprise, tmp_path: Path) -> None:
    view = await reprise.start(risky(tmp_path / "room", 1), thread="evil")
    finding = (await reprise.findings("evil"))[0]
    bad = replace(finding, quote=EVIL, supplier=EVIL, document=EVIL, clause_type=EVIL, risk=EVIL, alignment=EVIL)  # type: ignore[arg-type]
    call = (await reprise.journal("evil"))[0]
    hostile = {name: EVIL for name, value in call.items() if isinstance(value, str)} | {"basis": "reported"}
    shown = [
        FindingsView([bad])._repr_html_(),
        JournalView([{**call, **hostile, "error": EVIL}])._repr_html_(),
        run_html({**view.to_json(), "name": EVIL, "error": EVIL, "next_action": EVIL, "status": EVIL, "step": EVIL}),
    ]
    for html in shown:
        assert "<script" not in html and "<img" not in html and "\u202e" not in html and "&lt;script&gt;" in html


def test_the_gravest_findings_of_a_long_run_are_among_those_that_a_notebook_shows() -> None:
    many = [made(f"{n:x}", f"Quote {n}.", risk="low", score=5) for n in range(120)]
    missing = made("m", "", clause_type="missing_clause", about="cap_on_liability", alignment="absent", page=None)
    grave = made("g", "The gravest.", risk="critical", score=90, decision={"verdict": "accept"})
    shown = FindingsView([*many, missing, grave])._repr_html_()
    rows = re.findall(r"<tr><td.*?</tr>", shown)
    assert len(rows) == 50 and "The gravest." in rows[0] and "accepted" in rows[0] and "and 72 more" in shown
    assert "Missing clause: Cap on liability" in rows[1] and "cap_on_liability" not in shown


async def test_what_differs_between_two_runs_is_escaped_and_counted_in_a_notebook(
    reprise: Reprise, tmp_path: Path
) -> None:
    room = risky(tmp_path / "room", 1)
    for name in ("first", "second"):
        await reprise.start(room, thread=name)
    data = (await reprise.compare("first", "second")).to_json()
    row = {**made("a", EVIL, document=EVIL, clause_type=EVIL).to_json(), "first": {"risk": EVIL}, "second": {}}
    shown = Comparison({**data, "changed": [row]})._repr_html_()
    assert "<script" not in shown and "<img" not in shown and "&lt;script&gt;" in shown
    assert f"1 finding with another score or decision, {data['same']} alike, 0 only in the first" in shown
    assert data["same"] > 0


def test_facts_of_a_document_without_pages_are_placed_in_its_sections() -> None:
    stated = Fact("governing_law", "France", "laws of France", {}, 3, 3, ((0, 14),), (), "exact", "x", "section")
    shown = FactsView([DocumentFact("a.docx", "Acme", stated)])._repr_html_()
    assert ">section</th>" in shown and ">page</th>" not in shown


async def test_progress_counts_an_attachment_that_was_found_on_the_way() -> None:
    progress = notebook_surface.Progress()
    progress({"event": "run", "thread_id": "t", "name": "t", "total": 2, "done": 0})
    for ordinal in (0, 2):
        progress({"event": "document", "ordinal": ordinal})
    assert "2 of 3 documents" in progress.text()


def test_without_pandas_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingPart, match="pip install pandas"):
        FindingsView().to_frame()


def test_a_diagram_is_text_that_jupyter_draws_itself() -> None:
    diagram = Diagram("graph TD;")
    assert diagram._repr_markdown_() == "```mermaid\ngraph TD;\n```" and diagram == "graph TD;"


class Handle:
    """Jupyter's display handle, with every paint in sight."""

    def __init__(self) -> None:
        self.painted: list[Any] = []

    def update(self, shown: Any) -> None:
        self.painted.append(shown)


async def test_progress_repaints_one_display_twice_a_second_and_ends_as_text() -> None:
    handle = Handle()
    progress = notebook_surface.Progress()
    progress._display = lambda shown, display_id: handle
    began = time.monotonic()
    with progress:
        progress({"event": "run", "thread_id": "t", "name": EVIL, "total": 300, "done": 0})
        for ordinal in range(300):
            progress({"event": "document", "ordinal": ordinal})
            progress({"event": "unknown"})
            await asyncio.sleep(0.004)
        # One a half second that it really took, and one more at its end.
        assert 1 <= len(handle.painted) <= 2 * (time.monotonic() - began) + 1
        assert "<script" not in handle.painted[-1]._repr_html_()
    last = handle.painted[-1]
    assert not hasattr(last, "_repr_html_") and "300 of 300 documents" in repr(last)
    with pytest.raises(RuntimeError), progress:
        raise RuntimeError
    assert "await reprise.resume(" in repr(handle.painted[-1])


def test_progress_outside_of_jupyter_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(MissingPart, match="pip install ipykernel"):
        notebook_surface.Progress()
    assert os.environ.get("REPRISE_HOME") is None
