"""Where both engines looked and differ, a person decides."""

from __future__ import annotations

from pathlib import Path

from processes import environment
from risky_contracts import risky

from graph import Reprise
from graph.testing.endpoint import ScriptedEndpoint
from nodes.domain.clauses.engine_comparison import compare_engines
from nodes.domain.evidence.findings import Candidate

MODEL, LOCAL = "openai:x", "local:model@1"


def seen(clause_type: str, source: str, confidence: float = 0.9) -> Candidate:
    return Candidate(clause_type, "words", confidence, source)


def test_what_both_see_is_the_models_and_disputed_by_nobody() -> None:
    both = [seen("cap", MODEL), seen("cap", MODEL)]
    assert compare_engines(both, [seen("cap", LOCAL)], {"cap"}) == both


def test_what_one_of_them_sees_alone_is_kept_and_names_both() -> None:
    found = compare_engines([seen("cap", MODEL)], [seen("law", LOCAL)], {"cap", "law"})
    assert [(candidate.clause_type, candidate.disputed) for candidate in found] == [
        ("cap", f"{MODEL} found it, the local engine did not"),
        ("law", f"{LOCAL} found it, {MODEL} did not"),
    ]


def test_a_type_for_which_only_the_model_looks_is_not_disputed() -> None:
    own = [seen("own_type", MODEL)]
    assert compare_engines(own, [], {"cap"}) == own


def test_an_unsure_sight_of_the_local_engine_contradicts_nobody() -> None:
    assert compare_engines([], [seen("cap", LOCAL, 0.5)], {"cap"}) == []
    assert [candidate.disputed for candidate in compare_engines([], [seen("cap", LOCAL, 0.6)], {"cap"})] == [
        f"{LOCAL} found it, the model did not"
    ]


def test_quotes_that_the_document_does_not_have_hide_nothing_of_the_local_engine() -> None:
    invented = Candidate("cap", "invented words", 0.9, MODEL)
    unsure = seen("cap", LOCAL, 0.3)
    assert compare_engines([invented], [unsure], {"cap"}) == [invented]
    kept = compare_engines([invented], [unsure], {"cap"}, {"invented words"})
    assert [(candidate.source, candidate.disputed) for candidate in kept] == [
        (MODEL, ""),
        (LOCAL, f"{LOCAL} found it, {MODEL} quoted words that are not in the document"),
    ]
    both = [invented, seen("cap", MODEL)]
    assert compare_engines(both, [unsure], {"cap"}, {"invented words"}) == both


async def test_a_clause_that_the_model_only_invents_words_for_is_kept_with_its_place_and_left_to_a_person(
    database: str, home: Path, tmp_path: Path
) -> None:
    clause = {"clause_type": "governing_law", "quote": "This Agreement is governed by the laws of Peru."}
    with ScriptedEndpoint() as endpoint:
        endpoint.script([{"respond": {"clauses": [{**clause, "passage": 1, "confidence": 0.9}], "supplier": None}}])
        settings = {"openai_base_url": endpoint.base_url, "openai_api_key": "key"}
        async with Reprise.open(database_url=database, home=home, **settings) as reprise:
            await reprise.start(risky(tmp_path / "room", 1), engine="openai", thread="invented")
            findings = await reprise.findings("invented")
    law = {finding.alignment: finding for finding in findings if finding.clause_type == "governing_law"}
    assert sorted(law) == ["exact", "not_found"] and all(one.needs_review for one in law.values())
    assert "laws of France" in law["exact"].quote and law["exact"].page == 1
    assert "quoted words that are not in the document" in law["exact"].review_reason


async def test_a_model_that_overlooks_what_the_local_engine_sees_leaves_it_to_a_person(
    database: str, home: Path, tmp_path: Path
) -> None:
    env = environment(database, home)
    assert "OPENAI_API_KEY" not in env
    with ScriptedEndpoint() as endpoint:
        endpoint.script([{"respond": {"clauses": [], "supplier": None}}])
        settings = {"openai_base_url": endpoint.base_url, "openai_api_key": "key"}
        async with Reprise.open(database_url=database, home=home, **settings) as reprise:
            run = await reprise.start(risky(tmp_path / "room", 1), engine="openai", thread="blind")
            findings = await reprise.findings("blind")
    law = [finding for finding in findings if finding.clause_type == "governing_law"]
    assert len(law) == 1 and law[0].needs_review and run.status == "needs_review"
    assert law[0].source.startswith("local:") and "the engines differ: local:" in law[0].review_reason
