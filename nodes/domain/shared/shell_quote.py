"""How a name is written in a command that a person copies into a shell."""

from __future__ import annotations

import re
import shlex

_PLAIN = re.compile(r"[\w@%+:,./-]+")
_ALIVE = re.compile(r"[\"$`\\!]")
"""What a shell acts upon within double quotes as well."""


def shell_word(name: str) -> str:
    """The name as one word of a command line, which no shell takes for anything else."""
    if _PLAIN.fullmatch(name):
        return name
    return shlex.quote(name) if _ALIVE.search(name) else f'"{name}"'
