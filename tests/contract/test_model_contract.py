"""What every model adapter promises, scripted or real: the same questions, the same answers, the same errors."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
from model_question import CAP, CLAUSES, CONTRACT, LAW, document, question
from processes import PATIENCE

from graph.adapters.openai.model import OpenAIModel
from graph.testing.endpoint import ScriptedEndpoint
from graph.testing.model import ScriptedModel
from nodes.domain.answers.extraction import read_answer
from nodes.domain.answers.passages import choose
from nodes.domain.shared.errors import AnswerInvalid
from nodes.ports import Tool

Spoil = Callable[..., None]
Model = tuple[Tool, Spoil]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint() as running:
        yield running


@pytest.fixture(params=["scripted", "openai"])
async def model(request: pytest.FixtureRequest, endpoint: ScriptedEndpoint) -> AsyncIterator[Model]:
    """The model, and a function that spoils its next answers in the ways named."""
    if request.param == "scripted":
        scripted = ScriptedModel()
        yield scripted, lambda *faults: scripted.play(faults)
        return
    endpoint.reset()
    real = OpenAIModel(base_url=endpoint.base_url, api_key="test", timeout=PATIENCE)
    yield real, lambda *faults: endpoint.script([{"fault": fault, "times": 1} for fault in faults])
    await real.aclose()


async def test_an_answer_leads_to_candidates_and_the_supplier(model: Model) -> None:
    tool, _ = model
    answer = await tool.answer(question())
    doc = document()
    found, supplier, notes = read_answer(
        answer.value, choose(doc, (), 10_000), [clause.type for clause in CLAUSES], "openai:scripted-1"
    )
    quotes = {candidate.clause_type: candidate.quote for candidate in found}
    assert set(quotes) == {"cap_on_liability", "governing_law"}
    assert CAP in quotes["cap_on_liability"] and LAW in quotes["governing_law"]
    assert all(candidate.quote in CONTRACT and candidate.start == len(CONTRACT) // 2 for candidate in found)
    assert supplier is not None and "Acme Tools Ltd" in supplier.name and supplier.quote in CONTRACT
    assert notes == []


async def test_the_same_question_gets_the_same_answer(model: Model) -> None:
    tool, _ = model
    assert await tool.answer(question()) == await tool.answer(question())


async def test_nothing_found_is_an_answer(model: Model) -> None:
    tool, _ = model
    answer = await tool.answer(question("The parties met on a sunny day and liked each other very much."))
    assert answer.value == {"clauses": [], "supplier": None}


async def test_a_call_uses_no_more_than_its_bound(model: Model) -> None:
    tool, _ = model
    asked = question()
    used, bound = (await tool.answer(asked, "it is no JSON")).usage, tool.worst_usage(asked)
    assert bound is not None and used.reported
    assert 0 < used.tokens_in <= bound.tokens_in
    assert 0 < used.tokens_out <= bound.tokens_out == asked.max_tokens


async def test_an_answer_at_its_limit_is_cut(model: Model) -> None:
    tool, _ = model
    await _fails(tool.answer(question(max_tokens=5)), "longer than allowed", cut=True)


@pytest.mark.parametrize("fault", ["cut_json", "early_close"])
async def test_a_part_of_an_answer_is_no_answer_even_when_it_is_valid_json(model: Model, fault: str) -> None:
    tool, spoil = model
    spoil(fault)
    await _fails(tool.answer(question()), "longer than allowed", cut=True)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("bad_json", "it is no JSON"),
        ("wrong_schema", "clauses: Field required"),
        ("refusal", "refused to answer"),
        ("empty", "empty answer"),
        ("null", "empty answer"),
    ],
)
async def test_an_unusable_answer_says_why_and_what_it_cost(model: Model, fault: str, message: str) -> None:
    tool, spoil = model
    spoil(fault)
    await _fails(tool.answer(question()), message, cut=False)
    assert (await tool.answer(question(), "it was unusable")).value["clauses"]


@pytest.mark.parametrize("fault", ["nul", "surrogate"])
async def test_characters_that_no_database_takes_are_removed(model: Model, fault: str) -> None:
    tool, spoil = model
    spoil(fault)
    quotes = [clause["quote"] for clause in (await tool.answer(question())).value["clauses"]]
    assert any(CAP in quote for quote in quotes)
    assert not any("\x00" in quote or "\ud800" in quote for quote in quotes)


async def test_text_that_cannot_be_sent_does_not_stop_a_question(model: Model) -> None:
    tool, _ = model
    answer = await tool.answer(question(CONTRACT.replace("Law.", "Law\x00 \ud83d.")))
    assert len(answer.value["clauses"]) == 2


async def _fails(asking: Awaitable[object], message: str, *, cut: bool) -> None:
    with pytest.raises(AnswerInvalid, match=message) as raised:
        await asking
    assert raised.value.cut is cut
    assert raised.value.usage is not None and raised.value.usage.tokens_in > 0
