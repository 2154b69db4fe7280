"""The note on a terminal."""

from __future__ import annotations

import re

from rich.markdown import Markdown

from graph.surfaces.terminal.output import console
from nodes.domain.shared.formats import clean

_ANCHOR = re.compile(r'<a id="[^"]*"></a>')
_MARK = re.compile(r"\[(F:[0-9A-Za-z-]+)\]\(#[^)]*\)")
READABLE_WIDTH = 100


def show_note(text: str) -> None:
    """Render the Markdown; links within the page become their bare marks, since a terminal cannot follow them."""
    plain = _MARK.sub(r"`\1`", _ANCHOR.sub("", clean(text)))
    out = console()
    out.print(Markdown(plain, hyperlinks=False), width=min(out.width, READABLE_WIDTH))
