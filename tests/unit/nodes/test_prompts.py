import json
from dataclasses import FrozenInstanceError, replace
from importlib import resources
from typing import Any

import pytest
from model_question import CLAUSES, CONTRACT, document, question

from nodes.domain.answers.extraction import SCHEMAS, complaint, json_schema
from nodes.domain.answers.passages import Passage, choose
from nodes.domain.shared.errors import MissingPart
from nodes.ports import ToolRequest
from nodes.prompts import load_prompt
from nodes.prompts.questions import model_question, note_question

NAMES = sorted(
    entry.name.removesuffix(".md") for entry in resources.files("nodes.prompts").iterdir() if entry.name.endswith(".md")
)


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_has_a_version_and_says_that_documents_are_data(name: str) -> None:
    prompt = load_prompt(name)
    assert prompt.name == name and prompt.version >= 1 and len(prompt.sha256) == 64
    assert "untrusted data" in " ".join(prompt.text.split())
    assert "JSON" in prompt.text, "endpoints refuse JSON mode to a prompt without the word"
    with pytest.raises(FrozenInstanceError):
        prompt.text = ""  # type: ignore[misc]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_in_a_prompt_satisfy_its_schema(name: str) -> None:
    schema = {
        "extract_clauses": "ClauseAnswers",
        "write_note": "NoteAnswer",
        "summarize_decision": "DecisionSummary",
    }[name]
    examples = [json.loads(line) for line in load_prompt(name).text.splitlines() if line.startswith("{")]
    assert len(examples) >= 3
    assert [complaint(schema, example) for example in examples] == [""] * len(examples)


def test_the_quotes_of_the_examples_stand_in_their_passages() -> None:
    text = load_prompt("extract_clauses").text
    for line in (line for line in text.splitlines() if line.startswith("{") and "…" not in line):
        answer = json.loads(line)
        before = " ".join(text[: text.index(line)].split())
        for part in [*answer["clauses"], *filter(None, [answer["supplier"]])]:
            assert part["quote"] in before


def test_an_unknown_prompt_is_a_missing_part() -> None:
    with pytest.raises(MissingPart, match="no_such_prompt"):
        load_prompt("no_such_prompt")


def test_what_is_filled_in_is_not_searched_for_placeholders() -> None:
    system, user = load_prompt("extract_clauses").messages({"types": "- a: $passages", "passages": "costs $5 ${x}"})
    assert system[0] == "system" and user[0] == "user"
    assert "- a: $passages" in user[1] and "costs $5 ${x}" in user[1]


def test_the_user_message_lists_the_types_outside_the_passages() -> None:
    _, (_, user) = question().payload["messages"]
    before, _, after = user.partition('<passage id="1" page="1">\n')
    assert all(f"- {clause.type}: {clause.question}" in before for clause in CLAUSES)
    assert after.startswith(CONTRACT)


def test_the_key_changes_with_all_that_determines_the_answer() -> None:
    doc = document()
    passages = choose(doc, (), 10_000)
    prompt = load_prompt("extract_clauses")

    def key(text: Any = doc, read: Any = passages, clauses: Any = CLAUSES, **changes: Any) -> str:
        return json.dumps(model_question(text, read, clauses, **{"model": "m", **changes}).key, sort_keys=True)

    keys = [
        key(),
        key(model="n"),
        key(max_tokens=7),
        key(prompt=replace(prompt, sha256="other")),
        key(clauses=CLAUSES[:2]),
        key(clauses=[clause.model_copy(update={"question": "Other?"}) for clause in CLAUSES]),
        key(text=document(CONTRACT.replace("50,000", "60,000"))),
        key(read=[Passage(0, 50, 1)]),
    ]
    assert len(set(keys)) == len(keys)


def test_the_key_does_not_change_with_the_name_of_the_document() -> None:
    doc = document()
    one, other = (model_question(doc, choose(doc, (), 10_000), CLAUSES, model="m", document=name) for name in "ab")
    assert one.key == other.key and one.document != other.document


def test_a_question_is_plain_json() -> None:
    asked: list[ToolRequest] = [question(), note_question([{"id": "5f0c", "quote": "x"}], model="m")]
    for one in asked:
        assert json.loads(json.dumps(dict(one.key))) == one.key
        assert json.loads(json.dumps(dict(one.payload))) == one.payload


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_a_schema_has_the_form_that_strict_output_takes(name: str) -> None:
    schema = json_schema(name)
    objects = [schema, *schema.get("$defs", {}).values()]
    for part in objects:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
        assert not any("default" in field for field in part["properties"].values())
