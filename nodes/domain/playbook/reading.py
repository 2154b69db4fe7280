"""Reads a playbook from TOML or YAML, and reports all its problems at once, each with line and key."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from pydantic import ValidationError

from nodes.domain.playbook.consistency import consistency_problems, require_text
from nodes.domain.playbook.model import Playbook
from nodes.domain.playbook.toml_positions import Path, line_of, toml_lines, without_duplicate_keys, yaml_lines
from nodes.domain.shared.errors import PlaybookError
from nodes.domain.shared.formats import one_line

MAX_BYTES = 300_000
"""Ten times a large playbook; a larger file is no playbook."""
YAML_ENDINGS = (".yaml", ".yml")
_TEXT, _NUMBERS = "tag:yaml.org,2002:str", ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
# Example: -12.5e3
_PLAIN_NUMBER = re.compile(
    r"""
    [-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)? | [-+]?\.(?:[0-9]+|inf|Inf|INF|nan|NaN|NAN)
    """,
    re.VERBOSE,
)
"""Numbers that all versions of YAML read alike."""
MAX_SHOWN = 3
"""Most problems in the sentence of an error; the command `playbook check` shows all."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about a playbook that its writer should know."""

    line: int
    """1-based; 0 when no line could be told."""
    key: str
    """For example clauses[2].points; "" for the whole file."""
    text: str
    """What is wrong, and what to do."""

    def __str__(self) -> str:
        place = ", ".join(filter(None, (f"line {self.line}" if self.line else "", self.key)))
        return f"{place}: {self.text}" if place else self.text


class _Unparsable(Exception):
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
    plain: Any = None
    """What the file says, as far as it is TOML or YAML."""


def read_playbook(data: bytes, name: str) -> Reading:
    """Read the bytes of a playbook file; YAML when `name` ends so, else TOML. Never raises, whatever they are.

    A value has its type, as the JSON schema says: "12" is no number and "yes" is not true. What a run has frozen is
    not read here, and is taken as it was.
    """
    try:
        plain, lines, problems = _parsed(data, name)
        playbook, model_problems = _validated(plain, lines)
    except _Unparsable as unreadable:
        return Reading(None, (unreadable.remark,), {})
    except RecursionError:
        return Reading(None, (Remark(0, "", "lists or tables are nested too deep: a playbook needs four levels."),), {})
    problems += model_problems
    return Reading(
        None if problems else playbook, tuple(sorted(problems, key=lambda remark: remark.line)), lines, plain
    )


def parse_playbook(text: str, name: str) -> Playbook:
    """Parse a playbook. Raises PlaybookError, which names the file and its first problems."""
    return require_playbook(read_playbook(text.encode("utf-8", "surrogatepass"), name), name)


def require_playbook(reading: Reading, name: str) -> Playbook:
    """Return the playbook of a reading. Raises PlaybookError when it has problems."""
    if reading.playbook is not None:
        return reading.playbook
    problems = "; ".join(str(remark).rstrip(".") for remark in reading.problems[:MAX_SHOWN])
    hidden_count = len(reading.problems) - MAX_SHOWN
    ending = f"; and {hidden_count} more" if hidden_count > 0 else ""
    raise PlaybookError(f"Playbook {name}: {problems}{ending}. See all with: python run.py playbook check {name}")


def json_schema() -> str:
    """The JSON schema of a playbook, for editors; the shipped file holds exactly this."""
    schema = Playbook.model_json_schema()
    require_text(schema)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _validated(plain: Any, lines: Mapping[Path, int]) -> tuple[Playbook | None, list[Remark]]:
    """Validate a playbook: (playbook, problems of its parts and as a whole)."""
    by_path = {
        path: Remark(line_of(lines, path), key_of(path), text) for path, text in consistency_problems(plain, lines)
    }
    try:
        return Playbook.model_validate(_strict(plain), strict=True), list(by_path.values())
    except ValidationError as error:
        parts = list(_problems(error, lines, by_path))
    keys = {remark.key for remark in parts}
    return None, [*parts, *(remark for remark in by_path.values() if remark.key not in keys)]


def _strict(value: Any) -> Any:
    """Convert values for strict validation: lists become tuples, and 20.0 a whole number."""
    if isinstance(value, dict):
        return {key: _strict(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return tuple(map(_strict, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _parsed(data: bytes, name: str) -> tuple[Any, dict[Path, int], list[Remark]]:
    """Parse a file: (values, lines, problems of keys and numbers). Raises _Unparsable, RecursionError."""
    if len(data) > MAX_BYTES:
        raise _Unparsable(0, f"it is larger than {MAX_BYTES // 1000} kB, which no playbook is: name another file.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _Unparsable(line, "it is not UTF-8 text: save it as such.") from None
    return _yaml(text) if name.casefold().endswith(YAML_ENDINGS) else _toml(text)


def _toml(text: str) -> tuple[Any, dict[Path, int], list[Remark]]:
    try:
        return tomllib.loads(text), toml_lines(text), []
    except tomllib.TOMLDecodeError as error:
        line = getattr(error, "lineno", 0) or _line_in(str(error), text)
        syntax_error = _Unparsable(line, f"it is not TOML ({error}): mend this line, or name the file .yaml.")
    # Where keys that stand twice are all that it is not TOML for, the rest of it can be told too.
    deduplicated, duplicates = without_duplicate_keys(text)
    try:
        return tomllib.loads(deduplicated), toml_lines(deduplicated), [_twice(*duplicate) for duplicate in duplicates]
    except tomllib.TOMLDecodeError:
        raise syntax_error from None


def _twice(path: Path, line: int, first: int) -> Remark:
    return Remark(line, key_of(path), f"the key {path[-1]} stands here twice, first on line {first}: keep one.")


def _line_in(message: str, text: str) -> int:
    """Extract the line from the parser's message; the last line where the text ends too early."""
    words = message.replace(",", " ").split()
    after = words.index("line") + 1 if "line" in words else len(words)
    return int(words[after]) if after < len(words) and words[after].isdecimal() else text.count("\n") + 1


def _yaml(text: str) -> tuple[Any, dict[Path, int], list[Remark]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # An alias can stand for a thousand copies of what it names, and those for a thousand more.
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                alias_mark: Any = event.start_mark
                raise _Unparsable(alias_mark.line + 1, f"the alias *{event.anchor} is not taken: write it out.")
        reader = loader(text)
        node = reader.get_single_node()
        if node is None:
            return {}, {}, []
        problems = list(_keys_and_numbers(node))
        return reader.construct_document(node), yaml_lines(node), problems
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = one_line(str(getattr(error, "problem", None) or error), 200)
        raise _Unparsable(mark.line + 1 if mark else 0, f"it is not YAML ({problem}): mend this line.") from None
    except ValueError as error:
        raise _Unparsable(
            0, f"it holds a value that cannot be ({one_line(str(error), 200)}): write it as a text."
        ) from None


def _keys_and_numbers(node: Any, path: Path = ()) -> Iterator[Remark]:
    """Report what YAML would take silently: the last of two equal keys, and 010 for eight.

    Every key is a text from here on, also one that YAML has for something else, such as `on`.
    """
    if node.id == "mapping":
        first: dict[str, int] = {}
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if key.id == "scalar":
                key.tag = _TEXT
            if name in first:
                yield _twice((*path, name), line, first[name])
            first.setdefault(name, line)
            yield from _keys_and_numbers(value, (*path, name))
    elif node.id == "sequence":
        for place, value in enumerate(node.value):
            yield from _keys_and_numbers(value, (*path, place))
    elif node.tag in _NUMBERS and not _PLAIN_NUMBER.fullmatch(node.value):
        text = f"{one_line(node.value, 60)} is not the same number to every reader of YAML: write it in decimal digits."
        yield Remark(node.start_mark.line + 1, key_of(path), text)


def _problems(error: ValidationError, lines: Mapping[Path, int], by_path: Mapping[Path, Remark]) -> Iterator[Remark]:
    """Report the problems of parts; those of the whole are left out where `by_path` reports them already."""
    for problem in error.errors(include_url=False):
        path = tuple(problem["loc"])
        if path[-1:] == ("[key]",):
            path = path[:-1]
        if problem["type"] == "too_short" and problem["input"]:
            continue  # its members are wrong, and are named themselves
        if by_path and problem["type"] == "value_error" and path in ((), ("thresholds",)):
            continue
        yield Remark(line_of(lines, path), key_of(path), _advice(problem))


def key_of(path: Path) -> str:
    """Format a path as people write it: clauses[2].points."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _advice(problem: Any) -> str:
    """Say in a sentence what is wrong with a value and what to write instead."""
    kind, context, current = problem["type"], problem.get("ctx", {}), problem.get("input")
    rendering = _shown(current)
    if kind in _FORMS:
        expected, advice = _FORMS[kind]
        return f"it must be {expected}, not {rendering}: {advice}."
    match kind:
        case "extra_forbidden":
            return "there is no such key: take it out, or see the keys with python run.py playbook show --schema."
        case "missing":
            return "it is missing: add it."
        case "literal_error":
            return f"{rendering} is not one of {context['expected']}: use one of these."
        case "string_pattern_mismatch":
            return (
                f"{rendering} does not fit {context['pattern']}: use lower-case letters, digits and the mark it allows."
            )
        case "too_short" | "string_too_short":
            return "it is empty: write at least one."
        case "greater_than_equal":
            return f"it must be at least {context['ge']:g}, not {rendering}: write such a number."
        case "less_than_equal":
            return f"it must be at most {context['le']:g}, not {rendering}: write such a number."
        case "value_error":
            return f"{one_line(str(context['error']), 300)}: mend it."
    message = str(problem["msg"])
    return f"{message[:1].lower()}{message[1:]}, not {rendering}: write such a value."


_TABLE = ("a dictionary of keys and values", "give it keys, each with its value")
_FORMS = {
    "string_type": ("a text", "put it in quotation marks"),
    "int_type": ("a whole number", "write digits alone, without quotation marks"),
    "float_type": ("a number", "write digits alone, without quotation marks"),
    "bool_type": ("true or false", "write one of these, without quotation marks"),
    "tuple_type": ("a list", "put it in square brackets"),
    "dict_type": _TABLE,
    "model_type": _TABLE,
}
"""By type of error: the form that a value must have, and what to do."""


def _shown(current: Any) -> str:
    """Show a value as its writer knows it."""
    if isinstance(current, bool):
        return "true" if current else "false"
    if current is None or isinstance(current, dict | tuple):
        return "nothing" if current is None else "a list" if isinstance(current, tuple) else "a dictionary"
    return one_line(repr(current) if isinstance(current, str | int | float) else str(current), 60)
