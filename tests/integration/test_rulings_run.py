"""Court decisions through the whole graph: read, reviewed where something is unsure, noted, killed and resumed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pikepdf
import pytest
from databases import number, rows
from paths import DATA
from processes import PATIENT, begin, environment, kill, passing, run, wait_until
from sample_rulings import APPEAL, EXHIBITS, printed, rulings, social
from shared_data import needs_shared

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint

REAL = DATA / "decisions_fr" / "pdf"
MODELS = ("--playbook", "case-law", "--engine", "openai", "--model", "extract=gpt-4.1-mini")


async def test_only_what_is_missing_or_contradicts_itself_waits_for_a_person(reprise: Reprise, tmp_path: Path) -> None:
    source = rulings(tmp_path / "decisions", 3)
    printed(source / "two_dates.pdf", social("21-18.600", spelt="douze"))
    bare = social("21-18.700").replace("n° F 21-18.700", "n° F")
    printed(source / "no_number.pdf", bare)
    view = await reprise.start(source, thread="law", playbook="case-law")
    assert view.status == "needs_review"
    waiting = [finding for finding in await reprise.findings("law") if finding.needs_review]
    assert sorted((finding.document, finding.about or finding.clause_type) for finding in waiting) == [
        ("no_number.pdf", "case_number"),
        ("two_dates.pdf", "decision_date"),
    ]
    view = await reprise.resume("law", accept_all=True, reviewer="A. Martin", reason="checked")
    assert view.status == "completed"
    note = await reprise.report("law")
    assert note.count("\n| [") == 5 and "[21\\-18.401](#d-" in note
    assert "14 mars 2022" in note and "**Réponse** : « Il résulte de ces textes" in note


async def test_an_embedded_file_is_read_and_stands_under_the_decision_that_carries_it(
    reprise: Reprise, tmp_path: Path
) -> None:
    path = printed(tmp_path / "decisions" / "arret.pdf", social()) if (tmp_path / "decisions").mkdir() is None else None
    assert path is not None
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.attachments["plan.txt"] = pikepdf.AttachedFileSpec(pdf, b"Plan du four numero trois.", filename="plan.txt")
        pdf.save(path)
    view = await reprise.start(path.parent, thread="attached", playbook="case-law")
    assert (view.status, view.documents["done"]) == ("completed", 2)
    note = await reprise.report("attached")
    assert note.count("\n| [") == 1 and "**Pièces jointes** : plan.txt" in note


async def test_exhibits_beside_a_decision_ask_a_person_nothing_and_a_later_decision_of_the_case_is_one(
    reprise: Reprise, tmp_path: Path
) -> None:
    source = tmp_path / "decisions"
    source.mkdir()
    (source / "arret.txt").write_text(APPEAL, encoding="utf-8")
    (source / "bordereau.txt").write_text(EXHIBITS, encoding="utf-8")
    printed(source / "arret copie.pdf", APPEAL)
    (source / "rectification.txt").write_text(APPEAL.replace("21 MARS", "5 MAI").replace("21 mars", "5 mai"), "utf-8")
    view = await reprise.start(source, thread="beside", playbook="case-law")
    assert (view.status, view.documents["done"]) == ("completed", 4)
    note = await reprise.report("beside")
    assert (
        note.count("\n| [") == 2 and "**Pièces jointes** : bordereau" in note and "**Autre exemplaire** : arret" in note
    )


async def test_the_facts_of_a_decision_come_from_rules_and_its_summary_from_one_call_of_a_model(
    reprise: Reprise, tmp_path: Path
) -> None:
    await reprise.start(rulings(tmp_path / "decisions", 2), thread="facts", playbook="case-law")
    facts = [fact.fact for fact in await reprise.facts("facts")]
    numbers = [fact.value for fact in facts if fact.kind == "case_number" and fact.detail["kind"] == "pourvoi"]
    assert numbers == ["21-18.400", "21-18.401"]
    assert {fact.alignment for fact in facts} == {"exact"} and all(fact.page for fact in facts)
    assert {"court", "chamber", "formation", "solution", "statute", "party", "amount"} <= {fact.kind for fact in facts}


@pytest.mark.slow
def test_after_a_kill_9_no_decision_whose_summary_was_committed_is_asked_about_again(
    tmp_path: Path, database: str, home: Path
) -> None:
    source = rulings(tmp_path / "decisions", 12)
    with ScriptedEndpoint(script=passing(4)) as endpoint:
        env = environment(database, home, OPENAI_BASE_URL=endpoint.base_url, OPENAI_API_KEY="x", **PATIENT)
        process = begin(["start", source, "--thread", "killed", *MODELS, "--concurrency", "2", "--json"], env)
        completed = "SELECT count(*) FROM reprise.calls WHERE tool = 'model' AND state = 'completed'"
        wait_until(lambda: number(database, completed) == 4 and endpoint.counts()["in_flight"] == 2)
        kill(process)
        wait_until(lambda: endpoint.counts()["in_flight"] == 0)
        endpoint.script([])
        resumed = run(["resume", "killed", "--json"], env)
        assert resumed.returncode == 0, resumed.stderr
        end = json.loads(resumed.stdout)
        assert (end["status"], end["documents"]["done"], end["resumes"]) == ("completed", 12, 1)
        asked = Counter(call["sha256"] for call in endpoint.calls("received"))
    lost = number(database, "SELECT count(*) FROM reprise.calls WHERE tool = 'model' AND state = 'lost_answer'")
    again = [count for count in asked.values() if count > 1]
    assert len(asked) == 12 and len(again) <= lost <= 2 and set(again) <= {2}
    answered = rows(database, "SELECT call_key FROM reprise.answers WHERE state = 'completed'")
    assert len({row["call_key"] for row in answered}) == len(answered)
    told = run(["report", "killed"], env)
    assert told.stdout.count("\n| [") == 12, told.stderr


@needs_shared(REAL)
@pytest.mark.parametrize(
    ("name", "number_", "date", "solution"),
    [
        ("cass_20_16333.pdf", "20-16.333", "2022-03-23", "Rejet"),
        ("cass_22_13303.pdf", "22-13.303", "2023-06-01", "Cassation partielle"),
        ("cass_23_40014.pdf", "23-40.014", "2024-01-17", "Non-lieu à renvoi"),
    ],
)
async def test_a_real_decision_gives_its_official_number_date_and_solution(
    reprise: Reprise, tmp_path: Path, name: str, number_: str, date: str, solution: str
) -> None:
    source = tmp_path / "real"
    source.mkdir()
    shutil.copy(REAL / name, source / name)
    view = await reprise.start(source, thread="real", playbook="case-law")
    assert view.status == "completed"
    facts = {fact.fact.kind: fact.fact.value for fact in reversed(await reprise.facts("real"))}
    assert (facts["case_number"], facts["decision_date"], facts["solution"]) == (number_, date, solution)
    assert number_.replace("-", "\\-") in await reprise.report("real")
