"""Quotes names in commands that a person copies into a shell."""

from __future__ import annotations

import re
import shlex

_PLAIN = re.compile(r"[\w@%+:,./-]+")
_SPECIAL = re.compile(r"[\"$`\\!]")
"""Characters that a shell interprets even within double quotes."""


def shell_word(name: str) -> str:
    """Quote a name, if need be, so that every shell reads it as one word."""
    if _PLAIN.fullmatch(name):
        return name
    return shlex.quote(name) if _SPECIAL.search(name) else f'"{name}"'
