"""A state that was changed by hand is named where it enters the next node, and the thread is not lost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from plain_graphs import edit_state
from risky_contracts import risky

from graph import Reprise, StateEdited, build_graph, memory_services
from graph.routing import after_extract, after_hold, after_record_review, after_score, after_summarize
from nodes.domain.runs.settings import Run, Settings
from nodes.domain.runs.state_validation import check_against_run, validated_state
from nodes.domain.shared.errors import UserError

CONFIG: Any = {"configurable": {"thread_id": "edited"}}
OTHER: Any = {"configurable": {"thread_id": "other"}}
ANSWER = {"reviewer": "A. Martin", "accept_all": True}
NONSENSE = "f" * 64


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Any]:
    """A graph over the memory, with a thread that waits at its gate after two batches."""
    async with memory_services() as services:
        made = build_graph(services).compile(checkpointer=InMemorySaver())
        source = str(risky(tmp_path / "room", 4))
        for config in (CONFIG, OTHER):
            await made.ainvoke({"source": source, "options": {"batch_size": 2}}, config)
        assert (await made.aget_state(CONFIG)).next == ("needs_review",)
        yield made


async def at(app: Any, step: str, index: int | None = None) -> Any:
    """The newest checkpoint before which `step` comes."""
    async for one in app.aget_state_history(CONFIG):
        if one.next == (step,) and index in (None, one.values.get("batch_index")):
            return one
    raise AssertionError(step)


@pytest.mark.parametrize(
    ("step", "changes", "words"),
    [
        ("extract", {"batch_index": -3}, "batch_index is -3, but it must be a whole number"),
        ("extract", {"batch_index": "x"}, "batch_index is “x”, but it must be a whole number"),
        ("extract", {"batch_index": 1.5}, "batch_index is a number, but"),
        ("extract", {"batch_index": True}, "batch_index is true, but"),
        ("extract", {"batch_size": 0}, "batch_size is 0, but it must be a whole number, 1 or more"),
        ("extract", {"batch_total": 7}, "batch_total is 7, but 4 documents in batches of 2 make 2"),
        ("extract", {"documents_total": 99}, "documents_total is 99, but the run has 4"),
        ("extract", {"run_id": "nobody"}, "run_id is “nobody”, but the ledger has no such run"),
        ("extract", {"run_id": None}, "run_id is an empty text, but the ledger has no such run"),
        ("extract", {"run_id": 12}, "run_id is 12, but it must be the id of the run"),
        ("extract", {"gate": "perhaps"}, "gate is “perhaps”, but it must be true or false"),
        ("extract", {"hold": "tea"}, "hold is “tea”, but it must be budget, deadline"),
        ("extract", {"hold": {"at": 3}}, "hold is an object with the keys at, but"),
        ("extract", {"packet": "../../etc/passwd"}, "packet is “../../etc/passwd”, but it must be a sha256"),
        ("extract", {"headline": ["a"]}, "headline is a list, but it must be a text"),
        ("needs_review", {"packet": "abc"}, "packet is “abc”, but it must be a sha256"),
        ("needs_review", {"packet": NONSENSE}, "but no stored artifact has this sha256"),
        ("needs_review", {"packet": ""}, "packet is an empty text, but no stored artifact"),
        ("needs_review", {"review_round": -1}, "review_round is -1, but"),
    ],
)
async def test_nonsense_is_named_in_one_sentence_and_the_mended_thread_goes_on(
    app: Any, step: str, changes: dict[str, Any], words: str
) -> None:
    before = await at(app, step)
    await app.aupdate_state(before.config, changes)
    with pytest.raises(StateEdited) as caught:
        await app.ainvoke(None, CONFIG)
    assert words in str(caught.value) and "update_state" in str(caught.value) and "\n" not in str(caught.value)
    # Asking again says the same; nothing is lost by it.
    with pytest.raises(StateEdited):
        await app.ainvoke(None, CONFIG)
    await app.aupdate_state(CONFIG, {name: before.values.get(name) for name in changes})
    state = await app.ainvoke(None, CONFIG)
    assert "__interrupt__" in state
    assert (await app.ainvoke(Command(resume=ANSWER), CONFIG))["headline"] == "publish: completed"


async def test_a_run_or_packet_of_another_thread_is_never_touched(app: Any) -> None:
    other = (await app.aget_state(OTHER)).values
    before = await at(app, "extract")
    await app.aupdate_state(before.config, {"run_id": other["run_id"]})
    with pytest.raises(StateEdited, match="that run is on thread other, not on this one"):
        await app.ainvoke(None, CONFIG)
    gate = await at(app, "needs_review")
    await app.aupdate_state(gate.config, {"packet": other["packet"]})
    with pytest.raises(
        StateEdited, match=f"must be a review packet of this run, the newest is {gate.values['packet']}"
    ):
        await app.ainvoke(None, CONFIG)
    # Also when the reply comes at the same moment: the good one afterwards is not spoilt by it.
    with pytest.raises(StateEdited, match="packet of this run"):
        await app.ainvoke(Command(resume=ANSWER), CONFIG)
    await app.aupdate_state(CONFIG, {"packet": gate.values["packet"]})
    assert "__interrupt__" in await app.ainvoke(None, CONFIG)
    assert (await app.ainvoke(Command(resume=ANSWER), CONFIG))["headline"] == "publish: completed"
    assert (await app.aget_state(OTHER)).next == ("needs_review",)


@pytest.mark.parametrize(
    "reply", ["nonsense", 5, ["a"], {"value": "yes"}, {"value": {"reviewer": 3}}, {"verdict": "accept"}]
)
async def test_a_reply_that_was_put_into_the_state_comes_back_to_the_gate_with_what_is_wrong(
    app: Any, reply: Any
) -> None:
    await app.aupdate_state(CONFIG, {"reply": reply}, as_node="needs_review")
    assert (await app.aget_state(CONFIG)).next == ("record_review",)
    state = await app.ainvoke(None, CONFIG)
    assert state["__interrupt__"][0].value["reply_error"]
    assert (await app.ainvoke(Command(resume=ANSWER), CONFIG))["headline"] == "publish: completed"


async def test_a_good_reply_that_was_put_into_the_state_counts(app: Any) -> None:
    await app.aupdate_state(CONFIG, {"reply": ANSWER}, as_node="needs_review")
    assert (await app.ainvoke(None, CONFIG))["headline"] == "publish: completed"


async def test_steps_that_were_jumped_over_are_named(tmp_path: Path) -> None:
    async with memory_services() as services:
        app = build_graph(services).compile(checkpointer=InMemorySaver(), interrupt_before=["extract"])
        source = str(risky(tmp_path / "room", 4))
        await app.ainvoke({"source": source, "options": {"batch_size": 2}}, CONFIG)
        await app.aupdate_state(CONFIG, {"batch_index": 2}, as_node="extract")
        with pytest.raises(StateEdited, match="batch_index is 2, but batch 1 is not done yet, so it must be 0"):
            await app.ainvoke(None, CONFIG)
        await app.aupdate_state(CONFIG, {}, as_node="summarize")
        with pytest.raises(StateEdited, match="publish is next, but the note is not written yet"):
            await app.ainvoke(None, CONFIG)
        await app.aupdate_state(CONFIG, {"findings": ""}, as_node="record_review")
        with pytest.raises(StateEdited, match="findings is an empty text"):
            await app.ainvoke(None, CONFIG)
        await app.aupdate_state(CONFIG, {"batch_index": 0}, as_node="extract")
        for _ in range(3):
            state = await app.ainvoke(None, CONFIG)
        assert "__interrupt__" in state
        assert (await app.ainvoke(Command(resume=ANSWER), CONFIG))["headline"] == "publish: completed"


async def test_a_batch_size_that_was_changed_on_the_way_is_set_right_by_closing_the_batches_anew(app: Any) -> None:
    half = await at(app, "extract", 1)
    await app.aupdate_state(half.config, {"batch_size": 1, "batch_total": 4})
    with pytest.raises(StateEdited, match="batch_index is 4, but batch 1 is not done yet, so it must be 0"):
        await app.ainvoke(None, CONFIG)
    await app.aupdate_state(CONFIG, {"batch_index": 0}, as_node="extract")
    assert "__interrupt__" in await app.ainvoke(None, CONFIG)


async def test_a_hold_that_was_made_up_waits_like_any_other(app: Any) -> None:
    half = await at(app, "extract", 1)
    await app.aupdate_state(half.config, {"hold": "budget"}, as_node="extract")
    state = await app.ainvoke(None, CONFIG)
    assert state["__interrupt__"][0].value["held_by"] == "budget"
    assert "__interrupt__" in await app.ainvoke(Command(resume={"budget_usd": 5}), CONFIG)
    assert (await app.aget_state(CONFIG)).next == ("needs_review",)


@pytest.mark.parametrize(
    ("given_input", "words"),
    [
        ({"source": 5}, "source is 5, but it must be a text"),
        ({"source": ["a"]}, "source is a list"),
        ({"source": "x", "options": "fast"}, "options is “fast”, but it must be an object"),
        ({"source": "x", "engine": {"a": 1}}, "engine is an object"),
        ({"source": "x", "options": {"speed": 3}}, "There is no option speed"),
    ],
)
async def test_an_input_of_the_wrong_shape_is_named(given_input: dict[str, Any], words: str) -> None:
    async with memory_services() as services:
        app = build_graph(services).compile(checkpointer=InMemorySaver())
        with pytest.raises(UserError) as caught:
            await app.ainvoke(given_input, CONFIG)
        assert words in str(caught.value)


async def test_the_facade_says_it_too_and_resumes_after_the_mending(
    reprise: Reprise, database: str, home: Path, tmp_path: Path
) -> None:
    view = await reprise.start(risky(tmp_path / "room"), thread="edited")
    good = await edit_state(database, home, view.thread_id, {})
    for changes in (
        {"batch_index": "x", "batch_size": -1, "documents_total": "many", "by_risk": 3, "findings": "../x"},
        {"packet": good["findings"]},
        {"packet": NONSENSE},
    ):
        await edit_state(database, home, view.thread_id, changes)
        shown = await reprise.show(view.thread_id)
        assert shown["run"]["status"] == "needs_review" and shown["run"]["batch"]["index"] in (0, 1)
        assert await reprise.findings("edited") and (await reprise.status("edited")).to_json()["documents"]["done"] == 4
        with pytest.raises(UserError, match="|".join(changes)):
            await reprise.resume("edited", accept_all=True, reviewer="A. Martin")
        await edit_state(database, home, view.thread_id, {name: good[name] for name in changes})
    await edit_state(database, home, view.thread_id, {"packet": NONSENSE})
    with pytest.raises(UserError, match="packet"):
        await reprise.resume("edited", accept_all=True, reviewer="A. Martin")
    await edit_state(database, home, view.thread_id, {"packet": good["packet"]})
    assert (await reprise.resume("edited", accept_all=True, reviewer="A. Martin")).status == "completed"


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = PLAIN | st.lists(PLAIN, max_size=3) | st.dictionaries(st.text(max_size=5), PLAIN, max_size=3)
FIELDS = [
    "batch_index",
    "batch_total",
    "batch_size",
    "documents_total",
    "hold",
    "gate",
    "rescore",
    "reply_error",
    "packet",
    "findings",
    "note",
    "run_id",
    "to_review",
    "review_round",
    "published",
    "headline",
    "options",
    "source",
]
RUN = Run("r", "t", "", "default", "", "p", "", "local", 1, Settings(), documents_total=3)


@settings(max_examples=400)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
def test_any_state_is_either_good_or_named_and_no_router_raises(state: dict[str, Any]) -> None:
    for router in (after_extract, after_hold, after_score, after_record_review, after_summarize):
        assert router(state) in ("extract", "hold", "score", "summarize", "needs_review", "publish")  # type: ignore[arg-type]
    try:
        checked = validated_state(state)
        check_against_run(checked, RUN, "t")
    except StateEdited as error:
        assert "\n" not in str(error) and len(str(error)) < 400
    else:
        assert checked.documents_total == 3 and 0 <= checked.batch_index <= checked.batch_total
