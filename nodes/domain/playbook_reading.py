"""Reads a playbook from TOML or YAML, and tells every problem of it at once, each with its line and key."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from nodes.domain.errors import PlaybookError
from nodes.domain.format import one_line
from nodes.domain.key_lines import Path, line_of, toml_lines, yaml_lines
from nodes.domain.playbook import Playbook

MOST_BYTES = 300_000
"""Ten times a large playbook; what is larger is none."""
YAML_ENDINGS = (".yaml", ".yml")
SHOWN = 3
"""Problems in the one sentence of an error; the command that checks shows all."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a playbook that its writer should know."""

    line: int
    """1-based; 0 when no line could be told."""
    key: str
    """For example clauses[2].points; "" for the whole file."""
    text: str
    """What is wrong and what to do."""

    def __str__(self) -> str:
        where = ", ".join(filter(None, (f"line {self.line}" if self.line else "", self.key)))
        return f"{where}: {self.text}" if where else self.text


class _Wrong(Exception):
    """A text that is not TOML or YAML at all; carries the remark, and never leaves this module."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.remark = Remark(line, "", text)


@dataclass(frozen=True, slots=True)
class Reading:
    """A playbook as far as it could be read."""

    playbook: Playbook | None
    """None when there are problems."""
    problems: tuple[Remark, ...]
    lines: Mapping[Path, int]
    """Line by path of keys and positions."""


def read_playbook(data: bytes, name: str) -> Reading:
    """Read the bytes of a playbook file; YAML when `name` ends so, else TOML. Never raises, whatever they are."""
    try:
        plain, lines = _parsed(data, name)
    except _Wrong as wrong:
        return Reading(None, (wrong.remark,), {})
    try:
        return Reading(Playbook.model_validate(plain), (), lines)
    except ValidationError as error:
        return Reading(None, tuple(sorted(_problems(error, lines), key=lambda one: one.line)), lines)
    except RecursionError:
        return Reading(None, (Remark(0, "", "lists or tables are nested too deep: a playbook needs four levels."),), {})


def parse_playbook(text: str, name: str) -> Playbook:
    """The playbook of a text. Raises PlaybookError, which names the file and its first problems."""
    return required(read_playbook(text.encode("utf-8", "surrogatepass"), name), name)


def required(reading: Reading, name: str) -> Playbook:
    """The playbook of a reading. Raises PlaybookError where it has problems."""
    if reading.playbook is not None:
        return reading.playbook
    shown = "; ".join(str(one).rstrip(".") for one in reading.problems[:SHOWN])
    more = len(reading.problems) - SHOWN
    rest = f"; and {more} more" if more > 0 else ""
    raise PlaybookError(f"Playbook {name}: {shown}{rest}. See all with: python run.py playbook check {name}")


def json_schema() -> str:
    """The JSON schema of a playbook, for editors; the shipped file holds exactly this."""
    schema = Playbook.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _parsed(data: bytes, name: str) -> tuple[Any, dict[Path, int]]:
    if len(data) > MOST_BYTES:
        raise _Wrong(0, f"it is larger than {MOST_BYTES // 1000} kB, which no playbook is: name another file.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _Wrong(line, "it is not UTF-8 text: save it as such.") from None
    try:
        return _yaml(text) if name.casefold().endswith(YAML_ENDINGS) else _toml(text)
    except RecursionError:
        raise _Wrong(0, "lists or tables are nested too deep: a playbook needs four levels.") from None


def _toml(text: str) -> tuple[Any, dict[Path, int]]:
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = getattr(error, "lineno", 0) or _line_in(str(error), text)
        raise _Wrong(line, f"it is not TOML ({error}): mend this line, or name the file .yaml.") from None
    return plain, toml_lines(text)


def _line_in(message: str, text: str) -> int:
    """The line that the parser's own message names; the last one where it says that the text ends too early."""
    words = message.replace(",", " ").split()
    after = words.index("line") + 1 if "line" in words else len(words)
    return int(words[after]) if after < len(words) and words[after].isdecimal() else text.count("\n") + 1


def _yaml(text: str) -> tuple[Any, dict[Path, int]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # An alias can stand for a thousand copies of what it names, and those for a thousand more.
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                at: Any = event.start_mark
                raise _Wrong(at.line + 1, f"the alias *{event.anchor} is not taken: write it out.")
        node = yaml.compose(text, Loader=loader)
        if node is None:
            return {}, {}
        _refuse_twice(node)
        return yaml.load(text, Loader=loader), yaml_lines(node)
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        what = one_line(str(getattr(error, "problem", None) or error), 200)
        raise _Wrong(mark.line + 1 if mark else 0, f"it is not YAML ({what}): mend this line.") from None
    except ValueError as error:
        raise _Wrong(0, f"it holds a value that cannot be ({one_line(str(error), 200)}): write it as a text.") from None


def _refuse_twice(node: Any) -> None:
    """YAML itself would keep the last of two equal keys and say nothing."""
    if node.id == "mapping":
        keys = Counter(str(key.value) for key, _ in node.value)
        for key, _ in node.value:
            if keys[str(key.value)] > 1:
                raise _Wrong(key.start_mark.line + 1, f"the key {key.value} stands here twice: keep one.")
        for _, value in node.value:
            _refuse_twice(value)
    elif node.id == "sequence":
        for value in node.value:
            _refuse_twice(value)


def _problems(error: ValidationError, lines: Mapping[Path, int]) -> Iterator[Remark]:
    for one in error.errors(include_url=False):
        path = tuple(one["loc"])
        if one["type"] == "too_short" and one["input"]:
            continue  # its members are wrong, and are named themselves
        yield Remark(line_of(lines, path), key_of(path), _advice(one))


def key_of(path: Path) -> str:
    """A path as people write it: clauses[2].points."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _advice(problem: Any) -> str:
    """What is wrong with a value and what to write instead, in a sentence."""
    kind, context, given = problem["type"], problem.get("ctx", {}), problem.get("input")
    shown = one_line(repr(given), 60)
    match kind:
        case "extra_forbidden":
            return "there is no such key: take it out, or see the keys with python run.py playbook show --schema."
        case "missing":
            return "it is missing: add it."
        case "literal_error":
            return f"{shown} is not one of {context['expected']}: use one of these."
        case "string_pattern_mismatch":
            return f"{shown} does not fit {context['pattern']}: use lower-case letters, digits and the mark it allows."
        case "too_short" | "string_too_short":
            return "it is empty: write at least one."
        case "value_error":
            return f"{one_line(str(context['error']), 300)}: mend it."
    said = str(problem["msg"])
    return f"{said[:1].lower()}{said[1:]}, not {shown}: write such a value."
