"""Checks a playbook file as a whole: empty texts, clause types named twice, thresholds, rules without a clause.

Applied to what a person writes, not to what a run has frozen: an older program accepted some of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nodes.domain.playbook.toml_positions import Path, line_of

Problem = tuple[Path, str]

SECTIONS = ("clauses", "across")

MAY_BE_EMPTY = ("reason", "missing_reason")
"""Keys of a clause; a modifier must have its reason."""


def consistency_problems(plain: Any, lines: Mapping[Path, int]) -> list[Problem]:
    """List all problems, whatever else is wrong; values of the wrong form are passed over."""
    if not isinstance(plain, dict):
        return []
    return [*_empty(plain), *_types_twice(plain, lines), *_thresholds(plain), *_lost_rules(plain)]


def require_text(schema: dict[str, Any]) -> None:
    """Require non-empty texts in the JSON schema of a playbook as well."""
    for part in (schema, *schema.get("$defs", {}).values()):
        for name, value in part.get("properties", {}).items():
            texts = [value, value.get("items", {}), value.get("additionalProperties", {})]
            for text in texts if name not in MAY_BE_EMPTY or "default" not in value else []:
                if text.get("type") == "string" and not text.keys() & {"enum", "pattern"}:
                    text["pattern"] = r"\S"
            if "additionalProperties" in value:
                value["minProperties"] = 1


def _empty(value: Any, path: Path = ()) -> Iterator[Problem]:
    if isinstance(value, dict):
        if path[-1:] == ("title",) and not value:
            yield path, "it is empty: name it in en, in fr, or in both."
        for key, inner in value.items():
            yield from _empty(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _empty(inner, (*path, place))
    elif isinstance(value, str) and not value.strip() and (path[-1] not in MAY_BE_EMPTY or "modifiers" in path):
        yield path, "it is empty: write what is meant."


def _types_twice(plain: Mapping[str, Any], lines: Mapping[Path, int]) -> Iterator[Problem]:
    first: dict[str, Path] = {}
    for section in SECTIONS:
        for path, name in _types(plain, section):
            if name in first:
                line = line_of(lines, first[name])
                yield path, f"the clause type {name} is named twice, first on line {line}: keep one."
            first.setdefault(name, path)


def _thresholds(plain: Mapping[str, Any]) -> Iterator[Problem]:
    thresholds = plain.get("thresholds")
    if not isinstance(thresholds, dict):
        return
    steps = [thresholds.get(name, least) for name, least in (("medium", 20), ("high", 45), ("critical", 75))]
    if all(type(step) is int for step in steps) and not steps[0] < steps[1] < steps[2]:
        yield ("thresholds",), "thresholds must rise, medium < high < critical: mend them."


def _lost_rules(plain: Mapping[str, Any]) -> Iterator[Problem]:
    known_types = {name for _, name in _types(plain, "clauses")}
    for path, name in _types(plain, "rules"):
        if name.strip() and name not in known_types:
            yield path, f"{name} is no clause type of this playbook: name one, or add the clause."


def _types(plain: Mapping[str, Any], section: str) -> Iterator[tuple[Path, str]]:
    for place, entry in entries(plain, section):
        if isinstance(entry.get("type"), str):
            yield (section, place, "type"), entry["type"]


def entries(plain: Any, section: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the tables of a list with their places; anything else is passed over."""
    listed = plain.get(section) if isinstance(plain, dict) else None
    for place, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, dict):
            yield place, entry
