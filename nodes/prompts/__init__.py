"""The prompts, one file each, and the loader that gives text and hash.

A file begins with a header between two lines of `---` (name, version), then come its messages, each under a line
`=== system`, `=== user` or `=== assistant`. Bodies are `string.Template`s: `$name` is filled in, `$$` is a dollar.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from string import Template

from nodes.domain.shared.errors import MissingPart

_HEADER = re.compile(r"\A---\n(?P<header>.*?)^---\n", re.M | re.S)
_MESSAGE = re.compile(r"^=== (system|user|assistant)$\n", re.M)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt with its name, version, text and hash."""

    name: str
    version: int
    text: str
    """The messages, unfilled."""
    sha256: str
    """Of `text`: a change of the wording changes it, a change of the header alone does not."""

    def messages(self, values: Mapping[str, str]) -> list[list[str]]:
        """Return [[role, text], …] with every placeholder filled in; values are not searched for placeholders.

        Raises KeyError when a placeholder has no value.
        """
        parts = _MESSAGE.split(self.text)[1:]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return [[role, Template(body.strip()).substitute(values)] for role, body in pairs]


@lru_cache(maxsize=16)
def load_prompt(name: str) -> Prompt:
    """Read a prompt of this package by the name of its file.

    Raises MissingPart when there is none or its header is incomplete.
    """
    source = resources.files(__name__).joinpath(f"{name}.md")
    if not source.is_file():
        raise MissingPart(f"There is no prompt {name!r}: install the package anew.")
    raw = source.read_text(encoding="utf-8").replace("\r\n", "\n")
    header = _HEADER.match(raw)
    fields = dict(re.findall(r"^(\w+):\s*(.+?)\s*$", header["header"], re.M)) if header else {}
    if header is None or fields.get("name") != name or not fields.get("version", "").isdigit():
        raise MissingPart(f"The prompt {name!r} has no header with its name and version: install the package anew.")
    text = raw[header.end() :].strip() + "\n"
    return Prompt(name, int(fields["version"]), text, hashlib.sha256(text.encode()).hexdigest())
