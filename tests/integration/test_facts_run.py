"""Facts of a run: stored beside its findings, printed by the command."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from cli_runs import objects, room, run_here
from databases import rows
from processes import environment
from sample_terms import ENGLISH

from graph import Reprise


async def test_facts_of_a_run_are_stored_beside_its_findings_and_read_without_a_call(
    database: str, home: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(ENGLISH.replace("Acme", name.title()))
    async with Reprise.open(database_url=database, home=home) as reprise:
        await reprise.start(tmp_path, thread="f", review="never")
        calls = len(await reprise.journal("f"))
        facts = await reprise.facts("f")
        assert Counter(fact.document for fact in facts) == {"one.txt": len(facts) // 2, "two.txt": len(facts) // 2}
        assert [fact.fact.value for fact in facts if fact.fact.kind == "party"] == [
            "One Hosting Ltd", "Meridian Foods SA", "Two Hosting Ltd", "Meridian Foods SA",
        ]  # fmt: skip
        assert {fact.supplier for fact in facts} == {"One Hosting Ltd", "Two Hosting Ltd"}
        assert len(await reprise.journal("f")) == calls
        assert "<table>" in facts._repr_html_()
    stored = rows(database, "SELECT facts_ref, findings_ref FROM reprise.run_document")
    assert all(len(row["facts_ref"]) == 64 and row["facts_ref"] != row["findings_ref"] for row in stored)


def test_the_command_prints_one_fact_a_line_or_a_table(
    database: str, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    env = environment(database, home)
    assert (
        run_here(["start", room(tmp_path / "room", 2), "--thread", "c", "--review", "never"], env, capsys).returncode
        == 0
    )
    listed = objects(run_here(["facts", "c", "--json"], env, capsys))
    assert {"document", "supplier", "kind", "value", "quote", "page", "alignment", "spans", "source"} <= set(listed[0])
    laws = objects(run_here(["facts", "c", "--kind", "governing_law", "--document", "1.pdf", "--json"], env, capsys))
    assert [(law["document"], law["value"], law["page"]) for law in laws] == [("contract 1.pdf", "France", 1)]
    shown = run_here(["facts", "c", "--kind", "renewal_term"], env, capsys)
    assert shown.returncode == 0 and shown.stdout.count("36 months") == 2
