"""The numbers of paragraphs that Word counts itself: "9.1" stands nowhere in the text of the file."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

BULLET = "•"
LEVELS = 9


class Numbering:
    """Counts along with the paragraphs of a document, in their order."""

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
                levels = {int(_at(level, "ilvl") or 0): _level(level) for level in node if _name(level) == "lvl"}
                self._abstract[_at(node, "abstractNumId")] = levels
            elif _name(node) == "num":
                self._lists[_at(node, "numId")] = _below(node, "abstractNumId")
        for style in document.styles:
            number = _child(_child(style.element, "pPr"), "numPr")
            if number is not None and _below(number, "numId"):
                self._styles[style.style_id] = _below(number, "numId"), int(_below(number, "ilvl") or 0)

    def label(self, paragraph: Any, style: str | None) -> str:
        """The label of this paragraph, "" for one without; counts it."""
        found = self._place(paragraph, style)
        levels = self._abstract.get(self._lists.get(found[0], ""), {}) if found else {}
        if not found or found[1] not in levels:
            return ""
        key, level = self._lists[found[0]], found[1]
        counts = self._counts[key]
        for above in range(level):
            counts[above] = counts[above] or _start(levels.get(above, {}))
        counts[level] = counts[level] + 1 if counts[level] else _start(levels[level])
        counts[level + 1 :] = [0] * (LEVELS - level - 1)
        if levels[level].get("numFmt") == "bullet":
            return BULLET
        return re.sub(
            r"%([1-9])", lambda match: self._shown(levels, counts, int(match[1]) - 1), levels[level]["lvlText"]
        )

    def _place(self, paragraph: Any, style: str | None) -> tuple[str, int] | None:
        number = _child(_child(paragraph, "pPr"), "numPr")
        inherited = self._styles.get(style or "")
        if number is None:
            return inherited
        listed = _below(number, "numId") or (inherited[0] if inherited else "")
        level = _below(number, "ilvl")
        if not level.isdigit():
            level = str(inherited[1]) if inherited else "0"
        return (listed, min(int(level), LEVELS - 1)) if listed != "0" else None

    @staticmethod
    def _shown(levels: dict[int, dict[str, str]], counts: list[int], level: int) -> str:
        return numeral(counts[level], levels.get(level, {}).get("numFmt", "decimal"))


def numeral(number: int, form: str) -> str:
    """A number in one of Word's forms; decimal for those that are not known."""
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
    for value, sign in steps:
        text += sign * (number // value)
        number %= value
    return text


def _level(node: Any) -> dict[str, str]:
    return {
        "numFmt": _below(node, "numFmt") or "decimal",
        "lvlText": _below(node, "lvlText"),
        "start": _below(node, "start"),
    }


def _start(level: dict[str, str]) -> int:
    said = level.get("start", "")
    return int(said) if said.isdigit() else 1


def _name(node: Any) -> str:
    return node.tag.rsplit("}", 1)[-1] if isinstance(node.tag, str) else ""


def _at(node: Any, name: str) -> str:
    return next((value for key, value in node.attrib.items() if key.rsplit("}", 1)[-1] == name), "")


def _child(node: Any, name: str) -> Any:
    return None if node is None else next((child for child in node if _name(child) == name), None)


def _below(node: Any, name: str) -> str:
    found = _child(node, name)
    return "" if found is None else _at(found, "val")
