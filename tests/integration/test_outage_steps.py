"""An outage at every step: sessions that are cut off, acknowledgements that are lost; the run ends as undisturbed."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from databases import rows
from outage_server import Server, asked, cut_off
from processes import PATIENCE
from risky_contracts import risky
from sample_contracts import contracts

from graph import Reprise
from graph.runtime.fault_points import listening
from graph.runtime.postgres.checkpoints import InstrumentedSaver
from graph.runtime.postgres.database import Database, queries
from graph.testing.endpoint import ScriptedEndpoint

REVIEW = {"accept_all": True, "reviewer": "A. Martin", "reason": "checked"}


def counts(url: str) -> dict[str, Any]:
    """What a run has left in the tables, without times and ids."""
    queries = {
        "calls": "SELECT tool, state, attempt, count(*) AS n FROM reprise.calls GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        "answers": "SELECT state, count(*) AS n FROM reprise.answers GROUP BY 1 ORDER BY 1",
        "documents": "SELECT state, slow, count(*) AS n, sum(findings) AS f FROM reprise.run_document GROUP BY 1, 2",
        "pages": "SELECT state, count(*) AS n FROM reprise.pages GROUP BY 1 ORDER BY 1",
        "decisions": "SELECT finding_id, verdict, reviewer, reason FROM reprise.decisions ORDER BY decision_id",
        "effects": "SELECT kind, state, count(*) AS n FROM reprise.effects GROUP BY 1, 2 ORDER BY 1, 2",
        "artifacts": "SELECT name FROM reprise.artifacts ORDER BY 1",
        "resumes": "SELECT kind, outcome, count(*) AS n FROM reprise.resumes GROUP BY 1, 2 ORDER BY 1, 2",
        "checkpoints": "SELECT count(*) AS n FROM checkpoints",
    }
    return {name: rows(url, query) for name, query in queries.items()}


async def outcome(reprise: Reprise, thread: str = "t") -> dict[str, Any]:
    """What came of a run."""
    view = await reprise.status(thread)
    findings = [{**finding.to_json(), "boxes": None, "decision": None} for finding in await reprise.findings(thread)]
    return {
        "status": view.status,
        "documents": view.documents,
        "pages": view.pages,
        "calls": (view.cost["calls"], view.cost["calls_lost"]),
        "findings": sorted(json.dumps(finding, sort_keys=True) for finding in findings),
    }


async def whole_job(url: str, home: Path, room: Path, **given: Any) -> dict[str, Any]:
    """Start, stop at the gate, resume to the end; in this process."""
    async with Reprise.open(database_url=url, home=home, database_wait_seconds=PATIENCE, **given) as reprise:
        engine = "openai" if given else "local"
        await reprise.start(room, thread="t", engine=engine, review="always", batch_size=2)
        await reprise.resume("t", **REVIEW)
        return await outcome(reprise)


async def test_every_statement_whose_acknowledgement_is_lost_is_repeated_without_a_trace(
    own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every statement of a run is done, its acknowledgement thrown away, and sent again."""
    room = contracts(tmp_path / "room", 3)
    script = [{"match": "Firm 1 ", "times": 1, "fault": "500"}, {"match": "Firm 2 ", "times": 1, "fault": "bad_json"}]
    seen: list[Any] = []
    for twice in (False, True):
        if twice:
            run_once, through_once = Database._run, InstrumentedSaver._through

            async def sent_twice(self: Database, query: str, values: Any, one: Any = run_once) -> Any:
                await self._send(query, values)
                return await one(self, query, values)

            async def through_twice(self: InstrumentedSaver, name: str, work: Any, one: Any = through_once) -> Any:
                await work()
                return await one(self, name, work)

            monkeypatch.setattr(Database, "_run", sent_twice)
            monkeypatch.setattr(InstrumentedSaver, "_through", through_twice)
        url, home = own_server.fresh(), tmp_path / f"home-{twice}"
        with ScriptedEndpoint(script=script) as endpoint:
            given = {"openai_base_url": endpoint.base_url, "openai_api_key": "x"}
            came = await whole_job(url, home, room, **given)
            seen.append((came, counts(url), sorted(asked(endpoint).values())))
    assert seen[0][0]["status"] == "completed"
    assert seen[1] == seen[0]


def test_every_query_that_inserts_says_what_a_repetition_does() -> None:
    """A new query that would double its row when its acknowledgement is lost is found here."""
    known = {"decide": "it compares with the latest decision of each finding"}
    for name, text in queries().items():
        body = text.decode()
        safe = "INSERT INTO" not in body or "ON CONFLICT" in body or name in known
        assert safe, f"{name} inserts and does not say what happens when it is sent twice"


# Sessions are cut off at every step.

FEW = ("sql.claim:after", "sql.complete:before", "sql.decide:after", "saver.put:before", "saver.put_writes:after")


@pytest.fixture(scope="module")
def undisturbed(own_server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    room = risky(folder / "room", 3)
    url = own_server.fresh()
    passed: list[str] = []

    async def job() -> dict[str, Any]:
        return await whole_job(url, folder / "home", room)

    with listening(passed.append):
        came = asyncio.run(job())
    there = Counter(place for place in passed if place.startswith(("sql.", "saver.")))
    return room, came | counts(url), there


def cutting_at(url: str, place: str, nth: int) -> Any:
    left = nth

    def listen(passed: str) -> None:
        nonlocal left
        if passed == place:
            left -= 1
            if left == 0:
                cut_off(url)

    return listen


@pytest.mark.parametrize("place", FEW)
async def test_a_run_whose_sessions_are_cut_off_goes_on_as_if_nothing_had_happened(
    place: str, own_server: Server, tmp_path: Path, undisturbed: tuple[Path, dict[str, Any], Counter[str]]
) -> None:
    room, expected, there = undisturbed
    url = own_server.fresh()
    with listening(cutting_at(url, place, there[place] // 2 + 1)):
        came = await whole_job(url, tmp_path / "home", room)
    assert came | counts(url) == expected


@pytest.mark.slow
async def test_at_whatever_boundary_the_sessions_are_cut_off_the_run_goes_on(
    own_server: Server, tmp_path: Path, undisturbed: tuple[Path, dict[str, Any], Counter[str]]
) -> None:
    room, expected, there = undisturbed
    assert len(there) > 40
    for number_of, (place, count) in enumerate(there.items()):
        url = own_server.fresh()
        with listening(cutting_at(url, place, count // 2 + 1)):
            came = await whole_job(url, tmp_path / f"home-{number_of}", room)
        assert came | counts(url) == expected, place
