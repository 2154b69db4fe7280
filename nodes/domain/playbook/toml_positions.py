"""Finds the lines of keys in a TOML or YAML text, so that a problem can name its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Path = tuple[str | int, ...]

_SPACE = re.compile(r"(?:[\s,]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}#]+(?: [0-9][^\s,\]}#]*)?")


def line_of(lines: Mapping[Path, int], path: Sequence[str | int]) -> int:
    """Look up the line of a key, else of the nearest table around it; 1 for the file."""
    for end in range(len(path), 0, -1):
        if tuple(path[:end]) in lines:
            return lines[tuple(path[:end])]
    return 1


def toml_lines(text: str) -> dict[Path, int]:
    """Map paths to lines in a valid TOML text."""
    return _Toml(text).lines


def without_duplicate_keys(text: str) -> tuple[str, list[tuple[Path, int, int]]]:
    """Blank duplicate keys, all else keeps its line: (text, [(path, line, line of the first)]).

    A guess where the text is not TOML for another reason too.
    """
    walker = _Toml(text)
    for _, start, end in reversed(walker.duplicates):
        before = text[:start].rstrip()
        start = len(before) - 1 if before.endswith(",") else start  # within an inline table
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text, [
        (path, walker.text.count("\n", 0, start) + 1, walker.lines[path]) for path, start, _ in walker.duplicates
    ]


class _Toml:
    """Walks through a TOML text and notes where each key stands; values are not looked at."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[Path, int] = {}
        self.duplicates: list[tuple[Path, int, int]] = []
        """Keys that stand twice in one table, each with the range of the second."""
        self._counts: dict[Path, int] = {}
        self._set: set[Path] = set()
        table: Path = ()
        while self._space() < len(text):
            if text.startswith("[", self.at):
                table = self._header()
            else:
                self._pair(table)

    def _space(self) -> int:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _note(self, path: Path, at: int) -> None:
        self.lines.setdefault(path, self.text.count("\n", 0, at) + 1)

    def _header(self) -> Path:
        start = self.at
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        path: Path = ()
        keys = self._keys()
        for place, key in enumerate(keys):
            path = (*path, key)
            if is_array and place == len(keys) - 1:
                self._counts[path] = self._counts.get(path, -1) + 1
            if path in self._counts:
                path = (*path, self._counts[path])
            self._note(path, start)
        self.at += 2 if is_array else 1
        return path

    def _keys(self) -> list[str]:
        keys: list[str] = []
        while True:
            self._space()
            match = _STRING.match(self.text, self.at) or _BARE.match(self.text, self.at)
            if match is None:
                self.at = len(self.text)
                return keys
            self.at = match.end()
            keys.append(match.group().strip("\"'"))
            self._space()
            if not self.text.startswith(".", self.at):
                return keys
            self.at += 1

    def _pair(self, table: Path) -> None:
        start = self.at
        path = table
        for key in self._keys():
            path = (*path, key)
            self._note(path, start)
        self._space()
        self.at += 1
        self._value(path)
        if path in self._set:
            self.duplicates.append((path, start, self.at))
        self._set.add(path)

    def _value(self, path: Path) -> None:
        self._space()
        self._note(path, self.at)
        opening = self.text[self.at : self.at + 1]
        if opening == "[":
            self.at += 1
            number = 0
            while self._space() < len(self.text) and self.text[self.at] != "]":
                self._value((*path, number))
                number += 1
            self.at += 1
        elif opening == "{":
            self.at += 1
            while self._space() < len(self.text) and self.text[self.at] != "}":
                self._pair(path)
            self.at += 1
        else:
            match = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
            self.at = match.end() if match else self.at + 1


def yaml_lines(node: Any, path: Path = ()) -> dict[Path, int]:
    """Map paths to lines below a composed node of YAML."""
    lines = {path: node.start_mark.line + 1} if path else {}
    if node.id == "sequence":
        for number, member in enumerate(node.value):
            lines |= yaml_lines(member, (*path, number))
    elif node.id == "mapping":
        for key, value in node.value:
            inner = (*path, str(key.value))
            lines |= yaml_lines(value, inner) | {inner: key.start_mark.line + 1}
    return lines
