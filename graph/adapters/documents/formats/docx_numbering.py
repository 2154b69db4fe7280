"""The numbers of paragraphs that Word counts itself: "9.1" stands nowhere in the text of the file."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

BULLET = "•"
LEVELS = 9


class Numbering:
    """Counter of Word's automatic numbers, fed with the paragraphs of a document in order."""

    def __init__(self, document: Any) -> None:
        self._abstract: dict[str, dict[int, dict[str, str]]] = {}
        self._lists: dict[str, str] = {}
        self._styles: dict[str, tuple[str, int]] = {}
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0] * LEVELS)
        try:
            root = document.part.numbering_part.element
        except (KeyError, NotImplementedError, AttributeError):
            return
        for node in root:
            if _name(node) == "abstractNum":
                levels = {int(_attribute(level, "ilvl") or 0): _level(level) for level in node if _name(level) == "lvl"}
                self._abstract[_attribute(node, "abstractNumId")] = levels
            elif _name(node) == "num":
                self._lists[_attribute(node, "numId")] = _child_val(node, "abstractNumId")
        for style in document.styles:
            number = _child(_child(style.element, "pPr"), "numPr")
            if number is not None and _child_val(number, "numId"):
                self._styles[style.style_id] = _child_val(number, "numId"), int(_child_val(number, "ilvl") or 0)

    def label(self, paragraph: Any, style: str | None) -> str:
        """Count this paragraph and return its label, "" for one without."""
        list_level = self._list_level(paragraph, style)
        levels = self._abstract.get(self._lists.get(list_level[0], ""), {}) if list_level else {}
        if not list_level or list_level[1] not in levels:
            return ""
        key, level = self._lists[list_level[0]], list_level[1]
        counts = self._counts[key]
        for outer in range(level):
            counts[outer] = counts[outer] or _start(levels.get(outer, {}))
        counts[level] = counts[level] + 1 if counts[level] else _start(levels[level])
        counts[level + 1 :] = [0] * (LEVELS - level - 1)
        if levels[level].get("numFmt") == "bullet":
            return BULLET
        return re.sub(
            r"%([1-9])", lambda match: self._numeral(levels, counts, int(match[1]) - 1), levels[level]["lvlText"]
        )

    def _list_level(self, paragraph: Any, style: str | None) -> tuple[str, int] | None:
        number = _child(_child(paragraph, "pPr"), "numPr")
        inherited = self._styles.get(style or "")
        if number is None:
            return inherited
        list_id = _child_val(number, "numId") or (inherited[0] if inherited else "")
        level = _child_val(number, "ilvl")
        if not level.isdigit():
            level = str(inherited[1]) if inherited else "0"
        return (list_id, min(int(level), LEVELS - 1)) if list_id != "0" else None

    @staticmethod
    def _numeral(levels: dict[int, dict[str, str]], counts: list[int], level: int) -> str:
        return numeral(counts[level], levels.get(level, {}).get("numFmt", "decimal"))


def numeral(number: int, form: str) -> str:
    """Write a number in one of Word's forms; unknown forms are decimal."""
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter.upper() if form == "upperLetter" else letter
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        roman = _roman(number)
        return roman.lower() if form == "lowerRoman" else roman
    return "" if form == "none" else f"0{number}" if form == "decimalZero" and number < 10 else str(number)


def _roman(number: int) -> str:
    text = ""
    steps = zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    )
    for unit, letters in steps:
        text += letters * (number // unit)
        number %= unit
    return text


def _level(node: Any) -> dict[str, str]:
    return {
        "numFmt": _child_val(node, "numFmt") or "decimal",
        "lvlText": _child_val(node, "lvlText"),
        "start": _child_val(node, "start"),
    }


def _start(level: dict[str, str]) -> int:
    start = level.get("start", "")
    return int(start) if start.isdigit() else 1


def _name(node: Any) -> str:
    return node.tag.rsplit("}", 1)[-1] if isinstance(node.tag, str) else ""


def _attribute(node: Any, name: str) -> str:
    return next((text for key, text in node.attrib.items() if key.rsplit("}", 1)[-1] == name), "")


def _child(node: Any, name: str) -> Any:
    return None if node is None else next((child for child in node if _name(child) == name), None)


def _child_val(node: Any, name: str) -> str:
    child = _child(node, name)
    return "" if child is None else _attribute(child, "val")
